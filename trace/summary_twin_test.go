package trace

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"blis/metrics"
	"blis/vtime"
)

// twin keeps every record and computes each fact from all of them.
type twin struct {
	records      []Record
	header       *Header
	admissions   []*Admission
	priorities   []*Priority
	routings     []*Routing
	scales       []*Scale
	batches      []*Batch
	preemptions  []*Preemption
	transfers    []*Transfer
	anomalies    []*Anomaly
	outcomes     []*Outcome
	outcomeOf    map[int64]*Outcome
	routingsOf   map[int64][]*Routing
	admissionsOf map[int64][]*Admission
	from, to     vtime.Time
	width        vtime.Duration
}

func newTwin(records []Record) *twin {
	w := &twin{records: records, outcomeOf: map[int64]*Outcome{}, routingsOf: map[int64][]*Routing{}, admissionsOf: map[int64][]*Admission{}, width: vtime.Millisecond}
	var times []vtime.Time
	for _, r := range records {
		switch r := r.(type) {
		case *Header:
			w.header = r
		case *Admission:
			w.admissions, times = append(w.admissions, r), append(times, r.At)
			w.admissionsOf[r.Request] = append(w.admissionsOf[r.Request], r)
		case *Priority:
			w.priorities, times = append(w.priorities, r), append(times, r.At)
		case *Routing:
			w.routings, times = append(w.routings, r), append(times, r.At)
			w.routingsOf[r.Request] = append(w.routingsOf[r.Request], r)
		case *Scale:
			w.scales, times = append(w.scales, r), append(times, r.At)
		case *Batch:
			w.batches, times = append(w.batches, r), append(times, r.At)
		case *Preemption:
			w.preemptions, times = append(w.preemptions, r), append(times, r.At)
		case *Transfer:
			w.transfers, times = append(w.transfers, r), append(times, r.At)
		case *Anomaly:
			w.anomalies, times = append(w.anomalies, r), append(times, r.At)
		case *Outcome:
			w.outcomes, times = append(w.outcomes, r), append(times, r.At)
			w.outcomeOf[r.Request] = r
		}
	}
	if len(times) > 0 {
		w.from, w.to = times[0], times[len(times)-1]
		for w.bin(w.to) >= maxBins {
			w.width *= 2
		}
	}
	return w
}

func (w *twin) origin() vtime.Time { return w.from / 1e6 * 1e6 }

func (w *twin) bin(t vtime.Time) int { return int((t - w.origin()) / vtime.Time(w.width)) }

// count is how many of a list are so.
func count[T any](list []T, is func(T) bool) (n int64) {
	for _, x := range list {
		if is(x) {
			n++
		}
	}
	return n
}

func filter[T any](list []T, is func(T) bool) (some []T) {
	for _, x := range list {
		if is(x) {
			some = append(some, x)
		}
	}
	return some
}

