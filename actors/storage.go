package actors

import (
	"strconv"

	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// storageNotice is the kind of notices by which instances use a storage tier that they
// share.
const storageNotice lookahead.NoticeKind = 1

// cutOffNotice is the kind of notices by which instances say that requests are lost with them.
const cutOffNotice lookahead.NoticeKind = 2

// sharedStorage is the actor of a storage tier that several instances share. It has no events
// of its own: it answers operations in the order of their stamps.
type sharedStorage struct {
	tier *engine.StorageTier
	op   engine.StorageOp
}

var (
	_ lookahead.Process = (*sharedStorage)(nil)
	_ lookahead.Folder  = (*sharedStorage)(nil)
)

// Next implements lookahead.Process.
func (*sharedStorage) Next() lookahead.Key { return lookahead.NeverKey }

// Promise implements lookahead.Process: nothing is sent but answers.
func (*sharedStorage) Promise() lookahead.Key { return lookahead.NeverKey }

// Receive implements lookahead.Process.
func (p *sharedStorage) Receive(m *lookahead.Message, out *lookahead.Outbox) {
	from := readStorageOp(&m.Body, &p.op)
	if a := p.tier.Handle(&p.op, m.Stamp.At); a.End != vtime.Never {
		sendStorageAnswer(out, lookahead.ProcessID(m.Stamp.Source), from, &a)
	}
}

// Advance implements lookahead.Process.
func (*sharedStorage) Advance(lookahead.Key, *lookahead.Outbox) {}

// Fold implements lookahead.Folder.
func (p *sharedStorage) Fold() uint64 { return p.tier.Fold() }

// storageLink is a shared storage tier as a rank reaches it.
type storageLink struct {
	rank *rank
	to   lookahead.ProcessID
}

// Submit implements engine.Storage.
func (l *storageLink) Submit(op *engine.StorageOp, now vtime.Time) (engine.StorageAnswer, bool) {
	sendStorageOp(l.rank.instance.out, l.to, now, l.rank.asker(), op)
	return engine.StorageAnswer{}, false
}

// storage is the storage tiers of a run.
type storage struct {
	run       *setup.Plan
	pool      string // empty: there is one
	plan      []setup.StorageTier
	places    [][]*engine.StorageTier // by tier; of scope local by rank
	servers   []int                   // of each rank, for places of scope local
	processes [][]lookahead.ProcessID // by tier and place; of scope local none
}

// newStorage adds the processes of the storage tiers that instances of a pool share. Those that other
// pools share too are in shared, by name, from the first of these pools on, which counts what they do.
func newStorage(s *lookahead.Simulation, run *setup.Plan, x *Execution, of *pool, shared map[string][]lookahead.ProcessID) *storage {
	p, n, prefix := of.plan, len(of.plan.Storage), "storage-"
	if of.name != "" {
		prefix += of.name + "-"
	}
	r := &storage{run: run, pool: of.name, plan: p.Storage, places: make([][]*engine.StorageTier, n), processes: make([][]lookahead.ProcessID, n)}
	for i := range r.plan {
		t, prefix := &r.plan[i], prefix
		if t.Scope == setup.StorageShared {
			if r.processes[i] = shared[t.Name]; r.processes[i] != nil {
				continue
			}
			prefix = "storage-"
		}
		for g := range t.Places(p.MaxInstances() * p.Ranks.Ranks) {
			tier := r.add(i, x)
			r.processes[i] = append(r.processes[i], s.AddControl(prefix+t.Name+"-"+strconv.Itoa(g), &sharedStorage{tier: tier}, storageNotice))
		}
		if t.Scope == setup.StorageShared {
			shared[t.Name] = r.processes[i]
		}
	}
	return r
}

// add makes one more place of tier i.
func (r *storage) add(i int, x *Execution) *engine.StorageTier {
	t := &r.plan[i]
	cfg := t.Storage(newTier(x, t.TierConfig))
	cfg.Faults = newStorageFaults(r.run, t.Name)
	tier := engine.NewStorageTier(cfg)
	for _, o := range x.TimeSeries {
		tier.Used = append(tier.Used, metrics.NewGauge(o))
	}
	r.places[i] = append(r.places[i], tier)
	return tier
}

// links returns the storage tiers as rank n reaches them.
func (r *storage) links(x *Execution, n *rank) (list []engine.Storage) {
	r.servers = append(r.servers, n.at.number)
	for i := range r.plan {
		if p := r.processes[i]; len(p) > 0 {
			n.instance.sharesStorage = true
			list = append(list, &storageLink{n, p[r.plan[i].Place(n.at.slot*len(n.instance.ranks)+n.index, len(p))]})
		} else {
			list = append(list, r.add(i, x))
		}
	}
	return list
}

// leastAnswer returns the least time from an operation of a shared storage tier to its answer; 0
// if instances share none.
func leastAnswer(pools []*setup.Pool) vtime.Duration {
	least := vtime.Duration(0)
	for _, p := range pools {
		for i := range p.Storage {
			if t := &p.Storage[i]; t.Places(1) > 0 && (least == 0 || t.MinAnswer() < least) {
				least = t.MinAnswer()
			}
		}
	}
	return least
}

// counts returns what each storage tier counted in a run that ended at end, and its places over time.
// of is the span in which a server was there.
func (r *storage) counts(end vtime.Time, of func(server int) (from, to vtime.Time)) (list []metrics.KVStorage, series []StorageSeries, err error) {
	for i := range r.plan {
		if len(r.processes[i]) > 0 && len(r.places[i]) == 0 {
			continue // another pool counts it
		}
		list = append(list, metrics.KVStorage{Name: r.plan[i].Name, Scope: r.plan[i].Scope})
		c := &list[len(list)-1]
		for k, t := range r.places[i] {
			from, to := vtime.Time(0), end
			if r.plan[i].Scope == setup.StorageLocal {
				from, to = of(r.servers[k])
			}
			t.Finish(to)
			t.Counts.LifeMicros = int64(span(from, to))
			if err := t.Check(); err != nil {
				return nil, nil, err
			}
			c.Merge(&t.Counts)
			for _, g := range t.Used {
				g.Finish(end)
			}
			if len(t.Used) > 0 {
				series = append(series, StorageSeries{c.Name, r.pool, c.Scope, k, from, to, t.Counts.Capacity, t.Used})
			}
		}
	}
	return list, series, nil
}
