package cluster

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// signalOf is the signal that ended a process, empty if none did.
func signalOf(p *os.ProcessState) string {
	if p == nil {
		return ""
	}
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return "signal " + status.Signal().String()
	}
	return ""
}

// rlimitData is RLIMIT_DATA of Linux, which package syscall lacks on some machines.
const rlimitData = 2

// limit bounds the memory of this process to that of the machine or its container, and
// has the kernel end it before any other. It leaves no core dump.
func limit() error {
	os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // not everywhere allowed; then the limit below is all
	none := &syscall.Rlimit{}
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, none); err != nil {
		return err
	}
	if limit := memory(); limit > 0 {
		return syscall.Setrlimit(rlimitData, &syscall.Rlimit{Cur: limit, Max: limit})
	}
	return nil
}

// memory is nine tenths of the memory that the process can have, in bytes; 0: not known.
func memory() uint64 {
	least := uint64(0)
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if n, bad := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil && (least == 0 || n < least) {
			least = n
		}
	}
	text, err := os.ReadFile("/proc/meminfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) < 2 || fields[0] != "MemTotal:" {
				continue
			}
			if n, err := strconv.ParseUint(fields[1], 10, 64); err == nil && (least == 0 || n*1024 < least) {
				least = n * 1024
			}
		}
	}
	return least / 10 * 9
}
