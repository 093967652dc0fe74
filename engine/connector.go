package engine

import (
	"cmp"
	"slices"

	"blis/kv"
	"blis/metrics"
	"blis/vtime"
)

// connector is the part of an instance that moves KV, which vLLM calls a KV connector:
// between the GPU and the CPU tier, and from other instances. What it does in a pass, in this
// order:
//
//	lookup   a waiting request is looked up in the tier, and its load begins, or its pull
//	submit   stores that earlier passes chose are submitted
//	choose   blocks that scheduled requests filled are chosen to be stored
//	poll     transfers that have ended are noticed
//
// What was noticed acts when the pass ends.
type connector struct {
	tiered   bool     // there is a CPU tier
	cfg      *Offload // without a Tier only disaggregation has something to do
	caching  bool     // prefix caching is on
	cache    kv.Cache
	requests *requests
	counts   *metrics.KVTier

	slots          []offloaded // by slot
	passed         []member    // waiting requests passed over in an earlier pass, in the order of the scan
	store          station     // GPU to CPU
	load           station     // CPU to GPU
	chosen         []choice    // stores that are not submitted
	ended          []int32     // slots with stores whose requests ended since the last formation
	endings        int         // requests that ended since the last formation
	held           int64       // GPU blocks of requests that ended, and pinned ones
	filling        filling
	lazy           *lazy      // nil: off
	idle           []idleSpan // not in the books yet
	storages       storages
	disaggregation *disaggregation // nil: none
	forming        *pass           // at hand
	loading        int64           // blocks of the loads that it began
	formed         vtime.Time      // … is formed then
	integrals      tierIntegrals

	observer Observer // nil: none
	hook     passHook // for tests
}

// passHook sees what a pass did.
type passHook interface {
	submitted(load bool, t transfer)
	formed(p *pass, b *batch)
	ended(p *pass, now vtime.Time)
}

// offloaded is what the connector knows of the request in a slot. The zero value is of
// a slot whose request did nothing yet.
type offloaded struct {
	seq kv.TierSequence
	id  int64

	next     int32 // entries before this one were stored, or were there
	stores   int32 // chosen, and their end not noticed
	storeEnd vtime.Time
	stored   bool // something was ever chosen to be stored, and not all of that is settled
	gone     bool // its request ended
	ending   bool // … and a formation has seen it since

	load             loadState
	loadFrom, loadTo int32 // entries that are read
	hit, loaded      int32 // tokens from the GPU's cache and from the tiers that it was given blocks with
	fromStorage      int32 // of those loaded, the ones read from a storage tier for it
	question         question
}

// loadState is where the load of a waiting request stands.
type loadState uint8

const (
	noLoad  loadState = iota
	loading           // nobody noticed its end
	arrived           // its end has acted; the request has not been reached since
)

// choice is a store that was chosen: of entries from … to−1, those that were not there.
type choice struct {
	slot, entries int32
	from, to      int32
}

func newConnector(e *Engine) *connector {
	o := e.cfg.Offload
	if o == nil {
		o = &Offload{EntryTokens: e.cfg.BlockSize}
	}
	c := &connector{
		tiered: o.Tier != nil,
		cfg:    o, caching: e.cfg.EnablePrefixCaching, cache: e.cfg.Cache, requests: &e.requests, counts: &e.Tier, observer: e.cfg.Observer,
		store: station{link: o.Store}, load: station{link: o.Load}, integrals: tierIntegrals{series: e.cfg.TimeSeries},
	}
	if c.disaggregation = newDisaggregation(e); !c.tiered {
		return c
	}
	c.storages.list, c.storages.each = o.Storage, make([]int64, len(o.Storage))
	c.lazy = newLazy(e, c)
	c.filling.crossings = make([][]int32, o.EntryTokens)
	e.Tier.Capacity, e.Tier.EntryBlocks = int64(o.Tier.Capacity()), int64(o.EntryTokens/e.cfg.BlockSize)
	return c
}

// begins forgets the formation before.
func (c *connector) begins(now vtime.Time) {
	c.formed, c.loading = now, 0
	if c.tiered {
		c.cfg.Tier.Advance(now)
	}
	l := &c.filling
	l.victims, l.admitted[0], l.admitted[1] = l.victims[:0], l.admitted[0][:0], l.admitted[1][:0]
}

