package draw

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"blis/vtime"
)

// The probability of a short gap is right by formula, and by the draws.
func TestBelowIsTheShareOfShortGaps(t *testing.T) {
	for _, process := range []ArrivalProcess{
		{}, {Kind: Constant}, {Kind: Gamma, CV: 3}, {Kind: Gamma, CV: 0.3}, {Kind: Gamma, CV: 0.001}, {Kind: Gamma, Shape: 2},
		{Kind: Weibull, CV: 2}, {Kind: Weibull, Shape: 1.5}, {Kind: Pareto, Alpha: 1.5}, {Kind: Periodic, Jitter: 0.8}, {Kind: Periodic}, {Kind: Burst, Size: 4},
	} {
		const n = 50_000
		a := NewArrivals(process, &RateCurve{Pieces: []Piece{{Length: 1, From: 1e-3, To: 1e-3}}}, vtime.NewStream(7, "below"))
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
			want := process.gapBelow(x)
			if bound := 5*math.Sqrt(want*(1-want)/n) + 2.0/n; math.Abs(short[i]/n-want) > bound {
				t.Errorf("%+v: %v of the gaps are below %v, want %v ± %v", process, short[i]/n, x, want, bound)
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
	scaled := func(c RateCurve, by float64) RateCurve { return c.Scale(by) }
	window := Flat(2)
	window.Windows = []Window{{Start: 5_000_000, End: 3_000_000_000_000, Factor: 3, Process: &ArrivalProcess{Kind: Gamma, CV: 2}}}
	for name, x := range map[string]struct {
		law    ArrivalProcess
		curve  RateCurve
		within float64
	}{
		"flat":    {ArrivalProcess{}, Flat(5), 0.01},
		"gamma":   {ArrivalProcess{Kind: Gamma, CV: 3}, Flat(5), 0.01},
		"spikes":  {ArrivalProcess{}, scaled(Spikes(10*vtime.Second, vtime.Second, 0, 20), 2), 0.02},
		"diurnal": {ArrivalProcess{}, scaled(Sinusoid(24*vtime.Hour, 5, vtime.Hour), 50), 0.01},
		"waves":   {ArrivalProcess{}, scaled(Sinusoid(vtime.Minute, 5, vtime.Second), 50), 0.01},
		"window":  {ArrivalProcess{}, window, 0.01},
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
