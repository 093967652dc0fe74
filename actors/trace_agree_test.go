package actors

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"blis/metrics"
	"blis/trace"
)

// audit goes through a trace and holds it against the result of its run.
type audit struct {
	counts   map[string]int64 // records by kind, anomalies by name
	routed   map[int64]*int   // last target of requests
	pd       map[int64][]*int // all of them, where requests are disaggregated; else nil
	pulls    int64
	steps    map[string]int64                // records of disaggregation by event
	decided  map[int64]*trace.Disaggregation // the last decision of requests
	ended    map[int64]*trace.Outcome
	admitted map[int64]bool
	given    map[int64]bool // requests with a priority
	tracing  Tracing
	local    int // most data-parallel ranks behind an endpoint
}

// serves reports whether an instance is one of those behind the endpoint that is the target.
func (a *audit) serves(target, instance int) bool {
	return target <= instance && instance < target+a.local
}

// agrees says in what a trace contradicts itself or the result.
func agrees(file []byte, r *Result, tracing Tracing, met map[string]int64) error {
	a := &audit{counts: map[string]int64{}, routed: map[int64]*int{}, ended: map[int64]*trace.Outcome{}, admitted: map[int64]bool{}, given: map[int64]bool{}, tracing: tracing}
	for i := range r.rest.deployments {
		for _, p := range r.rest.deployments[i].Pools() {
			a.local = max(a.local, p.Ranks.Local)
		}
	}
	if r.Report.PD != nil {
		a.pd, a.steps, a.decided = map[int64][]*int{}, map[string]int64{}, map[int64]*trace.Disaggregation{}
	}
	reader := trace.NewReader(bytes.NewReader(file), trace.JSONLines, "trace")
	for {
		record, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = a.take(record)
		}
		if err != nil {
			return err
		}
	}
	for kind, n := range a.counts { // any order: they are added up
		met[kind] += n
	}
	for event, n := range a.steps { // any order: they are added up
		met["pd "+event] += n
	}
	return a.judge(r)
}

func (a *audit) take(record trace.Record) error {
	kind := record.Kind()
	a.counts[kind]++
	switch r := record.(type) {
	case *trace.Admission:
		a.admitted[r.Request] = r.Verdict == "admit"
	case *trace.Routing:
		a.routed[r.Request] = r.Target
		if a.pd != nil && r.Target != nil {
			a.pd[r.Request] = append(a.pd[r.Request], new(*r.Target))
		}
		return a.route(r)
	case *trace.Priority:
		if a.given[r.Request] {
			return fmt.Errorf("request %d has two priorities", r.Request)
		}
		a.given[r.Request] = true
	case *trace.Disaggregation:
		return a.disaggregate(r)
	case *trace.Transfer:
		if r.Reason == "pd" {
			a.pulls++
		}
	case *trace.Anomaly:
		n := int64(1)
		if r.Name == "kv_thrashing" { // one for each load, of some entries
			n = int64(r.Severity)
		}
		a.counts[r.Name] += n
		a.counts[kind] += n - 1
	case *trace.Outcome:
		if a.ended[r.Request] != nil {
			return fmt.Errorf("request %d has two outcomes", r.Request)
		}
		a.ended[r.Request] = r
		target := a.routed[r.Request]
		for _, other := range a.pd[r.Request] {
			if r.Instance != nil && a.serves(*other, *r.Instance) {
				target = other
			}
		}
		if r.State == "completed" && (r.Instance == nil || target == nil || !a.serves(*target, *r.Instance)) {
			return fmt.Errorf("request %d completed on another instance than it was routed to: %s", r.Request, trace.AppendJSON(nil, r))
		}
	}
	if detail := kind == "batch" || kind == "preemption" || kind == "kv_transfer" || kind == "anomaly"; detail && a.tracing.Level != trace.Detailed {
		return fmt.Errorf("a %s at level %v", kind, a.tracing.Level)
	}
	return nil
}

// route checks scores, regret and candidates of a decision.
func (a *audit) route(r *trace.Routing) error {
	bad := func(what string) error { return fmt.Errorf("%s: %s", what, trace.AppendJSON(nil, r)) }
	if (r.Snapshots != nil) != (a.tracing.Level == trace.Detailed) {
		return bad("snapshots")
	}
	if a.tracing.Counterfactual == 0 {
		if r.Candidates != nil || r.Score != nil || r.Best != nil || r.Regret != nil {
			return bad("counterfactuals that nobody asked for")
		}
		return nil
	}
	if len(r.Candidates) > a.tracing.Counterfactual || r.Target != nil && len(r.Candidates) == 0 {
		return bad("number of candidates")
	}
	if (r.Score != nil) != (r.Target != nil) || len(r.Candidates) > 0 && *r.Best != r.Candidates[0].Score {
		return bad("score or best")
	}
	if r.Score != nil && *r.Regret != math.Max(0, *r.Best-*r.Score) {
		return bad("regret")
	}
	for i, c := range r.Candidates {
		sum := 0.0
		for _, s := range c.Breakdown {
			sum += s.Share
		}
		if len(c.Breakdown) == 0 {
			sum = -float64(*c.QueueDepth + *c.BatchSize + *c.InFlight)
		}
		before := &r.Candidates[max(0, i-1)]
		switch {
		case sum != c.Score:
			return bad(fmt.Sprintf("candidate %d adds up to %v", i, sum))
		case i > 0 && (c.Score > before.Score || c.Score == before.Score && c.Instance < before.Instance):
			return bad("order of candidates")
		case r.Target != nil && c.Instance == *r.Target && c.Score != *r.Score:
			return bad("score of the target")
		case r.Snapshots != nil && !r.Snapshots.Routable[c.Instance]:
			return bad("a candidate that is not routable")
		case r.Snapshots != nil && (r.Snapshots.QueueDepth[c.Instance] != *c.QueueDepth || r.Snapshots.InFlight[c.Instance] != *c.InFlight):
			return bad("a candidate that is not its snapshot")
		}
	}
	return nil
}