// at returns what is known of slot i.
func (c *connector) at(i int32) *offloaded { return &c.slots[i] }

// open takes in the request that was put into slot i, with what became of it before.
func (c *connector) open(i int32, of *metrics.HandOver) {
	for int(i) >= len(c.slots) {
		c.slots = append(c.slots, offloaded{})
	}
	s, o := c.requests.at(i), c.at(i)
	*o = offloaded{seq: o.seq, id: s.ID}
	if c.tiered {
		o.seq.Open(&s.seq, c.cfg.EntryTokens, s.Priority)
	}
	c.disaggregation.open(i, of)
}

// leave takes note that the request in slot i leaves its list, and releases its blocks
// if no transfer needs them.
func (c *connector) leave(i int32) {
	o, s := c.at(i), c.requests.at(i)
	c.disaggregation.leaves(i, s.phase == pending)
	if s.phase == pending {
		return
	}
	c.endings++
	o.gone = true
	if o.stored {
		c.ended = append(c.ended, i)
	}
	if o.load == arrived {
		o.load = noLoad
	}
	if !c.holds(i) {
		giveBack(c, &s.seq)
	}
}

// holds reports whether the blocks of slot i, whose request just ended, are held until
// its transfers are over.
func (c *connector) holds(i int32) bool {
	o := c.at(i)
	return o.gone && (o.stored || o.load == loading || c.disaggregation.keeps(i))
}

// entryBlocks returns the GPU blocks in an entry.
func (c *connector) entryBlocks() int32 { return int32(c.counts.EntryBlocks) }

// fetch looks up what the tier has of the request in slot i behind the first hit
// tokens of known ones, which the GPU's cache has, unless its prompt is to be pulled. It returns
// the tokens to be loaded; again is that the request has to ask in a later pass.
func (c *connector) fetch(i, hit, known int32) (tokens int32, again bool) {
	switch {
	case c.disaggregation.wants(i):
		return c.requests.at(i).Input - hit, false
	case !c.tiered:
		return 0, false
	}
	t, o, size := c.cfg.Tier, c.at(i), c.cfg.EntryTokens
	n := known / size
	t.Touch(&o.seq, n)
	if size*n-hit < size {
		return 0, false
	}
	from := hit / size
	to := from + t.Lookup(&o.seq, from, n)
	if c.askStorage(i, to, n) {
		return 0, true
	}
	if tokens = size*to - hit; to == from || tokens < size {
		return 0, false
	}
	if c.caching && t.Loading(&o.seq, from, to) {
		c.counts.AskedAgain++
		return 0, true
	}
	return tokens, false
}

// begin begins the load or pull of slot i at now: of all up to token upto but the first hit
// ones, into blocks fresh blocks.
func (c *connector) begin(i, hit, upto, blocks int32, now vtime.Time) {
	o, k := c.at(i), c.counts
	if d := c.disaggregation; d.wants(i) {
		o.load = loading
		d.begin(i, hit, upto, blocks, now)
		return
	}
	o.hit, o.loaded = hit, upto-hit
	o.loadFrom, o.loadTo = hit/c.cfg.EntryTokens, upto/c.cfg.EntryTokens
	o.next, o.load = o.loadTo, loading
	size := c.cfg.EntryTokens
	p := o.question.promoted
	o.fromStorage = max(0, min(p.To*size, upto)-max(p.From*size, hit))
	t := c.load.submit(i, blocks, now, now)
	c.loading += int64(blocks)
	c.tell(true, t)
	bookThrashing(k, c.observer, o.id, c.cfg.Tier.BeginLoad(&o.seq, o.loadFrom, o.loadTo, t.start), now)
	k.Loads++
	k.Loaded += int64(o.loadTo - o.loadFrom)
	k.LoadedBlocks += int64(blocks)
	k.LoadMicros += int64(t.end.Sub(t.start))
	k.LoadWait += int64(t.start.Sub(t.submitted))
}

