package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func near(a *float64, b float64) bool {
	return a != nil && math.Abs(*a-b) <= 1e-9*math.Max(1, math.Abs(b))
}

func named(run Run) Run {
	run.Classes, run.Tenants, run.Models = []string{"standard", "batch", "free"}, []string{"a", "b", "c", "d"}, []string{"m", "n"}
	run.InstanceNames = []string{"instance_0", "instance_1", "instance_2"}[:len(run.Instances)]
	run.Counters = make([]Counters, len(run.Instances))
	for i := range run.Counters {
		run.Counters[i] = Counters{LifeMicros: 1e8, BusyMicros: int64(i) * 1e7, TotalBlocks: 100, PeakBlocks: int64(10 * i), BlockMicros: 1e9}
	}
	return run
}

// Collect against counting by hand over all outcomes.
func TestCollectAgreesWithCountingByHand(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 4))
	o := options()
	o.Targets = []Targets{{TTFT: 150000}, {}, {E2E: 300000, TPOT: 20000}}
	run := named(Run{Routers: []*Recorder{NewRecorder(o)}, Instances: []*Recorder{NewRecorder(o), NewRecorder(o), NewRecorder(o)}, End: 2e8, Cut: true, Injected: 5000})
	var e2e, ttft, itl, class0 twin
	met, targeted, tokens, input, cached := 0, 0, 0, 0.0, 0.0
	perInstance := map[int]int64{}
	for i := range run.Injected {
		x := randomOutcome(r, i)
		recorder := run.Routers[0]
		if x.State != Rejected && x.State != Pending {
			x.Instance = r.Int32N(3)
			recorder = run.Instances[x.Instance]
			perInstance[int(x.Instance)]++
		}
		recorder.Record(&x)
		recordITL(recorder, &x)
		if x.Generated > 0 {
			ttft.add(int64(x.FirstToken-x.Arrival)+7, 1)
			if x.Class == 0 {
				class0.add(int64(x.FirstToken-x.Arrival)+7, 1)
			}
		}
		if x.Generated > 1 {
			itl.add(int64(x.LastToken-x.FirstToken)+7*int64(x.Generated-1), 1)
		}
		if x.Class != 1 {
			targeted++
		}
		if x.Scheduled != never {
			input += float64(x.Input)
			cached += float64(foundIn(&x))
		}
		if x.State != Completed {
			continue
		}
		tokens += int(x.Generated)
		total := int64(x.Finished-x.Arrival) + 7*int64(x.Generated) + 20
		e2e.add(total, 1)
		tpotMet := x.Generated < 2 || (int64(x.LastToken-x.FirstToken)+7*int64(x.Generated-1)+20)/int64(x.Generated-1) <= 20000
		ttftMet := x.Generated == 0 || int64(x.FirstToken-x.Arrival)+7 <= 150000
		if x.Class == 0 && ttftMet || x.Class == 2 && total <= 300000 && tpotMet {
			met++
		}
	}
	report, err := Collect(run)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	same := func(name string, got *Summary, want twin) {
		t.Helper()
		var d Distribution
		for _, v := range want {
			d.Add(v)
		}
		if got == nil || *got != d.Summary() {
			t.Errorf("seed %d: %s is %+v, want %+v", seed, name, got, d.Summary())
		}
	}
	same("E2E", report.Overall.E2E, e2e)
	same("TTFT", report.Overall.TTFT, ttft)
	same("TTFT of a class", report.PerClass[0].TTFT, class0)
	sum := int64(0)
	for _, v := range itl {
		sum += v
	}
	if n := report.Overall.ITL.N; !near(report.Overall.ITLMean, float64(sum)/float64(n)) || !near(&report.Overall.ITL.Mean, *report.Overall.ITLMean) {
		t.Errorf("seed %d: ITL mean %v and %v, want %v", seed, *report.Overall.ITLMean, report.Overall.ITL.Mean, float64(sum)/float64(n))
	}
	seconds := *report.Window.Seconds
	if !near(report.Overall.SLOAttainment, float64(met)/float64(targeted)) || !near(report.Overall.Goodput, float64(met)/seconds) {
		t.Errorf("seed %d: attainment %v, want %d of %d", seed, *report.Overall.SLOAttainment, met, targeted)
	}
	if report.PerClass[1].SLOAttainment != nil || report.PerClass[1].Goodput != nil {
		t.Error("a class without targets has an attainment")
	}
	if !near(report.Overall.TokensPerSecond, float64(tokens)/seconds) {
		t.Errorf("seed %d: tokens per second %v", seed, *report.Overall.TokensPerSecond)
	}
	if !near(report.Overall.CacheHitRate, cached/input) {
		t.Errorf("seed %d: hit rate %v, want %v of %v", seed, *report.Overall.CacheHitRate, cached, input)
	}
	for i, s := range report.PerInstance {
		if s.Injected != perInstance[i] {
			t.Errorf("seed %d: instance %d had %d requests, report says %d", seed, i, perInstance[i], s.Injected)
		}
	}
	if report.Busiest.Name != "instance_2" || report.Idlest.Name != "instance_0" || !near(report.Overall.Resources.KVMean, 0.1) || !near(report.Overall.Resources.KVPeak, 0.2) {
		t.Errorf("busiest %v, idlest %v, KV %v", report.Busiest, report.Idlest, *report.Overall.Resources.KVMean)
	}
	parts := report.Overall.Split
	if whole := parts.FrontEnd + parts.Queue + parts.Prefill + parts.Decode + parts.Recompute + parts.HandOver; !near(&whole, report.Overall.E2E.Mean) {
		t.Errorf("seed %d: the split sums to %v, E2E is %v", seed, whole, report.Overall.E2E.Mean)
	}
	marginals := func(scopes Scopes) (n int64, e2e int64) {
		for _, s := range scopes {
			n += s.Injected
			e2e += s.E2E.N
		}
		return n, e2e
	}
	for _, scopes := range []Scopes{report.PerClass, report.PerTenant, report.PerModel} {
		if n, done := marginals(scopes); n != 5000 || done != report.Overall.E2E.N {
			t.Errorf("seed %d: scopes hold %d requests, %d of them completed", seed, n, done)
		}
	}

	// The order of recorders must not matter.
	i := run.Instances
	run.Instances[0], run.Routers[0] = run.Routers[0], i[0]
	again, err := Collect(run)
	if err != nil || !reflect.DeepEqual(again.Overall, report.Overall) || !reflect.DeepEqual(again.PerTenant, report.PerTenant) || !reflect.DeepEqual(again.Load, report.Load) {
		t.Errorf("seed %d: recorders in another order give another report (%v)", seed, err)
	}
}

