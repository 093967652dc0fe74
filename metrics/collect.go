package metrics

import (
	"cmp"
	"fmt"

	"blis/vtime"
	"blis/workload"
)

// Run is the input of Collect: a run that ended.
type Run struct {
	Routers   []*Recorder // requests that no instance recorded, by control plane
	Instances []*Recorder // by instance index
	Counters  []Counters  // by instance index
	Lives     []Life      // by instance index; nil: KV use over time is not reported
	Tiers     []KVTier    // CPU tiers by instance index; nil: there are none
	Storage   []KVStorage // storage tiers below them; nil: there are none

	Injected int64      // the router's own count
	Numbers  uint64     // sum of the numbers of the injected requests, where these are not 0 … n − 1: a cancelled run in parts; 0: they are
	End      vtime.Time // of the run: its last event, or its horizon
	Cut      bool       // it ended with work left

	BlockBytes int64 // of a KV block, on all GPUs of an instance; for Tiers and Disaggregated. Of instances in pools, Pool.BlockBytes

	Disaggregated []Disaggregation // by instance index; nil: no instance hands requests over or pulls their KV
	Deployments   []Deployment     // all instances, by pool; nil: they are all alike
	DataParallel  []RanksOf        // instances whose data-parallel ranks step together; nil: there are none

	// Each calls f(0) … f(n−1), each once, in any order or in parallel, and returns
	// when all have returned. The report does not depend on it. Nil: one by one.
	Each func(n int, f func(i int))

	// Names by label and by instance index.
	Classes, Tenants, Models, InstanceNames []string
}

// Collect merges the recorders, checks the books and reports. The error is the
// first check that failed, with its numbers. The report is complete even then, but
// must not be trusted. The recorders are not changed.
func Collect(run Run) (*Report, error) {
	c := collection{Run: run}
	if c.Each == nil {
		c.Each = sequentially
	}
	fault := c.checkPools()
	if fault != nil {
		c.Disaggregated, c.Deployments = nil, nil
	}
	c.lookUpOnce()
	c.merge()
	report := c.report()
	c.summaries.compute(c.Each)
	report.eachScope(func(s *Scope) { s.TailBlowUp = newTailBlowUp(s) })
	var err error
	report.KVUse, err = c.kvUse()
	report.KVTiers = c.kvTiers()
	report.DataParallel = c.dataParallel()
	return report, cmp.Or(fault, c.check(), err)
}

// eachScope calls f for every scope of the report.
func (r *Report) eachScope(f func(*Scope)) {
	f(&r.Overall)
	for _, scopes := range []Scopes{r.PerClass, r.PerTenant, r.PerModel, r.PerInstance} {
		for i := range scopes {
			f(&scopes[i].Scope)
		}
	}
	for i := range r.PerDeployment {
		f(&r.PerDeployment[i].Scope)
	}
}

// groups are distributions by class and model.
type groups struct {
	keys []groupKey
	list []*Distribution
}

// collection is the merge of all recorders: one cell for each class, tenant
// and model, one group for each class and model, in the order of their keys.
type collection struct {
	Run
	recorders []*Recorder
	keys      []cellKey
	cells     []*cell
	groups    groups
	window    Window
	summaries summaries
}

func (c *collection) merge() {
	c.recorders = append(c.recorders, c.Routers...)
	for i := range c.Deployments {
		if r := c.Deployments[i].Router; r != nil {
			c.recorders = append(c.recorders, r)
		}
	}
	c.recorders = append(c.recorders, c.Instances...)
	c.Each(len(c.recorders), func(i int) { c.recorders[i].flushBuffers() })
	for _, r := range c.recorders {
		c.keys = append(c.keys, r.keys...)
		c.cells = append(c.cells, r.cells...)
		c.groups.keys = append(c.groups.keys, r.groupKeys...)
		c.groups.list = append(c.groups.list, r.groups...)
	}
	c.keys, c.cells = mergeEqual(c.keys, c.cells, cellKey.compare, mergeCells)
	c.groups.keys, c.groups.list = mergeEqual(c.groups.keys, c.groups.list, groupKey.compare, mergeDistributions)
}

// mergeEqual merges the values of equal keys and returns both by key.
func mergeEqual[K comparable, V any](keys []K, values []V, compare func(a, b K) int, merge func([]V) V) ([]K, []V) {
	var mergedKeys []K
	var merged []V
	order := sortedBy(keys, compare)
	for len(order) > 0 {
		key, n := keys[order[0]], 0
		var same []V
		for n < len(order) && keys[order[n]] == key {
			same = append(same, values[order[n]])
			n++
		}
		order = order[n:]
		mergedKeys = append(mergedKeys, key)
		merged = append(merged, merge(same))
	}
	return mergedKeys, merged
}

