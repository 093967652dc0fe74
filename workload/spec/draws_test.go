package spec

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"blis/vtime"
	"blis/workload"
	"blis/workload/traffic"
)

// Every process, distribution and load profile of a specification, in the
// requests that it generates: under a hundred fixed seeds each, so that the tests
// end the same way every time.

const statisticSeeds = 100

// requestsOf generates the requests of a specification, whose answers take 1 s.
func requestsOf(t testing.TB, text string, seed uint64, limit int64) []workload.Request {
	t.Helper()
	s, err := Parse("w.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := defaults()
	d.Seed, d.Limit = seed, limit
	c, _, err := s.Traffic(d)
	if err != nil {
		t.Fatal(err)
	}
	source, err := traffic.New(c)
	if err != nil {
		t.Fatal(err)
	}
	all, err := workload.Collect(workload.Play(source, func(*workload.Request) vtime.Duration { return vtime.Second }))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// kolmogorov is the p-value of the test of Kolmogorov and Smirnov that samples,
// which are whole numbers, follow cdf at these. It is the asymptotic one with
// Stephens's correction (JASA 69, 1974); of coarse samples it is too large.
func kolmogorov(set []float64, cdf func(float64) float64) float64 {
	set = slices.Clone(set)
	slices.Sort(set)
	n, most := float64(len(set)), 0.0
	for i := 0; i < len(set); {
		x, first := set[i], i
		for i < len(set) && set[i] == x {
			i++
		}
		most = max(most, math.Abs(float64(i)/n-cdf(x)), math.Abs(float64(first)/n-cdf(x-1)))
	}
	x := most * (math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n))
	if x < 0.3 {
		return 1
	}
	sum := 0.0
	for k := 1.0; k <= 100; k++ {
		sum += 2 * math.Pow(-1, k-1) * math.Exp(-2*k*k*x*x)
	}
	return sum
}

// follows wants at most 4 of 100 sets to have p < 0.01, and their mean and, if it
// is not NaN, their variance within five standard errors, taken from how the
// sets differ.
func follows(t *testing.T, sets [][]float64, cdf func(float64) float64, mean, variance float64) {
	t.Helper()
	low := 0
	means, squares := make([]float64, len(sets)), make([]float64, len(sets))
	for i, set := range sets {
		if kolmogorov(set, cdf) < 0.01 {
			low++
		}
		for _, x := range set {
			means[i] += x / float64(len(set))
			squares[i] += (x - mean) * (x - mean) / float64(len(set))
		}
	}
	if low > 4 {
		t.Errorf("%d of %d seeds have p < 0.01", low, len(sets))
	}
	for _, f := range []struct {
		what    string
		figures []float64
		want    float64
	}{{"mean", means, mean}, {"variance", squares, variance}} {
		got, spread := 0.0, 0.0
		for _, x := range f.figures {
			got += x / float64(len(f.figures))
		}
		for _, x := range f.figures {
			spread += (x - got) * (x - got) / float64(len(f.figures)-1)
		}
		if bound := 5*math.Sqrt(spread/float64(len(f.figures))) + 1e-4*math.Abs(f.want); math.Abs(got-f.want) > bound {
			t.Errorf("%s %v, want %v ± %v", f.what, got, f.want, bound)
		}
	}
}

// gapsOf are the times between arrivals of each seed, in µs, from time 0 on.
func gapsOf(t *testing.T, text string) [][]float64 {
	t.Helper()
	sets := make([][]float64, statisticSeeds)
	for seed := range sets {
		last := vtime.Time(0)
		for _, r := range requestsOf(t, text, uint64(seed), 800) {
			sets[seed] = append(sets[seed], float64(r.Arrival-last))
			last = r.Arrival
		}
	}
	return sets
}

// rounded is a distribution of gaps between times that are cut off to whole µs:
// a gap is at most k if the exact one is below k + 1 less what the first time had
// beyond its µs.
func rounded(cdf func(float64) float64) func(float64) float64 {
	return func(k float64) (sum float64) {
		for i := range 8 {
			sum += cdf(k+(float64(i)+0.5)/8) / 8
		}
		return sum
	}
}

// weibullShape is the shape with that CV.
func weibullShape(cv float64) float64 {
	low, high := 0.1, 100.0
	for range 200 {
		k := math.Sqrt(low * high)
		a, _ := math.Lgamma(1 + 2/k)
		b, _ := math.Lgamma(1 + 1/k)
		if math.Sqrt(math.Exp(a-2*b)-1) > cv {
			low = k
		} else {
			high = k
		}
	}
	return low
}

// At 2 requests per second: a µs is little, but not for gamma with a CV of 3, of
// whose gaps a sixth are shorter.
func TestProcessesSendTheirGaps(t *testing.T) {
	const mean = 500_000.0
	gamma := func(cv float64) distuv.Gamma { return distuv.Gamma{Alpha: 1 / (cv * cv), Beta: 1 / (cv * cv * mean)} }
	weibull := func(k float64) distuv.Weibull { return distuv.Weibull{K: k, Lambda: mean / math.Gamma(1+1/k)} }
	pareto := distuv.Pareto{Alpha: 2.5, Xm: mean * 1.5 / 2.5}
	for _, c := range []struct {
		arrival  string
		cdf      func(float64) float64
		variance float64 // NaN: the tail is too heavy to measure it
	}{
		{"{process: poisson}", distuv.Exponential{Rate: 1 / mean}.CDF, mean * mean},
		{"{process: gamma, cv: 0.5}", gamma(0.5).CDF, mean * mean / 4},
		{"{process: gamma, cv: 3}", gamma(3).CDF, 9 * mean * mean},
		{"{process: gamma, shape: 4}", gamma(0.5).CDF, mean * mean / 4},
		{"{process: weibull, cv: 0.5}", weibull(weibullShape(0.5)).CDF, mean * mean / 4},
		{"{process: weibull, cv: 2}", weibull(weibullShape(2)).CDF, 4 * mean * mean},
		{"{process: weibull, shape: 1}", distuv.Exponential{Rate: 1 / mean}.CDF, mean * mean},
		{"{process: pareto, alpha: 2.5}", pareto.CDF, math.NaN()},
		{"{process: bursty, alpha: 2.5}", pareto.CDF, math.NaN()},
	} {
		t.Run(c.arrival, func(t *testing.T) {
			follows(t, gapsOf(t, "clients: [{rate: 2, "+lengths+", arrival: "+c.arrival+"}]"), rounded(c.cdf), mean, c.variance)
		})
	}
}

// Those that have places are there.
func TestProcessesKeepTheirPlaces(t *testing.T) {
	arrivals := func(arrival string) (at []int64) {
		for _, r := range requestsOf(t, "clients: [{"+lengths+", arrival: "+arrival+"}]", 5, 100) {
			at = append(at, int64(r.Arrival))
		}
		return at
	}
	for i, at := range arrivals("{process: constant}, rate: 8") {
		if want := int64(i+1) * 125_000; at != want {
			t.Fatalf("constant: arrival %d at %d, want %d", i, at, want)
		}
	}
	for i, at := range arrivals("{process: adversarial, every: 4s, size: 20}") {
		if want := int64(i/20+1) * 4_000_000; at != want {
			t.Fatalf("adversarial: arrival %d at %d, want %d", i, at, want)
		}
	}
	if got := arrivals("{process: trace, times_us: [3, 3, 70, 1000000]}"); !slices.Equal(got, []int64{3, 3, 70, 1_000_000}) {
		t.Errorf("listed times: %v", got)
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(file, []byte("arrival_us,input_tokens,output_tokens\n9,1,1\n5,2,1\n5,3,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := arrivals("{process: trace, file: " + file + "}"); !slices.Equal(got, []int64{5, 5, 9}) {
		t.Errorf("times of a trace: %v", got)
	}
	sets := make([][]float64, statisticSeeds)
	for seed := range sets {
		for i, r := range requestsOf(t, "clients: [{"+lengths+", arrival: {process: periodic, jitter: 0.5}, rate: 2}]", uint64(seed), 400) {
			sets[seed] = append(sets[seed], float64(r.Arrival)-500_000*float64(i+1))
		}
	}
	uniform := distuv.Uniform{Min: -125_000, Max: 125_000}
	follows(t, sets, uniform.CDF, 0, uniform.Variance())
}

// Lengths are rounded and put on their bounds, so a number k stands for all from
// k − ½ to k + ½.
func TestDistributionsAreThoseOfTheRequests(t *testing.T) {
	mixed := func(x float64) float64 {
		return 0.25*distuv.Pareto{Alpha: 2.2, Xm: 50}.CDF(x) + 0.75*distuv.LogNormal{Mu: 5, Sigma: 0.5}.CDF(x)
	}
	sigma := math.Sqrt(math.Log(1.25))
	listed := func(values, chances []float64) func(float64) float64 {
		return func(x float64) (sum float64) {
			for i, v := range values {
				if v <= x {
					sum += chances[i]
				}
			}
			return sum
		}
	}
	zipf := 1 + 1./2 + 1./3 + 1./4
	file := filepath.Join(t.TempDir(), "values.csv")
	if err := os.WriteFile(file, []byte("7,1\n70,2\n700,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text     string
		cdf      func(float64) float64
		min, max float64
	}{
		{"{type: constant, params: {value: 37}}", listed([]float64{37}, []float64{1}), 1, 1e7},
		{"{type: gaussian, params: {mean: 500, std_dev: 100}}", distuv.Normal{Mu: 500, Sigma: 100}.CDF, 1, 1e7},
		{"{type: gaussian, params: {mean: 500, std_dev: 300, min: 100, max: 900}}", distuv.Normal{Mu: 500, Sigma: 300}.CDF, 100, 900},
		{"{type: exponential, params: {mean: 400, max: 1500}}", distuv.Exponential{Rate: 1. / 400}.CDF, 1, 1500},
		{"{type: lognormal, params: {mu: 5, sigma: 0.8, max: 2000}}", distuv.LogNormal{Mu: 5, Sigma: 0.8}.CDF, 1, 2000},
		{"{type: lognormal, params: {mean: 300, cv: 0.5, max: 2000}}", distuv.LogNormal{Mu: math.Log(300) - sigma*sigma/2, Sigma: sigma}.CDF, 1, 2000},
		{"{type: pareto_lognormal, params: {alpha: 2.2, xm: 50, mu: 5, sigma: 0.5, mix_weight: 0.25, max: 1000}}", mixed, 1, 1000},
		{"{type: uniform, params: {min: 20, max: 80}}", distuv.Uniform{Min: 19.5, Max: 80.5}.CDF, 20, 80},
		{"{type: zipf, params: {s: 1, n: 4}}", listed([]float64{1, 2, 3, 4}, []float64{1 / zipf, 1 / zipf / 2, 1 / zipf / 3, 1 / zipf / 4}), 1, 4},
		{"{type: empirical, params: {10: 1, 300: 3}}", listed([]float64{10, 300}, []float64{0.25, 0.75}), 10, 300},
		{"{type: empirical, file: " + file + "}", listed([]float64{7, 70, 700}, []float64{0.25, 0.5, 0.25}), 7, 700},
	} {
		t.Run(c.text, func(t *testing.T) {
			cdf := func(k float64) float64 {
				if k < c.min {
					return 0
				}
				if k >= c.max {
					return 1
				}
				return c.cdf(k + 0.5)
			}
			mean, variance := 0.0, 0.0
			for k := c.min; k <= 3000 && k <= c.max; k++ {
				mean += k * (cdf(k) - cdf(k-1))
			}
			for k := c.min; k <= 3000 && k <= c.max; k++ {
				variance += (k - mean) * (k - mean) * (cdf(k) - cdf(k-1))
			}
			for _, field := range []string{"input", "output"} {
				other := map[string]string{"input": "output", "output": "input"}[field]
				text := fmt.Sprintf("clients: [{rate: 9, %s_distribution: %s, %s_distribution: {type: constant, params: {value: 5}}}]", field, c.text, other)
				sets := make([][]float64, statisticSeeds)
				for seed := range sets {
					for _, r := range requestsOf(t, text, uint64(seed), 800) {
						n := r.Input
						if field == "output" {
							n = r.Output
						}
						sets[seed] = append(sets[seed], float64(n))
					}
				}
				follows(t, sets, cdf, mean, variance)
			}
		})
	}
}

// The tests themselves: what is a little off is found.
func TestFollowsTellsWhatDoesNot(t *testing.T) {
	sets := gapsOf(t, "clients: [{rate: 2, "+lengths+", arrival: {process: gamma, cv: 1.2}}]")
	low := 0
	for _, set := range sets {
		if kolmogorov(set, distuv.Exponential{Rate: 2e-6}.CDF) < 0.01 {
			low++
		}
	}
	if low < 40 {
		t.Errorf("only %d of %d seeds tell a CV of 1.2 from 1", low, len(sets))
	}
}
