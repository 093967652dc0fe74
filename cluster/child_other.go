//go:build !linux

package cluster

import (
	"os"
	"os/exec"
	"strings"
)

// isolate does nothing: a child has the process group of its worker.
func isolate(*exec.Cmd) {}

// signalOf is how a process died that did not end by itself, empty if it did.
func signalOf(p *os.ProcessState) string {
	if p == nil || p.Exited() {
		return ""
	}
	return strings.TrimPrefix(p.String(), "signal: ")
}

// confine does nothing: a process may take all memory.
func confine() error { return nil }

// memory is not known.
func memory() uint64 { return 0 }
