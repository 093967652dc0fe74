package bundle

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

func TestComplete(t *testing.T) {
	defaults := Bundle{
		Admission: Selection{Type: "always-admit"}, Priority: Selection{Type: "constant"}, Routing: Selection{Type: "round-robin"},
		Scheduler: Selection{"fcfs", settings("preemption", "auto")}, Autoscale: AutoscaleSelection{Selection: Selection{Type: "none"}},
	}
	for _, c := range []struct {
		name, text string
		want       func(b *Bundle)
	}{
		{"nothing given", "", func(*Bundle) {}},
		{"defaults in the template's order", "admission: {type: token-bucket, params: {per_tenant: true, capacity: 5}}", func(b *Bundle) {
			b.Admission = Selection{"token-bucket", settings("capacity", "5", "refill_rate", "1000", "per_tenant", "true")}
		}},
		{"an alias by its name", "priority: {type: slo-based, params: {default: 1, realtime: 7}}", func(b *Bundle) {
			b.Priority = Selection{"slo-based", settings("critical", "7", "standard", "50", "batch", "10", "background", "1", "sheddable", "0", "default", "1")}
		}},
		{"weights given, in the order given", "routing: {type: weighted, params: {tie: random, queue-depth: 1, prefix-affinity: 0}}", func(b *Bundle) {
			b.Routing = Selection{"weighted", settings("queue-depth", "1", "prefix-affinity", "0", "tie", "random")}
		}},
		{"a quiet parameter that is given", "routing: {type: weighted, params: {cpu_weight: 0.8, queue-depth: 1}}", func(b *Bundle) {
			b.Routing = Selection{"weighted", settings("queue-depth", "1", "tie", "random", "cpu_weight", "0.8")}
		}},
		{"no weight given", "routing: {type: weighted, params: {tie: random}}", func(b *Bundle) {
			b.Routing = Selection{"weighted", settings("prefix-affinity", "3", "queue-depth", "2", "kv-utilization", "2", "tie", "random")}
		}},
		{"fields and metadata stay", "observability: {refresh: 5ms}\nautoscale: {interval: 1s}\nmetadata: {b: 1, a: [x]}", func(b *Bundle) {
			b.Observability.Refresh = us(5 * vtime.Millisecond)
			b.Autoscale.Interval = us(vtime.Second)
			b.Metadata = Mapping{{"b", number("1")}, {"a", []any{"x"}}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := defaults
			c.want(&want)
			b := mustParse(t, c.text)
			got, err := b.Complete()
			if diff := cmp.Diff(want, got, sameContent); err != nil || diff != "" {
				t.Errorf("%v, want −, got +\n%s", err, diff)
			}
			if diff := cmp.Diff(mustParse(t, c.text), b, sameContent); diff != "" {
				t.Errorf("Complete changed the original: was −, is +\n%s", diff)
			}
			checkRoundTrip(t, got)
		})
	}
}

// TestCompleteKeepsThePolicy: the effective bundle makes the policy that the
// given one makes.
func TestCompleteKeepsThePolicy(t *testing.T) {
	b := mustParse(t, "routing: {type: weighted, params: {kv-utilization: 1, queue-depth: 3, tie: lowest}}")
	full, err := b.Complete()
	if err != nil {
		t.Fatal(err)
	}
	env := policy.Env{BlockSize: 16, Instances: 3}
	view := new(policy.View)
	for _, s := range []policy.Slot{{InFlight: 5, Used: 1, Total: 10, Routable: true}, {Queue: 1, Used: 9, Total: 10, Routable: true}} {
		view.Add(s)
	}
	decide := func(c Selection) policy.RoutingDecision {
		p, err := policy.NewRouting(c.Type, c.Params, env)
		if err != nil {
			t.Fatal(err)
		}
		view.Declared = p.Observes()
		return p.Route(&policy.Request{Identity: workload.Identity{Input: 5}}, 0, &policy.RouterState{}, view, 0)
	}
	one, two := decide(b.Routing), decide(full.Routing)
	if diff := cmp.Diff(one, two); diff != "" {
		t.Errorf("given −, complete +\n%s", diff)
	}
}

// TestTenantsComeByName: settings of tenants come after parameters, in the order of
// names. A tenant may be called like a parameter.
func TestTenantsComeByName(t *testing.T) {
	template := policy.Template{Kind: policy.PriorityKind, Name: "made-up", Parameters: []policy.Parameter{{Name: "default", Type: policy.Number, Default: "1", Max: 9}}, Open: &policy.Parameter{Name: "tenants", Type: policy.Number, Max: 9}}
	params, err := template.Complete(settings("tenants.zed", "3", "tenants.amy", "4", "tenants.default", "7", "default", "2"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(settings("default", "2", "tenants.amy", "4", "tenants.default", "7", "tenants.zed", "3"), params); diff != "" {
		t.Errorf("want −, got +\n%s", diff)
	}
	if name := template.Canonical("tenants.zed"); name != "tenants.zed" {
		t.Errorf("tenants.zed is called %q", name)
	}
	s, err := setting(&template, "tenants.zed", number("3"))
	if err != nil || s != (policy.Setting{Name: "tenants.zed", Value: "3"}) {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := setting(&template, "tenants.zed", "3"); err == nil {
		t.Error("a number in quotes was taken")
	}
}

func TestCompleteRefusesWhatIsNoPolicy(t *testing.T) {
	for _, c := range []struct {
		name string
		b    Bundle
		want string
	}{
		{"type", Bundle{Routing: Selection{Type: "leastloaded"}}, `routing.type: unknown routing policy "leastloaded", the nearest is "least-loaded" (there are: {routing})`},
		{"parameter", Bundle{Priority: Selection{Params: settings("x", "1")}}, `priority.params.x: constant takes no parameters`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.b.Complete()
			var fault *policy.Error
			if !errors.As(err, &fault) || err.Error() != listed(c.want) {
				t.Errorf("error\n%v, want\n%s", err, listed(c.want))
			}
		})
	}
}

func TestBundleIsWrittenAsGiven(t *testing.T) {
	b := mustParse(t, documented)
	text, err := b.MarshalText()
	const want = `admission: {type: token-bucket, params: {capacity: 10000, refill_rate: 1000, per_tenant: true}}
priority: {type: slo-based, params: {realtime: 100, batch: 10, default: 50}}
routing: {type: weighted, params: {prefix-affinity: 3, queue-depth: 2, kv-utilization: 2}}
scheduler: {type: priority-fcfs, params: {preemption: priority}}
autoscale: {type: none, interval: 15s}
observability: {refresh: 50ms, in_flight: periodic}
metadata: {generation: 3, parent: r17, mutations: [routing.prefix-affinity]}
`
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s, want\n%s", err, text, want)
	}
	b = Bundle{Routing: b.Routing, Autoscale: b.Autoscale, Metadata: Mapping{{"a\"\n", nil}}}
	compact, err := b.MarshalJSON()
	const short = `{"routing":{"type":"weighted","params":{"prefix-affinity":3,"queue-depth":2,"kv-utilization":2}},"autoscale":{"type":"none","interval":"15s"},"metadata":{"a\"\u000a":null}}`
	if err != nil || string(compact) != short {
		t.Errorf("%v\n%s, want\n%s", err, compact, short)
	}
	if text, err := (Bundle{}).MarshalJSON(); err != nil || string(text) != "{}" {
		t.Errorf("an empty bundle is %s, %v", text, err)
	}
	for _, bad := range []any{number("NaN"), 5} {
		b := Bundle{Metadata: Mapping{{"a", []any{Mapping{{"b", bad}}}}}}
		if text, err := b.MarshalJSON(); err == nil {
			t.Errorf("metadata %v was written as %s", bad, text)
		}
		if text, err := b.MarshalText(); err == nil {
			t.Errorf("metadata %v was written as %s", bad, text)
		}
	}
}
