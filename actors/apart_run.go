package actors

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// apart is the clusters of a run whose services share nothing.
type apart struct {
	plan      *setup.Plan
	execution Execution
	parts     []*part
	clusters  []*cluster // by part
	ranks     []inPart   // all of them, in the order of deployments
	names     []string   // of them
	servers   []string   // names of the instances as a whole
	numbers   [][]int32  // by part and its own number, the numbers of ranks
	pools     [][]int16  // … of pools
	rows      *rowMerge  // nil: nobody wants rows

	mu   sync.Mutex // of progress
	seen []seenPart // by part
}

// inPart is a rank of an instance of a part.
type inPart struct{ part, instance, rank int }

// seenPart is how far a part has come.
type seenPart struct {
	now  vtime.Time
	done int64
}

// runner is a run that is prepared.
type runner interface {
	run(ctx context.Context) (*Result, error)
}

// newRunner makes the clusters of a plan: one, or one for each service where these share nothing.
func newRunner(p *setup.Plan, x Execution) (runner, error) {
	q, err := makePolicies(p)
	if err != nil {
		return nil, err
	}
	p.NoteUnread(readByAll(q))
	noteLed(p)
	if !separable(p, &x, q) {
		return newClusterOf(p, x, q)
	}
	a := &apart{plan: p, execution: x, parts: separate(p)}
	if x.Row != nil {
		a.rows = &rowMerge{emit: x.Row, names: rowNames{gateway: p.Gateway, pools: poolNames(p), instance: func(i int) string { return a.names[i] }}, held: map[int64]outcomeOf{}}
	}
	a.seen = make([]seenPart, len(a.parts))
	for k, s := range a.parts {
		c, err := newCluster(s.plan, a.executionOf(k))
		if err != nil {
			return nil, err
		}
		a.clusters = append(a.clusters, c)
	}
	a.number()
	if a.rows != nil && len(p.NodePools) > 0 {
		a.rows.names.nodes = a.nodeNames()
	}
	return a, nil
}

// executionOf returns how a part is executed: the workers of the run are shared.
func (a *apart) executionOf(k int) Execution {
	x := a.execution
	x.Begin = nil
	if n := workers(&x); n > 1 {
		x.Workers = max(1, n/min(n, len(a.parts)))
	}
	if x.Progress != nil {
		x.Progress = func(now vtime.Time, done int64) { a.progress(k, now, done) }
	}
	if a.rows != nil {
		x.Row = func(r *Row) { a.emit(k, r) }
	}
	return x
}

// progress says how far the run has come: as far as the part that is least far.
func (a *apart) progress(k int, now vtime.Time, done int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[k] = seenPart{now, done}
	least, sum := now, int64(0)
	for _, s := range a.seen {
		least = min(least, s.now)
		sum += s.done
	}
	a.execution.Progress(least, sum)
}

// number gives ranks and pools their numbers: by deployment, then as in their parts.
func (a *apart) number() {
	a.numbers, a.pools = make([][]int32, len(a.parts)), make([][]int16, len(a.parts))
	for k, c := range a.clusters {
		a.numbers[k], a.pools[k] = make([]int32, len(c.router.fleet.ranks)), make([]int16, len(c.plan.Pools))
		for i, s := range c.plan.Pools {
			a.pools[k][i] = int16(slices.Index(a.plan.Pools, s))
		}
	}
	endpoints := 0 // of the instances before
	for i := range a.plan.Deployments {
		k, own := a.deployment(i)
		c := a.clusters[k]
		for _, s := range c.router.fleet.deployments[own].pools() {
			for _, p := range c.router.fleet.servers {
				if p.pool == s {
					a.numberRanks(k, p, endpoints)
					endpoints += len(p.places)
				}
			}
		}
	}
}

