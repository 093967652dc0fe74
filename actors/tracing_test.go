package actors

import (
	"context"
	"errors"
	"strings"
	"testing"

	"blis/bundle"
	"blis/policy"
	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// kept is a consumer that keeps the JSON of what it gets, and fails from one
// record on.
type kept struct {
	lines  []string
	failAt int // 0: never
}

var errKept = errors.New("no room")

func (k *kept) Consume(r trace.Record) error {
	k.lines = append(k.lines, string(trace.AppendJSON(nil, r)))
	if k.failAt > 0 && len(k.lines) >= k.failAt {
		return errKept
	}
	return nil
}

// of are the lines of a kind.
func (k *kept) of(kind string) (list []string) {
	for _, l := range k.lines {
		if strings.HasPrefix(l, `{"type":"`+kind+`"`) {
			list = append(list, l)
		}
	}
	return list
}

// small is four requests on two instances, which form a batch when its step begins.
func small(t *testing.T) Config {
	t.Helper()
	var labels workload.Labels
	labels.Tenants.Label("acme")
	labels.Classes.Label("standard")
	var requests []workload.Request
	for i := range 4 {
		requests = append(requests, workload.NewRequest(vtime.Time(1000*i), 100, 4))
	}
	source, err := workload.NewSlice(requests, labels)
	if err != nil {
		t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.NumInstances, cfg.AsyncScheduling = 2, new(false)
	cfg.Policies.Routing = bundle.Selection{Type: "least-loaded", Params: []policy.Setting{{Name: "tie", Value: "lowest"}}}
	cfg.AlphaCoeffs, cfg.BetaCoeffs = []float64{100, 0, 0}, []float64{5000, 0, 0}
	cfg.Custom.Source = source
	return cfg
}

// What a decision says, worked out by hand: 1 goes where the load is least, 2
// where it is forced to, at a regret.
func TestTraceOfForcedRouting(t *testing.T) {
	cfg, k := small(t), &kept{}
	cfg.ForceRouting = "1=0,2=1"
	cfg.SLOTargets = "standard:ttft=5ms"
	cfg.Tracing = Tracing{Level: trace.Decisions, Consumer: k, Counterfactual: 1}
	if _, err := Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if want := `"counterfactual_k":1,"slo_targets":[{"slo_class":"standard","tenant":"","ttft_us":5000,"tpot_us":null,"e2e_us":null}]}`; !strings.HasSuffix(k.lines[0], want) {
		t.Errorf("header %s\nwant …%s", k.lines[0], want)
	}
	routings := k.of("routing")
	for i, want := range []string{
		// From 100 on it runs: batch 1 and in-flight 1 of instance 0.
		`"target":0,"reason":"least load","forced":false,"score":0,"best":0,"regret":0,"expected_hit_tokens":null,"candidates":[{"instance":0,"score":0,"breakdown":[],"queue_depth":0,"batch_size":0,"in_flight":0,"kv_used_blocks":null}],"filtered_out":[],"held":{"target_tokens":0,"most_tokens":0,"most_at":null},"snapshots":null,"prefix":null,"router_state":null}`,
		`"target":0,"reason":"least load","forced":true,"score":-2,"best":0,"regret":2,"expected_hit_tokens":null,"candidates":[{"instance":1,"score":0,"breakdown":[],"queue_depth":0,"batch_size":0,"in_flight":0,"kv_used_blocks":null}],"filtered_out":[],"held":{"target_tokens":0,"most_tokens":0,"most_at":null},"snapshots":null,"prefix":null,"router_state":null}`,
		`"target":1,"reason":"least load","forced":true,"score":0,"best":0,"regret":0,"expected_hit_tokens":null,"candidates":[{"instance":1,"score":0,"breakdown":[],"queue_depth":0,"batch_size":0,"in_flight":0,"kv_used_blocks":null}],"filtered_out":[],"held":{"target_tokens":0,"most_tokens":0,"most_at":null},"snapshots":null,"prefix":null,"router_state":null}`,
		`"target":1,"reason":"least load","forced":false,"score":-2,"best":-2,"regret":0,"expected_hit_tokens":null,"candidates":[{"instance":1,"score":-2,"breakdown":[],"queue_depth":0,"batch_size":1,"in_flight":1,"kv_used_blocks":null}],"filtered_out":[],"held":{"target_tokens":0,"most_tokens":0,"most_at":null},"snapshots":null,"prefix":null,"router_state":null}`,
	} {
		if !strings.HasSuffix(routings[i], want) {
			t.Errorf("request %d: %s\nwant …%s", i, routings[i], want)
		}
	}
	// Request 1 waits from 1,100 for the step that ends at 5,100, and has its
	// tokens at 10,100, 15,100, 20,100 and 25,100.
	want := `{"type":"outcome","at_us":25100,"request":1,"state":"completed","reason":"","instance":0,"tenant":"acme","slo_class":"standard","arrival_us":1000,"ttft_us":9100,"tpot_us":5000,"e2e_us":24100,` +
		`"queue_wait_us":4000,"actual_hit_tokens":0,"expected_hit_tokens":null,"tier":null,"output_tokens":4,"preemptions":0,"slo_met":false}`
	if got := k.of("outcome"); len(got) != 4 || got[1] != want && got[2] != want {
		t.Errorf("outcomes %s\nwant %s among them", strings.Join(got, "\n"), want)
	}
}

// A consumer that fails gets nothing more; the run goes on, and its error comes
// with the result.
func TestErrorOfAConsumerComesWithTheResult(t *testing.T) {
	whole, err := Run(context.Background(), small(t))
	if err != nil {
		t.Fatal(err)
	}
	cfg, k := small(t), &kept{failAt: 5}
	cfg.Tracing = Tracing{Level: trace.Detailed, Consumer: k}
	r, err := Run(context.Background(), cfg)
	if !errors.Is(err, errKept) || r == nil || r.Digest != whole.Digest {
		t.Errorf("result %v, error %v", r, err)
	}
	if len(k.lines) != 5 {
		t.Errorf("%d records", len(k.lines))
	}
}

func TestTracingIsChecked(t *testing.T) {
	for _, c := range []struct {
		tracing Tracing
		want    string
	}{
		{Tracing{Level: trace.Decisions}, "trace level decisions has no consumer"},
		{Tracing{Level: 7, Consumer: &kept{}}, "trace level 7: want at most 2, detailed"},
		{Tracing{Counterfactual: 2}, "--counterfactual-k is 2 without a trace: want --trace-level decisions or detailed with it"},
		{Tracing{Level: trace.Decisions, Consumer: &kept{}, Counterfactual: -1}, "--counterfactual-k is -1: want 0 (off) or more"},
	} {
		cfg := small(t)
		cfg.Tracing = c.tracing
		var input *InputError
		if _, err := Run(context.Background(), cfg); !errors.As(err, &input) || input.Text != c.want {
			t.Errorf("%+v: error %v, want %s", c.tracing, err, c.want)
		}
	}
}

// strange is a routing policy with scores and a reason of its own.
type strange struct{ scores []float64 }

func (strange) Observes() policy.Signals { return policy.NoSignals }

func (s strange) Route(*policy.Request, float64, *policy.RouterState, *policy.View, vtime.Time) policy.RoutingDecision {
	return policy.RoutingDecision{Target: 1, Reason: 200, Scores: s.scores}
}

// Scores of a policy that explains nothing have no breakdown; without a trace
// nobody reads them.
func TestScoresOfACustomPolicy(t *testing.T) {
	cfg, k := small(t), &kept{}
	cfg.Custom.Routing = func(policy.Env) policy.Routing { return strange{[]float64{0.75, 0.5}} }
	cfg.Tracing = Tracing{Level: trace.Decisions, Consumer: k, Counterfactual: 5}
	if _, err := Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if got := k.of("routing")[0]; !strings.Contains(got, `"reason":"by policy","forced":false,"score":0.5,"best":0.75,"regret":0.25,"expected_hit_tokens":null,"candidates":[{"instance":0,"score":0.75,"breakdown":[],`) {
		t.Error(got)
	}
	if !strings.Contains(k.lines[0], `"routing":"custom"`) {
		t.Error(k.lines[0])
	}
	cfg = small(t)
	cfg.Custom.Routing = func(policy.Env) policy.Routing { return strange{[]float64{1}} }
	cfg.Tracing = Tracing{Level: trace.Decisions, Consumer: k, Counterfactual: 5}
	if _, err := Run(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "gives 1 scores: want one for each of 2 instances") {
		t.Error(err)
	}
}

// Counterfactuals look at signals that the router asks for, and at in-flight of
// which it is told: what it is told stays the same.
func TestCounterfactualsLeaveNoticesAlone(t *testing.T) {
	digests := map[string]bool{}
	for _, k := range []int{0, 2} {
		cfg := DefaultConfig()
		cfg.NumRequests, cfg.RoutingPolicy, cfg.RoutingScorers = 300, "weighted", "active-requests:1"
		*cfg.Policies.Observability.Fresh.Of(policy.QueueDepth) = policy.OnDemand
		cfg.Tracing = Tracing{Level: trace.Decisions, Consumer: &kept{}, Counterfactual: k}
		r, err := Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		digests[r.Digest] = true
	}
	if len(digests) != 1 {
		t.Errorf("digests %v", digests)
	}
}

// Without a trace no message is sent to the tracer, and there is none.
func TestNoTraceIsNothing(t *testing.T) {
	p, err := resolve(small(t))
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCluster(p, Execution{})
	if err != nil {
		t.Fatal(err)
	}
	if c.tracer != nil || c.router.tracing != nil || c.collector.tracer != nil || c.instances[0].ranks[0].tracer(trace.Decisions) != nil {
		t.Error("somebody traces")
	}
	plain, err := c.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	cfg := small(t)
	cfg.Tracing = Tracing{Level: trace.Detailed, Consumer: &kept{}, Counterfactual: 2}
	traced, err := Run(context.Background(), cfg)
	if err != nil || traced.Digest != plain.Digest || traced.Stats.Messages != plain.Stats.Messages {
		t.Errorf("digest %s with %d messages, traced %s with %d; error %v", plain.Digest, plain.Stats.Messages, traced.Digest, traced.Stats.Messages, err)
	}
}
