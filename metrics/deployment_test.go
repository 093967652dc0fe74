package metrics

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/workload"
)

// twoDeployments is a run of deployment chat, whose instance 0 computes prompts for instance 1, and of small with
// instance 2: two requests on each that serves, one that ended on the prefill instance and one at the router.
func twoDeployments() Run {
	o := options()
	o.TokenOverhead, o.RequestOverhead = 0, 0
	run := Run{Routers: []*Recorder{NewRecorder(o)}, End: 20_000, Classes: []string{"c"}, Tenants: []string{"t"}, Models: []string{"m"}, InstanceNames: []string{"p", "d", "s"}}
	for range 3 {
		run.Instances = append(run.Instances, NewRecorder(o))
	}
	chat := NewRecorder(o)
	add := func(r *Recorder, x Outcome) {
		x.ID = run.Injected
		run.Injected++
		r.Record(&x)
		recordITL(r, &x)
	}
	pulled := handed()
	pulled.Instance = 1
	add(run.Instances[1], pulled) // E2E 2,500
	direct := completed()
	direct.Instance = 1
	add(run.Instances[1], direct)
	small := completed()
	small.Instance, small.Generated, small.LastToken, small.Finished = 2, 1, 2000, 2000
	add(run.Instances[2], small)
	add(run.Instances[2], small)
	late := Outcome{Identity: workload.Identity{Arrival: 1000, Input: 50}, Progress: NoProgress(), HandOver: NoHandOver(), State: TimedOut, Admitted: 1000, Finished: 1600}
	late.Routed, late.Queued = 1000, 1100
	add(run.Instances[0], late)
	between := late // handed over, and timed out before it was delivered
	between.Instance, between.Routed, between.Queued = -1, never, never
	between.HandOver = HandOver{Instance: 0, Cached: 3, Queued: 1100, Scheduled: 1200, Ended: 1500, PullStart: never, PullEnd: never}
	add(chat, between)
	run.Counters = []Counters{
		{LifeMicros: 1000, BusyMicros: 800, TotalBlocks: 100, WaitingMicros: 5000, LookedUpTokens: 200, CachedTokens: 96},
		{LifeMicros: 1000, BusyMicros: 300, TotalBlocks: 100, LookedUpTokens: 200, CachedTokens: 60},
		{LifeMicros: 1000, BusyMicros: 100, TotalBlocks: 100, WaitingMicros: 1, LookedUpTokens: 200, CachedTokens: 20},
	}
	run.Disaggregated = []Disaggregation{
		{HandOvers: 5, WithoutKV: 1, PeakAwaiting: 3, NoticedEnds: 1, NoticedLeft: 1, Expired: 1, StalePulls: 1, Lost: 1, HeldMicros: 4000},
		{Pulls: 2, PulledBlocks: 10, PullMicros: 180, NoticedPulls: 1, PullNotice: 20, FailedPulls: 1, Left: 1, RemoteTokens: 24, PulledPrompts: 100, PulledCached: 8, DeadlockBreak: 2},
		{},
	}
	run.Deployments = []Deployment{
		{Name: "chat", Router: chat, Coordination: &Coordination{Disaggregated: 7, Direct: 1, Backpressure: 4}, Pools: []Pool{
			{Name: "chat/prefill", Role: PrefillRole, Model: "llama", GPU: "H100", TP: 4, Instances: []int{0}, BlockBytes: 100, PaidMicros: 3.6e9, Price: 8},
			{Name: "chat/decode", Role: "decode", Model: "llama", GPU: "H200", TP: 2, Instances: []int{1}, BlockBytes: 200, PaidMicros: 1.8e9, Price: 6},
		}},
		{Name: "small", Pools: []Pool{{Name: "small", Role: "monolithic", Model: "qwen", GPU: "L40S", TP: 1, Instances: []int{2}, BlockBytes: 300, PaidMicros: 7.2e9}}},
	}
	return run
}

