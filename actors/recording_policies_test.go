package actors_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"blis/actors"
	"blis/bundle"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// TestRecordingHasWhatPoliciesRead: policies of the test note everything that they can
// read by the methods of policy at each of their decisions, and the request that they
// are asked about. A reader that knows docs/recordings.md alone finds the same numbers
// in the recording, those of rejected requests included.
func TestRecordingHasWhatPoliciesRead(t *testing.T) {
	for _, file := range []string{
		"{}",
		"observability: {refresh: 50ms, in_flight: periodic}",
		"observability: {prefix_index: events, kv_event_delay: 20ms}",
		"autoscale: {type: oscillator, interval: 200ms, refresh: 100ms, actuation: {provisioning: 50ms, model_load: 50ms, drain: redirect}}",
	} {
		t.Run(file, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			b, err := bundle.Parse("b.yaml", []byte(file))
			if err != nil {
				t.Fatal(err)
			}
			n := &notebook{random: rand.New(rand.NewPCG(seed, 0))}
			cfg := actors.DefaultConfig()
			cfg.Policies, cfg.Custom.Source = b, n.workload(t)
			cfg.NumInstances, cfg.MaxReplicas, cfg.TotalKVBlocks, cfg.SLOTargets = 3, 5, 300, "gold:ttft=20ms;silver:e2e=1s"
			cfg.EnablePrefixCaching, cfg.RoutingLatency = true, 500
			cfg.Custom.Admission = func(policy.Env) policy.Admission { return noteAdmission{n} }
			cfg.Custom.Priority = func(policy.Env) policy.Priority { return notePriority{n} }
			cfg.Custom.Routing = func(policy.Env) policy.Routing { return noteRouting{n} }
			if b.Autoscale.Type != "" {
				cfg.Custom.Autoscale = func(policy.Env) policy.Autoscale { return noteScaling{n} }
			}
			var recording bytes.Buffer
			cfg.Record = &recording
			if _, err := actors.Run(context.Background(), cfg); err != nil {
				t.Fatal(err)
			}
			n.compare(t, &recording)
			for _, name := range []string{"active_requests", "tenant_active_requests", "arrival_rates", "tenant_arrival_rates", "latency_by_class", "expected_prefix_hits", "burst", "delays", "kv_blocks", "hints"} {
				if n.compared[name] < 20 {
					t.Errorf("%d numbers of %s above 0 were compared: the run shows too little", n.compared[name], name)
				}
			}
			if b.Autoscale.Type != "" && n.compared["attempt"] == 0 {
				t.Error("no request was routed again")
			}
		})
	}
}

// noted is what a policy could read at one decision.
type noted struct {
	decision    string
	at, request int64
	numbers     map[int64]map[string][]float64 // as in a recording, but rates where that has counts
	asked       *policy.Request                // at its first decision
}

// notebook has what the policies noted, in their order.
type notebook struct {
	random   *rand.Rand
	list     []noted
	compared map[string]int // numbers above 0, by name
}

