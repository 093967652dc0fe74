package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	"blis/kv"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// scenarioOffload is the CPU tier of a scenario.
type scenarioOffload struct {
	CPUBlocks   int   `json:"cpu_blocks"`
	BlockSize   int32 `json:"block_size"`
	Policy      string
	Threshold   int `json:"store_threshold"`
	Tracked     int `json:"max_tracker_size"`
	Store, Load [2]float64
	Lazy        bool `json:"-"`

	Storage []scenarioStorage `json:"-"`
}

// kvRow is a line of the ledger of a scenario with a connector.
type kvRow struct {
	Form      *int64 `json:"t_form"`
	Start     int64  `json:"t_start"`
	End       int64  `json:"t_end"`
	Scheduled [][2]int64
	New       []int64
	Resumed   []int64
	Preempted []int64
	Finished  []int64
	Aborted   []int64
	Running   int32
	Free      int    `json:"free_blocks"`
	FL        string `json:"fl"`
	Cached    [][2]int64
	Queue     []int64
	Remote    []int64
	Loads     []kvMove
	Stores    []kvMove
	Xfers     [][5]any
	Recv      []int64
	Sent      []int64
	CPU       string
	ARC       *[5]float64
	CPUUsed   int      `json:"cpu_used"`
	KVEvents  [][3]any `json:"kv_events"`
	Notes     []int64
	Invalid   []int32
	Errored   []int64
}

// kvMove is what a load or a store moves: from where, to where.
type kvMove struct {
	id       int64
	from, to []int32
}

func (m *kvMove) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[3]any{&m.id, &m.from, &m.to})
}

// recorded reports whether the pass did something that is worth a line.
func (r *kvRow) recorded() bool {
	return len(r.Scheduled)+len(r.Preempted)+len(r.Loads)+len(r.Xfers)+len(r.Sent)+len(r.Recv)+len(r.Aborted)+len(r.Notes)+len(r.Errored)+len(r.Invalid) > 0
}

// onlyAborts reports whether the pass did nothing but that requests left at its end.
func (r *kvRow) onlyAborts() bool {
	x := *r
	x.Aborted = nil
	return len(r.Aborted) > 0 && !x.recorded()
}

// kvMode is one of the ways to run a scenario, all of which must agree.
type kvMode struct {
	name       string
	stepByStep bool
	blocks     bool // the block twin as cache
	slots      bool // the entry twin as tier
	unnamed    bool
	silent     bool // no hook, so that decode runs are taken; only results are compared
	slice      int64
	mail       bool // answers of storage tiers come as messages
}

var kvModes = []kvMode{
	{name: "step by step, block and entry twins", stepByStep: true, blocks: true, slots: true},
	{name: "cohort, all content named", slots: true},
	{name: "cohort, own content unnamed", unnamed: true, slots: true},
	{name: "extents, step by step", stepByStep: true},
	{name: "extents, named"},
	{name: "extents, unnamed", unnamed: true},
	{name: "extents, silent", unnamed: true, silent: true},
	{name: "step by step, own content unnamed", unnamed: true, stepByStep: true, slots: true},
	{name: "runs, own content unnamed", unnamed: true, silent: true, slots: true},
	{name: "runs, paused every 700 µs", unnamed: true, silent: true, slice: 700, slots: true},
}

// kvPlayer is the sink of a played scenario, and sees its passes.
type kvPlayer struct {
	e       *Engine
	pool    *kv.NaivePool // nil: another cache
	tier    *kv.NaiveTier // nil: another tier
	open    []*kvRow
	rows    []kvRow
	xfers   [][5]any // submitted by the pass at hand
	gpu     [][3]any // KV events since they were published last
	cpu     [][3]any
	results map[int64][]any
	gone    [3][]int64 // completed, aborted and failed at the end of the pass at hand
	notes   []int64    // requests that left before their pull, told by the pass at hand
	now     int64      // of the last formation
	storage []*StorageTier
	byMail  bool
	first   vtime.Time      // none of its operations is submitted before
	mail    []StorageAnswer // on their way, with modes that have mail
	lost    []int64         // requests whose abort nobody heard

	disaggregation *Disaggregation // nil: none
	side           *pdSide         // with it

	gaps  int64 // Σ inter-token latencies, as steps counted them …
	spans int64 // … and as requests imply them
}