// distinct are the keys in the order in which they come.
func distinct[T any, K comparable](list []T, key func(T) K) (keys []K) {
	for _, x := range list {
		if k := key(x); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// kept is x without what a histogram does not keep.
func kept(x float64) float64 {
	return math.Float64frombits(math.Float64bits(x) &^ (1<<42 - 1))
}

// nearestRank is the smallest value that at least p of 100 do not exceed.
func nearestRank(list []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(list))
	for i, x := range sorted {
		if 100*(i+1) >= p*len(sorted) {
			return x
		}
	}
	panic("no values")
}

func meanOf(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

func (w *twin) target(class, tenant string) ClassTargets {
	for _, t := range w.header.Targets {
		if t.Tenant != "" && t.Tenant == tenant {
			return t
		}
	}
	for _, t := range w.header.Targets {
		if t.Tenant == "" && t.Class == class {
			return t
		}
	}
	return ClassTargets{}
}

func (w *twin) tally(of []verdict) []Count {
	list := []Count{}
	for _, k := range distinct(of, func(v verdict) verdict { return v }) {
		list = append(list, Count{k.what, k.reason, count(of, func(v verdict) bool { return v == k })})
	}
	slices.SortStableFunc(list, func(a, b Count) int { return cmp.Compare(b.N, a.N) })
	return list
}

func (w *twin) outcomeFacts() OutcomeFacts {
	var ends []verdict
	for s := range metrics.State(metrics.States) {
		for _, o := range w.outcomes {
			if o.State == s.String() {
				ends = append(ends, verdict{o.State, o.Reason})
			}
		}
	}
	f := OutcomeFacts{Requests: int64(len(w.outcomes)), Ends: []Count{}, Classes: []ClassFact{}}
	for s := range metrics.State(metrics.States) { // within a state by how many, then by who came first
		f.Ends = append(f.Ends, w.tally(filter(ends, func(v verdict) bool { return v.what == s.String() }))...)
	}
	seen := map[int64]bool{}
	for _, a := range w.admissions {
		seen[a.Request] = true
	}
	for request := range seen {
		if w.outcomeOf[request] == nil {
			f.WithoutOutcome++
		}
	}
	for _, class := range w.classNames() {
		of := filter(w.outcomes, func(o *Outcome) bool { return o.Class == class })
		t := w.target(class, "")
		f.Classes = append(f.Classes, ClassFact{
			Class: class, Ended: int64(len(of)), Completed: count(of, isCompleted), Judged: count(of, judged), Met: count(of, metTargets),
			TTFT: w.latencyFact(of, func(o *Outcome) *vtime.Duration { return o.TTFT }, t.TTFT, func(t ClassTargets) *vtime.Duration { return t.TTFT }),
			TPOT: w.latencyFact(of, func(o *Outcome) *vtime.Duration { return o.TPOT }, t.TPOT, func(t ClassTargets) *vtime.Duration { return t.TPOT }),
			E2E:  w.latencyFact(of, func(o *Outcome) *vtime.Duration { return o.E2E }, t.E2E, func(t ClassTargets) *vtime.Duration { return t.E2E }),
		})
	}
	return f
}

func isCompleted(o *Outcome) bool { return o.State == "completed" }
func judged(o *Outcome) bool      { return o.SLOMet != nil }
func metTargets(o *Outcome) bool  { return o.SLOMet != nil && *o.SLOMet }

// classNames are those of the header, then the others as they come.
func (w *twin) classNames() []string {
	var all []string
	for _, t := range w.header.Targets {
		if t.Class != "" {
			all = append(all, t.Class)
		}
	}
	for _, r := range w.records {
		switch r := r.(type) {
		case *Admission:
			all = append(all, r.Class)
		case *Outcome:
			all = append(all, r.Class)
		}
	}
	return distinct(all, func(s string) string { return s })
}

func (w *twin) latencyFact(of []*Outcome, latency func(*Outcome) *vtime.Duration, target *vtime.Duration, own func(ClassTargets) *vtime.Duration) *LatencyFact {
	var list []float64
	for _, o := range of {
		if d := latency(o); d != nil {
			list = append(list, float64(*d))
		}
	}
	if len(list) == 0 {
		return nil
	}
	at := func(p int) int64 { return int64(kept(nearestRank(list, p))) }
	f := &LatencyFact{N: int64(len(list)), P50: at(50), P90: at(90), P99: at(99), Max: int64(slices.Max(list)), Target: micros(target)}
	f.Beyond = count(of, func(o *Outcome) bool {
		d, t := latency(o), own(w.target(o.Class, o.Tenant))
		return d != nil && t != nil && *d > *t
	})
	return f
}

// last is the routing of each request that counts.
func (w *twin) last() (list []*Routing) {
	for _, r := range w.routings {
		if of := w.routingsOf[r.Request]; of[len(of)-1] == r {
			list = append(list, r)
		}
	}
	return list
}

func (w *twin) regretFacts() *RegretFacts {
	last := w.last()
	scored := filter(last, func(r *Routing) bool { return r.Regret != nil && r.Target != nil })
	chosen := filter(scored, func(r *Routing) bool { return !r.Forced })
	if len(scored) == 0 {
		return nil
	}
	f := &RegretFacts{
		Decisions: int64(len(chosen)), Forced: int64(len(scored) - len(chosen)), Unscored: int64(len(last) - len(scored)), Superseded: int64(len(w.routings) - len(last)),
		ByInstance: []RegretShare{}, ByClass: []RegretShare{}, ByTime: []RegretBin{}, Worst: []Decision{},
		WithOutcome: count(chosen, func(r *Routing) bool { return w.outcomeOf[r.Request] != nil }),
	}
	all := values(chosen)
	if len(all) == 0 {
		return f
	}
	at := func(p int) float64 { return kept(nearestRank(all, p)) }
	f.None, f.Mean, f.P50, f.P90, f.P99, f.Max = count(all, func(x float64) bool { return x == 0 }), meanOf(all), at(50), at(90), at(99), slices.Max(all)
	part := func(name string, is func(*Routing) bool) RegretShare {
		of := values(filter(chosen, is))
		x := RegretShare{Name: name, N: int64(len(of)), Mean: meanOf(of), Max: slices.Max(of)}
		if f.Mean > 0 {
			x.Share = x.Mean * float64(x.N) / (f.Mean * float64(f.Decisions))
		}
		return x
	}
	for _, i := range distinct(chosen, func(r *Routing) int { return *r.Target }) {
		f.ByInstance = append(f.ByInstance, part(strconv.Itoa(i), func(r *Routing) bool { return *r.Target == i }))
	}
	for _, class := range distinct(chosen, func(r *Routing) string { return r.Class }) {
		f.ByClass = append(f.ByClass, part(class, func(r *Routing) bool { return r.Class == class }))
	}
	for b := range maxBins {
		if in := func(r *Routing) bool { return w.bin(r.At) == b }; count(chosen, in) > 0 {
			x := part("", in)
			from := int64(w.origin()) + int64(b)*int64(w.width)
			f.ByTime = append(f.ByTime, RegretBin{from, from + int64(w.width), x.N, x.Mean, x.Max, x.Share})
		}
	}
	worst := filter(chosen, func(r *Routing) bool { return *r.Regret > 0 })
	slices.SortFunc(worst, func(a, b *Routing) int {
		return cmp.Or(cmp.Compare(*b.Regret, *a.Regret), cmp.Compare(a.Request, b.Request))
	})
	for _, r := range worst[:min(len(worst), 10)] {
		d := Decision{
			int64(r.At), r.Request, r.Tenant, r.Class, r.Input, *r.Target, r.Reason, r.Score, r.Best, *r.Regret, r.ExpectedHit, append([]Candidate{}, r.Candidates...), nil,
		}
		if o := w.outcomeOf[r.Request]; o != nil {
			d.Outcome = &Ending{o.State, o.Instance, micros(o.TTFT), micros(o.E2E), micros(o.QueueWait), o.ActualHit, o.Preempted, o.SLOMet}
		}
		f.Worst = append(f.Worst, d)
	}
	return f
}

func values(list []*Routing) (of []float64) {
	for _, r := range list {
		of = append(of, *r.Regret)
	}
	return of
}

// TestSummaryAgreesWithTwin compares every fact, of many small traces.
func TestSummaryAgreesWithTwin(t *testing.T) {
	for seed := range uint64(150) {
		g := rand.New(rand.NewPCG(seed, 2))
		of := shape{
			requests: g.IntN(1 + g.IntN(300)), instances: 1 + g.IntN(6), counterfactual: g.IntN(4) > 0,
			detailed: g.IntN(2) > 0, scaling: g.IntN(2) > 0, cut: g.IntN(2) > 0,
		}
		records := synthetic(seed, of)
		got := reported(t, summarized(t, records, SummaryOptions{}), SummaryPattern, 1000)
		w := newTwin(records)
		for _, c := range []struct {
			name      string
			got, want any
		}{
			{"outcomes", got.Outcomes, w.outcomeFacts()},
			{"missed and met", got.Compared, w.comparison()},
			{"decisions", got.Decisions, w.decisionFacts()},
			{"issues", got.Issues, w.issues()},
			{"instances", got.Instances, w.instanceFacts()},
			{"regret", got.Regret, w.regretFacts()},
			{"patterns", got.Patterns, w.patternFacts()},
			{"avoidable misses", got.Avoidable, w.avoidable()},
		} {
			order := cmpopts.SortSlices(func(a, b RegretShare) bool { return a.Name < b.Name })
			approx := cmpopts.EquateApprox(1e-9, 1e-12)
			if diff := gocmp.Diff(c.want, c.got, approx, order); diff != "" {
				t.Fatal(fmt.Sprintf("seed %d, %+v: %s: −want +got\n", seed, of, c.name), diff)
			}
		}
	}
}
