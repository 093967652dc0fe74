package prefixindex

import (
	"math/rand/v2"
	"testing"

	"blis/internal/prefixtwin"
	"blis/workload"
)

func TestIndexRules(t *testing.T) {
	span := func(content workload.ContentID, tokens int32) workload.Span {
		return workload.Span{Content: content, Length: tokens}
	}
	prompt := func(own int32, spans ...workload.Span) workload.Request {
		req := workload.Request{Identity: workload.Identity{Input: own}, Terms: workload.Terms{Spans: spans}}
		for _, s := range spans {
			req.Input += s.Length
		}
		return req
	}
	for _, c := range []struct {
		name     string
		capacity int32
		past     []workload.Request // all to instance 0
		ask      workload.Request
		want     int32
	}{
		{"equal named prefix hits", 100, []workload.Request{prompt(4, span(1, 40))}, prompt(9, span(1, 40)), 10},
		{"a shorter prompt hits all its named blocks", 100, []workload.Request{prompt(4, span(1, 40))}, prompt(0, span(1, 21)), 5},
		{"a block with a private token is private", 100, []workload.Request{prompt(2, span(1, 6))}, prompt(2, span(1, 6)), 1},
		{"other content before it: no hit", 100, []workload.Request{prompt(0, span(1, 4), span(2, 40))}, prompt(0, span(3, 4), span(2, 40)), 0},
		{"a tail is never hit", 100, []workload.Request{prompt(40)}, prompt(40), 0},
		{"the deepest blocks go first", 6, []workload.Request{prompt(0, span(1, 40))}, prompt(0, span(1, 40)), 6},
		{"the tail goes before the prefix it hangs on", 12, []workload.Request{prompt(8, span(1, 40)), prompt(8)}, prompt(0, span(1, 40)), 10},
		{"then the prefix from its deep end", 12, []workload.Request{prompt(8, span(1, 40)), prompt(20)}, prompt(0, span(1, 40)), 7},
		{"a prompt longer than the index drives out everything", 12, []workload.Request{prompt(0, span(1, 40)), prompt(400)}, prompt(0, span(1, 40)), 0},
		{"touching again saves a prefix", 12, []workload.Request{prompt(0, span(1, 20)), prompt(20), prompt(8, span(1, 20)), prompt(8)}, prompt(0, span(1, 20)), 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newByPlace(newRoutedIndex(4, c.capacity), 2)
			for i := range c.past {
				x.look(&c.past[i])
				x.index.record(0)
			}
			x.look(&c.ask)
			if x.at(0) != c.want || x.at(1) != 0 {
				t.Errorf("matched %d and %d, want %d and 0", x.at(0), x.at(1), c.want)
			}
		})
	}
}

// TestIndexStopsGrowing feeds a small index long after it is full: its arrays
// and tables must recycle what they have.
func TestIndexStopsGrowing(t *testing.T) {
	x := newByPlace(newRoutedIndex(4, 50), 3)
	source := &prefixtwin.Traffic{Rng: rand.New(rand.NewPCG(3, 3)), Longest: 20}
	requests := make([]workload.Request, 3000)
	for i := range requests {
		requests[i] = source.Next(4)
	}
	feed := func() {
		for i := range requests {
			x.look(&requests[i])
			x.index.record(i % 3)
		}
	}
	feed()
	if allocations := testing.AllocsPerRun(3, feed); allocations != 0 {
		t.Errorf("%v allocations in steady state, want 0", allocations)
	}
}

// TestIndexCostFollowsSpans plays the same prompts at two block sizes: what the
// index keeps, and so what each of its operations costs, does not depend on the
// number of blocks.
func TestIndexCostFollowsSpans(t *testing.T) {
	kept := func(blockSize int32) (segments, intervals, runs int) {
		x := newByPlace(newRoutedIndex(blockSize, 64_000/blockSize), 3)
		rng := rand.New(rand.NewPCG(4, 4))
		for i := range 3000 {
			req := workload.Request{Identity: workload.Identity{ID: int64(i), Input: rng.Int32N(500)}}
			content := workload.ContentID(1 + rng.IntN(5))
			for range 1 + rng.IntN(6) {
				length := 128 * (1 + rng.Int32N(4))
				req.Spans = append(req.Spans, workload.Span{Content: content, Length: length})
				req.Input += length
				content = 10*content + workload.ContentID(rng.IntN(3))
			}
			x.look(&req)
			x.index.record(rng.IntN(3))
		}
		return len(x.index.segments.list), len(x.index.segments.intervals), len(x.index.orders.runs)
	}
	segments, intervals, runs := kept(64)
	for _, blockSize := range []int32{16, 4, 1} {
		s, i, r := kept(blockSize)
		t.Logf("block size %d: %d segments, %d intervals, %d runs; at 64 %d, %d, %d", blockSize, s, i, r, segments, intervals, runs)
		if 10*s > 11*segments || 10*i > 13*intervals || 10*r > 13*runs {
			t.Errorf("block size %d: the index grows with the number of blocks", blockSize)
		}
	}
}
