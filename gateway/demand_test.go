package gateway

import (
	"slices"
	"testing"

	"blis/vtime"
)

// demand is Demand step by step: of all bands that may want something the highest, and one request after the other
// until saturation is no longer above the ceiling.
func (p *plain) demand(s float64, tick int64, lowest int, share float64) Demand {
	bands := p.priorities()
	at := slices.IndexFunc(bands, func(b int) bool {
		c := p.ceiling(slices.Index(bands, b), s, tick)
		return b > lowest && c > 0 && s >= c && len(p.in(b)) > 0
	})
	if at < 0 {
		return Demand{}
	}
	n := int64(1)
	if s-float64(share) > p.ceiling(at, s, tick) {
		n = 2
	}
	return Demand{bands[at], n}
}

// A request in flight is a share of the saturation: one or two of them end, however far it is above the ceiling.
func TestDemand(t *testing.T) {
	q := New(Rules{Ceilings: Ceilings{Kind: Holdback, Min: 0.5, Max: 1}})
	for i, band := range []int{4, -1, -3} {
		if e := q.Enter(int32(i), &Request{Number: int64(i), Band: band, Deadline: vtime.Never}, 0); e.Full {
			t.Fatal(e)
		}
	}
	for _, x := range []struct {
		s, share float64
		lowest   int
		want     Demand
	}{
		{1, 0.5, -1, Demand{4, 1}}, {1.25, 0.25, -1, Demand{4, 1}}, {1.5, 0.25, -1, Demand{4, 2}}, {9, 0.25, -1, Demand{4, 2}},
		{0.75, 0.25, -1, Demand{}}, {0.75, 0.25, -2, Demand{-1, 1}}, {0.5, 0.25, -3, Demand{}},
	} {
		if got := q.Demand(x.s, 1, x.lowest, x.share); got != x.want {
			t.Errorf("at %v, %v each, above %d: %+v, want %+v", x.s, x.share, x.lowest, got, x.want)
		}
	}
}