func (p *kvPlayer) Group(workload.Label, workload.Label, vtime.Time) int { return 0 }

func (p *kvPlayer) ITL(_ int, gap vtime.Duration, n int) { p.gaps += int64(gap) * int64(n) }

func (p *kvPlayer) Done(o *metrics.Outcome, now vtime.Time) {
	var first, completed any
	if o.FirstToken != vtime.Never {
		first = int64(o.FirstToken)
	}
	p.span(o)
	status := o.State.String()
	switch o.State {
	case metrics.Completed:
		p.gone[0] = append(p.gone[0], o.ID)
	case metrics.TimedOut:
		if status = "aborted"; o.Queued != vtime.Never {
			p.gone[1] = append(p.gone[1], o.ID)
		}
	case metrics.Failed:
		p.gone[2] = append(p.gone[2], o.ID)
	}
	if o.State == metrics.Failed || o.State == metrics.Completed || o.State == metrics.TimedOut {
		completed = int64(now)
	}
	p.results[o.ID] = []any{first, completed, int64(o.Preemptions), int64(o.Generated), status}
	if p.side != nil {
		p.side.record(o)
	}
}

// span adds the time from the first token of a request to its last.
func (p *kvPlayer) span(o *metrics.Outcome) {
	if o.FirstToken != vtime.Never {
		p.spans += int64(o.LastToken.Sub(o.FirstToken))
	}
}

func (p *kvPlayer) submitted(load bool, t transfer) {
	kind := "store"
	if load {
		kind = "load"
	}
	x := [5]any{kind, float64(idOf(p.e.connector, t.slot)), float64(t.blocks), float64(t.start), float64(t.end)}
	at := len(p.xfers)
	for !load && at > 0 && p.xfers[at-1][0] == "load" {
		at-- // the ledger has stores first
	}
	p.xfers = slices.Insert(p.xfers, at, x)
}

func (p *kvPlayer) formed(q *pass, b *batch) {
	e, c := p.e, p.e.connector
	f := &e.batcher
	p.now = int64(b.formedAt)
	r := &kvRow{Start: int64(q.end), End: int64(q.end), Running: e.requests.running(), Free: e.cfg.Cache.Free(), Xfers: p.xfers}
	p.xfers = nil
	if q.batch {
		r.Start, r.End = int64(b.start), int64(b.end)
	}
	if formed := int64(b.formedAt); formed != r.Start {
		r.Form = &formed
	}
	ids := func(slots []int32) (list []int64) {
		for _, i := range slots {
			list = append(list, c.at(i).id)
		}
		return list
	}
	seen := Formation{batch: b, cohort: &f.cohort}
	tokens := map[int64]int32{}
	for _, s := range seen.Scheduled() {
		r.Scheduled = append(r.Scheduled, [2]int64{s.Request, int64(s.Tokens)})
		tokens[s.Request] = s.Tokens
	}
	r.New, r.Resumed, r.Preempted = ids(c.filling.admitted[0]), ids(c.filling.admitted[1]), ids(c.filling.victims)
	for _, i := range slices.Concat(c.filling.admitted[0], c.filling.admitted[1]) {
		s := e.requests.at(i)
		computed := s.computed
		if s.phase == decoding && e.inFlight.formed >= s.joined {
			computed += int32(e.inFlight.formed - s.joined + 1)
		}
		r.Cached = append(r.Cached, [2]int64{s.ID, int64(computed - tokens[s.ID])})
	}
	for _, m := range c.passed {
		if e.requests.is(m, waiting) {
			r.Queue = append(r.Queue, m.id)
			if c.at(m.slot).load == loading {
				r.Remote = append(r.Remote, m.id)
			}
		}
	}
	r.Queue = append(r.Queue, p.waitQueue()...)
	r.Recv, r.Sent = ids(q.received), ids(slices.Concat(q.sent, q.over))
	slices.Sort(r.Sent)
	r.Sent = slices.Compact(r.Sent)
	r.CPUUsed = int(entriesUsed(c))
	if p.pool != nil {
		r.FL = fmt.Sprintf("%08x", p.pool.Checksum())
	}
	if p.tier != nil {
		p.describeTier(r)
	}
	if p.side != nil {
		p.side.describePulls(q, r)
	}
	p.open = append(p.open, r)
}

