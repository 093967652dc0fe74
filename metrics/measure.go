package metrics

// Measure is one number that a whole run is judged by: its name, its unit,
// which way it is better, and where it comes from. Everything that compares
// runs (fitness, objectives, studies) takes its numbers from this one list.
type Measure struct {
	Name   string // like p99_ttft
	Help   string // what it is, in a line
	Kind   MeasureKind
	Unit   string // as results print it
	Better Direction

	// Half is the value that scores ½ in the classic normalisation of fitness,
	// in the measure's unit; 0 for shares, which are their own score.
	Half float64
	of   func(*RunFigures) *float64
}

// MeasureKind is the unit of a measure.
type MeasureKind uint8

// Units of measures.
const (
	Share     MeasureKind = iota // from 0 to 1
	Latency                      // µs
	PerSecond                    // of virtual time
	Number                       // a count, hours or money
)

// Units of several measures.
const (
	shareUnit = "share"
	ratioUnit = "ratio"
	costUnit  = "currency/million tokens"
)

// Direction is which way a measure is better.
type Direction int8

// Directions.
const (
	Higher Direction = 1
	Lower  Direction = -1
)

// String is "higher" or "lower".
func (d Direction) String() string {
	if d == Higher {
		return "higher"
	}
	return "lower"
}

// RunFigures are the numbers of a run from which its measures are computed.
type RunFigures struct {
	*Report
	ReplicaHours float64  // replica hours paid for
	MeanReplicas float64  // ReplicaHours over the time from the first arrival to the end of the run; 0 if that is 0
	Cost         *float64 // of ReplicaHours; nil: no price is known
	BusyShare    *float64 // share of ReplicaHours in which a step was executing; nil: nothing was paid for
}

// CompletedPerReplicaHour is the yield of one hour of one instance: completed
// requests per hour over the mean number of instances paid for. Both are rates,
// so it keeps its meaning with a measured window. Nil without either.
func (r *RunFigures) CompletedPerReplicaHour() *float64 {
	if r.Overall.RequestsPerSecond == nil {
		return nil
	}
	return ratio(float64(*r.Overall.RequestsPerSecond*3600), r.MeanReplicas)
}

// CostPerMillion is the cost per million tokens, where measured requests have the
// given number of tokens: cost per hour over tokens per hour. Both are rates, so
// it keeps its meaning with a measured window. Nil without a price, or without
// tokens.
func (r *RunFigures) CostPerMillion(tokens int64) *float64 {
	if r.Cost == nil || !(r.ReplicaHours > 0) {
		return nil
	}
	perSecond := float64(float64(*r.Cost/r.ReplicaHours) * float64(r.MeanReplicas/3600))
	return ratio(float64(float64(perSecond*1e6)*r.Window.seconds()), float64(tokens))
}

// ScaleEfficiency is SLO attainment per replica: the share of requests that met
// their targets over the mean number of instances paid for.
// Nil without targets, or when nothing was paid for.
func (r *RunFigures) ScaleEfficiency() *float64 {
	if r.Overall.SLOAttainment == nil {
		return nil
	}
	return ratio(*r.Overall.SLOAttainment, r.MeanReplicas)
}

// Of is the measure of a run; nil when it could not be measured.
func (m *Measure) Of(run *RunFigures) *float64 { return m.of(run) }

// Measures lists all there are, in the order in which they print.
func Measures() []Measure { return measures }

var measures = listMeasures()

