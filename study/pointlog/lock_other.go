//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package pointlog

import (
	"errors"
	"os"
)

// flock: this system has none.
func flock(*os.File, bool) error { return errors.ErrUnsupported }
