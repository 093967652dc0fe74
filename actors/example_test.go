package actors_test

import (
	"context"
	"fmt"
	"log"

	"blis/actors"
	"blis/latency"
	"blis/metrics"
	"blis/policy"
	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// A run is a call with a configuration; start from the defaults.
func ExampleRun() {
	cfg := actors.DefaultConfig()
	cfg.NumInstances = 2
	cfg.NumRequests = 200
	cfg.RoutingPolicy = "least-loaded"
	result, err := actors.Run(context.Background(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	all := &result.Report.Overall
	fmt.Println(all.States[0], "completed on", result.Setup.Model)
	fmt.Println("TTFT is known of", all.TTFT.N, "requests")
	// Output:
	// 200 completed on meta-llama/Llama-3.1-8B-Instruct
	// TTFT is known of 200 requests
}

// fewestBlocks sends a request to the instance with the fewest KV blocks in
// use. It declares what it reads, because how far the instances may run
// ahead of it depends on that.
type fewestBlocks struct{}

func (fewestBlocks) Observes() policy.Signals { return policy.KVUse }

func (fewestBlocks) Route(_ *policy.Request, _ float64, _ *policy.RouterState, view *policy.View, _ vtime.Time) policy.RoutingDecision {
	target := -1
	for i := range view.Len() {
		if view.Routable(i) && (target < 0 || view.UsedBlocks(i) < view.UsedBlocks(target)) {
			target = i
		}
	}
	return policy.RoutingDecision{Target: target}
}

// A routing policy of one's own: an object with two methods.
func ExampleCustom_routing() {
	cfg := actors.DefaultConfig()
	cfg.NumInstances, cfg.NumRequests = 3, 300
	cfg.Custom.Routing = func(policy.Env) policy.Routing { return fewestBlocks{} }
	result, err := actors.Run(context.Background(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	for _, instance := range result.Report.PerInstance {
		fmt.Println(instance.Name, instance.Injected > 80)
	}
	// Output:
	// instance-0 true
	// instance-1 true
	// instance-2 true
}

// fixed is a latency model of an engine whose steps take 10 ms, whatever is
// in them.
type fixed struct{}

func (fixed) Queueing(latency.QueueInput) float64 { return 1000 } // all in µs
func (fixed) Step(*latency.Batch) float64         { return 10_000 }
func (fixed) TokenOverhead() float64              { return 500 }
func (fixed) RequestOverhead() float64            { return 0 }

// A latency model of one's own answers how long things take.
func ExampleCustom_latency() {
	cfg := actors.DefaultConfig()
	cfg.NumRequests, cfg.Rate, cfg.Arrival = 10, 1, "constant"
	cfg.OutputTokens, cfg.OutputTokensStdev = 3, 0
	cfg.Custom.Latency = fixed{}
	result, err := actors.Run(context.Background(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	all := &result.Report.Overall
	fmt.Printf("TTFT %.1f ms, ITL %.1f ms, E2E %.1f ms\n", all.TTFT.Mean/1e3, all.ITL.Mean/1e3, all.E2E.Mean/1e3)
	// Output:
	// TTFT 11.5 ms, ITL 10.5 ms, E2E 32.5 ms
}

// An arrival source of one's own yields requests in order of arrival; a Slice
// holds a list of them. Here two requests share the first 64 tokens of their
// prompts, and the second finds them in the cache. Row is called for every
// request, in order of arrival.
func ExampleCustom_source() {
	system := []workload.Span{{Content: workload.NamedContent("system prompt"), Length: 64}}
	first, second := workload.NewRequest(0, 100, 5), workload.NewRequest(2_000_000, 100, 5)
	first.Spans, second.Spans = system, system
	source, err := workload.NewSlice([]workload.Request{first, second}, workload.Labels{})
	if err != nil {
		log.Fatal(err)
	}
	cfg := actors.DefaultConfig()
	cfg.NumInstances = 1
	cfg.Custom.Source = source
	cfg.Row = func(r *actors.Row) {
		fmt.Println("request", r.ID, r.State, "with", r.Cached, "tokens from the cache")
	}
	if _, err := actors.Run(context.Background(), cfg); err != nil {
		log.Fatal(err)
	}
	// Output:
	// request 0 completed with 0 tokens from the cache
	// request 1 completed with 64 tokens from the cache
}

// A configuration can be checked without running it. Errors for the user are
// one line each.
func ExampleCheck() {
	cfg := actors.DefaultConfig()
	effective, setup, err := actors.Check(cfg)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(setup.KVBlocks, "KV blocks per instance,", effective.MaxNumSeqs, "seats")
	cfg.RoutingPolicy = "least-load"
	_, _, err = actors.Check(cfg)
	fmt.Println(err)
	// Output:
	// 28355 KV blocks per instance, 1024 seats
	// --routing-policy: routing.type: unknown routing policy "least-load", the nearest is "least-loaded" (there are: round-robin, least-loaded, weighted, prefix-affinity, power-of-two, session-hash, always-busiest, starlark, tree)
}

// lateOnes counts requests that missed their targets.
type lateOnes struct{ n int }

func (l *lateOnes) Consume(r trace.Record) error {
	if o, ok := r.(*trace.Outcome); ok && o.SLOMet != nil && !*o.SLOMet {
		l.n++
	}
	return nil
}

// A trace of what a run decides, read while it goes on.
func ExampleTracing() {
	cfg := actors.DefaultConfig()
	cfg.NumRequests, cfg.SLOTargets = 200, "standard:e2e=2s"
	late := &lateOnes{}
	cfg.Tracing = actors.Tracing{Level: trace.Decisions, Consumer: late, Counterfactual: 3}
	result, err := actors.Run(context.Background(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(late.n > 0, result.Report.Overall.States[metrics.Completed])
	// Output: true 200
}
