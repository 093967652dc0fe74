package actors

import (
	"math"
	"slices"
	"strings"
	"testing"

	"blis/latency"
	"blis/vtime"
	"blis/workload"
	"blis/workload/traffic"
)

// yields is what would arrive in a run of this configuration, with what the
// configuration became.
func yields(t *testing.T, c Config) ([]workload.Request, Config, Setup) {
	t.Helper()
	source, effective, setup, err := Workload(c)
	if err != nil {
		t.Fatal(err)
	}
	all, err := workload.Collect(source)
	if err != nil {
		t.Fatal(err)
	}
	return all, effective, setup
}

// about holds a number to another within five percent.
func about(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got/want-1) > 0.05 {
		t.Errorf("%s is %v, want about %v", what, got, want)
	}
}

// What a specification says of the run holds where the configuration leaves it
// open; what the configuration says wins.
func TestSpecificationSaysWhatTheConfigurationLeavesOpen(t *testing.T) {
	c := DefaultConfig()
	c.WorkloadSpec = file(t, "w.yaml", `seed: 7
aggregate_rate: 10
horizon: 200s
goodput_slo_targets: {standard: {ttft_ms: 500}}
clients:
- {id: a, rate_fraction: 1, input_distribution: {type: exponential, params: {mean: 90}}, output_distribution: {type: constant, params: {value: 9}}}
`)
	first, effective, _ := yields(t, c)
	if effective.Horizon != 200*vtime.Second || effective.SLOTargets != "standard:ttft=500000us" || *effective.WorkloadSeed != 7 {
		t.Errorf("horizon %v, targets %q, seed %d", effective.Horizon, effective.SLOTargets, *effective.WorkloadSeed)
	}
	about(t, "the number of requests", float64(len(first)), 2000)

	c.Horizon, c.SLOTargets, c.Rate = 100*vtime.Second, "standard:e2e=9s", 40
	other, effective, _ := yields(t, c)
	if effective.Horizon != 100*vtime.Second || effective.SLOTargets != "standard:e2e=9s" {
		t.Errorf("horizon %v, targets %q", effective.Horizon, effective.SLOTargets)
	}
	about(t, "the number of requests at --rate 40", float64(len(other)), 4000)
	if last := other[len(other)-1].Arrival; last >= vtime.Time(100*vtime.Second) {
		t.Errorf("the last arrives at %v", last)
	}

	c.Horizon, c.Rate = 300*vtime.Second, 0 // later than the specification's
	longer, _, _ := yields(t, c)
	about(t, "the number of requests in 300 s", float64(len(longer)), 3000)

	seed := uint64(8)
	c.Rate, c.NumRequests, c.WorkloadSeed = 0, 77, &seed
	limited, _, _ := yields(t, c)
	if len(limited) != 77 || limited[0].Arrival == first[0].Arrival {
		t.Errorf("%d requests, want 77, of other streams than with the specification's seed", len(limited))
	}
}

// A folder of ServeGen data is drawn from, at its rates times the speed-up.
func TestServeGenDataAreDrawn(t *testing.T) {
	c := DefaultConfig()
	c.Trace, c.Horizon, c.Timeout = "../testdata/servegen", 30*vtime.Minute, 9*vtime.Second
	all, _, setup := yields(t, c)
	// 600 s of 0.5 and of 2 per second, of 3 and of 4.5.
	if n := float64(len(all)); math.Abs(n/6000-1) > 0.1 || setup.Workload != "ServeGen's servegen: 2 clients" {
		t.Errorf("%v requests, %q", n, setup.Workload)
	}
	if r := all[0]; r.Deadline != r.Arrival.Add(c.Timeout) {
		t.Errorf("deadline %v of an arrival at %v", r.Deadline, r.Arrival)
	}
	c.TraceSpeedup = 5
	if n := float64(len(requestsOf(yields(t, c)))); math.Abs(n/30_000-1) > 0.1 {
		t.Errorf("%v requests at 5 times the rate", n)
	}
	c.TraceLimit = 123
	if n := len(requestsOf(yields(t, c))); n != 123 {
		t.Errorf("%d requests, want 123", n)
	}
	c.Trace, c.TraceSpeedup, c.TraceLimit = "../testdata/servegen/chunk-2-trace.csv", 1, 0
	if n := float64(len(requestsOf(yields(t, c)))); math.Abs(n/1500-1) > 0.15 {
		t.Errorf("%v requests of one client", n)
	}
	c.Horizon = 0
	refusal(t, c, "chunk-2-trace.csv", "--trace-limit")
}