// waitQueue returns the requests in the wait queue, in their order.
func (p *kvPlayer) waitQueue() (list []int64) {
	q := &p.e.batcher.queue
	if q.reorders {
		var all []*ordered
		for k := range q.ordered {
			if o := &q.ordered[k]; p.e.requests.is(o.member, waiting) {
				all = append(all, o)
			}
		}
		slices.SortFunc(all, func(x, y *ordered) int {
			if x.Before(y) {
				return -1
			}
			return 1
		})
		for _, o := range all {
			list = append(list, o.id)
		}
		return list
	}
	for k := range q.fifo.n {
		if m := q.fifo.ring[(q.fifo.head+k)&(len(q.fifo.ring)-1)]; p.e.requests.is(m, waiting) {
			list = append(list, m.id)
		}
	}
	return list
}

// describeTier adds what the twins know: checksums, slots and block numbers.
func (p *kvPlayer) describeTier(r *kvRow) {
	c := p.e.connector
	r.CPU = fmt.Sprintf("%08x", p.tier.Checksum())
	if p.tier.Adaptive() {
		t1, t2, b1, b2, target := p.tier.Lists()
		r.ARC = &[5]float64{float64(t1), float64(t2), float64(b1), float64(b2), target}
	}
	if p.pool == nil {
		return
	}
	numbers := func(list []kv.BlockID) (out []int32) {
		for _, b := range list {
			out = append(out, int32(b))
		}
		return out
	}
	for _, x := range r.Xfers {
		if x[0] != "load" {
			continue
		}
		for i := range c.slots {
			o := c.at(int32(i))
			if float64(o.id) != x[1] || o.load != loading {
				continue
			}
			m := kvMove{id: o.id, to: numbers(p.pool.Blocks(&c.requests.at(int32(i)).seq)[o.hit/p.e.cfg.BlockSize:])}
			for k := o.loadFrom; k < o.loadTo; k++ {
				m.from = append(m.from, p.tier.Slot(&o.seq, k))
			}
			r.Loads = append(r.Loads, m)
		}
	}
	for _, x := range c.chosen {
		o, blocks := c.at(x.slot), numbers(p.pool.Blocks(&c.requests.at(x.slot).seq))
		m := kvMove{id: o.id}
		for k := x.from; k < x.to; k++ {
			if p.tier.Writing(&o.seq, k) {
				m.to = append(m.to, p.tier.Slot(&o.seq, k))
				m.from = append(m.from, blocks[k*c.entryBlocks():(k+1)*c.entryBlocks()]...)
			}
		}
		r.Stores = append(r.Stores, m)
	}
}

func (p *kvPlayer) ended(q *pass, now vtime.Time) {
	r := p.open[0]
	p.open = p.open[1:]
	r.Finished, r.Aborted, r.Errored, p.gone = p.gone[0], p.gone[1], p.gone[2], [3][]int64{}
	r.KVEvents = append(p.gpu, p.cpu...)
	p.gpu, p.cpu = nil, nil
	if r.recorded() {
		p.rows = append(p.rows, *r)
	}
}
