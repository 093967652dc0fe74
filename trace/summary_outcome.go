package trace

import (
	"slices"
	"strings"

	"blis/metrics"
	"blis/vtime"
)

// completed is the state of a request that got all of its output.
var completed = metrics.Completed.String()

// ended holds the outcomes of a Summary, summed up, with the decisions before them.
type ended struct {
	ends        table[verdict, counted]
	missed, met traits
	hits        HitFacts
	shortest    examples // of prefix hits, by tokens that were missing
	preemption  PreemptionFacts
	preempted   examples // by tokens lost
	anomalies   table[string, counted]
	steps       stepSums
}

func newEnded() ended {
	return ended{ends: newTable[verdict, counted](mostNames), anomalies: newTable[string, counted](mostNames)}
}

// stepSums are of batch records.
type stepSums struct {
	n, running, waiting, prefill, decode int64
}

// group is a class or a tenant.
type group struct {
	GroupFact
	completed int64
	series    series // of Asked
	promises  promises
	late      [len(targetNames)]counted
	latencies [len(targetNames)]histogram // of classes alone
	ttft      span
}

// targetNames are the latencies that may have a target.
var targetNames = [...]string{"ttft", "tpot", "e2e"}

// instance is one of the cluster.
type instance struct {
	InstanceFact
	series           series // of Routed
	hit, hitInput    int64  // prompt tokens found, and tokens of all prompts they were looked up for
	running, waiting int64  // sums over steps
	mostWaiting      int64
	blocks           int64
}

// The things that requests may have in common, in the order of the report.
const (
	notCompleted = iota
	wasPreempted
	wasRedirected
	wasDelayed
	hadRegret
	fellShort
	traitCount
)

var traitNames = [traitCount]string{"not_completed", "preempted", "redirected", "delayed", "regret", "hit_shortfall"}

// traits count what requests, all of which met their targets or none, had in
// common.
type traits struct {
	n          int64
	has, known [traitCount]int64
	wait       span
}

func (t *traits) note(trait int, has bool) {
	t.known[trait]++
	if has {
		t.has[trait]++
	}
}

func (s *Summary) addBatch(r *Batch) error {
	if r.Instance < 0 {
		return wrong("instance", "%d, want an index", r.Instance)
	}
	x := &s.ended.steps
	x.n++
	x.running += int64(r.Running)
	x.waiting += int64(r.Waiting)
	x.prefill += int64(r.PrefillTokens)
	x.decode += int64(r.DecodeTokens)
	i := s.instances.at(r.Instance)
	i.Steps++
	i.running += int64(r.Running)
	i.waiting += int64(r.Waiting)
	i.mostWaiting = max(i.mostWaiting, int64(r.Waiting))
	i.blocks = max(i.blocks, r.UsedBlocks)
	return nil
}

func (s *Summary) addPreemption(r *Preemption) error {
	if r.Instance < 0 {
		return wrong("instance", "%d, want an index", r.Instance)
	}
	s.ended.preemption.Records++
	s.ended.preemption.Tokens += int64(r.Computed)
	about := example{at: r.At, request: r.Request, instance: r.Instance, value: float64(r.Computed)}
	s.ended.preempted.add(about, s.options.Examples)
	s.instances.at(r.Instance).Preemptions++
	s.time.at(r.At).Preemptions++
	return nil
}

// RecordCounts is the number of records of each kind.
type RecordCounts struct {
	Admission      int64 `json:"admission"`
	Priority       int64 `json:"priority"`
	Routing        int64 `json:"routing"`
	Disaggregation int64 `json:"disaggregation"`
	Scale          int64 `json:"scale"`
	Batch          int64 `json:"batch"`
	Preemption     int64 `json:"preemption"`
	Store          int64 `json:"kv_offload"`   // transfers from the GPU to the CPU tier
	Load           int64 `json:"kv_reload"`    // and back
	Write          int64 `json:"kv_write"`     // transfers from the CPU tier to a storage tier
	Promote        int64 `json:"kv_promotion"` // and back
	Pull           int64 `json:"kv_pull"`      // transfers from one instance to another
	Failure        int64 `json:"failure"`
	Anomaly        int64 `json:"anomaly"`
	Outcome        int64 `json:"outcome"`
}

