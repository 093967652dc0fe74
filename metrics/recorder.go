package metrics

import (
	"cmp"
	"fmt"
	"slices"

	"blis/vtime"
	"blis/workload"

	"github.com/cespare/xxhash/v2"
)

// Options are the same for every recorder of a run.
type Options struct {
	// TokenOverhead (α₂) is added to TTFT and to each ITL, RequestOverhead
	// once to E2E; both happen at the client. 0 to MaxOverhead.
	TokenOverhead, RequestOverhead vtime.Duration

	// Only requests that arrive in [From, To) are measured; To is vtime.Never
	// when there is no end. The others count for the books and for the load
	// over time alone.
	From, To vtime.Time

	// Targets are the SLO targets by class label. Classes past its end have
	// none.
	Targets []Targets

	// Usual are the targets of every class that has none in Targets.
	Usual Targets

	// Tenants are the SLO targets by tenant label, in place of those of a class. Tenants
	// past its end, and those without any target here, have none.
	Tenants []Targets

	// BlockSize is tokens per KV block where the router expects prefix hits; 0:
	// it does not.
	BlockSize int32

	// SlowPairs keeps arrival and E2E of every completed request, 16 bytes
	// each, for Anomalies.SlowWithinClass.
	SlowPairs bool
}

// MaxOverhead bounds the overheads of Options (some 36 minutes), so that sums
// over the tokens of a request cannot overflow.
const MaxOverhead vtime.Duration = 1 << 31

// Recorder takes in what one instance, or the router for requests that no
// instance had, knows of its requests. It belongs to one process of the
// simulation.
type Recorder struct {
	// Outcomes gather here before they are added. Each touches some thirty cache
	// lines of counts and distributions. In a run with hundreds of instances these
	// are not in the cache; adding several outcomes at once loads them once.
	pending []Outcome

	options Options
	err     error // the first violation

	cells  []*cell
	keys   []cellKey // of cells
	byKey  map[cellKey]int
	latest int // cell of the last request, probably also of the next

	groups     []*Distribution // ITL
	groupKeys  []groupKey
	groupByKey map[groupKey]int

	timed [][]arrivalAndE2E // completed requests by class, with Options.SlowPairs

	inversions int64 // of classes

	again TriedAgain

	lost map[groupKey]*itlBooks // ITL of attempts that were lost and made again; nil: none

	outcomes int64  // all, measured or not
	numbers  uint64 // Σ request numbers, modulo 2⁶⁴
	series   series
}

type cellKey struct{ class, tenant, model workload.Label }

func (a cellKey) compare(b cellKey) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.model, b.model))
}

type groupKey struct{ class, model workload.Label }

func (a groupKey) compare(b groupKey) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.model, b.model))
}

// NewRecorder returns an empty recorder. Overheads out of range show as its
// Err.
func NewRecorder(o Options) *Recorder {
	r := &Recorder{options: o, byKey: map[cellKey]int{}, groupByKey: map[groupKey]int{}}
	for _, d := range []struct {
		name string
		d    vtime.Duration
	}{{"per token", o.TokenOverhead}, {"per request", o.RequestOverhead}} {
		if d.d < 0 || d.d > MaxOverhead {
			r.fail(fmt.Errorf("client overhead %s is %d µs: want 0 to %d", d.name, d.d, MaxOverhead))
		}
	}
	return r
}

// Err is the first violation of what must hold for every request, with the
// numbers; nil if there was none.
func (r *Recorder) Err() error {
	r.addPending()
	return r.err
}

func (r *Recorder) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// measured says whether a request that arrives then is measured.
func (r *Recorder) measured(arrival vtime.Time) bool {
	return r.options.InWindow(arrival)
}

// Group returns the number of the group under which ITL counts the tokens of a
// request with this class, model and arrival; −1 if the request is outside of
// the measured window. The number stays the same for the whole run.
func (r *Recorder) Group(class, model workload.Label, arrival vtime.Time) int {
	if !r.measured(arrival) {
		return -1
	}
	key := groupKey{class, model}
	if n := len(r.groupKeys); n > 0 && r.groupKeys[n-1] == key {
		return n - 1
	}
	if g, ok := r.groupByKey[key]; ok {
		return g
	}
	r.groupByKey[key] = len(r.groups)
	r.groups = append(r.groups, &Distribution{})
	r.groupKeys = append(r.groupKeys, key)
	return len(r.groups) - 1
}

// ITL counts n tokens of requests of a group: each came exactly gap after the
// token before it of the same request. The engine calls it once per step and
// group at the step's end. Group −1 counts nothing.
func (r *Recorder) ITL(group int, gap vtime.Duration, n int) {
	if group >= 0 {
		r.groups[group].AddN(int64(gap+r.options.TokenOverhead), int64(n))
	}
}

// ClassInversion counts a class inversion of a request, if the request's
// arrival is in the measured window; it reports whether it is.
func (r *Recorder) ClassInversion(arrival vtime.Time) bool {
	if !r.measured(arrival) {
		return false
	}
	r.inversions++
	return true
}

// TriedAgain counts requests, measured or not, that were lost with an instance: those that failed,
// and those that completed after they were tried again.
type TriedAgain struct{ Failed, Recovered int64 }