// judge compares what was counted with the report.
func (a *audit) judge(r *Result) error {
	report := r.Report
	if n := int64(len(a.ended)); n != report.Injected || int64(len(a.admitted)) > n {
		return fmt.Errorf("%d outcomes of %d admitted, %d injected", n, len(a.admitted), report.Injected)
	}
	for state, n := range report.Overall.States {
		for _, o := range a.ended { // any order: they are counted
			if o.State == metrics.State(state).String() {
				n--
			}
		}
		if n != 0 && report.Overall.Injected == report.Injected {
			return fmt.Errorf("state %s: %d fewer outcomes than in the report", metrics.State(state).String(), n)
		}
	}
	if err := a.judgeDisaggregation(report); err != nil {
		return err
	}
	if a.tracing.Level != trace.Detailed {
		return nil
	}
	x := &report.Anomalies
	want := map[string]int64{
		"priority_inversion": x.PriorityInversion, "class_inversion": x.ClassInversion, "head_of_line_blocking": x.HeadOfLineBlocking, "blocked_head": x.BlockedHead,
		"queue_imbalance": x.QueueImbalance, "preemption_storm": x.PreemptionStorm, "slo_violation": x.SLOViolation.Total(),
	}
	if x.ShadowDivergence != nil {
		want["shadow_divergence"] = *x.ShadowDivergence
	}
	if x.KVThrashing != nil {
		want["kv_thrashing"] = *x.KVThrashing
	}
	if x.PDBackpressure != nil {
		want["pd_backpressure"] = *x.PDBackpressure
		if a.pulls > report.PD.Overall.Pulls {
			return fmt.Errorf("%d pulls, the report has %d", a.pulls, report.PD.Overall.Pulls)
		}
	}
	for _, s := range r.PoolScaling {
		want["scale_oscillation"] += int64(s.Oscillations)
		want["scale"] += s.Checks
	}
	want["preemption"], want["batch"] = report.Overall.Resources.Counters.Preemptions, report.Overall.Resources.Counters.Steps
	for i := range r.KVTiers {
		want["kv_transfer"] += r.KVTiers[i].NoticedStores + r.KVTiers[i].NoticedLoads + r.KVTiers[i].NoticedStorage
	}
	want["kv_transfer"] += a.pulls
	total := int64(0)
	for name, n := range want { // any order: each is compared alone
		if name != "scale" && name != "preemption" && name != "kv_transfer" && name != "batch" {
			total += n
		}
		if got := a.counts[name]; got != n && !(name == "batch" && got > n) { // what is formed may never begin
			return fmt.Errorf("%d records of %s, the report has %d", got, name, n)
		}
	}
	if total != a.counts["anomaly"] {
		return fmt.Errorf("%d anomalies, the report has %d", a.counts["anomaly"], total)
	}
	return nil
}

// disaggregate checks a step of a request of two instances.
func (a *audit) disaggregate(r *trace.Disaggregation) error {
	bad := func(what string) error { return fmt.Errorf("%s: %s", what, trace.AppendJSON(nil, r)) }
	if a.steps == nil {
		return bad("no pool hands requests over")
	}
	a.steps[r.Event]++
	decided := a.decided[r.Request]
	switch r.Event {
	case "prefill", "alone":
		target := a.routed[r.Request]
		at := r.Prefill
		if r.Event == "alone" {
			at = r.Decode
		}
		if at == nil || target == nil || r.Reason == "" || r.Blocks != nil {
			return bad("a decision without an instance or a reason")
		}
		routed := false
		for _, other := range a.pd[r.Request] {
			routed = routed || *other == *at
		}
		if !routed {
			return bad("an instance to which the request was not routed")
		}
		a.decided[r.Request] = r
	case "hand_over":
		if decided == nil || decided.Event != "prefill" || *decided.Prefill != *r.Prefill || r.Blocks == nil || r.Reason != "" {
			return bad("a hand-over of a request that was not sent to the instance")
		}
	case "expired":
		if a.tracing.Level != trace.Detailed || decided == nil || r.Prefill == nil || r.Decode != nil || *r.Blocks < 1 {
			return bad("expired")
		}
	}
	return nil
}

// judgeDisaggregation compares the records of disaggregation with the report. A run that was cut
// has prefills of which the router did not hear.
func (a *audit) judgeDisaggregation(report *metrics.Report) error {
	if report.PD == nil {
		return nil
	}
	u := &report.PD.Overall
	if got := a.steps["prefill"]; got != *u.Disaggregated {
		return fmt.Errorf("%d records of prefills elsewhere, the report has %d", got, *u.Disaggregated)
	}
	if got := a.steps["alone"]; got != *u.Direct {
		return fmt.Errorf("%d records of requests served alone, the report has %d", got, *u.Direct)
	}
	if got, want := a.steps["hand_over"], u.HandOvers+u.WithoutKV; got > want || got < want && report.Overall.States[metrics.Running]+report.Overall.States[metrics.Queued]+report.Overall.States[metrics.Pending] == 0 {
		return fmt.Errorf("%d records of hand-overs, the report has %d", got, want)
	}
	if got := a.steps["expired"]; a.tracing.Level == trace.Detailed && got != u.Expired {
		return fmt.Errorf("%d records of KV that expired, the report has %d", got, u.Expired)
	}
	return nil
}
