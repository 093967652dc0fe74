package draw

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"blis/vtime"
)

// changing are curves of every shape, all with a mean near 20 a second.
func changing() map[string]RateCurve {
	spikes, day := Spikes(vtime.Minute, 5*vtime.Second, 20*vtime.Second, 10), Sinusoid(10*vtime.Minute, 10, 3*vtime.Minute)
	windows := Flat(40)
	windows.Windows = []Window{
		{Start: 0, End: 90e6, Factor: 0.5}, {Start: 90e6, End: 130e6, Factor: 0.1},
		{Start: 200e6, End: 300e6, Factor: 2}, {Start: 300e6, End: 310e6}, {Start: 330e6, End: vtime.Never, Factor: 0.4},
	}
	return map[string]RateCurve{
		"step":    steps(stretch{75 * vtime.Second, 10}, stretch{100 * vtime.Second, 40}, stretch{60 * vtime.Second, 0}, stretch{vtime.Second, 20}),
		"ramp":    {Pieces: []Piece{{100 * vtime.Second, 5, 50}, {vtime.Second, 50, 0}, {200 * vtime.Second, 0, 30}}},
		"spikes":  spikes.Scale(12),
		"diurnal": day.Scale(20),
		"windows": windows,
		"windows of a ramp": {Pieces: []Piece{{150 * vtime.Second, 0, 60}}, Repeat: true,
			Windows: []Window{{Start: 20e6, End: 170e6, Factor: 1}, {Start: 200e6, End: 1000e6, Factor: 0.5}}},
	}
}

// counts are the arrivals in each of the segments of 20 s, seed by seed.
func counts(t *testing.T, process ArrivalProcess, c *RateCurve, segments int) [][]float64 {
	all := make([][]float64, seeds)
	for seed := range all {
		all[seed] = make([]float64, segments)
		a := NewArrivals(process, c, vtime.NewStream(uint64(seed), "counts"))
		for {
			at, more, err := a.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !more || int(at/20e6) >= segments {
				break
			}
			all[seed][at/20e6]++
		}
	}
	return all
}

// Counts per segment have the mean that the integral of the rate says, and for
// Poisson that variance too: the sum of (count − mean)²/mean is chi-square.
func TestCountsFollowTheRate(t *testing.T) {
	const segments = 25
	// In any order: each curve is a test of its own.
	for name, c := range changing() {
		for _, process := range []ArrivalProcess{{}, {Kind: Gamma, CV: 0.3}, {Kind: Gamma, CV: 3}, {Kind: Weibull, CV: 2}, {Kind: Burst, Size: 4}} {
			t.Run(name+"/"+string(process.Kind)+short(process.CV), func(t *testing.T) {
				all, statistic, freedom := counts(t, process, &c, segments), 0.0, 0.0
				for s := range segments {
					want := c.Integral(vtime.Time(s)*20e6, vtime.Time(s+1)*20e6)
					sum, squares := 0.0, 0.0
					for _, one := range all {
						sum += one[s]
						squares += (one[s] - want) * (one[s] - want)
					}
					if want == 0 {
						if sum > 0 {
							t.Fatalf("%v arrivals in segment %d, where the rate is 0", sum, s)
						}
						continue
					}
					statistic += squares / want
					freedom += seeds
					// A renewal process has forgotten how it began after some segments.
					if bound := 5*math.Sqrt(squares)/seeds + 0.01*want; (process.Kind == "" || s > 4) && math.Abs(sum/seeds-want) > bound {
						t.Errorf("segment %d has %v arrivals, want %v ± %v", s, sum/seeds, want, bound)
					}
				}
				if process.Kind == "" {
					if p := (distuv.ChiSquared{K: freedom}).CDF(statistic); p < 1e-4 || p > 1-1e-4 {
						t.Errorf("chi-square %v with %v degrees of freedom, p = %v", statistic, freedom, p)
					}
				}
			})
		}
	}
}

// What thinning would not do: under a rate that swings by ten, gaps measured
// in operational time keep their CV.
func TestGapsKeepTheirCVUnderAnyRate(t *testing.T) {
	day := Sinusoid(vtime.Hour, 10, 0)
	c := day.Scale(20)
	for _, cv := range []float64{0.1, 0.3, 1, 3} {
		a := NewArrivals(ArrivalProcess{Kind: Gamma, CV: cv}, &c, vtime.NewStream(3, "cv"))
		sum, squares, last := 0.0, 0.0, vtime.Time(0)
		const n = 20_000
		for range n {
			at, _, _ := a.Next()
			gap := c.Integral(last, at)
			sum, squares, last = sum+gap, squares+gap*gap, at
		}
		mean := sum / n
		if got := math.Sqrt(squares/n-mean*mean) / mean; math.Abs(mean-1) > 5*cv/math.Sqrt(n) || math.Abs(got/cv-1) > 0.06 {
			t.Errorf("CV %v: gaps of mean %v and CV %v in operational time", cv, mean, got)
		}
	}
}

