package setup

import (
	"testing"

	"blis/vtime"
)

func TestClientsWaitTwiceAsLongEachTime(t *testing.T) {
	for _, x := range []struct {
		backoff, want vtime.Duration
		sent          int64
	}{
		{vtime.Second, vtime.Second, 0}, {vtime.Second, 8 * vtime.Second, 3}, {1, 1 << 29, 29},
		{mostFailureTime, vtime.Duration(vtime.Never), 29}, {1 << 60, 1 << 62, 2}, {1 << 60, vtime.Duration(vtime.Never), 3}, {1 << 60, vtime.Duration(vtime.Never), 4},
	} {
		r := Retry{Backoff: x.backoff}
		if got := r.Wait(x.sent); got != x.want {
			t.Errorf("%v, sent again %d times: %v, want %v", x.backoff, x.sent, got, x.want)
		}
	}
}