func requestsOf(all []workload.Request, _ Config, _ Setup) []workload.Request { return all }

// The rows of a trace without arrivals arrive as --rate, --arrival and the seed
// of the workload say.
func TestRateGivesATraceItsArrivals(t *testing.T) {
	c := DefaultConfig()
	c.Trace = file(t, "l.csv", "num_prefill_tokens,num_decode_tokens\n"+strings.Repeat("10,2\n", 2000))
	refusal(t, c, "--rate")
	c.Rate = 50
	poisson, _, setup := yields(t, c)
	about(t, "the rate", float64(len(poisson))/poisson[len(poisson)-1].Arrival.Seconds(), 50)
	if slices.ContainsFunc(setup.Notes, func(n string) bool { return strings.Contains(n, "no effect") }) {
		t.Errorf("notes %q", setup.Notes)
	}
	seed := uint64(9)
	c.WorkloadSeed = &seed
	if again := requestsOf(yields(t, c)); again[0].Arrival == poisson[0].Arrival {
		t.Error("another seed gives the same arrivals")
	}
	c.Arrival = "constant"
	if all := requestsOf(yields(t, c)); all[99].Arrival != 2_000_000 {
		t.Errorf("the hundredth of constant arrivals at 50/s comes at %v", all[99].Arrival)
	}
}

// Without a run, an answer takes as long as on an idle instance: of 15 tokens in
// and 5 out 10 + 15·2 of queueing, 1,000 + 15·3 of prefill, four times
// 1,000 + 7, and 5·20 on top. The next round has 30 tokens in.
func TestAnswersWithoutARun(t *testing.T) {
	c := plain()
	c.AlphaCoeffs, c.BetaCoeffs = []float64{10, 2, 20}, []float64{1000, 3, 7}
	source, err := traffic.New(traffic.Config{Clients: []traffic.Client{talk(3)}})
	if err != nil {
		t.Fatal(err)
	}
	c.Custom.Source = source
	all, _, setup := yields(t, c)
	second := vtime.Time(40 + 1045 + 4*1007 + 100 + 300)
	third := second + 70 + 1090 + 4*1007 + 100 + 300
	if len(all) != 3 || all[1].Arrival != second || all[2].Arrival != third {
		t.Errorf("rounds come at %v, %v and %v, want %v and %v", all[0].Arrival, all[1].Arrival, all[2].Arrival, second, third)
	}
	if !slices.ContainsFunc(setup.Notes, func(n string) bool { return strings.Contains(n, "idle instance") }) {
		t.Errorf("nothing is said of it: %q", setup.Notes)
	}
}

// batchSums is a latency model of the sums that depend on lengths.
type batchSums struct{ allFields }

func (batchSums) Queueing(in latency.QueueInput) float64 { return float64(10 + in.Input) }

func (batchSums) Step(b *latency.Batch) float64 {
	return float64(90 + 3*b.PrefillTokens + 7*b.DecodeTokens + 11*b.PrefillRequests + 13*b.DecodeRequests + b.PrefillPairs + 23*b.SampledRows)
}

// On an instance that is idle, and that has nothing in its cache, a run agrees.
func TestAnswersOfARunOnAnIdleInstance(t *testing.T) {
	c := plain()
	c.EnablePrefixCaching, c.Custom.Latency = false, batchSums{}
	s := serveTraffic(t, c, talk(4))
	source, err := traffic.New(traffic.Config{Seed: 1, Clients: []traffic.Client{talk(4)}})
	if err != nil {
		t.Fatal(err)
	}
	c.Custom.Source, c.Execution = source, Execution{}
	for i, r := range requestsOf(yields(t, c)) {
		if r.Arrival != s.rows[i].Arrival {
			t.Errorf("round %d comes at %v without a run, at %v in one", i, r.Arrival, s.rows[i].Arrival)
		}
	}
}
