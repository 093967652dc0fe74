package confine

import (
	"os"
	"os/exec"
	"syscall"
)

// Isolate keeps what a child does to itself: it dies with the parent, and signals of the terminal reach
// only the parent.
func Isolate(child *exec.Cmd) {
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill ends a process and its group.
func kill(child *exec.Cmd) { syscall.Kill(-child.Process.Pid, syscall.SIGKILL) }

// killed reports whether a process that this one did not kill was killed: by the kernel, since it took too
// much of the processor or the machine had no memory left, most often.
func killed(p *os.ProcessState) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// rlimitData is RLIMIT_DATA of Linux, which package syscall lacks on some machines.
const rlimitData = 2

// lower sets the limits of the kernel: no files are written, no core is dumped.
func lower(l Limits) error {
	limits := []struct {
		which int
		most  uint64
	}{{syscall.RLIMIT_CORE, 0}, {syscall.RLIMIT_FSIZE, 0}}
	if l.Memory > 0 {
		limits = append(limits, struct {
			which int
			most  uint64
		}{rlimitData, uint64(l.Memory)})
	}
	if cpu := l.CPU(); cpu > 0 { // ends by SIGKILL: a program in Go ignores SIGXCPU, which a lower Cur would send first
		limits = append(limits, struct {
			which int
			most  uint64
		}{syscall.RLIMIT_CPU, uint64(cpu.Seconds())})
	}
	for _, x := range limits {
		if err := syscall.Setrlimit(x.which, &syscall.Rlimit{Cur: x.most, Max: x.most}); err != nil {
			return err
		}
	}
	return nil
}

// watch does nothing: the kernel enforces the limit on memory.
func (c *Child) watch(int64) (tooLarge <-chan struct{}, stop func()) { return nil, func() {} }
