package draw

import (
	"math"
	"testing"

	"blis/vtime"
)

// Bits, not values, of everything that is drawn. A change here changes
// workloads, and bits that differ on another machine show here first.
func TestDrawsHaveTheseBits(t *testing.T) {
	for _, c := range distributions() {
		v, hash := NewVariates(vtime.NewStream(7, "bits")), uint64(0)
		for range 5000 {
			hash = fold(hash, c.dist.Sample(&v))
		}
		hash = fold(fold(hash, c.dist.Mean()), c.dist.Variance())
		if want := wantSampleBits[c.name]; hash != want {
			t.Errorf("%q: %#x, // want %#x", c.name, hash, want)
		}
	}
}

func TestArrivalsHaveTheseBits(t *testing.T) {
	flat := Flat(3)
	curves := changing()
	for _, l := range laws() {
		hash := uint64(0)
		for _, c := range []RateCurve{flat, curves["diurnal"], curves["windows of a ramp"], curves["ramp"]} {
			a := NewArrivals(l.law, &c, vtime.NewStream(7, "bits"))
			for range 2000 {
				at, _, _ := a.Next()
				hash = fold(hash, float64(at))
				if k := a.warp; k != nil {
					hash = fold(hash, k.fraction)
				}
			}
			hash = fold(hash, a.fraction)
		}
		if want := wantArrivalBits[l.name]; hash != want {
			t.Errorf("%q: %#x, // want %#x", l.name, hash, want)
		}
	}
}

func fold(hash uint64, x float64) uint64 {
	return hash*0x9e3779b97f4a7c15 + math.Float64bits(x) ^ hash>>29
}

// The lognormal of model load times is drawn as it always was.
func TestLognormalKeepsItsBits(t *testing.T) {
	for _, cv := range []float64{0.1, 0.5, 3} {
		a, b := vtime.NewStream(1, "x"), vtime.NewStream(1, "x")
		for range 1000 {
			variance := Log(1 + float64(cv*cv))
			z := NewVariates(b)
			want := float64(40e6 * Exp(float64(math.Sqrt(variance)*z.Normal())-variance/2))
			if got := Lognormal(a, 40e6, cv); got != want || a.Fold() != b.Fold() {
				t.Fatalf("CV %v: drew %v, want %v", cv, got, want)
			}
		}
	}
}

// Each value has what its bins give it: its share, but for rounding.
func TestAliasBinsHoldTheShares(t *testing.T) {
	for _, weights := range [][]float64{{1, 1}, {1e-9, 1}, {3, 1, 4, 1, 5, 9, 2, 6}, {1, 2, 4, 8, 16, 32, 64, 1e6}} {
		values, sum := make([]float64, len(weights)), 0.0
		for i, w := range weights {
			values[i] = float64(i)
			sum += w
		}
		got := make([]float64, len(weights))
		for _, b := range Must(NewEmpirical(values, weights)).table.bins {
			got[int(b.own)] += b.threshold / float64(len(weights))
			got[int(b.other)] += (1 - b.threshold) / float64(len(weights))
		}
		for i, w := range weights {
			if math.Abs(got[i]-w/sum) > 1e-15 {
				t.Errorf("weights %v: the bins give value %d a share of %v, want %v", weights, i, got[i], w/sum)
			}
		}
	}
}

var wantSampleBits = map[string]uint64{
	"gaussian":                 0x930d0703355dccf4,
	"gaussian below 0":         0x694b3638f66ae372,
	"uniform":                  0x1220523477c729a3,
	"uniform around 0":         0x5cc6e472975d7ce4,
	"exponential":              0x5cfbf59fa9c05049,
	"lognormal":                0x3d78af69af98f3c7,
	"lognormal wide":           0xa16e1a87366c05ab,
	"lognormal of mean and CV": 0xbfb862edd9c84ff5,
	"10 % Pareto of alpha 1.2 from 1000, else lognormal of mu 6, sigma 1": 0x44d4a2a998c9bddc,
	"50 % Pareto of alpha 2.5 from 50, else lognormal of mu 3, sigma 0.4": 0x7ad4a855fc4603cc,
	"100 % Pareto of alpha 5 from 10, else lognormal of mu 2, sigma 0.3":  0xc6df335c0a46dda8,
	"0 % Pareto of alpha 9 from 10, else lognormal of mu 2, sigma 0.3":    0x6020d4c8419dd5f9,
	"Zipf":                    0xf28ab9195f51e5bc,
	"Zipf flat":               0x41380e6e8b4e029a,
	"Zipf gentle":             0x665bcd441049a92b,
	"Zipf large":              0x8c1562ec8fcd3b28,
	"Zipf steep":              0xefebb1d47c85443,
	"Zipf almost 1":           0x99fb7dc16e52a673,
	"empirical":               0x7679796e8ea5f864,
	"empirical even":          0x87a4831c6bdd76c8,
	"empirical large weights": 0x5a80d8f509d810d6,
}

var wantArrivalBits = map[string]uint64{
	"poisson":           0xb04793f9822160c6,
	"constant":          0x8b826394d6007a64,
	"pareto 3":          0xb88f928d1306206a,
	"pareto 1.5":        0xffbc49365d0f426b,
	"periodic 0.4":      0x2796d4e3a43fff49,
	"periodic 1":        0xcb2d867962132606,
	"burst 10":          0xb9445798d1700889,
	"gamma CV 0.2":      0x92f275513882910e,
	"gamma CV 1":        0x45ad92d7db4dd485,
	"gamma CV 3":        0xdedc8fe9907d1066,
	"gamma CV 10":       0x8f3f3e91da0c88c1,
	"gamma shape 4":     0x15c441b2f1400ff,
	"weibull shape 0.4": 0xc6dd55b794a2f98b,
	"weibull CV 3.14":   0xa025f7ae7c34d70,
	"weibull shape 0.8": 0xc793a840813c2d16,
	"weibull CV 1.26":   0x720cdc94e089a83a,
	"weibull shape 1.7": 0xc4ffdba3d8f8b36b,
	"weibull CV 0.605":  0x86c5eae268c0fa86,
	"weibull shape 8":   0x51e11e477145ddad,
	"weibull CV 0.148":  0x826b41fd0d50b6f4,
}