// submit hands the worker what earlier passes chose to store, to start when the step
// that executes has ended. It returns the blocks that this pass submitted.
func (c *connector) submit(now, executing vtime.Time) (blocks int64) {
	blocks = c.loading
	for _, x := range c.chosen {
		o := c.at(x.slot)
		t := c.store.submit(x.slot, x.entries*c.entryBlocks(), now, executing)
		o.storeEnd = t.end
		c.tell(false, t)
		c.cfg.Tier.Sent(&o.seq, x.from, x.to, t.end)
		blocks += int64(t.blocks)
		bookStore(c.counts, &t)
	}
	c.chosen = c.chosen[:0]
	return blocks + c.lazy.submit(now, executing)
}

// flush returns when the stores of the victims of b are over, at least now: until then
// the worker waits, since their blocks are given to others.
func (c *connector) flush(now vtime.Time) vtime.Time {
	w := now
	for _, i := range c.filling.victims {
		if o := c.at(i); o.stores > 0 {
			w = max(w, o.storeEnd)
		}
	}
	if w > now {
		c.counts.FlushWaits++
		c.counts.FlushMicros += int64(w.Sub(now))
	}
	return w
}

// poll notices in pass p what ended at now or before: transfers, and requests since the
// formation before.
func (c *connector) poll(p *pass, now vtime.Time) {
	c.store.poll(now, func(t *transfer) {
		c.show(now, WayOffload, t, 0)
		c.counts.NoticedStores++
		c.counts.StoreNotice += int64(now.Sub(t.end))
		if t.slot == noSlot {
			p.lazy++
			return
		}
		o := c.at(t.slot)
		if o.stores--; o.stores == 0 && o.ending {
			p.sent = append(p.sent, t.slot)
		}
	})
	c.load.poll(now, func(t *transfer) {
		c.show(now, WayReload, t, 0)
		c.counts.NoticedLoads++
		c.counts.LoadNotice += int64(now.Sub(t.end))
		p.received = append(p.received, t.slot)
	})
	p.answers = c.storages.poll(c.formed, p.answers) // what comes while the worker waits is for the next pass
	c.showStorage(p.answers)
	for _, i := range c.ended {
		o := c.at(i)
		if o.ending = true; o.stores == 0 {
			p.sent = append(p.sent, i)
		}
	}
	c.ended, c.endings = c.ended[:0], 0
	c.disaggregation.poll(p, now)
	sortByNumber(c, p.sent)
	sortByNumber(c, p.received)
	sortByNumber(c, p.over)
}

// sortByNumber sorts slots by the numbers of their requests.
func sortByNumber(c *connector, slots []int32) {
	if len(slots) > 1 {
		slices.SortFunc(slots, func(x, y int32) int { return cmp.Compare(c.at(x).id, c.at(y).id) })
	}
}

// act lets what pass p noticed act: entries that were written become readable, those
// that were read may be evicted, loaded requests have arrived, and held blocks are
// released. What became readable in the tier is written to the storage tiers.
func (c *connector) act(p *pass, now vtime.Time) {
	for _, i := range p.sent {
		c.at(i).stored = false
		c.readable(&c.at(i).seq, c.at(i).id, fromGPU)
	}
	c.answered(p)
	for _, i := range p.received {
		o := c.at(i)
		if !c.disaggregation.endPull(i) {
			c.cfg.Tier.EndLoad(&o.seq, o.loadFrom, o.loadTo)
		}
		if o.load = noLoad; !o.gone {
			o.load = arrived
		} else if !c.holds(i) {
			c.release(i)
		}
	}
	c.lazy.act(p.lazy)
	if len(p.over) > 0 { // some may be in both
		c.disaggregation.act(p.over, now)
		p.sent = append(p.sent, p.over...)
		sortByNumber(c, p.sent)
	}
	for _, i := range p.sent {
		if c.requests.at(i).phase == holding && !c.holds(i) {
			c.release(i)
		}
	}
	c.writeDown(now)
}

// hold keeps the blocks of slot i, whose request ended.
func (c *connector) hold(i int32) {
	c.requests.to(i, holding)
	c.held += int64(c.requests.at(i).seq.Held())
}

// release releases the blocks of slot i, whose request ended, and frees the slot.
func (c *connector) release(i int32) {
	s := c.requests.at(i)
	c.held -= int64(s.seq.Held())
	giveBack(c, &s.seq)
	c.requests.to(i, vacant)
}
