package report

import (
	"cmp"
	"fmt"
	"slices"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
	"blis/vtime"
)

// scaling is how the number of instances changed.
type scaling struct {
	Checks         int64        `json:"checks"`
	Mean           float64      `json:"mean_replicas"`
	Peak           int32        `json:"peak_replicas"`
	Least          int32        `json:"least_replicas"`
	ReplicaSeconds float64      `json:"replica_seconds"`
	Cost           *float64     `json:"cost"`
	Oscillations   int          `json:"scale_oscillations"`
	Signal         *scaleSignal `json:"signal"`
	Redirected     int64        `json:"redirected_requests"`
	NoCapacity     *noCapacity  `json:"no_capacity,omitempty"` // where GPUs are limited
	Events         []scaleEvent `json:"events"`
	Instances      []lifetime   `json:"instances"`
}

// scaleSignal is the signal of the autoscaler, its threshold for more instances, and
// its value nearest to that.
type scaleSignal struct {
	Name      string   `json:"name"`
	Threshold float64  `json:"threshold"`
	Nearest   *float64 `json:"nearest"` // null: it could not be measured
	Passed    bool     `json:"passed"`
}

// scaleEvent is one change that was asked for.
type scaleEvent struct {
	At     vtime.Time `json:"at_us"`
	From   int32      `json:"from"`
	To     int32      `json:"to"`
	Reason string     `json:"reason"`
}

// lifetime is when what happened to an instance; null: not.
type lifetime struct {
	Name     string      `json:"name"`
	Asked    *vtime.Time `json:"asked_us"`
	Billed   *vtime.Time `json:"billed_us"`
	Ready    *vtime.Time `json:"ready_us"`
	Warm     *vtime.Time `json:"warm_us"`
	Draining *vtime.Time `json:"draining_us"`
	Gone     *vtime.Time `json:"gone_us"`
}

// newScaling is nil for a run in which the number of instances could not
// change, and for one of several pools.
func newScaling(r *actors.Result) *scaling {
	if r.Scaling == nil {
		return nil
	}
	return scalingOf(r, &r.PoolScaling[0], r.Cost())
}

// newPoolScaling is nil for a run of one pool, and where no pool could change.
func newPoolScaling(r *actors.Result) poolScaling {
	if r.Scaling != nil {
		return nil
	}
	var list poolScaling
	for i := range r.PoolScaling {
		s := &r.PoolScaling[i]
		var cost *float64
		for k := range r.Report.PerPool {
			if p := &r.Report.PerPool[k]; p.Name == s.Pool {
				cost = p.Cost
			}
		}
		list = append(list, namedScaling{s.Pool, scalingOf(r, s, cost)})
	}
	return list
}

// poolScaling is how the numbers of instances of pools changed.
type poolScaling []namedScaling

type namedScaling struct {
	pool string
	*scaling
}

// MarshalJSON prints an object from pool to scaling that keeps the order.
func (p poolScaling) MarshalJSON() ([]byte, error) {
	names := make([]string, len(p))
	for i := range p {
		names[i] = p[i].pool
	}
	return metrics.Object(names, func(i int) any { return p[i].scaling })
}

// scalingOf is how the number of instances of a pool changed, which cost so much.
func scalingOf(r *actors.Result, s *actors.PoolScaling, cost *float64) *scaling {
	j := &scaling{
		Checks: s.Checks, Mean: s.Mean(r.End), Peak: s.Peak, Least: s.Least, ReplicaSeconds: s.ReplicaMicros / 1e6,
		Cost: cost, Oscillations: s.Oscillations, Redirected: s.Redirected, NoCapacity: newNoCapacity(r, s), Events: []scaleEvent{}, Instances: []lifetime{},
	}
	if w := s.Watch; w.Signal != "" {
		j.Signal = &scaleSignal{Name: w.Signal, Threshold: w.Limit, Passed: w.Passed}
		if w.Known {
			j.Signal.Nearest = &s.Watch.Nearest
		}
	}
	for _, e := range s.Events {
		j.Events = append(j.Events, scaleEvent{e.At, e.From, e.To, e.Reason.String()})
	}
	for i, l := range s.Replicas {
		j.Instances = append(j.Instances, lifetime{r.Names.Servers[s.Instances[i]], timeOrNil(l.Asked, r), timeOrNil(l.Billed, r), timeOrNil(l.Ready, r), timeOrNil(l.Warm, r), timeOrNil(l.Draining, r), timeOrNil(l.Gone, r)})
	}
	return j
}

