package bundle

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"blis/policy"
	"blis/vtime"
)

// sameContent compares bundles without where they come from.
var sameContent = cmp.Options{cmpopts.IgnoreUnexported(Bundle{})}

func us(d vtime.Duration) *vtime.Duration { return &d }

func settings(pairs ...string) (list []policy.Setting) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, policy.Setting{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}

func mustParse(t testing.TB, text string) Bundle {
	t.Helper()
	b, err := Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// documented is a file with everything that exists.
const documented = `# a study of admission
admission: {type: token-bucket, params: {capacity: 10000, refill_rate: 1000, per_tenant: true}}
priority:  {type: slo-based, params: {realtime: 100, batch: 10, default: 50}}
routing:   {type: weighted, params: {prefix-affinity: 3, queue-depth: 2, kv-utilization: 2}}
scheduler: {type: priority-fcfs, params: {preemption: priority}}
autoscale: {type: none, interval: 15s}
observability: {refresh: 50ms, in_flight: periodic}
metadata: {generation: 3, parent: r17, mutations: [routing.prefix-affinity]}
`

func TestGoodBundles(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Bundle
	}{
		{"empty", "", Bundle{}},
		{"only a comment", "# nothing\n", Bundle{}},
		{"only a document marker", "---\n", Bundle{}},
		{"null", "null", Bundle{}},
		{"an empty mapping", "{}", Bundle{}},
		{"null is not given", "admission:\nrouting: ~\nscheduler: {type: , params: }\nautoscale: {interval: null}\nobservability: {refresh: }\nmetadata:\n", Bundle{}},
		{"everything", documented, Bundle{
			Admission:     Selection{"token-bucket", settings("capacity", "10000", "refill_rate", "1000", "per_tenant", "true")},
			Priority:      Selection{"slo-based", settings("realtime", "100", "batch", "10", "default", "50")},
			Routing:       Selection{"weighted", settings("prefix-affinity", "3", "queue-depth", "2", "kv-utilization", "2")},
			Scheduler:     Selection{"priority-fcfs", settings("preemption", "priority")},
			Autoscale:     AutoscaleSelection{Selection: Selection{Type: "none"}, Interval: us(15 * vtime.Second)},
			Observability: Observability{Refresh: us(50 * vtime.Millisecond), InFlight: "periodic"},
			Metadata:      Mapping{{"generation", number("3")}, {"parent", "r17"}, {"mutations", []any{"routing.prefix-affinity"}}},
		}},
		{"block style, parameters before the type", "routing:\n  params:\n    load-balance: 1\n    queue-depth: 2\n  type: weighted\n",
			Bundle{Routing: Selection{"weighted", settings("load-balance", "1", "queue-depth", "2")}}},
		{"parameters of the default", "scheduler: {params: {preemption: fcfs}}", Bundle{Scheduler: Selection{"", settings("preemption", "fcfs")}}},
		{"an empty list of parameters", "routing: {type: weighted, params: {}}", Bundle{Routing: Selection{Type: "weighted"}}},
		{"JSON", `{"routing":{"type":"weighted","params":{"queue-depth":1e0}},"observability":{"refresh":"50ms"}}`,
			Bundle{Routing: Selection{"weighted", settings("queue-depth", "1e0")}, Observability: Observability{Refresh: us(50 * vtime.Millisecond)}}},
		{"bare microseconds", "autoscale: {interval: 15000000}\nobservability: {refresh: 0}",
			Bundle{Autoscale: AutoscaleSelection{Interval: us(15 * vtime.Second)}, Observability: Observability{Refresh: us(0)}}},
		{"numbers of YAML", "priority: {type: slo-based, params: {critical: 0x10, standard: 1_000, batch: 1e+2, background: -2.5, sheddable: +5, default: .5}}",
			Bundle{Priority: Selection{"slo-based", settings("critical", "16", "standard", "1000", "batch", "1e+2", "background", "-2.5", "sheddable", "5", "default", "0.5")}}},
		{"CR LF, a byte order mark, an end marker", "\ufeff---\r\nrouting:\r\n  type: least-loaded\r\n...\r\n", Bundle{Routing: Selection{Type: "least-loaded"}}},
		{"quoted names", `"routing": {'type': "least-loaded"}`, Bundle{Routing: Selection{Type: "least-loaded"}}},
		{"free metadata", "metadata:\n  z: [1, [x, {b: true}], ~, {}]\n  a:\n    text: |\n      one\n      two\n    7: .5\n  hash: 1e5\n  \"\": \"é\\0\\u2028😀\"\n  big: 123456789012345678901234567890\n",
			Bundle{Metadata: Mapping{
				{"z", []any{number("1"), []any{"x", Mapping{{"b", true}}}, nil, Mapping{}}},
				{"a", Mapping{{"text", "one\ntwo\n"}, {"7", number("0.5")}}},
				{"hash", number("1e5")}, {"", "é\x00\u2028😀"}, {"big", number("123456789012345678901234567890")},
			}}},
		{"empty metadata", "metadata: {}", Bundle{Metadata: Mapping{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustParse(t, c.text)
			if diff := cmp.Diff(c.want, got, sameContent); diff != "" {
				t.Errorf("want −, got +\n%s", diff)
			}
			checkRoundTrip(t, got)
		})
	}
}

// TestLocate says of which faults the file is to blame.
func TestLocate(t *testing.T) {
	const file = "# first line\nrouting:\n  type: weighted\n\n  params:\n    queue-depth: 0\n    load-balance: 0\npriority: {type: slo-based, params: {realtime: 1}}\n"
	fault := func(field string) error { return &policy.Error{Field: field, Problem: "why"} }
	for _, c := range []struct {
		name  string
		set   []string
		fault error
		want  string
	}{
		{"a type", nil, fault("routing.type"), "p.yaml:3: routing.type: why"},
		{"all parameters", nil, fault("routing.params"), "p.yaml:5: routing.params: why"},
		{"a parameter", nil, fault("routing.params.load-balance"), "p.yaml:7: routing.params.load-balance: why"},
		{"a parameter by its other name", nil, fault("priority.params.critical"), "p.yaml:8: priority.params.critical: why"},
		{"wrapped", nil, errors.Join(fault("routing.type")), "p.yaml:3: routing.type: why"},
		{"not in the file", nil, fault("routing.params.tie"), "routing.params.tie: why"},
		{"another error", nil, errors.New("no"), "no"},
		{"a type set since", []string{"routing.type", "weighted"}, fault("routing.type"), "routing.type: why"},
		{"the same type leaves the parameters", []string{"routing.type", "weighted"}, fault("routing.params"), "p.yaml:5: routing.params: why"},
		{"another type does not", []string{"routing.type", "least-loaded"}, fault("routing.params.queue-depth"), "routing.params.queue-depth: why"},
		{"a parameter set since", []string{"routing.params.queue-depth", "0"}, fault("routing.params.queue-depth"), "routing.params.queue-depth: why"},
		{"its neighbour", []string{"routing.params.queue-depth", "0"}, fault("routing.params.load-balance"), "p.yaml:7: routing.params.load-balance: why"},
		{"all of them with one set since", []string{"routing.params.queue-depth", "0"}, fault("routing.params"), "routing.params: why"},
		{"set since by its other name", []string{"priority.params.critical", "0"}, fault("priority.params.realtime"), "priority.params.realtime: why"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := mustParse(t, file)
			for i := 0; i < len(c.set); i += 2 {
				if err := b.Set(c.set[i], c.set[i+1]); err != nil {
					t.Fatal(err)
				}
			}
			if got := b.Locate(c.fault); got.Error() != c.want {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
	t.Run("the fault of a constructor", func(t *testing.T) {
		b := mustParse(t, file)
		_, err := policy.NewRouting(b.Routing.Type, b.Routing.Params, policy.Env{BlockSize: 16, Instances: 2})
		const want = "p.yaml:5: routing.params: the weight of every scorer is 0, want at least one above"
		if got := b.Locate(err); got == nil || got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
	})
	t.Run("none", func(t *testing.T) {
		if b := mustParse(t, file); b.Locate(nil) != nil {
			t.Error("an error from nothing")
		}
	})
}

func TestSet(t *testing.T) {
	const file = "routing: {type: weighted, params: {queue-depth: 2, load-balance: 1}}\npriority: {type: slo-based, params: {realtime: 1}}"
	parsed := mustParse(t, file)
	for _, c := range []struct {
		name, path, value string
		want              func(b *Bundle)
	}{
		{"a parameter in its place", "routing.params.queue-depth", "3", func(b *Bundle) { b.Routing.Params = settings("queue-depth", "3", "load-balance", "1") }},
		{"another at the end", "routing.params.tie", "random", func(b *Bundle) {
			b.Routing.Params = append(b.Routing.Params, policy.Setting{Name: "tie", Value: "random"})
		}},
		{"by its other name", "priority.params.critical", "+7", func(b *Bundle) { b.Priority.Params = settings("critical", "7") }},
		{"another type drops parameters", "routing.type", "round-robin", func(b *Bundle) { b.Routing = Selection{Type: "round-robin"} }},
		{"the same type keeps them", "routing.type", "weighted", func(*Bundle) {}},
		{"a type that was not given", "admission.type", "token-bucket", func(b *Bundle) { b.Admission.Type = "token-bucket" }},
		{"a parameter of the default", "scheduler.params.preemption", "fcfs", func(b *Bundle) { b.Scheduler.Params = settings("preemption", "fcfs") }},
		{"refresh", "observability.refresh", "50ms", func(b *Bundle) { b.Observability.Refresh = us(50 * vtime.Millisecond) }},
		{"in_flight", "observability.in_flight", "immediate", func(b *Bundle) { b.Observability.InFlight = "immediate" }},
		{"interval", "autoscale.interval", "1500000", func(b *Bundle) { b.Autoscale.Interval = us(1500 * vtime.Millisecond) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, got := mustParse(t, file), parsed
			c.want(&want)
			if err := got.Set(c.path, c.value); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, sameContent); diff != "" {
				t.Errorf("want −, got +\n%s", diff)
			}
			if diff := cmp.Diff(mustParse(t, file), parsed, cmp.AllowUnexported(Bundle{})); diff != "" {
				t.Errorf("Set on a copy changed the original: was −, is +\n%s", diff)
			}
			checkRoundTrip(t, got)
		})
	}
}

func TestSetRefuses(t *testing.T) {
	for _, c := range []struct{ name, path, value, want string }{
		{"a section", "routng.type", "weighted", `routng.type: unknown section "routng", the nearest is "routing" (there are: admission, priority, routing, scheduler, autoscale, observability, metadata)`},
		{"a field", "routing.tpye", "weighted", `routing.tpye: unknown field "tpye", the nearest is "type" (there are: type, params)`},
		{"a field of the autoscaler", "autoscale.intervall", "5s", `autoscale.intervall: unknown field "intervall", the nearest is "interval" (there are: type, params, interval, min, max, refresh, trigger, actuation.provisioning, actuation.model_load, actuation.warmup.duration, actuation.warmup.curve, actuation.warmup.penalty, actuation.warmup.routable, actuation.drain, actuation.drain_timeout)`},
		{"an observation", "observability.refrsh", "5s", `observability.refrsh: unknown field "refrsh", the nearest is "refresh" (there are: refresh, in_flight, {signals}, prefix_index, prefix_index_blocks, kv_event_delay)`},
		{"a type", "routing.type", "leastloaded", `routing.type: unknown routing policy "leastloaded", the nearest is "least-loaded" (there are: {routing})`},
		{"no type", "routing.type", "", `routing.type: unknown routing policy "" (there are: {routing})`},
		{"a parameter", "routing.params.queue-dept", "1", `routing.params.queue-dept: weighted has no parameter "queue-dept", the nearest is "queue-depth" (there are: {weighted})`},
		{"a parameter without a name", "routing.params.", "1", `routing.params.: weighted has no parameter "" (there are: {weighted})`},
		{"a parameter of another type", "admission.params.capacity", "1", `admission.params.capacity: always-admit takes no parameters`},
		{"a value", "routing.params.queue-depth", "-1", `routing.params.queue-depth: "-1" is not allowed, want a number in [0, 1e+09]`},
		{"a duration", "observability.refresh", "soon", `observability.refresh: "soon" is not allowed, want a duration like 250ms or 5s`},
		{"a duration below the range", "autoscale.interval", "-1", `autoscale.interval: "-1" is not allowed, want a duration like 250ms or 5s`},
		{"a choice", "observability.in_flight", "late", `observability.in_flight: "late" is not allowed, want immediate | periodic`},
		{"metadata", "metadata.generation", "4", `metadata.generation: metadata cannot be set, write it in the file`},
		{"a whole section", "autoscale", "none", `autoscale: is not a single field, want autoscale.type or autoscale.params.NAME or autoscale.interval or autoscale.min or autoscale.max or autoscale.refresh or autoscale.trigger or autoscale.actuation.provisioning or autoscale.actuation.model_load or autoscale.actuation.warmup.duration or autoscale.actuation.warmup.curve or autoscale.actuation.warmup.penalty or autoscale.actuation.warmup.routable or autoscale.actuation.drain or autoscale.actuation.drain_timeout`},
		{"all parameters", "routing.params", "1", `routing.params: is not a single field, want routing.type or routing.params.NAME`},
		{"nothing", "", "1", `: unknown section "" (there are: admission, priority, routing, scheduler, autoscale, observability, metadata)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := mustParse(t, "routing: {type: weighted, params: {queue-depth: 2}}")
			err := b.Set(c.path, c.value)
			var fault *policy.Error
			if !errors.As(err, &fault) || err.Error() != listed(c.want) {
				t.Errorf("error\n%v, want\n%s", err, listed(c.want))
			}
			if diff := cmp.Diff(mustParse(t, "routing: {type: weighted, params: {queue-depth: 2}}"), b, cmp.AllowUnexported(Bundle{})); diff != "" {
				t.Errorf("was −, is +\n%s", diff)
			}
		})
	}
}

// listed puts what is registered in the place of {KIND}, {TEMPLATE} and {signals}:
// more may come.
func listed(text string) string {
	names := map[string][]string{}
	for _, t := range policy.Templates() {
		names[string(t.Kind)] = append(names[string(t.Kind)], t.Name)
		for i := range t.Parameters {
			names[t.Name] = append(names[t.Name], t.Parameters[i].Name)
		}
	}
	for _, s := range policy.SignalTable() {
		if s.Key != "" {
			names["signals"] = append(names["signals"], s.Key)
		}
	}
	for key, list := range names { // any order: the keys differ
		text = strings.ReplaceAll(text, "{"+key+"}", strings.Join(list, ", "))
	}
	return text
}