// disaggregationEvents are the events of records of disaggregation.
var disaggregationEvents = []string{"prefill", "alone", "hand_over", "expired"}

func (s *Summary) addDisaggregation(r *Disaggregation) error {
	if !slices.Contains(disaggregationEvents, r.Event) {
		return wrong("event", "%q, want one of %s", r.Event, strings.Join(disaggregationEvents, ", "))
	}
	if r.Request < 0 {
		return wrong("request", "%d, want a number", r.Request)
	}
	for _, x := range []struct {
		name string
		of   *int
	}{{"prefill", r.Prefill}, {"decode", r.Decode}} {
		if x.of != nil && *x.of < 0 {
			return wrong(x.name, "%d, want an index, or null", *x.of)
		}
	}
	return nil
}

// failureEvents are the events of records of failures.
var failureEvents = []string{"crash", "repair", "slow", "slow_end", "down", "up", "cut_off", "retry", "link", "link_end"}

func (s *Summary) addFailure(r *Failure) error {
	switch {
	case !slices.Contains(failureEvents, r.Event):
		return wrong("event", "%q, want one of %s", r.Event, strings.Join(failureEvents, ", "))
	case r.Instance != nil && *r.Instance < 0:
		return wrong("instance", "%d, want an index, or null", *r.Instance)
	case r.Request != nil && *r.Request < 0:
		return wrong("request", "%d, want a number, or null", *r.Request)
	}
	return nil
}

func (s *Summary) addTransfer(r *Transfer) error {
	if r.Instance < 0 {
		return wrong("instance", "%d, want an index", r.Instance)
	}
	switch c := &s.records; {
	case r.Reason == "offload" && r.From == "cpu":
		c.Write++
	case r.Reason == "offload":
		c.Store++
	case r.Reason == "reload":
		c.Load++
	case r.Reason == "promotion":
		c.Promote++
	case r.Reason == "pd":
		c.Pull++
	default:
		return wrong("reason", "%q, want offload, reload, promotion or pd", r.Reason)
	}
	return nil
}

func (s *Summary) addAnomaly(r *Anomaly) error {
	about := example{at: r.At, request: -1, instance: -1, value: r.Severity}
	switch {
	case !r.finite():
		return wrong("severity", "%v is not finite", r.Severity)
	case r.Instance != nil && *r.Instance < 0:
		return wrong("instance", "%d, want an index, or null", *r.Instance)
	case r.Instance != nil:
		about.instance = *r.Instance
		s.instances.at(*r.Instance).Anomalies++
	}
	if len(r.Requests) > 0 {
		about.request = r.Requests[0]
	}
	s.ended.anomalies.at(r.Name).add(about, s.options.Examples)
	s.time.at(r.At).Anomalies++
	return nil
}

func (s *Summary) addOutcome(r *Outcome) error {
	if err := checkOutcome(r); err != nil {
		return err
	}
	f := s.flights[r.Request]
	delete(s.flights, r.Request)
	about := example{at: r.At, request: r.Request, tenant: r.Tenant, class: r.Class, instance: -1}
	b := s.time.at(r.At)
	judge := func(judged, met *int64) {
		if r.SLOMet != nil {
			*judged++
			if *r.SLOMet {
				*met++
			}
		}
	}
	b.Ended++
	judge(&b.Judged, &b.Met)
	if r.Instance != nil {
		about.instance = *r.Instance
		i := s.instances.at(*r.Instance) // with which it was last
		i.Ended++
		judge(&i.Judged, &i.Met)
		if r.ActualHit != nil && f != nil && f.routings > 0 {
			i.hit += int64(*r.ActualHit)
			i.hitInput += int64(f.last.Input)
		}
	}
	s.ended.ends.at(verdict{r.State, r.Reason}).add(about, s.options.Examples)
	for _, g := range [...]*group{s.classes.at(r.Class), s.tenants.at(r.Tenant)} {
		g.Ended++
		judge(&g.Judged, &g.Met)
		switch r.State {
		case completed:
			g.completed++
		case metrics.Rejected.String():
			g.Rejected++
		}
		if r.TTFT != nil {
			g.ttft.add(int64(*r.TTFT))
		}
	}
	if r.SLOMet != nil {
		s.tenants.at(r.Tenant).promises.add(s.arrivalBin(r.Arrival), *r.SLOMet)
	}
	if f != nil {
		s.misses.add(r, &f.held, f.last.Input, s.options.Examples)
	}
	s.addLatencies(r, about)
	s.ended.add(r, about, s.options.Examples)
	s.ended.compare(r, f)
	if f != nil && f.routings > 0 {
		f.last.Outcome = endingOf(r)
		s.regrets.add(&f.last, &s.time.bins)
	}
	return nil
}