// mergeCells returns the sum of cells: a new cell, or the only one there is.
func mergeCells(cells []*cell) *cell {
	if len(cells) == 1 {
		return cells[0]
	}
	sum := newCell()
	for _, c := range cells {
		sum.merge(c)
	}
	return sum
}

// mergeDistributions is the same for distributions.
func mergeDistributions(ds []*Distribution) *Distribution {
	if len(ds) == 1 {
		return ds[0]
	}
	sum := &Distribution{}
	for _, d := range ds {
		sum.Merge(d)
	}
	return sum
}

func (c *collection) report() *Report {
	all := mergeCells(c.cells)
	c.window = newWindow(all, c.End, c.Cut)
	r := &Report{
		Injected: c.Injected,
		Window:   c.window,
		Overall:  c.scope(all, mergeDistributions(c.groups.list)),
		Load:     c.load(),
	}
	if n := all.injected(); n > 1 {
		r.OfferedPerSecond = ratio(float64(n-1), all.lastArrival.Sub(all.firstArrival).Seconds())
	}
	r.Overall.JainIndex = c.jain(func(cellKey) bool { return true })
	r.JainIndex = r.Overall.JainIndex
	r.Overall.Resources = newResources(c.Counters)
	r.Anomalies = c.anomalies(&r.Overall.Resources.Counters)
	r.PerClass = c.marginal(&r.Overall, c.Classes, func(k cellKey) workload.Label { return k.class }, func(k groupKey) workload.Label { return k.class })
	r.PerModel = c.marginal(&r.Overall, c.Models, func(k cellKey) workload.Label { return k.model }, func(k groupKey) workload.Label { return k.model })
	tenants := partition(c.keys, c.cells, len(c.Tenants), func(k cellKey) workload.Label { return k.tenant })
	for i, name := range c.Tenants {
		r.PerTenant = append(r.PerTenant, Named{name, c.scope(mergeCells(tenants[i]), nil)})
	}
	c.reportInstances(r)
	r.PD = c.pd(all)
	c.reportPools(r)
	return r
}

func newWindow(all *cell, end vtime.Time, cut bool) Window {
	w := Window{Cut: cut}
	if all.injected() == 0 {
		return w
	}
	start := int64(all.firstArrival)
	w.Start = &start
	last := all.lastCompletion
	if cut {
		last = end
	}
	if last > all.firstArrival {
		stop, seconds := int64(last), last.Sub(all.firstArrival).Seconds()
		w.End, w.Seconds = &stop, &seconds
	}
	return w
}

// partition sorts values into lists by the label of their key. Labels without
// a name are left out; check complains of them.
func partition[K, V any](keys []K, values []V, names int, label func(K) workload.Label) [][]V {
	parts := make([][]V, names)
	for i, key := range keys {
		if l := int(label(key)); l < names {
			parts[l] = append(parts[l], values[i])
		}
	}
	return parts
}

// marginal reports the scopes of one kind of label. A scope with all requests is
// the overall scope and is not computed again.
func (c *collection) marginal(overall *Scope, names []string, ofCell func(cellKey) workload.Label, ofGroup func(groupKey) workload.Label) Scopes {
	cells := partition(c.keys, c.cells, len(names), ofCell)
	groups := partition(c.groups.keys, c.groups.list, len(names), ofGroup)
	var scopes Scopes
	for i, name := range names {
		var s Scope
		if len(cells[i]) == len(c.cells) && len(groups[i]) == len(c.groups.list) {
			s = *overall
			s.Resources = nil
		} else {
			s = c.scope(mergeCells(cells[i]), mergeDistributions(groups[i]))
			s.JainIndex = c.jain(func(k cellKey) bool { return int(ofCell(k)) == i })
		}
		scopes = append(scopes, Named{name, s})
	}
	return scopes
}

// reportInstances adds the scopes per instance and the busiest and the idlest
// of them, of equals the first.
func (c *collection) reportInstances(r *Report) {
	for i, name := range c.InstanceNames {
		if i >= len(c.Instances) || i >= len(c.Counters) {
			return
		}
		recorder := c.Instances[i]
		s := c.scope(mergeCells(recorder.cells), mergeDistributions(recorder.groups))
		s.Resources = newResources(c.Counters[i : i+1])
		r.PerInstance = append(r.PerInstance, Named{name, s})
		if s.Resources.Utilisation == nil {
			continue
		}
		use := InstanceUse{name, *s.Resources.Utilisation}
		if r.Busiest == nil || use.Utilisation > r.Busiest.Utilisation {
			r.Busiest = &use
		}
		if r.Idlest == nil || use.Utilisation < r.Idlest.Utilisation {
			r.Idlest = &use
		}
	}
}