// timeOrNil is a time within the run, nil for a later one.
func timeOrNil(t vtime.Time, r *actors.Result) *vtime.Time {
	if t > r.End {
		return nil
	}
	return &t
}

// scaling says how the number of instances changed, of each pool, and what that cost.
func (t *runText) scaling(r *actors.Result) {
	for i := range r.PoolScaling {
		t.poolScaling(r, &r.PoolScaling[i])
	}
	t.cost(r)
}

func (t *runText) poolScaling(r *actors.Result, s *actors.PoolScaling) {
	ups, downs := 0, 0
	for _, e := range s.Events {
		if e.To > e.From {
			ups++
		} else {
			downs++
		}
	}
	mean, hours := s.Mean(r.End), s.Hours()
	text := fmt.Sprintf("%s up, %s down in %s checks, from %d to %d instances; mean %s, %s replica-hours",
		times(ups), times(downs), plaintext.Grouped(s.Checks), s.Least, s.Peak, plaintext.Decimal(&mean, 2), plaintext.Significant(hours))
	if s.Redirected > 0 {
		text += fmt.Sprintf(", %s requests moved", plaintext.Grouped(s.Redirected))
	}
	if s.Oscillations > 0 {
		text += fmt.Sprintf("; reversed within a minute %s", times(s.Oscillations))
	}
	if s.NoCapacity > 0 {
		text += fmt.Sprintf("; no node had room for an instance that was wanted in %s", plaintext.Plural(s.NoCapacity, "check"))
	}
	if s.Pool != "" {
		text = s.Pool + ": " + text
	}
	t.Line("scaling", text)
	t.Line("", replicaCurve(s.Scaling, r.End, t.Width-plaintext.LabelWidth-30))
}

// cost says what the instances cost, if their price is known, and what that is
// for a million tokens.
func (t *runText) cost(r *actors.Result) {
	run := r.Figures()
	if run.Cost == nil {
		return
	}
	hours := fmt.Sprintf("%s replica-hours", plaintext.Significant(run.ReplicaHours))
	if r.Config.GPUHourPrice > 0 || len(r.NodePools()) > 0 {
		hours = fmt.Sprintf("%s GPU-hours", plaintext.Significant(gpuHours(r, run.ReplicaHours)))
	}
	text := fmt.Sprintf("%s for %s", plaintext.Significant(*run.Cost), hours)
	all := &r.Report.Overall
	if total := run.CostPerMillion(all.CompletedInput + all.OutputTokens); total != nil {
		text += fmt.Sprintf("; per million tokens %s (input alone %s, output alone %s)", plaintext.Significant(*total),
			optional(run.CostPerMillion(all.CompletedInput)), optional(run.CostPerMillion(all.OutputTokens)))
	}
	t.Line("cost", text)
}

// optional is a number, "–" for a missing one.
func optional(x *float64) string {
	if x == nil {
		return "–"
	}
	return plaintext.Significant(*x)
}

// times is "once" or "n times".
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// replicaCurve draws how many instances there were over time, without draining ones.
func replicaCurve(s *actors.Scaling, end vtime.Time, width int) string {
	type change struct {
		at vtime.Time
		by int64
	}
	var changes []change
	for i, r := range s.Replicas {
		if i >= int(s.First) { // else it was there at the start
			changes = append(changes, change{r.Asked, 1})
		}
		if r.Draining != vtime.Never {
			changes = append(changes, change{r.Draining, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var values []int64
	k, now := 0, int64(s.First)
	for i := range width {
		until := s.Began + vtime.Time(float64(end.Sub(s.Began))*float64(i+1)/float64(width))
		most := now
		for k < len(changes) && changes[k].at < until {
			for at := changes[k].at; k < len(changes) && changes[k].at == at; k++ {
				now += changes[k].by
			}
			most = max(most, now)
		}
		values = append(values, most)
	}
	line, most := plaintext.Sparkline(values, width)
	return fmt.Sprintf("%s up to %d instances", line, most)
}