// numberRanks gives the ranks of a server of part k their numbers and names; before is the number of
// endpoints before its own.
func (a *apart) numberRanks(k int, p *server, before int) {
	of := p.pool.plan
	a.servers = append(a.servers, serverName(before, before+len(p.places)-1))
	for i := range of.Ranks.Ranks {
		a.numbers[k][p.first+i] = int32(len(a.ranks))
		a.ranks = append(a.ranks, inPart{k, p.number, i})
		a.names = append(a.names, rankName(before+i/of.Ranks.Local, i, of))
	}
}

// deployment returns the part that has a deployment of the plan, and its number there.
func (a *apart) deployment(i int) (part, own int) {
	for k, s := range a.parts {
		for own, d := range s.deployments {
			if d == i {
				return k, own
			}
		}
	}
	panic("actors: a deployment that no part has")
}

// run executes the parts, as many side by side as there are workers.
func (a *apart) run(ctx context.Context) (*Result, error) {
	if begin := a.execution.Begin; begin != nil {
		begin(&Config{a.plan.Config, a.execution}, &a.plan.Summary)
	}
	partial := make([]bool, len(a.clusters))
	faults := make([]error, len(a.clusters))
	panics := make([]any, len(a.clusters))
	inParallel(min(workers(&a.execution), len(a.clusters)))(len(a.clusters), func(k int) {
		defer func() { panics[k] = recover() }()
		partial[k], faults[k] = a.clusters[k].execute(ctx)
	})
	anyPartial := false
	for k := range a.clusters {
		switch {
		case panics[k] != nil:
			panic(panics[k])
		case faults[k] != nil && !partial[k]:
			return nil, faults[k]
		}
		anyPartial = anyPartial || partial[k]
	}
	result, err := a.result(anyPartial)
	if err != nil {
		return nil, err
	}
	return result, cmp.Or(faults...)
}

// result makes the result of the parts, which have ended.
func (a *apart) result(partial bool) (*Result, error) {
	r := &Result{Config: Config{a.plan.Config, a.execution}, Setup: a.plan.Summary, Partial: partial, Began: vtime.Never, rest: restOfResult{deployments: a.plan.Deployments}}
	run := metrics.Run{Cut: partial, BlockBytes: a.plan.Pools[0].BlockBytes()}
	for _, c := range a.clusters {
		if partial {
			if err := c.recordUndelivered(); err != nil {
				return nil, err
			}
		}
		if c.router.arrivals.arrived > 0 {
			r.Began = min(r.Began, c.began)
		}
		r.End = max(r.End, c.end(partial))
		run.Injected += c.router.arrivals.arrived
		if partial { // each part has come as far as it has
			run.Numbers += c.router.arrivals.numbers
		}
		run.Routers = append(run.Routers, c.router.recorder)
		r.Waits = append(r.Waits, c.waits...)
		r.Stats.Add(c.simulation.Stats())
	}
	if r.Began == vtime.Never {
		r.Began = 0
	}
	for _, c := range a.clusters {
		c.began = r.Began // instances are paid from the first arrival of all on
		run.Cut = c.finishAll(r.End) || run.Cut
	}
	if partial && a.rows != nil {
		a.emitRest()
	}
	tied := int64(0)
	for _, c := range a.clusters {
		tied += c.router.arrivals.ties.tied
	}
	noteTies(a.plan, &r.Setup, tied, run.Injected)
	r.Names = a.clusters[0].router.arrivals.intake.names
	run.End, run.Classes, run.Tenants, run.Models = r.End, r.Names.Classes, r.Names.Tenants, r.Names.Models
	run.Each = inParallel(workers(&a.execution))
	if err := a.addInstances(r, &run); err != nil {
		return nil, err
	}
	a.describeNodes(r)
	if err := a.addDeployments(r, &run); err != nil {
		return nil, err
	}
	if err := r.collect(&run, a.plan); err != nil {
		return nil, err
	}
	for _, c := range a.clusters {
		if err := c.addGateways(r); err != nil {
			return nil, err
		}
		r.rest.printed = append(r.rest.printed, c.printed()...)
	}
	if !partial {
		digests := make([]string, len(a.clusters))
		for k, c := range a.clusters {
			digests[k] = c.digest()
		}
		r.Digest = foldDigests(digests)
	}
	return r, nil
}