func TestNothingCompletedGivesCompleteReport(t *testing.T) {
	recorder := NewRecorder(options())
	for i := range int64(3) {
		o := dropped()
		o.ID = i
		recorder.Record(&o)
	}
	report, err := Collect(named(Run{Instances: []*Recorder{recorder}, Injected: 3, End: 1300}))
	if err != nil {
		t.Fatal(err)
	}
	s := report.Overall
	if s.States[Dropped] != 3 || s.Reasons[PromptTooLong] != 3 || s.TTFT != nil || s.TPOT != nil || s.ITL != nil || s.E2E != nil || s.Split != nil || s.RequestsPerSecond != nil {
		t.Errorf("overall %+v", s)
	}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"ttft_us":null`, `"states":{"completed":0,"rejected":0,"dropped":3,`, `"prompt_too_long":3,"prompt_plus_max_output_too_long":0,`, `"per_class":{"standard":{"injected_requests":3`, `"per_instance":{"instance_0":{`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

func TestNoRequestsAtAll(t *testing.T) {
	report, err := Collect(named(Run{Routers: []*Recorder{NewRecorder(options())}, Instances: []*Recorder{NewRecorder(options())}}))
	if err != nil || report.Window.Seconds != nil || report.JainIndex != nil || report.OfferedPerSecond != nil {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := json.Marshal(report); err != nil {
		t.Error(err)
	}
	if _, err := Collect(Run{}); err != nil {
		t.Errorf("an empty run: %v", err)
	}
}

func TestThroughputIsNotDilutedByLateEnd(t *testing.T) {
	early, late := NewRecorder(options()), NewRecorder(options())
	o := completed()
	o.Arrival, o.Admitted, o.Routed, o.Queued, o.Scheduled = 0, 0, 0, 0, 0
	o.FirstToken, o.LastToken, o.Finished = 1e6, 2e6, 2e6
	late.Record(&o)
	late.ITL(late.Group(0, 0, 0), 5e5, 2)
	o.ID, o.Generated, o.LastToken, o.Finished = 1, 1, 1e6, 1e6
	early.Record(&o)
	run := named(Run{Instances: []*Recorder{early, late}, Injected: 2, End: 100e6})
	for _, c := range []struct {
		cut  bool
		want float64
	}{{false, 2}, {true, 0.04}} {
		run.Cut = c.cut
		report, err := Collect(run)
		if err != nil || !near(report.Overall.TokensPerSecond, c.want) {
			t.Errorf("cut %v: %v tokens/s, want %v (%v)", c.cut, *report.Overall.TokensPerSecond, c.want, err)
		}
	}
}

func TestBooksThatDoNotBalance(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(run *Run, r *Recorder)
	}{
		{"one lost", "4 requests were injected, but 3", func(run *Run, _ *Recorder) { run.Injected++ }},
		{"one twice, one never", "recorded twice", func(_ *Run, r *Recorder) { r.numbers++ }},
		{"one ITL sample too many", "steps counted 7 samples of 5306 µs in all, the requests' tokens imply 6 of 4542", func(_ *Run, r *Recorder) { r.ITL(0, 757, 1) }},
		{"ITL at the wrong time", "steps counted 6 samples", func(_ *Run, r *Recorder) { r.groups[0] = &Distribution{}; r.ITL(0, 749, 6) }},
		{"ITL of no length", "a sample of 7 µs", func(_ *Run, r *Recorder) { r.groups[0] = &Distribution{}; r.ITL(0, 0, 1); r.ITL(0, 900, 5) }},
		{"ITL of the wrong class", "standard", func(_ *Run, r *Recorder) { r.groupKeys[0].class = 1 }},
		{"a class without a name", "names for 0", func(run *Run, _ *Recorder) { run.Classes = nil }},
		{"an instance without counters", "0 counters", func(run *Run, _ *Recorder) { run.Counters = nil }},
		{"a bad request", "out of order", func(run *Run, r *Recorder) {
			o := completed()
			o.ID, o.Queued = 3, 0
			run.Injected++
			r.Record(&o)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			recorder := NewRecorder(options())
			for i := range int64(3) {
				o := completed()
				o.ID = i
				recorder.Record(&o)
				recorder.ITL(recorder.Group(0, 0, o.Arrival), 750, 2)
			}
			run := named(Run{Instances: []*Recorder{recorder}, Injected: 3, End: 5000})
			if _, err := Collect(run); err != nil {
				t.Fatalf("before it was spoilt: %v", err)
			}
			c.spoil(&run, recorder)
			report, err := Collect(run)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
			if _, jsonErr := json.Marshal(report); jsonErr != nil {
				t.Error(jsonErr)
			}
		})
	}
}

func TestJainIndex(t *testing.T) {
	of := func(tokens ...int64) []*cell {
		var cells []*cell
		for _, x := range tokens {
			c := newCell()
			c.states[Completed], c.output = 1, x
			cells = append(cells, c)
		}
		return append(cells, newCell()) // a tenant without traffic
	}
	jain := func(cells []*cell) *float64 {
		c := collection{Run: Run{Tenants: make([]string, len(cells))}, cells: cells}
		for i := range cells {
			c.keys = append(c.keys, cellKey{tenant: workload.Label(i)})
		}
		return c.jain(func(cellKey) bool { return true })
	}
	for _, c := range []struct {
		tokens []int64
		want   float64
	}{{[]int64{5, 5, 5}, 1}, {[]int64{9}, 1}, {[]int64{1, 0, 0, 0}, 0.25}, {[]int64{1, 2, 3}, 36.0 / 42}} {
		if got := jain(of(c.tokens...)); !near(got, c.want) {
			t.Errorf("%v: %v, want %v", c.tokens, got, c.want)
		}
	}
	if jain(of()) != nil || jain(of(0, 0)) != nil {
		t.Error("without tokens there is no index")
	}
}

func TestLimitIsTheLargestShare(t *testing.T) {
	for _, c := range []struct {
		c    Counters
		want string
	}{
		{Counters{LifeMicros: 100, LimitMaxSeqsMicros: 50, LimitKVMicros: 60}, "KV"},
		{Counters{LifeMicros: 100, LimitMaxSeqsMicros: 50, LimitBudgetMicros: 20}, "seats"},
		{Counters{LifeMicros: 100, LimitBudgetMicros: 20}, "token budget"},
		{Counters{LifeMicros: 100, LimitMaxSeqsMicros: 5}, "none"},
		{Counters{}, "none"},
	} {
		if got := newResources([]Counters{c.c}).Limit; got != c.want {
			t.Errorf("%+v: %s, want %s", c.c, got, c.want)
		}
	}
}

func TestCountersMergeAndFoldEveryField(t *testing.T) {
	v := reflect.TypeFor[Counters]()
	for i := range v.NumField() {
		var a, b Counters
		reflect.ValueOf(&a).Elem().Field(i).SetInt(3)
		reflect.ValueOf(&b).Elem().Field(i).SetInt(4)
		before := b.Fold()
		if before == (&Counters{}).Fold() {
			t.Errorf("%s is not folded", v.Field(i).Name)
		}
		b.Merge(&a)
		want := int64(7)
		if strings.HasPrefix(v.Field(i).Name, "Peak") {
			want = 4
		}
		if got := reflect.ValueOf(b).Field(i).Int(); got != want {
			t.Errorf("%s: 4 and 3 merge to %d, want %d", v.Field(i).Name, got, want)
		}
	}
}

func TestSeriesDependsOnEventsOnly(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 5))
	var whole, merged series
	parts := make([]series, 3)
	top := r.Int64N(1e10) + 1
	latest := int64(0)
	for i := range 2000 {
		small := r.IntN(15)
		at := vtime.Time(r.Int64N(top) >> small)
		latest = max(latest, int64(at))
		part := &parts[small/5] // so that their bins differ in width
		if i%3 > 0 {
			whole.arrive(at)
			part.arrive(at)
		} else {
			whole.depart(at)
			part.depart(at)
		}
	}
	for i := range parts {
		merged.merge(&parts[i])
	}
	if merged != whole {
		t.Errorf("seed %d: parts merge to another series", seed)
	}
	if n := latest >> whole.shift; n >= seriesBins || (whole.shift > 0 && n < seriesBins/2) {
		t.Errorf("seed %d: latest event %d is in bin %d", seed, latest, n)
	}
	l := whole.load(0)
	n := int64(0)
	for i := range l.Arrivals {
		n += l.Arrivals[i] - l.Departed[i]
	}
	if n != l.Backlog[len(l.Backlog)-1] || n != 2000-2*667 {
		t.Errorf("seed %d: backlog %d at the end", seed, n)
	}
}

func TestBacklogSlope(t *testing.T) {
	var growing, steady, short series
	for i := range int64(1000) {
		growing.arrive(vtime.Time(i * 1e5)) // 10 per second for 100 s
		if i < 700 {                        // 7 per second leave, during and after
			growing.depart(vtime.Time(i * 1e6 / 7))
		} else {
			growing.depart(vtime.Time(i*1e6/7 + 1))
		}
		steady.arrive(vtime.Time(i * 1e5))
		steady.depart(vtime.Time(i*1e5 + 5e5))
	}
	short.arrive(5)
	if got := growing.load(0).BacklogSlope; got == nil || math.Abs(*got-3) > 0.02 {
		t.Errorf("10 in, 7 out: backlog grows by %v per second", got)
	}
	if got := steady.load(0).BacklogSlope; got == nil || math.Abs(*got) > 0.05 {
		t.Errorf("steady: backlog grows by %v per second", got)
	}
	if got := short.load(0).BacklogSlope; got != nil {
		t.Errorf("one arrival: %v", *got)
	}
}

func BenchmarkCollect(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	run := named(Run{Routers: []*Recorder{NewRecorder(options())}, Instances: []*Recorder{NewRecorder(options()), NewRecorder(options()), NewRecorder(options())}, End: 2e8, Injected: 100000})
	for i := range run.Injected {
		x := randomOutcome(r, i)
		recorder := run.Instances[i%3]
		recorder.Record(&x)
		recordITL(recorder, &x)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Collect(run); err != nil {
			b.Fatal(err)
		}
	}
}
