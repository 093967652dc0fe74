package draw

import (
	"math"
	"testing"

	"blis/vtime"
	"blis/workload"
)

// Whatever Check lets through yields arrivals that never go back, in windows
// where there are any, and ends in some way without a panic.
func FuzzArrivals(f *testing.F) {
	f.Add(uint8(0), 1.0, 0.5, int64(1000), int64(500), int64(7), 3.0, 4.0, 0.5, true)
	f.Add(uint8(2), 3.0, 0.0, int64(1)<<61, int64(1), int64(1)<<60, 1e-12, 0.0, 1e12, true)
	f.Add(uint8(5), 1.0, 1.0, int64(3), int64(9), int64(0), 1e12, 1e-300, 1e-300, false)
	f.Add(uint8(6), 1000.0, 0.0, int64(60), int64(10), int64(20), 0.0, 5.0, 0.0, true)
	f.Fuzz(func(t *testing.T, kind uint8, x, y float64, length, other, start int64, from, to, factor float64, repeat bool) {
		process := ArrivalProcess{Kind: ProcessKind(processes[int(kind)%len(processes)])}
		switch process.Kind {
		case Gamma, Weibull:
			process.CV, process.Shape = x, y
		case Pareto:
			process.Alpha = x
		case Periodic:
			process.Jitter = x
		case Burst:
			process.Size = int32(min(max(x, -1), 1e9))
		}
		c := RateCurve{Repeat: repeat, Pieces: []Piece{{vtime.Duration(length), from, to}, {vtime.Duration(other), to, y}}}
		if start != 0 {
			c.Windows = []Window{
				{Start: vtime.Time(start), End: vtime.Time(start).Add(vtime.Duration(other)), Factor: factor, Process: &process},
				{Start: vtime.Time(start).Add(vtime.Duration(other)), End: vtime.Never, Factor: x},
			}
		}
		var bad workload.Faults
		process.Check(&bad, "")
		c.Check(&bad, "")
		if bad.Err("") != nil {
			return
		}
		a, last := NewArrivals(process, &c, vtime.NewStream(1, "fuzz")), vtime.Time(0)
		for range 200 {
			at, more, err := a.Next()
			if err != nil || !more {
				break
			}
			if at < last || at > workload.Latest {
				t.Fatalf("arrival at %v after %v", at, last)
			}
			if w := a.Window(); w >= 0 && (at < c.Windows[w].Start || at >= c.Windows[w].End) {
				t.Fatalf("arrival at %v in window %d", at, w)
			}
			last = at
		}
		if n := c.Integral(0, end); !(n >= 0) || math.IsInf(n, 0) {
			t.Fatalf("the integral is %v", n)
		}
	})
}

// Whatever the constructors let through draws finite numbers within its
// bounds, and has moments that are numbers.
func FuzzDistributions(f *testing.F) {
	f.Add(uint8(3), 5.0, 1.0, 2.0, 3.0, 0.5)
	f.Add(uint8(5), 3.0, 1e18, 400.0, 20.0, 1.0)
	f.Add(uint8(5), 0.1, 1e18, 400.0, 20.0, 0.5)
	f.Add(uint8(6), 100.0, 1e7, 0.0, 0.0, 0.0)
	f.Add(uint8(7), 1.0, -1e18, 1e18, 1e300, 5e-324)
	f.Fuzz(func(t *testing.T, family uint8, p, q, r, s, u float64) {
		d, err := [](func() (Distribution, error)){
			func() (Distribution, error) { return NewFixed(p) },
			func() (Distribution, error) { return NewGaussian(p, q) },
			func() (Distribution, error) { return NewUniform(p, q) },
			func() (Distribution, error) { return NewLognormal(p, q) },
			func() (Distribution, error) { return NewLognormalMean(p, q) },
			func() (Distribution, error) { return NewParetoLognormal(p, q, r, s, u) },
			func() (Distribution, error) { return NewZipf(p, int(min(max(q, -1), 1e9))) },
			func() (Distribution, error) { return NewEmpirical([]float64{p, q, r}, []float64{1, s, u}) },
			func() (Distribution, error) { return NewExponential(p) },
		}[family%9]()
		if err != nil {
			return
		}
		v := NewVariates(vtime.NewStream(1, "fuzz"))
		low, high := d.Bounds()
		for range 50 {
			if x := d.Sample(&v); !(x >= low && x <= high) || math.IsInf(x, 0) {
				t.Fatalf("%s: drew %v outside [%v, %v]", d.String(), x, low, high)
			}
		}
		if m, v := d.Mean(), d.Variance(); m != m || !(v >= 0) {
			t.Fatalf("%s: mean %v, variance %v", d.String(), m, v)
		}
	})
}
