package trace

// keptChanges is how many changes of scale are kept, the first ones.
const keptChanges = 8

// scaledSums are of evaluations of the autoscaler.
type scaledSums struct {
	n, up, down, bounded int64 // bounded: the policy wanted something else
	reversals            int64 // changes in another direction than the change before
	direction            string
	changes              []ScaleChange
}

// anomalous are the anomalies of a name.
type anomalous struct {
	n        int64
	examples examples // by severity
}

// preemptedSums are of preemption records.
type preemptedSums struct {
	n, tokens int64
	examples  examples
}

// stepSums are of batch records.
type stepSums struct {
	n, running, waiting, prefill, decode int64
}

// instance is one of the cluster.
type instance struct {
	routed, input       int64
	series              series // of routed
	ended, judged, met  int64
	hit, hitInput       int64 // prompt tokens found, and of all prompts they were looked up for
	preemptions         int64
	anomalies           int64
	steps, running      int64
	waiting             int64
	mostWaiting, blocks int64
}

func (s *Summary) addScale(r *Scale) error {
	what := r.Action
	switch what {
	case hold:
	case up, down:
		s.change(r)
	default:
		return wrong("action", "%q, want hold, up or down", r.Action)
	}
	s.scaled.n++
	if r.Wanted != r.To {
		s.scaled.bounded++
	}
	s.scalings.at(verdict{what, r.Reason}).n++
	return nil
}

// change counts a change of the number of instances.
func (s *Summary) change(r *Scale) {
	b := &s.bins[s.time.bin(r.At)]
	if r.Action == up {
		s.scaled.up++
		b.scaledUp++
	} else {
		s.scaled.down++
		b.scaledDown++
	}
	if s.scaled.direction != "" && s.scaled.direction != r.Action {
		s.scaled.reversals++
	}
	s.scaled.direction = r.Action
	if len(s.scaled.changes) < keptChanges {
		s.scaled.changes = append(s.scaled.changes, ScaleChange{int64(r.At), r.From, r.To, r.Reason})
	}
}

func (s *Summary) addBatch(r *Batch) error {
	if r.Instance < 0 {
		return wrong("instance", "%d, want an index", r.Instance)
	}
	s.steps.n++
	s.steps.running += int64(r.Running)
	s.steps.waiting += int64(r.Waiting)
	s.steps.prefill += int64(r.PrefillTokens)
	s.steps.decode += int64(r.DecodeTokens)
	i := s.instances.at(r.Instance)
	i.steps++
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
	s.preempted.n++
	s.preempted.tokens += int64(r.Computed)
	s.preempted.examples.add(example{
		at: r.At, request: r.Request, instance: r.Instance, value: float64(r.Computed),
	}, s.options.Examples)
	s.instances.at(r.Instance).preemptions++
	s.bins[s.time.bin(r.At)].preemptions++
	return nil
}

func (s *Summary) addAnomaly(r *Anomaly) error {
	x := example{at: r.At, request: -1, instance: -1, value: r.Severity}
	switch {
	case !finite(r.Severity):
		return wrong("severity", "%v is not finite", r.Severity)
	case r.Instance != nil && *r.Instance < 0:
		return wrong("instance", "%d, want an index, or null", *r.Instance)
	case r.Instance != nil:
		x.instance = *r.Instance
		s.instances.at(*r.Instance).anomalies++
	}
	if len(r.Requests) > 0 {
		x.request = r.Requests[0]
	}
	a := s.anomalies.at(r.Name)
	a.n++
	a.examples.add(x, s.options.Examples)
	s.bins[s.time.bin(r.At)].anomalies++
	return nil
}
