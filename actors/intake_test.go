package actors

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
)

// counting yields n requests, whose spans lie in memory that the next pull
// overwrites, and then an error if there is one.
type counting struct {
	n, pulled uint64
	err       error
	ended     bool
	spans     [2]workload.Span
}

func (c *counting) Pull(r *workload.Request) (bool, error) {
	if c.ended {
		panic("pulled after its end")
	}
	if c.pulled == c.n {
		c.ended = true
		return false, c.err
	}
	c.pulled++
	*r = workload.Request{Identity: workload.Identity{Arrival: vtime.Time(c.pulled)}, Index: c.pulled}
	for i := range c.pulled % 3 {
		c.spans[i] = workload.Span{Content: workload.ContentID(c.pulled), Length: int32(i + 1)}
	}
	r.Spans = c.spans[:c.pulled%3]
	return true, nil
}

func (c *counting) Labels() *workload.Labels { return nil }

// However far an intake is ahead, it yields what its source yields.
func TestIntakeEqualsItsSource(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		n := random.Uint64N(3 * ringSize)
		var failure error
		if seed%2 == 1 {
			failure = errors.New("row 7 is bad")
		}
		in, twin := intake{source: &counting{n: n, err: failure}}, &counting{n: n, err: failure}
		rare := random.IntN(ringSize) + 1
		var got, want workload.Request
		for more := true; more; {
			if random.IntN(rare) == 0 {
				in.prepare()
			}
			gotMore, gotErr := in.pull(&got)
			wantMore, wantErr := twin.Pull(&want)
			if gotMore != wantMore || gotErr != wantErr || gotMore && (got.Index != want.Index || got.Arrival != want.Arrival) {
				t.Fatalf("seed %d: pull %d is %v %v %d, want %v %v %d", seed, twin.pulled, gotMore, gotErr, got.Index, wantMore, wantErr, want.Index)
			}
			if random.IntN(10) == 0 {
				in.prepare() // must not touch the spans of the request at hand
			}
			if gotMore && !slices.Equal(got.Spans, want.Spans) {
				t.Fatalf("seed %d: spans of pull %d are %v, want %v", seed, twin.pulled, got.Spans, want.Spans)
			}
			more = gotMore
		}
	}
}
