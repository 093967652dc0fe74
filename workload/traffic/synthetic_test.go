package traffic

import (
	"math"
	"testing"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

func plainConfig() SyntheticConfig {
	return SyntheticConfig{
		Seed: 42, Rate: 44, Requests: 1000,
		Input:  Normal{Mean: 512, Stdev: 128, Min: 32, Max: 2048},
		Output: Normal{Mean: 256, Stdev: 64, Min: 16, Max: 1024},
	}
}

// pull empties a source, and checks what it yields.
func pull(t testing.TB, s workload.Source) []workload.Request {
	t.Helper()
	all, err := workload.Collect(s)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func synthetic(t testing.TB, c SyntheticConfig) *Source {
	t.Helper()
	s, err := NewSynthetic(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// exactly is the constant length n.
func exactly(n int32) Normal { return Normal{Mean: float64(n), Min: n, Max: n} }

func TestConstantArrivalsDoNotDrift(t *testing.T) {
	c := plainConfig()
	c.Arrival, c.Rate, c.Requests = draw.Constant, 3, 3_000_000
	s := synthetic(t, c)
	var r workload.Request
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
	for _, p := range []draw.ProcessKind{draw.Poisson, draw.Constant, draw.Gamma, draw.Weibull} {
		c := plainConfig()
		c.Arrival, c.Rate, c.Requests = p, 3e6, 100_000
		if p == draw.Gamma || p == draw.Weibull {
			c.CV = 1
		}
		all := pull(t, synthetic(t, c))
		if last := float64(all[len(all)-1].Arrival); math.Abs(last/33333-1) > 0.02 {
			t.Errorf("%s: 100,000 arrivals at 3 per µs took %v µs", p, last)
		}
	}
}

func TestChangingLengthsLeavesArrivalsAlone(t *testing.T) {
	for _, p := range []draw.ProcessKind{draw.Poisson, draw.Gamma} {
		a := plainConfig()
		a.Arrival = p
		if p == draw.Gamma {
			a.CV = 2
		}
		b := a
		b.Output = exactly(7)
		c := a
		c.Input, c.PrefixTokens = exactly(9), 100
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
		if r.Source != 1<<31 || r.Index != uint64(i)<<stepBits || r.Deadline != r.Arrival.Add(2000000) || r.MaxOutput != workload.Absent {
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
		process draw.ProcessKind
		cv      float64
		want    uint64
	}{{draw.Poisson, 0, 0x913b4c5fc5a9f941}, {draw.Gamma, 2, 0x3bb5dce5c5a9f941}, {draw.Weibull, 0.5, 0xce6e872fc5a9f941}} {
		config := plainConfig()
		config.Arrival, config.CV, config.Requests = c.process, c.cv, 10000
		s := synthetic(t, config)
		hash := uint64(0)
		for _, r := range pull(t, s) {
			hash = hash*0x9e3779b97f4a7c15 + uint64(r.Arrival)<<32 + uint64(r.Input)<<16 + uint64(r.Output)
		}
		if hash != c.want {
			t.Errorf("%s: hash of 10,000 requests = %#x, want %#x", c.process, hash, c.want)
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
		{"cv missing", func(c *SyntheticConfig) { c.Arrival = draw.Gamma }, "cv: 0: want from 0.001 to 100"},
		{"cv NaN", func(c *SyntheticConfig) { c.Arrival, c.CV = draw.Weibull, nan }, "cv: NaN: want from 0.001 to 100"},
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
		{"bounds crossed", func(c *SyntheticConfig) { c.Output = Normal{Mean: 20, Min: 20, Max: 10} },
			"output-tokens-max: 10: want at least output-tokens-min 20; output-tokens: 20: want from output-tokens-min 20 to output-tokens-max 10"},
	} {
		config := plainConfig()
		c.change(&config)
		if _, err := NewSynthetic(config); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestPullDoesNotAllocate(t *testing.T) {
	for _, p := range []draw.ProcessKind{draw.Poisson, draw.Constant, draw.Gamma, draw.Weibull} {
		c := plainConfig()
		c.Arrival, c.Requests, c.PrefixTokens = p, 1e6, 100
		if p == draw.Gamma || p == draw.Weibull {
			c.CV = 1.5
		}
		s := synthetic(t, c)
		var r workload.Request
		if n := testing.AllocsPerRun(1000, func() { s.Pull(&r) }); n != 0 {
			t.Errorf("%s: %v allocations per request", p, n)
		}
	}
}
