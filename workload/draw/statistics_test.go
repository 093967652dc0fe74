package draw

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"blis/vtime"
)

// The tests here draw samples under a hundred fixed seeds each, so that they
// end the same way every time; the bounds are such that other seeds would
// hardly ever end otherwise.
const seeds, samples = 100, 1000

func short(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

// checkMoments wants mean and variance of samples, one set per seed, within
// five standard errors of what they should be. The errors are estimated from
// how the figures of the seeds differ, so that nothing need be known of higher
// moments: with a hundred seeds, one correct generator in a million fails.
// Infinite figures are not compared, nor the variance of a heavy tail, whose
// estimates are too skew.
func checkMoments(t *testing.T, sets [][]float64, mean, variance float64, heavy bool) {
	t.Helper()
	if math.IsInf(mean, 1) {
		return
	}
	means, squares := make([]float64, len(sets)), make([]float64, len(sets))
	for i, set := range sets {
		means[i] = average(set)
		for _, x := range set {
			squares[i] += (x - mean) * (x - mean) / float64(len(set))
		}
	}
	near := func(what string, figures []float64, want float64) {
		got, spread := average(figures), 0.0
		for _, x := range figures {
			spread += (x - got) * (x - got) / float64(len(figures)-1)
		}
		if bound := 5*math.Sqrt(spread/float64(len(figures))) + 1e-9*math.Abs(want); !(math.Abs(got-want) <= bound) {
			t.Errorf("%s %v, want %v ± %v", what, got, want, bound)
		}
	}
	if !math.IsInf(variance, 1) {
		near("mean", means, mean)
		if !heavy {
			near("variance", squares, variance)
		}
	}
}

func average(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// kolmogorov is the p-value of the test of Kolmogorov and Smirnov that samples
// are from a continuous distribution: the asymptotic distribution of its
// statistic, with Stephens's correction for their number ("EDF statistics for
// goodness of fit", JASA 69, 1974).
func kolmogorov(set []float64, cdf func(float64) float64) float64 {
	set = slices.Clone(set)
	slices.Sort(set)
	n, most := float64(len(set)), 0.0
	for i, x := range set {
		p := cdf(x)
		most = max(most, p-float64(i)/n, float64(i+1)/n-p)
	}
	x := most * (math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n))
	if x < 0.3 { // 1 − 10⁻⁵, and the series converges badly
		return 1
	}
	sum := 0.0
	for k := 1.0; k <= 100; k++ {
		sum += 2 * math.Pow(-1, k-1) * math.Exp(-2*k*k*x*x)
	}
	return sum
}

// chiSquare is the p-value of the test that samples are of these values, and
// in the bins with their chances.
func chiSquare(t *testing.T, set, values []float64, bins []chanceBin) float64 {
	t.Helper()
	seen := make([]float64, len(bins))
	for _, x := range set {
		if _, found := slices.BinarySearch(values, x); !found {
			t.Fatalf("drew %v, which is none of the values", x)
		}
		i, _ := slices.BinarySearchFunc(bins, x, func(b chanceBin, x float64) int { return cmp.Compare(b.most, x) })
		seen[i]++
	}
	statistic := 0.0
	for i, b := range bins {
		expected := b.chance * float64(len(set))
		statistic += (seen[i] - expected) * (seen[i] - expected) / expected
	}
	return distuv.ChiSquared{K: float64(len(bins) - 1)}.Survival(statistic)
}

// checkFits wants at most 4 of 100 seeds to have p < 0.01: more come once in
// 300 correct generators.
func checkFits(t *testing.T, sets [][]float64, p func([]float64) float64) {
	t.Helper()
	low := 0
	for _, set := range sets {
		if p(set) < 0.01 {
			low++
		}
	}
	if low > 4 {
		t.Errorf("%d of %d seeds have p < 0.01", low, len(sets))
	}
}

func sample(purpose string, draw func(v *Variates) float64) [][]float64 {
	sets := make([][]float64, seeds)
	for seed := range sets {
		v := NewVariates(vtime.NewStream(uint64(seed), purpose))
		sets[seed] = make([]float64, samples)
		for i := range sets[seed] {
			sets[seed][i] = draw(&v)
		}
	}
	return sets
}

func TestDistributionsAreDrawn(t *testing.T) {
	for _, c := range distributions() {
		t.Run(c.name, func(t *testing.T) {
			sets := sample("distribution", func(v *Variates) float64 { return c.dist.Sample(v) })
			checkMoments(t, sets, c.mean, c.variance, c.heavy)
			checkFits(t, sets, func(set []float64) float64 {
				if c.cdf != nil {
					return kolmogorov(set, c.cdf)
				}
				return chiSquare(t, set, c.values, c.bins)
			})
		})
	}
}

func TestMomentsAreThoseOfTheDistribution(t *testing.T) {
	for _, c := range distributions() {
		for _, m := range []struct {
			what      string
			got, want float64
		}{{"mean", c.dist.Mean(), c.mean}, {"variance", c.dist.Variance(), c.variance}} {
			if m.got != m.want && !(math.Abs(m.got/m.want-1) < 2e-12) {
				t.Errorf("%s: %s %v, want %v", c.name, m.what, m.got, m.want)
			}
		}
	}
}

// Gaps are drawn with the mean that is asked for.
func TestGapsFollowTheirLaw(t *testing.T) {
	const mean = 250
	for _, c := range laws() {
		if c.cdf == nil { // arrivals that have places, see TestArrivalsHaveTheirPlaces
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			g := newGaps(c.law, mean)
			sets := sample("law", g.draw)
			checkMoments(t, sets, mean, mean*mean*c.cv*c.cv, c.heavy)
			checkFits(t, sets, func(set []float64) float64 {
				return kolmogorov(set, func(x float64) float64 { return c.cdf(x / mean) })
			})
		})
	}
}

