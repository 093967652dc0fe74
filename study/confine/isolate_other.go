//go:build !linux

package confine

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Isolate does nothing: a child has the process group of its parent. One whose parent dies reads the end of
// its input, or ends with its work.
func Isolate(*exec.Cmd) {}

// kill ends a process.
func kill(child *exec.Cmd) { child.Process.Kill() }

// killed is not known here.
func killed(*os.ProcessState) bool { return false }

// lower does nothing: the parent watches.
func lower(Limits) error { return nil }

// memoryLooks is how often the parent looks how much memory a child has.
const memoryLooks = 50 * time.Millisecond

// watch looks how much memory the child has, and says when it is more than most bytes, or when that
// cannot be known.
func (c *Child) watch(most int64) (tooLarge <-chan struct{}, stop func()) {
	if most <= 0 {
		return nil, func() {}
	}
	found, over := make(chan struct{}), make(chan struct{})
	go func() {
		for {
			select {
			case <-over:
				return
			case <-c.ended:
				return
			case <-time.After(memoryLooks):
			}
			text, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(c.command.Process.Pid)).Output()
			kib, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			select {
			case <-c.ended: // while ps looked
				return
			default:
			}
			if err != nil || bad != nil || kib<<10 > most {
				close(found)
				return
			}
		}
	}()
	return found, func() { close(over) }
}
