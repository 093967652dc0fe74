package draw

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"blis/vtime"
)

// The chance of a short gap is that of the law, and what the draws show.
func TestBelowIsTheShareOfShortGaps(t *testing.T) {
	for _, law := range []Law{
		{}, {Process: Constant}, {Process: Gamma, CV: 3}, {Process: Gamma, CV: 0.3}, {Process: Gamma, CV: 0.001}, {Process: Gamma, Shape: 2},
		{Process: Weibull, CV: 2}, {Process: Weibull, Shape: 1.5}, {Process: Pareto, Alpha: 1.5}, {Process: Periodic, Jitter: 0.8}, {Process: Periodic}, {Process: Burst, Size: 4},
	} {
		const n = 50_000
		a := NewArrivals(law, &Curve{Pieces: []Piece{{Length: 1, From: 1e-3, To: 1e-3}}}, vtime.NewStream(7, "below"))
		xs := []float64{0.1, 0.5, 0.9, 1.1, 3.9, 4.1}
		var short [6]float64
		last := vtime.Time(0)
		for range n {
			at, _, err := a.Next()
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range xs {
				if at.Sub(last) < vtime.Duration(x*1e9) {
					short[i]++
				}
			}
			last = at
		}
		for i, x := range xs {
			want := law.Below(x)
			if bound := 5*math.Sqrt(want*(1-want)/n) + 2.0/n; math.Abs(short[i]/n-want) > bound {
				t.Errorf("%+v: %v of the gaps are below %v, want %v ± %v", law, short[i]/n, x, want, bound)
			}
		}
	}
	for _, shape := range []float64{1e-4, 0.11, 1, 7.5, 1e3, 1e6} {
		for _, x := range []float64{1e-6, 0.5, 1, 1.001, 2, 50} {
			if got, want := gammaBelow(shape, shape*x), (distuv.Gamma{Alpha: shape, Beta: 1}).CDF(shape*x); math.Abs(got-want) > 1e-9 {
				t.Errorf("shape %v: %v below %v, want %v", shape, got, shape*x, want)
			}
		}
	}
}

// The share of arrivals in bursts is what a run of the process has, whatever its
// rate does.
func TestBurstsAreTheShareThatTheySay(t *testing.T) {
	scaled := func(c Curve, by float64) Curve { return c.Scale(by) }
	window := Flat(2)
	window.Windows = []Window{{Start: 5_000_000, End: 3_000_000_000_000, Factor: 3, Law: &Law{Process: Gamma, CV: 2}}}
	for name, x := range map[string]struct {
		law    Law
		curve  Curve
		within float64
	}{
		"flat":    {Law{}, Flat(5), 0.01},
		"gamma":   {Law{Process: Gamma, CV: 3}, Flat(5), 0.01},
		"spikes":  {Law{}, scaled(Spikes(10*vtime.Second, vtime.Second, 0, 20), 2), 0.02},
		"diurnal": {Law{}, scaled(Sinusoid(24*vtime.Hour, 5, vtime.Hour), 50), 0.01},
		"waves":   {Law{}, scaled(Sinusoid(vtime.Minute, 5, vtime.Second), 50), 0.01},
		"window":  {Law{}, window, 0.01},
	} {
		const n = 20_000
		a, b := NewArrivals(x.law, &x.curve, vtime.NewStream(3, "bursts")), NewBursts(x.law, &x.curve)
		last, in, want := vtime.Time(0), 0.0, 0.0
		for range n {
			at, _, err := a.Next()
			if err != nil {
				t.Fatal(err)
			}
			yes, share := b.In(a.Window(), last, at)
			if yes {
				in++
			}
			last, want = at, share
		}
		if math.Abs(in/n-want) > x.within {
			t.Errorf("%s: %v of the arrivals are in bursts, want %v", name, in/n, want)
		}
	}
}