// Arrivals at an even rate, and through a curve that is even too but does not
// say so: the same instants, but for rounding to a µs.
func TestArrivalsAreTheSumsOfTheirGaps(t *testing.T) {
	even := steps(stretch{vtime.Second, 200}, stretch{vtime.Hour, 200})
	flat := Flat(200)
	for _, c := range laws() {
		t.Run(c.name, func(t *testing.T) {
			a := NewArrivals(c.law, &flat, vtime.NewStream(5, "sums"))
			b := NewArrivals(c.law, &even, vtime.NewStream(5, "sums"))
			g, v := newGaps(c.law, 1), NewVariates(vtime.NewStream(5, "sums"))
			sum := 0.0
			for i := range 20_000 {
				if i%int(g.size) == 0 {
					sum += g.draw(&v)
				}
				x, _, err := a.Next()
				y, more, _ := b.Next()
				if want := sum * 5000; err != nil || !more || math.Abs(float64(x)-want) > 1.001 || math.Abs(float64(y)-want) > 1.001 {
					t.Fatalf("arrival %d at %v, and at %v under a curve, want %v (%v)", i, x, y, want, err)
				}
			}
		})
	}
}

// Places are known exactly, and jitter is uniform around them.
func TestArrivalsHaveTheirPlaces(t *testing.T) {
	flat := Flat(1e-3) // one in 10⁹ µs
	for _, c := range laws() {
		if c.cdf != nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			sets := make([][]float64, seeds)
			for seed := range sets {
				a, last := NewArrivals(c.law, &flat, vtime.NewStream(uint64(seed), "places")), vtime.Time(0)
				for n := 1; n <= samples; n++ {
					at, _, err := a.Next()
					if err != nil || at < last {
						t.Fatalf("seed %d: arrival at %v after %v, error %v", seed, at, last, err)
					}
					last = at
					place := n
					if size := int(c.law.Size); size > 0 {
						place = (n + size - 1) / size * size
					}
					off := float64(at)/1e9 - float64(place)
					if sets[seed] = append(sets[seed], off); math.Abs(off) > c.law.Jitter/2+2e-9 {
						t.Fatalf("seed %d: arrival %d is %v mean gaps off its place", seed, n, off)
					}
				}
			}
			if j := c.law.Jitter; j > 0 {
				uniform := distuv.Uniform{Min: -j / 2, Max: j / 2}
				checkMoments(t, sets, 0, uniform.Variance(), false)
				checkFits(t, sets, func(set []float64) float64 { return kolmogorov(set, uniform.CDF) })
			}
		})
	}
}

// The tests themselves: the p-values of samples that are what they should be
// are uniform, and those of samples that are a little off are small.
func TestTestsOfFitTellWhatFits(t *testing.T) {
	v := NewVariates(vtime.NewStream(9, "fits"))
	values := []float64{0, 1, 2, 3}
	bins := together(values, []float64{0.1, 0.2, 0.3, 0.4})
	var fits [4][]float64
	for range 400 {
		var right, wrong, whole, skew []float64
		for range samples {
			u := v.Uniform()
			right, wrong = append(right, u), append(wrong, math.Pow(u, 1.3))
			k := 3.0
			for i, edge := range []float64{0.1, 0.3, 0.6} {
				if u < edge {
					k = float64(i)
					break
				}
			}
			whole = append(whole, k)
			if k == 0 && v.Uniform() < 0.5 {
				k = 3
			}
			skew = append(skew, k)
		}
		uniform := func(x float64) float64 { return x }
		for i, p := range []float64{kolmogorov(right, uniform), chiSquare(t, whole, values, bins), kolmogorov(wrong, uniform), chiSquare(t, skew, values, bins)} {
			fits[i] = append(fits[i], p)
		}
	}
	for i, name := range []string{"kolmogorov", "chiSquare"} {
		if p := kolmogorov(fits[i], func(x float64) float64 { return x }); p < 1e-3 {
			t.Errorf("%s: p-values are not uniform, p = %v", name, p)
		}
		slices.Sort(fits[i+2])
		if median := fits[i+2][200]; median > 1e-3 {
			t.Errorf("%s: what does not fit has p = %v", name, median)
		}
	}
}