func checkOutcome(r *Outcome) error {
	if _, ok := stateOf(r.State); !ok {
		return wrong("state", "%q, want %s", r.State, strings.Join(stateNames(), ", "))
	}
	if r.Instance != nil && *r.Instance < 0 {
		return wrong("instance", "%d, want an index, or null", *r.Instance)
	}
	for i, d := range [...]*vtime.Duration{r.TTFT, r.TPOT, r.E2E, r.QueueWait} {
		if d != nil && *d < 0 {
			return wrong([...]string{"ttft_us", "tpot_us", "e2e_us", "queue_wait_us"}[i], "%d, want a number from 0, or null", *d)
		}
	}
	return nil
}

// stateOf returns the state of package metrics with this name.
func stateOf(name string) (metrics.State, bool) {
	for s := range metrics.State(metrics.States) {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

func stateNames() (list []string) {
	for s := range metrics.State(metrics.States) {
		list = append(list, s.String())
	}
	return list
}

// add counts the preemptions of a request, and compares the prefix hit that the
// router expected with what was found.
func (e *ended) add(r *Outcome, about example, most int) {
	if r.Preempted > 0 {
		e.preemption.Requests++
		e.preemption.Preemptions += int64(r.Preempted)
		if r.Preempted > 1 {
			e.preemption.Repeatedly++
		}
	}
	if r.Expected == nil || r.ActualHit == nil {
		return
	}
	h := &e.hits
	h.Requests++
	h.Expected += int64(*r.Expected)
	h.Found += int64(*r.ActualHit)
	switch short := int64(*r.Expected) - int64(*r.ActualHit); {
	case short > 0:
		h.Fewer++
		h.FewerTokens += short
		about.value = float64(short)
		e.shortest.add(about, most)
	case short < 0:
		h.More++
		h.MoreTokens -= short
	default:
		h.Equal++
	}
}

// compare notes what a request that has targets has in common with others. f is
// nil if nothing was decided about it.
func (e *ended) compare(r *Outcome, f *flight) {
	if r.SLOMet == nil {
		return
	}
	t := &e.met
	if !*r.SLOMet {
		t = &e.missed
	}
	if f == nil {
		f = &flight{}
	}
	t.n++
	t.note(notCompleted, r.State != completed)
	t.note(wasPreempted, r.Preempted > 0)
	t.note(wasRedirected, f.routings > 1)
	t.note(wasDelayed, f.delays > 0)
	if f.last.scored && !f.last.forced {
		t.note(hadRegret, f.last.Regret > 0)
	}
	if r.Expected != nil && r.ActualHit != nil {
		t.note(fellShort, *r.ActualHit < *r.Expected)
	}
	if r.QueueWait != nil {
		t.wait.add(int64(*r.QueueWait))
	}
}

func endingOf(r *Outcome) *Ending {
	return &Ending{
		State: r.State, Instance: copied(r.Instance), TTFT: micros(r.TTFT), E2E: micros(r.E2E),
		QueueWait: micros(r.QueueWait), ActualHit: copied(r.ActualHit), Preempted: r.Preempted, SLOMet: copied(r.SLOMet),
	}
}

// micros is a duration as a number in JSON.
func micros(d *vtime.Duration) *int64 {
	if d == nil {
		return nil
	}
	return pointer(int64(*d))
}

func pointer[T any](v T) *T { return &v }

// copied is a pointer to a copy of *p: records are valid during a call only.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return pointer(*p)
}