// The numbers of pools and deployments, reckoned by hand.
func TestPoolsAndDeployments(t *testing.T) {
	run := twoDeployments()
	r, err := Collect(run)
	if err != nil {
		t.Fatal(err)
	}
	x := func(v float64) *float64 { return &v }
	n := func(v int64) *int64 { return &v }
	chat, small := &r.PerDeployment[0], &r.PerDeployment[1]
	if d := cmp.Diff([]PaidUse{{2, 1.5, 5, x(11)}, {1, 2, 2, nil}}, []PaidUse{chat.PaidUse, small.PaidUse}); d != "" {
		t.Error(d)
	}
	if chat.Injected != 4 || chat.States[Completed] != 2 || chat.States[TimedOut] != 2 || small.Injected != 2 || chat.E2E.Mean != 2500 || small.E2E.Mean != 1000 {
		t.Errorf("chat %v, E2E %v; small %v, E2E %v", chat.States, chat.E2E, small.States, small.E2E)
	}
	if !near(chat.Resources.Utilisation, 0.55) || chat.PD == nil || *chat.PD.Direct != 1 || chat.PD.Pulls != 2 || small.PD.Pulls != 0 || small.PD.Direct != nil || chat.ITL.N != 4 || small.ITL != nil {
		t.Errorf("chat: use %v, %+v, ITL %+v; small: %+v", *chat.Resources.Utilisation, chat.PD, chat.ITL, small.PD)
	}
	if *r.Anomalies.PDBackpressure != 4 || r.Anomalies.QueueImbalance != 0 {
		t.Errorf("backpressure %d, %d queues out of balance with others of their pool", *r.Anomalies.PDBackpressure, r.Anomalies.QueueImbalance)
	}

	p, d, s := &r.PerPool[0], &r.PerPool[1], &r.PerPool[2]
	seconds := *r.Window.Seconds // from 1000 to 3500
	if *p.Prefills != 6 || !near(p.PrefillsPerSecond, 6/seconds) || p.QueueWait.Mean != 10 || p.Prefill.Mean != 70 || p.States[TimedOut] != 1 || p.PD.Direct != nil || p.PD.HandOvers != 5 || *p.Cost != 8 {
		t.Errorf("prefill pool: %+v", p)
	}
	if d.Prefills != nil || d.QueueWait.Mean != 100 || d.States[Completed] != 2 || !near(d.RequestsPerSecond, 2/seconds) || d.PD.Bytes != 2000 {
		t.Errorf("decode pool: %+v", d)
	}
	if s.PD != nil || s.Deployment != "small" || s.Role != "monolithic" || s.GPU != "L40S" || !near(s.TokensPerSecond, 2/seconds) {
		t.Errorf("monolithic pool: %+v", s)
	}
	// 60 − 24 pulled − 8 cached beside what was pulled, of 200 − 100 looked up here alone.
	if !near(p.Resources.CacheHitRate, 96.0/200) || !near(d.Resources.CacheHitRate, 28.0/100) || !near(r.Overall.Resources.CacheHitRate, (96.0+28+20)/500) || run.Counters[1].CachedTokens != 60 {
		t.Errorf("hit rates %v, %v, overall %v", *p.Resources.CacheHitRate, *d.Resources.CacheHitRate, *r.Overall.Resources.CacheHitRate)
	}

	if d := cmp.Diff(PDUse{
		Disaggregated: n(7), Direct: n(1), HandOvers: 5, WithoutKV: 1, Pulled: 1, ToldLeft: 1, Expired: 1, StalePulls: 1, Lost: 1, Awaiting: 1, PeakAwaiting: 3, HeldMean: x(4.0 / 3),
		Pulls: 2, Blocks: 10, Bytes: 2000, PullMean: x(90), Pulling: x(180.0 / 3000), NoticeMean: x(20), FailedPulls: 1, Left: 1, Tokens: 24, LocalRate: x(0.08), DeadlockBreaks: 2,
	}, r.PD.Overall); d != "" {
		t.Error(d)
	}
	if r.PD.HandedOver != 2 || r.PD.RemoteTokens != 24 || r.PD.PerInstance.uses[1].Pulls != 2 || r.PD.PerInstance.uses[0].Pulls != 0 {
		t.Errorf("%+v", r.PD)
	}
	if got, want := r.PD.Phases.Means(), [phases]float64{110, 10, 70, 110, 10, 90, 2100}; got != want {
		t.Errorf("phases %v, want %v", got, want)
	}
	// Of three that are alike in the split but for one: hand-over 110 + transfer 90, over four requests.
	if r.Overall.Split.HandOver != 50 || r.Overall.Preemptions != 1 || r.Overall.RecomputedTokens != 7 || r.Overall.CachedTokens != 48+3*32 {
		t.Errorf("split %+v, %d preemptions, %d tokens recomputed, %d cached", r.Overall.Split, r.Overall.Preemptions, r.Overall.RecomputedTokens, r.Overall.CachedTokens)
	}
}