// workload is 600 requests of three tenants and two classes whose prompts share spans,
// over 80 s.
func (n *notebook) workload(t *testing.T) workload.Source {
	var labels workload.Labels
	for _, name := range []string{"red", "green", "blue"} {
		labels.Tenants.Label(name)
	}
	for _, name := range []string{"gold", "silver"} {
		labels.Classes.Label(name)
	}
	labels.Models.Label("m")
	var requests []workload.Request
	at := vtime.Time(0)
	for i := range 600 {
		gap := n.random.Int64N(500_000)
		if i > 300 {
			gap /= 20
		}
		at += vtime.Time(gap)
		r := workload.Request{Output: 1 + n.random.Int32N(30)}
		r.Arrival, r.Input, r.Session, r.Round = at, 64+n.random.Int32N(200), n.random.Uint64(), n.random.Int32N(5)
		r.Tenant, r.Class = workload.Label(n.random.IntN(3)), workload.Label(n.random.IntN(2))
		r.Deadline, r.Hint, r.MaxOutput = vtime.Never, float64(n.random.IntN(5))/4, workload.Absent
		if i > 300 && i%4 > 0 { // it bursts
			r.Tenant = 2
		}
		if n.random.IntN(3) == 0 {
			r.Deadline, r.MaxOutput = at+vtime.Time(n.random.Int64N(int64(3*vtime.Second)))+1, r.Output+n.random.Int32N(9)
		}
		if n.random.IntN(3) > 0 {
			r.Spans = []workload.Span{{Content: 1 + workload.ContentID(n.random.IntN(4)), Length: 32}, {Content: 9, Length: 16}}
		}
		requests = append(requests, r)
	}
	source, err := workload.NewSlice(requests, labels)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func (n *notebook) note(decision string, req *policy.Request, st *policy.RouterState, signals policy.Signals, now vtime.Time) *noted {
	x := noted{decision: decision, at: int64(now), request: -1, numbers: map[int64]map[string][]float64{}}
	if req != nil {
		x.request = req.ID
		x.put(-1, "delays", float64(req.Delays))
		x.put(-1, "attempt", float64(req.Attempt))
		if decision == "admission" && req.Delays == 0 {
			asked := *req
			asked.Spans = append([]workload.Span(nil), req.Spans...)
			x.asked = &asked
		}
	}
	x.put(-1, "requests", float64(st.Arrived), float64(st.Admitted), float64(st.Rejected))
	if signals&policy.Active != 0 {
		x.put(-1, "active_requests", float64(st.Active()), st.Throughput(now))
	}
	if signals&policy.Rates != 0 {
		x.put(-1, "arrival_rates", st.Rate(now))
	}
	if signals&(policy.Active|policy.Rates) != 0 {
		for i := range st.Tenants() {
			label := workload.Label(i)
			if signals&policy.Active != 0 {
				x.put(i, "tenant_active_requests", float64(st.ActiveOf(label)))
			}
			if signals&policy.Rates != 0 {
				burst := 0.0
				if st.Burst(label, now) {
					burst = 1
				}
				x.put(i, "tenant_arrival_rates", st.RateOf(label, now), float64(st.RequestsOf(label)), float64(st.ClassOf(label)), burst)
			}
		}
	}
	if signals&policy.ClassLatency != 0 {
		for i := range st.Classes() {
			if c := st.Class(workload.Label(i)); c.Ended > 0 {
				x.put(i, "latency_by_class", float64(c.Ended), float64(c.Judged), float64(c.Attained), c.TTFT, float64(c.TTFTs), c.TPOT, float64(c.TPOTs), c.E2E, float64(c.E2Es))
			}
		}
	}
	x.view(st, signals)
	n.list = append(n.list, x)
	return &n.list[len(n.list)-1]
}

// view notes what is of single instances.
func (x *noted) view(st *policy.RouterState, signals policy.Signals) {
	for i := range st.View.Len() {
		x.put(i, "phase", float64(st.View.Phase(i)))
		if signals&policy.KVUse != 0 {
			x.put(i, "kv_blocks", float64(st.View.TotalBlocks(i)))
			x.put(i, "kv_utilization", float64(st.View.UsedBlocks(i)))
		}
		if signals&policy.Prefixes != 0 {
			x.put(i, "expected_prefix_hits", float64(st.Expected(i)))
		}
		if signals&policy.InFlight != 0 {
			x.put(i, "in_flight", float64(st.View.InFlight(i)))
		}
	}
}

func (x *noted) put(of int, name string, numbers ...float64) {
	if x.numbers[int64(of)] == nil {
		x.numbers[int64(of)] = map[string][]float64{}
	}
	x.numbers[int64(of)][name] = numbers
}

// The policies. Each reads other signals; what is asked of it decides at random.
type (
	noteAdmission struct{ *notebook }
	notePriority  struct{ *notebook }
	noteRouting   struct{ *notebook }
	noteScaling   struct{ *notebook }
)

func (noteAdmission) Observes() policy.Signals {
	return policy.Active | policy.Rates | policy.ClassLatency | policy.Prefixes | policy.KVUse
}

func (p noteAdmission) Decide(req *policy.Request, st *policy.RouterState, now vtime.Time) policy.AdmissionDecision {
	p.note("admission", req, st, p.Observes(), now)
	switch p.random.IntN(8) {
	case 0:
		return policy.AdmissionDecision{Verdict: policy.Reject, Reason: policy.ByPolicy}
	case 1, 2:
		return policy.AdmissionDecision{Verdict: policy.Delay, Reason: policy.ByPolicy, Wait: 10 * vtime.Millisecond}
	}
	return policy.AdmissionDecision{Verdict: policy.Admit}
}

func (notePriority) Observes() policy.Signals {
	return policy.Prefixes | policy.Rates | policy.InFlight
}

func (p notePriority) Score(req *policy.Request, st *policy.RouterState, now vtime.Time) float64 {
	p.note("priority", req, st, p.Observes(), now)
	return p.random.Float64()
}

func (notePriority) Hints() []string { return []string{"a", "b", "c"} }

func (notePriority) Hint(req *policy.Request, _ *policy.RouterState, _ vtime.Time, hints *policy.Hints) {
	for k := range min(3, req.Input%6) {
		hints[k] = float64(req.Input)/8 - float64(10*k)
	}
}

func (noteRouting) Observes() policy.Signals {
	return policy.Prefixes | policy.Active | policy.ClassLatency | policy.InFlight
}

func (p noteRouting) Route(req *policy.Request, priority float64, st *policy.RouterState, view *policy.View, now vtime.Time) policy.RoutingDecision {
	x := p.note("routing", req, st, p.Observes(), now)
	x.put(-1, "priority", priority)
	x.put(-1, "hints", req.Hints.Of(0), req.Hints.Of(1), req.Hints.Of(2))
	for {
		if i := p.random.IntN(view.Len()); view.Routable(i) {
			return policy.RoutingDecision{Target: i}
		}
	}
}

func (noteScaling) Observes() policy.Signals {
	return policy.Active | policy.Rates | policy.ClassLatency | policy.KVUse | policy.InFlight
}

func (p noteScaling) Evaluate(c *policy.AutoscaleContext) policy.ScaleDecision {
	x := p.note("scale", nil, c.State, p.Observes(), c.Now)
	last := -1.0
	if c.LastScale != vtime.Never {
		last = float64(c.LastScale)
	}
	x.put(-1, "replicas", float64(c.Replicas))
	x.put(-1, "last_scale", last)
	if p.random.IntN(2) == 0 {
		return policy.ScaleDecision{Target: c.Replicas}
	}
	return policy.ScaleDecision{Action: policy.ScaleUp, Target: 1 + p.random.Int32N(5), Reason: policy.ByPolicy}
}

// compare finds every noted decision in the recording, with its numbers, and no other.
func (n *notebook) compare(t *testing.T, recording *bytes.Buffer) {
	t.Helper()
	n.compared = map[string]int{}
	byObserver := [2][]noted{}
	for _, x := range n.list {
		k := 0
		if x.decision == "scale" {
			k = 1
		}
		byObserver[k] = append(byObserver[k], x)
	}
	err := eachSeen(recording, func(x seenDecision) {
		if len(byObserver[x.observer]) == 0 {
			t.Fatalf("the recording has a decision about request %d at %d that no policy made", x.request, x.at)
		}
		want := byObserver[x.observer][0]
		byObserver[x.observer] = byObserver[x.observer][1:]
		if x.decision != want.decision || x.at != want.at || x.request != want.request {
			t.Fatalf("the recording has %s of request %d at %d, want %s of request %d at %d", x.decision, x.request, x.at, want.decision, want.request, want.at)
		}
		for of, names := range want.numbers { // any order
			for name, numbers := range names { // any order
				got := slices.Clone(x.table[of][name])
				switch { // counts in 10 s
				case len(got) == 0:
				case name == "arrival_rates" || name == "tenant_arrival_rates":
					got[0] /= 10
				case name == "active_requests":
					got[1] /= 10
				}
				if !slices.Equal(got, numbers) {
					t.Fatalf("%s of request %d at %v: %s of %d is %v, want %v", x.decision, x.request, vtime.Time(x.at), name, of, got, numbers)
				}
				if name == "tenant_arrival_rates" && numbers[3] > 0 {
					n.compared["burst"]++
				}
				for _, number := range numbers {
					if number > 0 {
						n.compared[name]++
					}
				}
			}
		}
		compareAsked(t, x, want.asked)
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := len(byObserver[0]) + len(byObserver[1]); left > 0 || len(n.list) < 600 {
		t.Errorf("%d of %d decisions are not in the recording", left, len(n.list))
	}
}

// compareAsked compares the request of an entry with what the policy was given; nil for
// a decision that is not the first one about its request.
func compareAsked(t *testing.T, x seenDecision, want *policy.Request) {
	t.Helper()
	if want == nil {
		if len(x.asked) > 0 {
			t.Fatalf("a later decision about request %d has %v", x.request, x.asked)
		}
		return
	}
	got := policy.Request{Identity: workload.Identity{ID: x.request}}
	got.Tenant, got.Class, got.Model = workload.Label(whole(x.asked[0])), workload.Label(whole(x.asked[1])), workload.Label(whole(x.asked[2]))
	got.Session, got.Round, got.Arrival = uint64(whole(x.asked[3])), int32(whole(x.asked[4])), vtime.Time(whole(x.asked[5]))
	if got.Deadline = vtime.Time(whole(x.asked[6])); got.Deadline < 0 {
		got.Deadline = vtime.Never
	}
	got.Input, got.MaxOutput, got.Hint = int32(whole(x.asked[7])), int32(whole(x.asked[8])), float(x.asked[9])
	for i := 10; i < len(x.asked); i += 2 {
		got.Spans = append(got.Spans, workload.Span{Content: workload.ContentID(whole(x.asked[i])), Length: int32(whole(x.asked[i+1]))})
	}
	if !reflect.DeepEqual(&got, want) {
		t.Fatalf("request %d is %+v, want %+v", x.request, got, *want)
	}
	if tenants := []string{"red", "green", "blue"}; !slices.Equal(x.names[0], tenants) || !slices.Equal(x.names[1], []string{"gold", "silver"}) || !slices.Equal(x.names[2], []string{"m"}) {
		t.Fatalf("the names of tenants, classes and models are %v", x.names)
	}
}
