package study

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"blis/actors"
	"blis/internal/testsize"
	"blis/metrics"
	"blis/setup"
	"blis/study/certify"
	"blis/vtime"
)

// bounds reads SLOs.
func bounds(t testing.TB, text string) []SLO {
	t.Helper()
	list, err := ParseSLOs(text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// search is a capacity of a configuration with short windows.
func search(t testing.TB, cfg actors.Config, over, slo string) Capacity {
	t.Helper()
	axis, err := ParseSearchAxis(over, DefaultPrecision)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCapacity(cfg, axis, bounds(t, slo)...)
	c.Length.Requests = 1000
	return c
}

// quick is a cluster of one instance with short answers, so that short windows are many times
// as long as an answer takes.
func quick() actors.Config {
	cfg := actors.DefaultConfig()
	cfg.NumInstances, cfg.OutputTokens, cfg.OutputTokensStdev = 1, 24, 12
	return cfg
}

// find carries a search out.
func find(t testing.TB, c Capacity) *CapacityResult {
	t.Helper()
	r, err := c.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCapacityIsTheSameOnAnyWorkers: windows that run ahead change nothing, and a search
// repeats.
func TestCapacityIsTheSameOnAnyWorkers(t *testing.T) {
	var first *CapacityResult
	for _, workers := range []int{1, 3} {
		c := search(t, quick(), "rate=20..600", "p99_ttft=100ms")
		c.Pool.Workers, c.MaxWindows, c.Length.Requests = workers, 100, 500
		r := find(t, c)
		if first == nil {
			first = r
		}
		if !reflect.DeepEqual(first, r) {
			t.Errorf("on %d workers %+v, on one %+v", workers, r, first)
		}
	}
}

// TestDecisiveRunRepeats: the flags of an end give a run with the measures of its window.
func TestDecisiveRunRepeats(t *testing.T) {
	c := search(t, actors.DefaultConfig(), "rate=20..600", "p99_ttft=100ms,mean_tpot=50ms")
	s, err := newCapacitySearch(&c)
	if err != nil {
		t.Fatal(err)
	}
	s.extent, s.result.Scale = extent{from: vtime.Time(5 * vtime.Second), to: vtime.Time(15 * vtime.Second)}, 1
	w, err := s.window(t.Context(), certify.Window{Rung: 40, Scale: 1, Seed: 77})
	if err != nil {
		t.Fatal(err)
	}
	end, err := s.end(t.Context(), 40, []*Window{w}, w.Pass, []uint64{77})
	if err != nil {
		t.Fatal(err)
	}
	again := actors.DefaultConfig()
	for _, flag := range setup.Flags(&end.Repeat) {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if err := again.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	r, err := actors.Run(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	all := &r.Report.Overall
	if all.TTFT.P99 != w.Values[0] || math.Abs(all.TPOT.Mean-w.Values[1]) > 1e-6*w.Values[1] || all.Injected != w.Requests {
		t.Errorf("run: p99 TTFT %v, mean TPOT %v, %d requests; window %v, %d requests", all.TTFT.P99, all.TPOT.Mean, all.Injected, w.Values, w.Requests)
	}
}

// TestArrivalsGoOnUntilTheWindowHasEnded: a window is not drained. Its requests meet as many
// others at its end as before.
func TestArrivalsGoOnUntilTheWindowHasEnded(t *testing.T) {
	cfg := actors.DefaultConfig()
	cfg.Rate, cfg.Seed = 150, 5
	slos := bounds(t, "p99_ttft=100ms,mean_e2e=9s")
	from, to := vtime.Time(20*vtime.Second), vtime.Time(22*vtime.Second)
	w, err := runWindow(t.Context(), cfg, slos, extent{from: from, to: to})
	if err != nil {
		t.Fatal(err)
	}
	drained := cfg
	drained.MeasureFrom, drained.MeasureTo = vtime.Duration(from), vtime.Duration(to)
	drained.NumRequests = int64(float64(cfg.Rate) * to.Seconds())
	r, err := actors.Run(t.Context(), drained)
	if err != nil {
		t.Fatal(err)
	}
	if !(w.Values[1] > 1.05*r.Report.Overall.E2E.Mean) {
		t.Errorf("mean E2E %v µs with arrivals that go on, %v without: want it longer by 5 %%", w.Values[1], r.Report.Overall.E2E.Mean)
	}
}

// TestStartingEmptyIsOff: without a warm-up short windows keep a bound at a rate at which the
// cluster does not: the queue has not built up.
func TestStartingEmptyIsOff(t *testing.T) {
	slos := bounds(t, "p99_ttft=105ms")
	passes := map[bool]int{}
	const n, seed = 20, 300
	for i := range uint64(n) {
		for _, empty := range []bool{true, false} {
			cfg := actors.DefaultConfig()
			cfg.Rate, cfg.Seed = 150, seed+i
			e := extent{from: vtime.Time(30 * vtime.Second), to: vtime.Time(40 * vtime.Second)}
			if empty {
				e = extent{to: vtime.Time(10 * vtime.Second)}
			}
			w, err := runWindow(t.Context(), cfg, slos, e)
			if err != nil {
				t.Fatal(err)
			}
			if slos[0].keeps(w.Values[0]) {
				passes[empty]++
			}
		}
	}
	t.Logf("seeds from %d: %d of %d windows keep the bound from empty, %d after a warm-up", seed, passes[true], n, passes[false])
	if passes[true] < n/2 || passes[false] > n/2 {
		t.Errorf("%d of %d windows keep the bound from empty, %d after a warm-up: want most, and few", passes[true], n, passes[false])
	}
}

// TestSeedsAndLengthsGiveOverlappingBrackets: disjoint seeds agree, and so do windows of four
// times the length.
func TestSeedsAndLengthsGiveOverlappingBrackets(t *testing.T) {
	testsize.Long(t)
	highest, lowest := 0.0, math.Inf(1)
	for i := range 7 {
		cfg := actors.DefaultConfig()
		cfg.Seed = uint64(1000 * (i + 1))
		c := search(t, cfg, "rate=100..250", "p99_ttft=100ms")
		if c.Length.Requests = 6000; i == 6 {
			c.Length.Requests *= 4
		}
		r := find(t, c)
		t.Logf("seed %d, windows of %d requests: %v to %v", cfg.Seed, r.Holds.Requests, r.Holds.Value, r.Fails.Value)
		highest, lowest = max(highest, r.Holds.Value), min(lowest, r.Fails.Value)
	}
	if highest >= lowest {
		t.Errorf("one search says that %v holds, another that %v does not", highest, lowest)
	}
}

// TestTraceIsExact: requests that are the same every time are run once for each number of
// instances, and the answer is that of these runs.
func TestTraceIsExact(t *testing.T) {
	cfg := actors.DefaultConfig()
	cfg.Trace, cfg.Rate, cfg.Model, cfg.TP = "../examples/replay/requests.csv", 40, "Llama-3.1-8B-Instruct", 1
	c := search(t, cfg, "num-instances=1..40", "p99_ttft=120ms,p99_e2e=12s")
	c.Length = WindowLength{}
	r := find(t, c)
	if !r.Exact || r.Outcome != CapacityFound || r.Length != 0 || r.Windows > 12 {
		t.Fatalf("%+v", r)
	}
	t.Logf("%v hold with %v, %v do not with %v", r.Holds.Value, r.Holds.Measured, r.Fails.Value, r.Fails.Measured)
	if r.Fails.Value != r.Holds.Value-1 {
		t.Errorf("%v hold and %v do not: want neighbours", r.Holds.Value, r.Fails.Value)
	}
	for _, end := range []*CapacityEnd{r.Holds, r.Fails} {
		again := cfg
		again.NumInstances = int(end.Value)
		result, err := actors.Run(t.Context(), again)
		if err != nil {
			t.Fatal(err)
		}
		figures, pass := result.Figures(), true
		for i := range c.SLOs {
			kept := c.SLOs[i].Constraint.Of(figures)
			pass = pass && kept.Pass
			if *kept.Value != end.Measured[i] {
				t.Errorf("%v instances: %s is %v, a run says %v", end.Value, kept.Measure, end.Measured[i], *kept.Value)
			}
		}
		if pass != (end == r.Holds) {
			t.Errorf("%v instances: a run keeps the bounds: %v", end.Value, pass)
		}
	}
}

// TestConstantTrafficIsExact: so is generated traffic in which nothing is drawn.
func TestConstantTrafficIsExact(t *testing.T) {
	cfg := actors.DefaultConfig()
	cfg.Arrival, cfg.PromptTokensStdev, cfg.OutputTokensStdev = "constant", 0, 0
	r := find(t, search(t, cfg, "rate=20..600", "p99_ttft=100ms"))
	if !r.Exact || r.Outcome != CapacityFound || !(r.Holds.Measured[0] <= 100_000) || !(r.Fails.Measured[0] > 100_000 || r.Fails.Passes == 0) {
		t.Errorf("%+v, %+v, %+v", r, r.Holds, r.Fails)
	}
}

// TestOutcomesOfCapacity: a range that is too low or too high, one request that is too slow,
// windows that run out, and TP degrees that do not fit.
func TestOutcomesOfCapacity(t *testing.T) {
	cfg := quick()
	if r := find(t, search(t, cfg, "rate=5..10", "p99_ttft=100ms")); r.Outcome != EveryLoadHolds || r.Holds.Value != 10 || r.Fails != nil {
		t.Errorf("too low: %+v", r)
	}
	if r := find(t, search(t, cfg, "rate=80..100", "p99_ttft=100ms")); r.Outcome != NoLoadHolds || r.Fails.Value != 80 || r.Holds != nil {
		t.Errorf("too high: %+v", r)
	}
	var alone *NoLoad
	if _, err := search(t, cfg, "rate=20..40", "p99_ttft=10ms").Find(t.Context()); !errors.As(err, &alone) {
		t.Errorf("one request misses the bound: error %v", err)
	}
	few := search(t, cfg, "rate=5..400", "p99_ttft=100ms")
	few.MaxWindows = 40
	if r := find(t, few); r.Outcome != CapacityNotKnown || r.Holds == nil || r.Holds.Certified {
		t.Errorf("few windows: %+v", r)
	}
	large := cfg
	large.Model, large.Rate = "Llama-3.1-70B", 1
	r := find(t, search(t, large, "tp=1,2,4", "p99_ttft=1s"))
	if r.Outcome != CapacityFound || r.Holds.Value != 2 || len(r.Refused) != 1 || r.Refused[0].Value != 1 {
		t.Errorf("TP 1 does not fit: %+v, %+v", r, r.Holds)
	}
	if r := find(t, search(t, func() actors.Config { c := cfg; c.Rate = 1; return c }(), "num-instances=1..8", "p99_ttft=1s")); r.Outcome != CapacityFound || r.Holds.Value != 1 || r.Fails != nil {
		t.Errorf("one instance is enough: %+v", r)
	}
}

// TestInterruptedCapacityIsPartial: what was known stays, and is not certified.
func TestInterruptedCapacityIsPartial(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := search(t, quick(), "rate=5..600", "p99_ttft=100ms")
	c.Observe = func(p CapacityProgress) {
		if p.Phase == certify.LowerEnd {
			cancel()
		}
	}
	r, err := c.Find(ctx)
	if !errors.Is(err, context.Canceled) || r == nil || !r.Partial || r.Outcome != CapacityNotKnown || r.Holds == nil || r.Holds.Certified {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestCapacityRefusesWhatWindowsDecide and other settings that make no sense.
func TestCapacityRefusesWhatWindowsDecide(t *testing.T) {
	for want, change := range map[string]func(*Capacity){
		"--slo: want":      func(c *Capacity) { c.SLOs = nil },
		"--over: want":     func(c *Capacity) { c.Over = SearchAxis{} },
		"--share is 1":     func(c *Capacity) { c.Share = 1 },
		"--confidence":     func(c *Capacity) { c.Confidence = 2 },
		"--max-windows":    func(c *Capacity) { c.MaxWindows = 0 },
		"--measure-from":   func(c *Capacity) { c.Base.MeasureFrom = 1 },
		"--horizon":        func(c *Capacity) { c.Base.Horizon = 1 },
		"--num-requests":   func(c *Capacity) { c.Base.NumRequests = 1 },
		"--slo-targets":    func(c *Capacity) { c.SLOs = bounds(t, "slo_attainment=0.9") },
		"want --rate":      func(c *Capacity) { c.Over.Name = "num-instances" },
		"one of --rate":    func(c *Capacity) { c.Base.Concurrency = 3 },
		"whole trace":      func(c *Capacity) { c.Base.Trace = "../examples/replay/requests.csv" },
		"custom source":    func(c *Capacity) { c.Base.Custom.Source = &grouped{} },
		"does not fit":     func(c *Capacity) { c.Base.Model = "Llama-3.1-70B" },
		"unknown model":    func(c *Capacity) { c.Base.Model = "nothing" },
		"--precision is 0": func(c *Capacity) { c.Precision = 0 },
	} {
		c := search(t, actors.DefaultConfig(), "rate=20..600", "p99_ttft=100ms")
		change(&c)
		_, err := c.Find(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}

// TestAxesAndBoundsThatCannotBe: each is one line that says what is wrong.
func TestAxesAndBoundsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"rate": "like rate=20..600", "rates=1..2": "nearest", "rate=9..3": "lower end first", "rate=0..3": "from 0.001", "rate=x..3": `"x"`, "tp=1..8": "list",
		"num-instances=0..3": "from 1", "num-instances=1.5": "whole number", "num-instances=1,1": "twice", "num-instances=1..9999999999": "whole number",
	} {
		if _, err := ParseSearchAxis(text, 0.03); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "--over: ") {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"p99_ttft": "no bound", "p99_ttft=5": "no unit", "p98_ttft=5ms": "p98_ttft", "goodput=3": "no measure of requests", "p99_ttft=5ms,p99_ttft=6ms": "twice", "": "no bound", "slo_attainment=2": "share",
	} {
		if _, err := ParseSLOs(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
	list := bounds(t, "p99_ttft=500ms, slo_attainment=99%;batch:p99_e2e=30s,mean_e2e<10s")
	var texts []string
	for i := range list {
		texts = append(texts, list[i].Text())
	}
	if got := strings.Join(texts, " "); got != "p99_ttft<=500ms slo_attainment>=0.99 batch:p99_e2e<=30s batch:mean_e2e<10s" {
		t.Errorf("read as %s", got)
	}
}

// TestLostRequestsAreInfinitelyLate: a percentile is infinite once more requests were lost than
// it leaves out, a mean at once.
func TestLostRequestsAreInfinitelyLate(t *testing.T) {
	row := func(state metrics.State, ms int64) *actors.Row {
		o := metrics.Outcome{Progress: metrics.NoProgress(), State: state}
		o.FirstToken, o.LastToken, o.Generated = vtime.Time(ms*1000), vtime.Time(ms*1000), 1
		return &actors.Row{Outcome: &o}
	}
	samples := newSamples(bounds(t, "p99_ttft=500ms,mean_ttft=500ms,p50_ttft=500ms"))
	for i := range int64(300) {
		for j := range samples {
			state := metrics.Completed
			if i >= 297 {
				state = metrics.TimedOut
			}
			samples[j].add(row(state, 10))
		}
	}
	if got := [3]float64{samples[0].value(), samples[1].value(), samples[2].value()}; !math.IsInf(got[0], 1) || !math.IsInf(got[1], 1) || got[2] != 10_000 {
		t.Errorf("%v: want infinite, infinite, 10 ms", got)
	}
	empty := newSamples(bounds(t, "p99_ttft=500ms"))
	if x := empty[0].value(); !math.IsNaN(x) || empty[0].slo.keeps(x) {
		t.Errorf("no request: %v", x)
	}
}

// TestWorkloadsThatEndWithinAWindow: that is an error, which says what to do.
func TestWorkloadsThatEndWithinAWindow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "short.yaml")
	text := "aggregate_rate: 20\nclients:\n- {id: a, rate_fraction: 1, arrival: {process: poisson}, input_distribution: {type: constant, params: {value: 100}}, output_distribution: {type: constant, params: {value: 10}}, lifecycle: {windows: [{start_us: 0, end_us: 5000000}]}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := quick()
	cfg.WorkloadSpec = path
	c := search(t, cfg, "rate=5..10", "p99_ttft=100ms")
	_, err := c.Find(t.Context())
	var input *actors.InputError
	if !errors.As(err, &input) || !strings.Contains(input.Text, "want a shorter --window") {
		t.Errorf("error %v", err)
	}
}
