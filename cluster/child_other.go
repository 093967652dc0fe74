//go:build !linux

package cluster

import (
	"os"
	"strings"
)

// signalOf is how a process died that did not end by itself, empty if it did.
func signalOf(p *os.ProcessState) string {
	if p == nil || p.Exited() {
		return ""
	}
	return strings.TrimPrefix(p.String(), "signal: ")
}

// limit does nothing: a process may take all memory.
func limit() error { return nil }

// memory is not known.
func memory() uint64 { return 0 }
