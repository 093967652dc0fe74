//go:build !amd64 && !arm64

package lookahead

import "runtime"

// pause yields to other goroutines: there is no portable spin hint.
func pause(int) { runtime.Gosched() }
