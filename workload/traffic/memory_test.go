package traffic

import (
	"runtime"
	"testing"

	"blis/internal/testsize"
	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// heapAfter pulls so many requests and returns what is still held then, in bytes.
func heapAfter(t *testing.T, source workload.Source, n int) int64 {
	t.Helper()
	var r workload.Request
	for i := range n {
		if more, err := source.Pull(&r); !more || err != nil {
			t.Fatalf("request %d: %v, %v", i, more, err)
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(source)
	return int64(m.HeapAlloc)
}

// What a source holds after 10⁷ requests is what it holds after 10⁵, but for the
// room of some more sessions at a time: a byte per request would be 10 MB.
func TestMemoryIsIndependentOfTheLength(t *testing.T) {
	const few, room = 100_000, 512 << 10
	length := testsize.Of(1_000_000, 1_000_000, 10_000_000)
	rounds := draw.Length{Dist: draw.Gaussian(4, 2), Min: 1, Max: 20}
	tokens := draw.Length{Dist: draw.Gaussian(128, 30), Min: 1, Max: 512}
	single := Client{ID: "single", Process: draw.ArrivalProcess{Kind: draw.Poisson}, Rate: draw.Flat(1000), Input: tokens, Output: tokens}
	talk := single
	talk.ID, talk.Rate, talk.Prefix = "chat", draw.Flat(20), Prefix{Group: "system", Length: 512, Share: 1}
	talk.Kinds = []Kind{{Share: 1, Session: &Session{Rounds: rounds, Think: draw.Always(vtime.Second), Context: Accumulate}}}
	users := Client{ID: "users", Users: 64, Requests: 1 << 40, Think: draw.Always(vtime.Second), Input: tokens, Output: tokens}
	for _, c := range []Client{single, talk, users} {
		t.Run(c.ID, func(t *testing.T) {
			s, err := New(Config{Seed: 1, Requests: 1 << 40, Clients: []Client{c}})
			if err != nil {
				t.Fatal(err)
			}
			source := workload.Play(s, func(*workload.Request) vtime.Duration { return vtime.Second })
			before := heapAfter(t, source, few)
			if after := heapAfter(t, source, length-few); after-before > room {
				t.Errorf("%d KiB are held after %d requests, %d KiB more than after %d", after>>10, length, (after-before)>>10, few)
			}
		})
	}
}