// addInstances tells the report of all instances.
func (a *apart) addInstances(r *Result, run *metrics.Run) error {
	var reach reaches
	tiered := setup.Tiered(a.plan)
	for i, of := range a.ranks {
		c := a.clusters[of.part]
		n := c.instances[of.instance]
		if of.rank == 0 {
			if err := bookServer(r, run, n, a.servers[len(r.Names.Servers)]); err != nil {
				return err
			}
			reach.add(n)
		}
		c.bookRank(r, run, &n.ranks[of.rank], a.names[i], tiered)
	}
	run.InstanceNames, run.Tiers = r.Names.Instances, r.KVTiers
	r.BeyondFit = reach.beyond()
	return nil
}

// addDeployments tells the report of deployments, and of storage tiers.
func (a *apart) addDeployments(r *Result, run *metrics.Run) error {
	for i := range a.plan.Deployments {
		k, own := a.deployment(i)
		c := a.clusters[k]
		run.Deployments = append(run.Deployments, c.describe(c.router.fleet.deployments[own], r.End, func(n int) int { return int(a.numbers[k][n]) }))
	}
	if a.disaggregates() {
		for _, of := range a.ranks {
			run.Disaggregated = append(run.Disaggregated, a.clusters[of.part].instances[of.instance].engines.of(of.rank).Disaggregated)
		}
	}
	for _, c := range a.clusters {
		if err := c.addStorage(r, r.End); err != nil {
			return err
		}
	}
	run.Storage = r.KVStorage
	return nil
}

// disaggregates reports whether a part has prefill and decode instances.
func (a *apart) disaggregates() bool {
	for _, c := range a.clusters {
		if c.router.coordinator != nil {
			return true
		}
	}
	return false
}

// emit takes in the outcome of a request of a part, and gives on those that are next.
func (a *apart) emit(k int, of *Row) {
	m := a.rows
	m.mu.Lock()
	defer m.mu.Unlock()
	one := *of.Outcome
	if one.Instance >= 0 {
		one.Instance = a.numbers[k][one.Instance]
	}
	if one.HandOver.Made() {
		one.HandOver.Instance = a.numbers[k][one.HandOver.Instance]
	}
	m.held[one.ID] = outcomeOf{k, one, of.dispatched}
	for {
		next, there := m.held[m.next]
		if !there {
			return
		}
		delete(m.held, m.next)
		m.next++
		a.emitRow(&next)
	}
}

// emitRow gives on the outcome of a request.
func (a *apart) emitRow(o *outcomeOf) {
	options := a.clusters[o.part].collector.options // its row is another goroutine's
	row := Row{Outcome: &o.outcome, labels: a.plan.Source.Labels(), options: &options[o.outcome.Pool], names: a.rows.names, dispatched: o.dispatched}
	if o.outcome.Instance >= 0 { // else it is of no pool
		o.outcome.Pool = a.pools[o.part][o.outcome.Pool]
	}
	a.rows.emit(&row)
}

// emitRest gives on what waits for requests that arrive no more: a cancelled part has not come as far
// as others.
func (a *apart) emitRest() {
	for _, id := range slices.Sorted(maps.Keys(a.rows.held)) { // sorted: not in any order
		next := a.rows.held[id]
		a.emitRow(&next)
	}
}

// rowMerge puts the outcomes of several parts into the order of arrival.
type rowMerge struct {
	mu    sync.Mutex
	emit  func(*Row)
	names rowNames
	held  map[int64]outcomeOf // by request; those that came before next did
	next  int64               // the request whose row is next
}

// outcomeOf is the outcome of a request of a part.
type outcomeOf struct {
	part       int
	outcome    metrics.Outcome
	dispatched vtime.Time // as of a Row
}
