package draw

import (
	"math"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func TestSpikesAreWhereTheyAreAskedFor(t *testing.T) {
	c := Spikes(60, 10, 20, 5)
	for x := range vtime.Time(300) {
		want := 1.0
		if x%60 >= 20 && x%60 < 30 {
			want = 5
		}
		if got := c.At(x); got != want {
			t.Fatalf("rate %v at %v, want %v", got, x, want)
		}
	}
	if n := len(Spikes(60, 10, 0, 5).Pieces); n != 2 {
		t.Errorf("%d pieces of a spike at the beginning, want 2", n)
	}
	if n := len(Spikes(60, 60, 0, 5).Pieces); n != 1 {
		t.Errorf("%d pieces of a spike that never ends, want 1", n)
	}
}

func TestStepsHoldAndScale(t *testing.T) {
	c := steps(stretch{10, 3}, stretch{5, 7})
	half := c.Scale(0.5)
	for x, want := range map[vtime.Time]float64{0: 3, 9: 3, 10: 7, 14: 7, 15: 7, 1e9: 7} { // any order
		if c.At(x) != want || half.At(x) != want/2 {
			t.Errorf("rates %v and %v at %v, want %v and half of it", c.At(x), half.At(x), x, want)
		}
	}
}

func TestSinusoidHasMeanPeakAndRatio(t *testing.T) {
	for _, c := range []struct {
		period, peak vtime.Duration
		ratio        float64
	}{{24 * vtime.Hour, 15 * vtime.Hour, 10}, {vtime.Hour, 0, 3}, {vtime.Second, 3 * vtime.Second / 4, 2}, {1 << 61, 5, 1e9}, {7_777_777, 77, 4}, {24 * vtime.Hour, vtime.Hour, 1}} {
		s := Sinusoid(c.period, c.ratio, c.peak)
		var bad workload.Faults
		if s.Check(&bad, ""); bad.Err("") != nil || s.length() != c.period {
			t.Fatalf("period %v: length %v, %v", c.period, s.length(), bad.Err(""))
		}
		if mean := s.Integral(0, vtime.Time(c.period)) / c.period.Seconds(); math.Abs(mean-1) > 1e-6 {
			t.Errorf("period %v: mean %v", c.period, mean)
		}
		a := (c.ratio - 1) / (c.ratio + 1)
		for i := range vtime.Duration(1000) {
			at := c.period / 1000 * i
			want := 1 + a*math.Cos(2*math.Pi*float64(at-c.peak)/float64(c.period))
			if got := s.At(vtime.Time(at)); math.Abs(got-want) > 3e-6 {
				t.Fatalf("period %v: rate %v at %v, want %v", c.period, got, at, want)
			}
		}
		top, bottom := s.At(vtime.Time(c.peak)), s.At(vtime.Time(c.peak+c.period/2))
		if math.Abs(top-(1+a)) > 3e-6 || math.Abs(bottom-(1-a)) > 3e-6 {
			t.Errorf("period %v: from %v to %v, want a ratio of %v", c.period, bottom, top, c.ratio)
		}
	}
	if n := len(Sinusoid(10, 2, 0).Pieces); n != 10 {
		t.Errorf("%d pieces in 10 µs", n)
	}
}

func TestCurvesThatEnd(t *testing.T) {
	second := vtime.Second
	window := []Window{{Start: 0, End: 5, Factor: 1}}
	open := []Window{{Start: 0, End: 5, Factor: 1}, {Start: 7, End: vtime.Never, Factor: 1}}
	for name, c := range map[string]struct {
		curve RateCurve
		want  bool
	}{
		"flat":              {Flat(3), false},
		"falls to 0":        {RateCurve{Pieces: []Piece{{second, 3, 3}, {second, 3, 0}}}, true},
		"falls and repeats": {RateCurve{Pieces: []Piece{{second, 3, 0}}, Repeat: true}, false},
		"window":            {RateCurve{Pieces: Flat(3).Pieces, Windows: window}, true},
		"repeats in window": {RateCurve{Pieces: []Piece{{second, 3, 0}}, Repeat: true, Windows: window}, true},
		"window for ever":   {RateCurve{Pieces: Flat(3).Pieces, Windows: open}, false},
		"ends in it":        {RateCurve{Pieces: []Piece{{second, 3, 0}}, Windows: open}, true},
	} {
		if got := c.curve.Ends(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// stretch is a span of time with one rate.
type stretch struct {
	Length vtime.Duration // above 0
	Rate   float64        // per second
}

// steps is one rate after the other. The last holds on, unless the curve is
// made to repeat.
func steps(list ...stretch) RateCurve {
	c := RateCurve{Pieces: make([]Piece, len(list))}
	for i, s := range list {
		c.Pieces[i] = Piece{s.Length, s.Rate, s.Rate}
	}
	return c
}