// TriedAgain returns what the recorder counted so far.
func (r *Recorder) TriedAgain() TriedAgain {
	r.addPending()
	return r.again
}

// Lose takes in how far an attempt got that was lost with its instance and is made again: ITL has
// its tokens, and the outcome of the request will not.
func (r *Recorder) Lose(o *Outcome) {
	sum, n := o.TotalITL(r.options.TokenOverhead)
	if n == 0 || !r.measured(o.Arrival) {
		return
	}
	if r.lost == nil {
		r.lost = map[groupKey]*itlBooks{}
	}
	key := groupKey{o.Class, o.Model}
	b := r.lost[key]
	if b == nil {
		b = new(itlBooks)
		r.lost[key] = b
	}
	b.requestSum.add(int64(sum))
	b.requestN += n
}

// Record adds one request. It is called exactly once for each: at its final
// state, or at the end of the run. It verifies the invariants of a request; a
// request that breaks one is not measured, and Err returns the breach.
func (r *Recorder) Record(o *Outcome) {
	switch len(r.pending) {
	case 0:
		if r.pending == nil {
			r.pending = make([]Outcome, 0, pendingOutcomes)
		}
	case pendingOutcomes:
		r.addPending()
	}
	r.pending = append(r.pending, *o)
}

// pendingOutcomes is the number of outcomes that are added together.
const pendingOutcomes = 32

// addPending adds the pending outcomes. Every method that reads the recorder's
// sums calls it first.
func (r *Recorder) addPending() {
	for i := range r.pending {
		r.add(&r.pending[i])
	}
	r.pending = r.pending[:0]
}

// Trim frees the memory of pending outcomes, for a recorder that gets none for
// a while.
func (r *Recorder) Trim() {
	r.addPending()
	r.pending = nil
}

// add adds one outcome.
func (r *Recorder) add(o *Outcome) {
	r.outcomes++
	r.numbers += uint64(o.ID)
	switch {
	case o.State == Failed:
		r.again.Failed++
	case o.Retries > 0 && o.State == Completed:
		r.again.Recovered++
	}
	if err := checkOutcome(o, r.options.TokenOverhead, r.options.RequestOverhead); err != nil {
		r.fail(err)
		return
	}
	r.series.arrive(o.Arrival)
	if o.Finished != vtime.Never {
		r.series.depart(o.Finished)
	}
	if !r.measured(o.Arrival) {
		return
	}
	t := r.options.targetsOf(o.Class, o.Tenant)
	c := r.cell(cellKey{o.Class, o.Tenant, o.Model})
	c.add(o, r.options.TokenOverhead, r.options.RequestOverhead, t)
	if r.options.Diverges(o) {
		c.diverged++
	}
	if r.options.SlowPairs {
		r.keepTime(o)
	}
}

// keepTime keeps arrival and E2E of a completed request, for slow pairs.
func (r *Recorder) keepTime(o *Outcome) {
	e2e, ok := o.E2E(r.options.TokenOverhead, r.options.RequestOverhead)
	if !ok {
		return
	}
	for len(r.timed) <= int(o.Class) {
		r.timed = append(r.timed, nil)
	}
	r.timed[o.Class] = append(r.timed[o.Class], arrivalAndE2E{int64(o.Arrival), int64(e2e)})
}

// flushBuffers encodes buffered samples of all distributions as runs, if they
// are many, as a merge would.
func (r *Recorder) flushBuffers() {
	r.addPending()
	for _, c := range r.cells {
		for _, d := range c.distributions() {
			d.flushBuffers()
		}
	}
	for _, d := range r.groups {
		d.flushBuffers()
	}
}

func (r *Recorder) cell(key cellKey) *cell {
	if len(r.keys) > 0 && r.keys[r.latest] == key {
		return r.cells[r.latest]
	}
	i, ok := r.byKey[key]
	if !ok {
		i = len(r.cells)
		r.byKey[key] = i
		r.cells = append(r.cells, newCell())
		r.keys = append(r.keys, key)
	}
	r.latest = i
	return r.cells[i]
}

// Fold returns a hash of all sums. It does not depend on the order of requests,
// cells or groups.
func (r *Recorder) Fold() uint64 {
	r.addPending()
	var hash xxhash.Digest
	hash.Reset()
	writeInts(&hash, uint64(r.outcomes), r.numbers, r.series.fold())
	for _, i := range sortedBy(r.keys, cellKey.compare) {
		k := r.keys[i]
		writeInts(&hash, uint64(k.class), uint64(k.tenant), uint64(k.model))
		r.cells[i].foldTo(&hash)
	}
	for _, i := range sortedBy(r.groupKeys, groupKey.compare) {
		if r.groups[i].N() > 0 { // a group without samples makes no difference
			k := r.groupKeys[i]
			writeInts(&hash, uint64(k.class), uint64(k.model), r.groups[i].Fold())
		}
	}
	if r.inversions > 0 { // a run without inversions has the digest of versions that did not count them
		writeInts(&hash, uint64(r.inversions))
	}
	return hash.Sum64()
}

// sortedBy returns the indices of keys in the order of the keys.
func sortedBy[K any](keys []K, compare func(a, b K) int) []int {
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compare(keys[a], keys[b]) })
	return order
}
