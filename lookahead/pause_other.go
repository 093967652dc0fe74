//go:build !amd64 && !arm64

package lookahead

import "runtime"

// pause gives others the core: there is no gentler way here.
func pause(int) { runtime.Gosched() }