// Results without pools and hand-overs have no keys of them.
func TestRunsWithoutPools(t *testing.T) {
	run := twoDeployments()
	run.Disaggregated, run.Deployments[0].Coordination = nil, nil
	run.Injected--
	run.Deployments = nil
	r, err := Collect(run)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"pd"`, "per_pool", "per_deployment", "backpressure"} {
		if strings.Contains(string(text), key) {
			t.Errorf("the result has %s", key)
		}
	}
}

func TestPoolsThatCannotBe(t *testing.T) {
	for name, change := range map[string]func(run *Run){
		"instance 2 is in no pool":                       func(run *Run) { run.Deployments = run.Deployments[:1] },
		"pool small has instance 1, of 3, which is in":   func(run *Run) { run.Deployments[1].Pools[0].Instances = []int{1, 2} },
		"pool small has instance 3, of 3":                func(run *Run) { run.Deployments[1].Pools[0].Instances = []int{3} },
		`pool "chat/decode": want a name of its own`:     func(run *Run) { run.Deployments[1].Pools[0].Name = "chat/decode" },
		`pool "": want a name of its own`:                func(run *Run) { run.Deployments[1].Pools[0].Name = "" },
		"3 instances, of which 2 count hand-overs":       func(run *Run) { run.Disaggregated = run.Disaggregated[:2] },
		"6 requests were injected, but 5 reached one of": func(run *Run) { run.Deployments[0].Router = nil },
	} {
		run := twoDeployments()
		change(&run)
		if _, err := Collect(run); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}

// The means of the phases add up to the mean E2E of the requests that were handed over, whatever they went through.
func TestPhasesAddUpToE2E(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 5))
	rec, n, e2e := NewRecorder(options()), int64(0), 0.0
	for i := range int64(3000) {
		x := randomOutcome(r, i)
		if r.IntN(9) == 0 {
			x.Redirects = 1 // it has no phases
		}
		rec.Record(&x)
		recordITL(rec, &x)
		if v, ok := x.E2E(options().TokenOverhead, options().RequestOverhead); ok && x.HandOver.Made() && x.Redirects == 0 {
			n++
			e2e += float64(v)
		}
	}
	report, err := Collect(Run{Routers: []*Recorder{rec}, Injected: 3000, End: 2e8, Cut: true, Disaggregated: []Disaggregation{},
		Classes: []string{"a", "b", "c"}, Tenants: []string{"a", "b", "c", "d"}, Models: []string{"a", "b"}})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	sum := 0.0
	for _, m := range report.PD.Phases.Means() {
		sum += m
	}
	if report.PD.Phases.Decode.N != n || !near(&sum, e2e/float64(n)) {
		t.Errorf("seed %d: phases of %d requests add up to %v, want %v of %d", seed, report.PD.Phases.Decode.N, sum, e2e/float64(n), n)
	}
	parts := report.Overall.Split
	if whole := parts.FrontEnd + parts.Queue + parts.Prefill + parts.Decode + parts.Recompute + parts.HandOver; !near(&whole, report.Overall.E2E.Mean) {
		t.Errorf("seed %d: the split sums to %v, E2E is %v", seed, whole, report.Overall.E2E.Mean)
	}
}

// Counters add up, and each is in the hash.
func TestDisaggregationMergesEveryCounter(t *testing.T) {
	var a, b Disaggregation
	for i, p := range a.fields() {
		*p = int64(i + 1)
	}
	for i, p := range b.fields() {
		*p = int64(100 * (i + 1))
	}
	a.PeakAwaiting, b.PeakAwaiting = 9, 7
	if n := reflect.TypeOf(a).NumField(); n != len(a.fields())+1 {
		t.Errorf("%d counters of %d and the peak are merged", len(a.fields()), n)
	}
	fold := a.Fold()
	for i, p := range a.fields() {
		*p++
		if a.Fold() == fold {
			t.Errorf("counter %d is not in the hash", i)
		}
		*p--
	}
	a.Merge(&b)
	for i, p := range a.fields() {
		if *p != int64(101*(i+1)) {
			t.Errorf("counter %d is %d", i, *p)
		}
	}
	if a.PeakAwaiting != 9 {
		t.Errorf("peak %d", a.PeakAwaiting)
	}
}

// foundIn is the prompt tokens of x that caches had where the prompt was computed.
func foundIn(x *Outcome) int32 {
	if x.HandOver.RemoteTokens > 0 {
		return x.HandOver.Cached
	}
	return x.Cached
}

// Instances are compared with those of their pool, and named by their index in the run.
func TestQueuesOutOfBalanceInTheirPool(t *testing.T) {
	counters := make([]Counters, 5)
	for i := range counters {
		counters[i] = Counters{LifeMicros: 1000, WaitingMicros: 100}
	}
	counters[0].WaitingMicros, counters[4].WaitingMicros = 1e6, 9000
	deployments := []Deployment{{Pools: []Pool{{Instances: []int{0}}, {Instances: []int{1, 4}}}}, {Pools: []Pool{{Instances: []int{2, 3}}}}}
	if list := ImbalancedInPools(counters, deployments); len(list) != 1 || list[0].Instance != 4 {
		t.Errorf("%+v, want instance 4 alone", list)
	}
	if list := ImbalancedInPools(counters, nil); len(list) != 1 || list[0].Instance != 0 {
		t.Errorf("without pools %+v, want instance 0 alone", list)
	}
}

// Bytes are of the blocks of each pool; an instance without a tier has no line.
func TestTiersOfPools(t *testing.T) {
	run := twoDeployments()
	run.Tiers = []KVTier{{}, {Capacity: 10, EntryBlocks: 1, StoredBlocks: 3, LoadedBlocks: 2}, {Capacity: 10, EntryBlocks: 1, StoredBlocks: 5, LoadedBlocks: 4}}
	r, err := Collect(run)
	if err != nil {
		t.Fatal(err)
	}
	cpu := &r.KVTiers.CPU
	if cpu.Overall.Store.Bytes != 3*200+5*300 || cpu.Overall.Load.Bytes != 2*200+4*300 || cpu.PerInstance.uses[1].Store.Bytes != 1500 || len(cpu.PerInstance.uses) != 2 {
		t.Errorf("%+v", cpu)
	}
	text, err := json.Marshal(cpu.PerInstance)
	if err != nil || !strings.HasPrefix(string(text), `{"d":`) || !strings.Contains(string(text), `"s":`) {
		t.Errorf("%v: %s", err, text)
	}
}

// Whatever is counted of a hand-over is in the hash of a recorder.
func TestRecorderFoldHasHandOvers(t *testing.T) {
	fold := func(change func(h *HandOver)) uint64 {
		o, r := handed(), NewRecorder(options())
		change(&o.HandOver)
		r.Record(&o)
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		return r.Fold()
	}
	same := fold(func(*HandOver) {})
	for name, change := range map[string]func(h *HandOver){
		"tokens": func(h *HandOver) { h.RemoteTokens++ }, "found": func(h *HandOver) { h.Cached++ }, "queued": func(h *HandOver) { h.Queued-- }, "scheduled": func(h *HandOver) { h.Scheduled-- },
		"ended": func(h *HandOver) { h.Ended++ }, "pulled": func(h *HandOver) { h.PullStart++ }, "lost": func(h *HandOver) { h.Lost++ }, "preempted": func(h *HandOver) { h.Preemptions++ },
		"none": func(h *HandOver) { *h = NoHandOver() },
	} {
		if fold(change) == same {
			t.Errorf("%s makes no difference", name)
		}
	}
}