func listMeasures() []Measure {
	list := []Measure{
		{"throughput", "completed requests per second", PerSecond, "requests/s", Higher, 100, func(j *RunFigures) *float64 { return j.Overall.RequestsPerSecond }},
		{"tokens_per_second", "output tokens of completed requests per second", PerSecond, "tokens/s", Higher, 10_000, func(j *RunFigures) *float64 { return j.Overall.TokensPerSecond }},
		{"goodput", "requests per second that completed within every target of their class", PerSecond, "requests/s", Higher, 100, func(j *RunFigures) *float64 { return j.Overall.Goodput }},
		{"slo_attainment", "share of requests that did", Share, shareUnit, Higher, 0, func(j *RunFigures) *float64 { return j.Overall.SLOAttainment }},
	}
	for _, l := range []struct {
		name, help string
		of         func(*Scope) *Summary
	}{
		{"ttft", "time to first token", func(s *Scope) *Summary { return s.TTFT }},
		{"tpot", "time per output token", func(s *Scope) *Summary { return s.TPOT }},
		{"itl", "gap between tokens", func(s *Scope) *Summary { return s.ITL }},
		{"e2e", "time to last token", func(s *Scope) *Summary { return s.E2E }},
		{"scheduling_delay", "time from arrival to first scheduled", func(s *Scope) *Summary { return s.SchedulingDelay }},
	} {
		list = append(list, latencyMeasures(l.name, l.help, l.of)...)
	}
	for _, l := range []struct {
		name string
		of   func(*TailBlowUp) *float64
	}{
		{"ttft", func(t *TailBlowUp) *float64 { return t.TTFT }},
		{"tpot", func(t *TailBlowUp) *float64 { return t.TPOT }},
		{"e2e", func(t *TailBlowUp) *float64 { return t.E2E }},
	} {
		list = append(list, Measure{"tail_blowup_" + l.name, "p99 over p50 of " + l.name, Number, ratioUnit, Lower, 1, func(j *RunFigures) *float64 { return l.of(&j.Overall.TailBlowUp) }})
	}
	return append(list,
		Measure{"jain", "Jain's index of output tokens over tenants", Share, shareUnit, Higher, 0, func(j *RunFigures) *float64 { return j.JainIndex }},
		Measure{"admission_rate", "share of the requests decided on that were admitted", Share, shareUnit, Higher, 0, func(j *RunFigures) *float64 { return j.Overall.AdmissionRate }},
		Measure{"completed_share", "share of injected requests that completed", Share, shareUnit, Higher, 0, func(j *RunFigures) *float64 {
			return ratio(float64(j.Overall.States[Completed]), float64(j.Overall.Injected))
		}},
		Measure{"cache_hit_rate", "share of prompt tokens found in prefix caches", Share, shareUnit, Higher, 0, func(j *RunFigures) *float64 { return j.Overall.CacheHitRate }},
		Measure{"preemption_rate", "preemptions per completed request", Number, ratioUnit, Lower, 1, func(j *RunFigures) *float64 { return j.Overall.PreemptionRate }},
		Measure{"replica_hours", "hours of instances that were paid for", Number, "hours", Lower, 1, func(j *RunFigures) *float64 { return &j.ReplicaHours }},
		Measure{"scale_efficiency", "slo_attainment per instance paid for", Share, shareUnit, Higher, 0, (*RunFigures).ScaleEfficiency},
		Measure{"busy_share", "share of replica_hours in which a step was executing", Share, shareUnit, Higher, 0, func(j *RunFigures) *float64 { return j.BusyShare }},
		Measure{"completed_per_replica_hour", "completed requests per hour and instance paid for", Number, "requests/h", Higher, 10_000, (*RunFigures).CompletedPerReplicaHour},
		Measure{"cost", "of replica_hours", Number, "currency", Lower, 1, func(j *RunFigures) *float64 { return j.Cost }},
		Measure{"cost_per_mtok_input", "cost over prompt tokens of completed requests", Number, costUnit, Lower, 1, func(j *RunFigures) *float64 { return j.CostPerMillion(j.Overall.CompletedInput) }},
		Measure{"cost_per_mtok_output", "cost over output tokens of completed requests", Number, costUnit, Lower, 1, func(j *RunFigures) *float64 { return j.CostPerMillion(j.Overall.OutputTokens) }},
		Measure{"cost_per_mtok", "cost over prompt and output tokens of completed requests", Number, costUnit, Lower, 1, func(j *RunFigures) *float64 {
			return j.CostPerMillion(j.Overall.CompletedInput + j.Overall.OutputTokens)
		}},
	)
}

// latencyMeasures are the measures of one latency.
func latencyMeasures(name, help string, of func(*Scope) *Summary) []Measure {
	var list []Measure
	for _, p := range []struct {
		name string
		of   func(*Summary) *float64
	}{
		{"mean", func(s *Summary) *float64 { return &s.Mean }},
		{"p50", func(s *Summary) *float64 { return &s.P50 }},
		{"p90", func(s *Summary) *float64 { return &s.P90 }},
		{"p99", func(s *Summary) *float64 { return &s.P99 }},
	} {
		list = append(list, Measure{p.name + "_" + name, p.name + " of " + help, Latency, "us", Lower, 1000, func(j *RunFigures) *float64 {
			s := of(&j.Overall)
			if s == nil {
				return nil
			}
			return p.of(s)
		}})
	}
	return list
}

// jain is Jain's fairness index (Σx)²/(n·Σx²) (Jain, Chiu, Hawe 1984) over the
// tenants that have requests among the cells which in selects, x being the
// output tokens of those that completed; nil when there are none.
func (c *collection) jain(in func(cellKey) bool) *float64 {
	injected, output := make([]int64, len(c.Tenants)), make([]int64, len(c.Tenants))
	for i, k := range c.keys {
		if in(k) && int(k.tenant) < len(c.Tenants) { // check complains of labels without a name
			injected[k.tenant] += c.cells[i].injected()
			output[k.tenant] += c.cells[i].output
		}
	}
	n, sum, squares := 0.0, 0.0, 0.0
	for tenant, requests := range injected {
		if requests > 0 {
			x := float64(output[tenant])
			n++
			sum += x
			squares += float64(x * x)
		}
	}
	return ratio(float64(sum*sum), float64(n*squares))
}