func TestWindowsHaveLawsOfTheirOwn(t *testing.T) {
	even := ArrivalProcess{Kind: Constant}
	c := Flat(2)
	c.Windows = []Window{
		{Start: 5e6, End: 8e6, Factor: 0}, // its gaps never begin
		{Start: 10_250_000, End: 20e6, Factor: 1, Process: &even},
		{Start: 20e6, End: 1020e6, Factor: 5},
		{Start: 1100e6, End: 1110e6, Factor: 0.5, Process: &even},
	}
	a := NewArrivals(ArrivalProcess{Kind: Gamma, CV: 2}, &c, vtime.NewStream(1, "x"))
	if a.Window() != -1 {
		t.Errorf("window %d before the first arrival", a.Window())
	}
	var at [4][]vtime.Time
	for {
		x, more, err := a.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		w := c.Windows[a.Window()]
		if x < w.Start || x >= w.End {
			t.Fatalf("arrival at %v in window %d, from %v to %v", x, a.Window(), w.Start, w.End)
		}
		at[a.Window()] = append(at[a.Window()], x)
	}
	for i, x := range at[1] {
		if want := vtime.Time(10_250_000 + 500_000*(i+1)); x < want-1 || x > want {
			t.Errorf("arrival %d of the even window at %v, want %v or 1 µs less", i, x, want)
		}
	}
	if len(at[0]) != 0 || len(at[1]) != 19 || math.Abs(float64(len(at[2]))/1e4-1) > 0.1 || len(at[3]) < 9 || len(at[3]) > 10 {
		t.Errorf("%d, %d, %d and %d arrivals, want 0, 19, 10,000 ± 1,000, 10", len(at[0]), len(at[1]), len(at[2]), len(at[3]))
	}
	for i := 1; i < len(at[3]); i++ {
		if gap := at[3][i] - at[3][i-1]; gap < 999_999 || gap > 1_000_001 {
			t.Errorf("gap of %v in the last window, want 1 s", gap)
		}
	}
	if _, more, err := a.Next(); more || err != nil {
		t.Errorf("after the last arrival: %v, %v", more, err)
	}
}

// An arrival that is due just at the end of a window is not in it: it is the
// first of the next.
func TestArrivalsAtTheEndOfAWindowComeInTheNext(t *testing.T) {
	c := Flat(1e6) // one a µs, which is exact
	c.Windows = []Window{{Start: 0, End: 4, Factor: 1}, {Start: 9, End: 11, Factor: 1}}
	a := NewArrivals(ArrivalProcess{Kind: Constant}, &c, vtime.NewStream(1, "x"))
	for i, want := range []vtime.Time{1, 2, 3, 9, 10} {
		if at, more, err := a.Next(); at != want || !more || err != nil {
			t.Errorf("arrival %d at %v, %v, %v; want %v", i, at, more, err, want)
		}
	}
	if at, more, _ := a.Next(); more {
		t.Errorf("an arrival at %v, after all windows", at)
	}
}

func TestArrivalsEndWhereTheRateIsZeroForEver(t *testing.T) {
	flat := Flat(10)
	flat.Windows = []Window{{Start: 0, End: 1e6, Factor: 1}, {Start: 2e6, End: 3e6, Factor: 0}}
	ramp := RateCurve{Pieces: []Piece{{2 * vtime.Second, 10, 0}}}
	zero, closed := Flat(0), steps(stretch{vtime.Second, 5}, stretch{vtime.Second, 0})
	closed.Windows = []Window{{Start: 3e6, End: 4e6, Factor: 1}, {Start: 5e6, End: vtime.Never, Factor: 1}}
	for i, c := range []RateCurve{flat, ramp, zero, closed} {
		a, n := NewArrivals(ArrivalProcess{Kind: Constant}, &c, vtime.NewStream(1, "x")), 0
		for {
			_, more, err := a.Next()
			if err != nil {
				t.Fatalf("curve %d: %v", i, err)
			}
			if !more {
				break
			}
			n++
		}
		// The tenth would be due as the rate falls to 0.
		if want := []int{9, 9, 0, 0}[i]; n != want {
			t.Errorf("curve %d: %d arrivals, want %d", i, n, want)
		}
		if _, more, err := a.Next(); more || err != nil {
			t.Errorf("curve %d: more after the last: %v, %v", i, more, err)
		}
	}
}

func TestArrivalsOfABurstComeTogether(t *testing.T) {
	c := RateCurve{Pieces: []Piece{{vtime.Minute, 1, 9}, {vtime.Minute, 9, 1}}, Repeat: true, Windows: []Window{{Start: 7, End: 1e6 * 3600, Factor: 1}}}
	a := NewArrivals(ArrivalProcess{Kind: Burst, Size: 6}, &c, vtime.NewStream(1, "x"))
	for i := 1; i < 500; i++ {
		first, _, _ := a.Next()
		for range 5 {
			if next, more, _ := a.Next(); !more || next != first {
				t.Fatalf("burst %d at %v and %v", i, first, next)
			}
		}
		if got := c.Integral(0, first); math.Abs(got-float64(6*i)) > 1e-4 {
			t.Fatalf("burst %d at %v, after %v arrivals were due", i, first, got)
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	c := changing()["windows of a ramp"]
	c.Windows = append(c.Windows, Window{Start: 2000e6, End: vtime.Never, Factor: 1, Process: &ArrivalProcess{Kind: Weibull, CV: 2}})
	for _, l := range laws() {
		a := NewArrivals(l.law, &c, vtime.NewStream(1, "x"))
		if n := testing.AllocsPerRun(50_000, func() { a.Next() }); n != 0 {
			t.Errorf("%s: %v allocations per arrival", l.name, n)
		}
		if l.cv > 0 && l.cv < 3 && a.Window() != 2 {
			t.Errorf("%s: stayed in window %d", l.name, a.Window())
		}
	}
	for _, d := range distributions() {
		v := NewVariates(vtime.NewStream(1, "x"))
		if n := testing.AllocsPerRun(1000, func() { d.dist.Sample(&v) }); n != 0 {
			t.Errorf("%s: %v allocations per draw", d.name, n)
		}
	}
}