func (c *collection) load() Load {
	var s series
	for _, r := range c.recorders {
		s.merge(&r.series)
	}
	return s.load(c.End)
}

// check is the first of the checks at the end of a run that fails.
func (c *collection) check() error {
	for _, r := range c.recorders {
		if r.err != nil {
			return r.err
		}
	}
	for _, check := range []func() error{c.checkNames, c.checkConservation, c.checkITL} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *collection) checkNames() error {
	if n := len(c.Instances); len(c.Counters) != n || len(c.InstanceNames) != n {
		return fmt.Errorf("%d instances with %d counters and %d names", n, len(c.Counters), len(c.InstanceNames))
	}
	for _, k := range c.groups.keys {
		if int(k.class) >= len(c.Classes) || int(k.model) >= len(c.Models) {
			return fmt.Errorf("tokens of class %d, model %d: there are names for %d and %d", k.class, k.model, len(c.Classes), len(c.Models))
		}
	}
	for _, k := range c.keys {
		if int(k.class) >= len(c.Classes) || int(k.tenant) >= len(c.Tenants) || int(k.model) >= len(c.Models) {
			return fmt.Errorf("request with class %d, tenant %d, model %d: there are names for %d, %d and %d",
				k.class, k.tenant, k.model, len(c.Classes), len(c.Tenants), len(c.Models))
		}
	}
	return nil
}

// checkConservation verifies that every injected request was recorded once:
// as many as the router counted, and their numbers, 0 … n−1 but for cancelled parts,
// sum to what they must.
func (c *collection) checkConservation() error {
	n, numbers := int64(0), uint64(0)
	for _, r := range c.recorders {
		n += r.outcomes
		numbers += r.numbers
	}
	if n != c.Injected {
		return fmt.Errorf("%d requests were injected, but %d reached one of the states", c.Injected, n)
	}
	if want := cmp.Or(c.Numbers, sumBelow(uint64(n))); numbers != want {
		return fmt.Errorf("some of %d requests were recorded twice and others never: their numbers sum to %d, not %d", n, numbers, want)
	}
	return nil
}

// sumBelow is 0 + 1 + … + (n−1) modulo 2⁶⁴.
func sumBelow(n uint64) uint64 {
	if n%2 == 0 {
		return n / 2 * (n - 1)
	}
	return (n - 1) / 2 * n
}

// leastOverhead is the smallest client overhead per token of any recorder: those of several pools differ.
func leastOverhead(list []*Recorder) vtime.Duration {
	least := MaxOverhead
	for _, r := range list {
		least = min(least, r.options.TokenOverhead)
	}
	return least
}

// checkITL verifies that the samples that steps counted are those that the
// requests' own times and tokens imply, with those of attempts that were lost, in number and sum, for every class and
// model, and that no gap was shorter than a step can be.
func (c *collection) checkITL() error {
	var keys []groupKey
	var all []*itlBooks
	least := leastOverhead(c.recorders)
	for i, k := range c.groups.keys {
		group := c.groups.list[i]
		keys = append(keys, k)
		all = append(all, &itlBooks{stepSum: group.total(), stepN: group.N()})
		if group.N() == 0 {
			continue
		}
		if low, _ := group.bounds(); low <= int64(least) {
			return fmt.Errorf("ITL of class %q, model %q: a sample of %d µs, with %d µs of it client overhead",
				c.Classes[k.class], c.Models[k.model], low, least)
		}
	}
	for i, k := range c.keys {
		keys = append(keys, groupKey{k.class, k.model})
		all = append(all, &itlBooks{requestSum: c.cells[i].itl, requestN: c.cells[i].itlSamples})
	}
	for _, r := range c.recorders {
		for k, b := range r.lost { // any order: sums
			keys, all = append(keys, k), append(all, b)
		}
	}
	keys, all = mergeEqual(keys, all, groupKey.compare, mergeBooks)
	for i, b := range all {
		if b.stepN != b.requestN || b.stepSum != b.requestSum {
			return fmt.Errorf("ITL of class %q, model %q: steps counted %d samples of %.0f µs in all, the requests' tokens imply %d of %.0f",
				c.Classes[keys[i].class], c.Models[keys[i].model], b.stepN, b.stepSum.float(), b.requestN, b.requestSum.float())
		}
	}
	return nil
}

// itlBooks are the two ways to count the ITL samples of a group.
type itlBooks struct {
	stepSum, requestSum sum128
	stepN, requestN     int64
}

func mergeBooks(same []*itlBooks) *itlBooks {
	sum := &itlBooks{}
	for _, b := range same {
		sum.stepSum.plus(b.stepSum)
		sum.requestSum.plus(b.requestSum)
		sum.stepN += b.stepN
		sum.requestN += b.requestN
	}
	return sum
}
