//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package pointlog

import (
	"errors"
	"os"
	"syscall"
)

// flock locks an open file without waiting: errHeld if another process has it,
// errors.ErrUnsupported if the filesystem has no locks. Closing the file, or the
// end of the process, gives it back.
func flock(f *os.File, shared bool) error {
	how := syscall.LOCK_EX | syscall.LOCK_NB
	if shared {
		how = syscall.LOCK_SH | syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL):
			return errors.ErrUnsupported
		}
		return err
	}
}
