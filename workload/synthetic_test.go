package workload

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"blis/vtime"
)

func plainConfig() SyntheticConfig {
	return SyntheticConfig{
		Seed: 42, Rate: 44, Requests: 1000,
		Input:  Length{Mean: 512, Stdev: 128, Min: 32, Max: 2048},
		Output: Length{Mean: 256, Stdev: 64, Min: 16, Max: 1024},
	}
}

// pull empties a source and copies the spans of what it yields.
func pull(t testing.TB, s Source) []Request {
	t.Helper()
	var all []Request
	for {
		var r Request
		ok, err := s.Pull(&r)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return all
		}
		if err := r.Validate(); err != nil {
			t.Fatalf("request %d is not valid: %v", len(all), err)
		}
		if err := s.Labels().check(&r); err != nil {
			t.Fatalf("request %d: %v", len(all), err)
		}
		if n := len(all); n > 0 && !before(&all[n-1], &r) {
			t.Fatalf("request %d is not after the one before", n)
		}
		r.Spans = slices.Clone(r.Spans)
		all = append(all, r)
	}
}

func synthetic(t testing.TB, c SyntheticConfig) *Synthetic {
	t.Helper()
	s, err := NewSynthetic(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// distance is the Kolmogorov-Smirnov statistic of sorted x against a
// cumulative distribution, times √n: above 1.95 once in a thousand tries.
func distance(x []float64, cdf func(float64) float64) float64 {
	n, d := float64(len(x)), 0.0
	for i, v := range x {
		p := cdf(v)
		d = math.Max(d, math.Max(p-float64(i)/n, float64(i+1)/n-p))
	}
	return d * math.Sqrt(n)
}

func TestGapsFollowTheirDistribution(t *testing.T) {
	const rate, n = 0.5, 20000
	mean := 1e6 / rate
	gamma := func(cv float64) func(float64) float64 {
		return distuv.Gamma{Alpha: 1 / (cv * cv), Beta: 1 / (cv * cv * mean)}.CDF
	}
	weibull := func(cv float64) func(float64) float64 {
		k := 1 / weibullInverseShape(cv)
		return distuv.Weibull{K: k, Lambda: mean / math.Gamma(1+1/k)}.CDF
	}
	for _, c := range []struct {
		process Process
		cv      float64
		cdf     func(float64) float64
	}{
		{Poisson, 0, distuv.Exponential{Rate: 1 / mean}.CDF},
		{Gamma, 0.3, gamma(0.3)}, {Gamma, 1, gamma(1)}, {Gamma, 2, gamma(2)},
		{Weibull, 0.3, weibull(0.3)}, {Weibull, 1, weibull(1)}, {Weibull, 2, weibull(2)},
	} {
		for seed := range uint64(6) {
			config := plainConfig()
			config.Seed, config.Rate, config.Requests, config.Arrival, config.CV = seed, rate, n, c.process, c.cv
			gaps, last := []float64(nil), vtime.Time(0)
			for _, r := range pull(t, synthetic(t, config)) {
				gaps = append(gaps, float64(r.Arrival.Sub(last)))
				last = r.Arrival
			}
			name := fmt.Sprintf("%s cv %v seed %d", c.process, c.cv, seed)
			cv := c.cv
			if c.process == Poisson {
				cv = 1
			}
			m, s := stat.MeanStdDev(gaps, nil)
			if math.Abs(m/mean-1) > 4*cv/math.Sqrt(n) {
				t.Errorf("%s: mean gap %.0f µs, want %.0f", name, m, mean)
			}
			if math.Abs(s/m/cv-1) > 0.03*(1+cv*cv) {
				t.Errorf("%s: cv %.3f", name, s/m)
			}
			// The shape is a matter of the gaps before they become whole µs: of
			// gamma's at cv 2, one in fifty is below 1 µs.
			a := newArrivals(c.process, rate, c.cv, vtime.NewStream(seed, "workload/default/arrivals"))
			for i := range gaps {
				gaps[i] = a.gap()
			}
			slices.Sort(gaps)
			if d := distance(gaps, c.cdf); d > 2.2 {
				t.Errorf("%s: Kolmogorov-Smirnov distance %.2f", name, d)
			}
		}
	}
}

func TestConstantArrivalsDoNotDrift(t *testing.T) {
	c := plainConfig()
	c.Arrival, c.Rate, c.Requests = Constant, 3, 3_000_000
	s := synthetic(t, c)
	var r Request
	for i := int64(1); i <= c.Requests; i++ {
		s.Pull(&r)
		if want := vtime.Time(i * 1e6 / 3); r.Arrival != want {
			t.Fatalf("arrival %d = %v, want %v", i, r.Arrival, want)
		}
	}
}

// At three requests per µs every gap is below the clock's resolution: rounding
// gaps one by one would lose or double the rate.
func TestFastArrivalsKeepTheirRate(t *testing.T) {
	for _, p := range []Process{Poisson, Constant, Gamma, Weibull} {
		c := plainConfig()
		c.Arrival, c.Rate, c.Requests = p, 3e6, 100_000
		if p == Gamma || p == Weibull {
			c.CV = 1
		}
		all := pull(t, synthetic(t, c))
		if last := float64(all[len(all)-1].Arrival); math.Abs(last/33333-1) > 0.02 {
			t.Errorf("%s: 100,000 arrivals at 3 per µs took %v µs", p, last)
		}
	}
}

func TestLengthsFollowTheirDistribution(t *testing.T) {
	for seed := range uint64(6) {
		c := plainConfig()
		c.Seed, c.Requests = seed, 20000
		c.Input = Length{Mean: 500, Stdev: 100, Min: 1, Max: 5000}
		c.Output = Length{Mean: 100, Stdev: 100, Min: 50, Max: 200} // clamped on both sides
		var in []float64
		low, high := 0, 0
		for _, r := range pull(t, synthetic(t, c)) {
			in = append(in, float64(r.Input))
			if r.Output == 50 {
				low++
			}
			if r.Output == 200 {
				high++
			}
			if r.Output < 50 || r.Output > 200 {
				t.Fatalf("output %d outside [50, 200]", r.Output)
			}
		}
		m, s := stat.MeanStdDev(in, nil)
		if math.Abs(m-500) > 4*100/math.Sqrt(20000) || math.Abs(s-100) > 3 {
			t.Errorf("seed %d: input mean %.1f, stdev %.1f", seed, m, s)
		}
		// Undo the rounding with the middle of each token's interval.
		slices.Sort(in)
		normal := distuv.Normal{Mu: 500, Sigma: 100}
		d := 0.0
		for i, v := range in {
			if i+1 == len(in) || in[i+1] > v {
				d = math.Max(d, math.Abs(float64(i+1)/float64(len(in))-normal.CDF(v+0.5)))
			}
		}
		if d*math.Sqrt(20000) > 2.2 {
			t.Errorf("seed %d: Kolmogorov-Smirnov distance %.2f", seed, d*math.Sqrt(20000))
		}
		normal = distuv.Normal{Mu: 100, Sigma: 100}
		if share := float64(low) / 20000; math.Abs(share-normal.CDF(50.5)) > 0.015 {
			t.Errorf("seed %d: %.3f at the lower bound", seed, share)
		}
		if share := float64(high) / 20000; math.Abs(share-(1-normal.CDF(199.5))) > 0.015 {
			t.Errorf("seed %d: %.3f at the upper bound", seed, share)
		}
	}
}

func TestChangingLengthsLeavesArrivalsAlone(t *testing.T) {
	for _, p := range []Process{Poisson, Gamma} {
		a := plainConfig()
		a.Arrival = p
		if p == Gamma {
			a.CV = 2
		}
		b := a
		b.Output = Exactly(7)
		c := a
		c.Input, c.PrefixTokens = Exactly(9), 100
		x, y, z := pull(t, synthetic(t, a)), pull(t, synthetic(t, b)), pull(t, synthetic(t, c))
		for i := range x {
			if x[i].Arrival != y[i].Arrival || x[i].Input != y[i].Input || y[i].Output != 7 {
				t.Fatalf("%s: other outputs changed arrival or input of request %d", p, i)
			}
			if x[i].Arrival != z[i].Arrival || x[i].Output != z[i].Output || z[i].Input != 109 {
				t.Fatalf("%s: other inputs changed arrival or output of request %d", p, i)
			}
		}
	}
}

func TestSyntheticRequestCarriesWhatTheFlagsSay(t *testing.T) {
	c := plainConfig()
	c.Requests, c.PrefixTokens, c.Timeout = 3, 64, 2*vtime.Second
	c.Tenant, c.Model, c.Class = "acme", "llama", "batch"
	s := synthetic(t, c)
	for i, r := range pull(t, s) {
		if r.Source != 1<<31 || r.Index != uint64(i) || r.Deadline != r.Arrival.Add(2000000) || r.MaxOutput != Absent {
			t.Errorf("request %d: %+v", i, r)
		}
		if len(r.Spans) != 1 || r.Spans[0].Length != 64 || r.Input < 64+32 {
			t.Errorf("request %d: spans %v, input %d", i, r.Spans, r.Input)
		}
	}
	l := s.Labels()
	if l.Tenants.Name(0) != "acme" || l.Models.Name(0) != "llama" || l.Classes.Name(0) != "batch" {
		t.Errorf("labels %+v", l)
	}
	d := synthetic(t, plainConfig())
	if all := pull(t, d); all[0].Deadline != vtime.Never || all[0].Spans != nil || d.Labels().Classes.Name(0) != "standard" {
		t.Errorf("defaults: %+v", all[0])
	}
}

// Fixed values: a change of sampling changes every result and must be seen.
func TestSyntheticIsTheSameEveryTime(t *testing.T) {
	for _, c := range []struct {
		process Process
		cv      float64
		want    uint64
	}{{Poisson, 0, 0x913b4c5fc5a9f941}, {Gamma, 2, 0x3bb5dce5c5a9f941}, {Weibull, 0.5, 0xce6e872fc5a9f941}} {
		config := plainConfig()
		config.Arrival, config.CV, config.Requests = c.process, c.cv, 10000
		s := synthetic(t, config)
		hash, start := uint64(0), s.Fold()
		for _, r := range pull(t, s) {
			hash = hash*0x9e3779b97f4a7c15 + uint64(r.Arrival)<<32 + uint64(r.Input)<<16 + uint64(r.Output)
		}
		if hash != c.want {
			t.Errorf("%s: hash of 10,000 requests = %#x, want %#x", c.process, hash, c.want)
		}
		if s.Fold() == start {
			t.Errorf("%s: drawing did not change the fold of the streams", c.process)
		}
	}
}

func TestBadSyntheticConfigIsRefusedAtOnce(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name   string
		change func(*SyntheticConfig)
		want   string
	}{
		{"rate 0", func(c *SyntheticConfig) { c.Rate = 0 }, "rate: 0: want requests per second, above 0 and finite"},
		{"rate negative", func(c *SyntheticConfig) { c.Rate = -2 }, "rate: -2: want requests per second, above 0 and finite"},
		{"rate NaN", func(c *SyntheticConfig) { c.Rate = nan }, "rate: NaN: want requests per second, above 0 and finite"},
		{"rate Inf", func(c *SyntheticConfig) { c.Rate = inf }, "rate: +Inf: want requests per second, above 0 and finite"},
		{"rate tiny", func(c *SyntheticConfig) { c.Rate = 1e-300 }, "rate: 1e-300: 1000 requests would pass the end of virtual time, 2⁶² µs; want a higher rate or fewer requests"},
		{"no requests", func(c *SyntheticConfig) { c.Requests = 0 }, "num-requests: 0: want at least 1"},
		{"process", func(c *SyntheticConfig) { c.Arrival = "normal" }, `arrival: "normal": want poisson, constant, gamma or weibull`},
		{"cv missing", func(c *SyntheticConfig) { c.Arrival = Gamma }, "cv: 0: want from 0.001 to 100"},
		{"cv NaN", func(c *SyntheticConfig) { c.Arrival, c.CV = Weibull, nan }, "cv: NaN: want from 0.001 to 100"},
		{"cv idle", func(c *SyntheticConfig) { c.CV = 2 }, "cv: 2: want it with arrival gamma or weibull only, not with poisson"},
		{"mean NaN", func(c *SyntheticConfig) { c.Input.Mean = nan }, "prompt-tokens: NaN: want from prompt-tokens-min 32 to prompt-tokens-max 2048"},
		{"mean outside", func(c *SyntheticConfig) { c.Output.Mean = 1 }, "output-tokens: 1: want from output-tokens-min 16 to output-tokens-max 1024"},
		{"stdev", func(c *SyntheticConfig) { c.Input.Stdev = -1 }, "prompt-tokens-stdev: -1: want 0 or more tokens"},
		{"stdev Inf", func(c *SyntheticConfig) { c.Input.Stdev = inf }, "prompt-tokens-stdev: +Inf: want 0 or more tokens"},
		{"input min", func(c *SyntheticConfig) { c.Input.Min = 0 }, "prompt-tokens-min: 0: want at least 1"},
		{"output min", func(c *SyntheticConfig) { c.Output.Min = -1 }, "output-tokens-min: -1: want at least 0"},
		{"prefix", func(c *SyntheticConfig) { c.PrefixTokens = -5 }, "prefix-tokens: -5: want 0 or more"},
		{"prefix too long", func(c *SyntheticConfig) { c.PrefixTokens = math.MaxInt32 }, "prefix-tokens: 2147483647: want at most 2147481599 with prompt-tokens-max 2048"},
		{"timeout", func(c *SyntheticConfig) { c.Timeout = -1 }, "timeout: -1µs: want 0 (none) or more"},
		{"several", func(c *SyntheticConfig) { c.Rate, c.Requests, c.Timeout = nan, -1, -2 },
			"rate: NaN: want requests per second, above 0 and finite; num-requests: -1: want at least 1; timeout: -2µs: want 0 (none) or more"},
		{"bounds crossed", func(c *SyntheticConfig) { c.Output = Length{Mean: 20, Min: 20, Max: 10} },
			"output-tokens-max: 10: want at least output-tokens-min 20; output-tokens: 20: want from output-tokens-min 20 to output-tokens-max 10"},
	} {
		config := plainConfig()
		c.change(&config)
		if _, err := NewSynthetic(config); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestArrivalsPastTheEndOfTimeAreAnError(t *testing.T) {
	a := newArrivals(Poisson, 1e-13, 0, vtime.NewStream(1, "x"))
	var err error
	last := vtime.Time(0)
	for i := 0; i < 100 && err == nil; i++ {
		var at vtime.Time
		if at, err = a.next(); err == nil && (at < last || at > latest) {
			t.Fatalf("arrival %v after %v", at, last)
		}
		last = max(last, at)
	}
	if err == nil {
		t.Error("a hundred gaps of 10¹⁹ µs fit into 2⁶² µs")
	}
}

func TestPullDoesNotAllocate(t *testing.T) {
	for _, p := range []Process{Poisson, Constant, Gamma, Weibull} {
		c := plainConfig()
		c.Arrival, c.Requests, c.PrefixTokens = p, 1e6, 100
		if p == Gamma || p == Weibull {
			c.CV = 1.5
		}
		s := synthetic(t, c)
		var r Request
		if n := testing.AllocsPerRun(1000, func() { s.Pull(&r) }); n != 0 {
			t.Errorf("%s: %v allocations per request", p, n)
		}
	}
}
