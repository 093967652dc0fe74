package engine

import (
	"blis/kv"
	"blis/vtime"
)

// lazy stores blocks just before they are evicted, as the lazy mode of vLLM's
// SimpleCPUOffloadConnector does. Each pass looks at the first blocks of the GPU cache's free
// list. Those that are keyed and not in the tier are stored: the one that would be evicted first
// is the first. They are pinned until a pass has noticed the end of their store.
//
//	rows    noticed │ moving, of several passes │ chosen │ vacant …
//
// The passes' stores are transfers of no request, one per pass. A pass that schedules nothing
// begins none while a request waits, from which it would take the blocks again and again, nor while
// nobody is here: an idle instance that notices the end of a store would go on for ever.
type lazy struct {
	c    *connector
	look int             // blocks of the free list that a pass looks at
	list []kv.FreeBlocks // of the pass at hand
	rows []row           // a ring: those under way in the order in which they were chosen
	head int             // the first one under way
	n    int             // rows under way
	lots []int           // rows of each store under way, chosen or moving
	due  bool            // the last lot is not submitted
}

// row is consecutive blocks of one content that are being stored.
type row struct {
	seq      kv.TierSequence
	from, to int32
	pin      kv.PinID
}

// Slot and request of a transfer of no request.
const (
	noSlot   = -1
	ofNobody = -1
)

// newLazy returns the lazy mode of an instance with connector c, nil without it.
func newLazy(e *Engine, c *connector) *lazy {
	if !e.cfg.Offload.Lazy {
		return nil
	}
	if e.cfg.Offload.EntryTokens != e.cfg.BlockSize {
		panic("engine: lazy offloading stores single blocks")
	}
	if len(e.cfg.Offload.Storage) > 0 {
		panic("engine: lazy offloading with storage tiers")
	}
	return &lazy{c: c, look: 2 * int((e.cfg.MaxNumBatchedTokens+e.cfg.BlockSize-1)/e.cfg.BlockSize)}
}

func (l *lazy) at(k int) *row { return &l.rows[(l.head+k)%len(l.rows)] }

// add returns a row behind those under way.
func (l *lazy) add() *row {
	if l.n == len(l.rows) {
		rows := make([]row, max(8, 2*l.n))
		for k := range l.n {
			rows[k] = *l.at(k)
		}
		l.rows, l.head = rows, 0
	}
	l.n++
	return l.at(l.n - 1)
}

// choose chooses what is about to be evicted from the GPU.
func (l *lazy) choose() {
	c := l.c
	if l.list = c.cache.Oldest(l.list[:0], l.look); len(l.list) == 0 {
		return
	}
	rows := l.n
	for _, b := range l.list {
		if !l.chooseRows(b) {
			c.counts.NoRoom++
			break
		}
	}
	if l.n > rows {
		l.lots, l.due = append(l.lots, l.n-rows), true
		c.counts.PeakUsed = max(c.counts.PeakUsed, int64(c.cfg.Tier.Used()))
	}
}

// chooseRows chooses those of the blocks b that the tier lacks, and reports whether there is room
// for all of them.
func (l *lazy) chooseRows(b kv.FreeBlocks) bool {
	c := l.c
	for to := b.To; to > b.From; {
		r := l.add()
		c.cache.OpenTier(&r.seq, b, 0)
		lo, hi := c.cfg.Tier.StoreDeepest(&r.seq, b.From, to)
		if lo == hi {
			l.n--
			return hi == b.From
		}
		r.from, r.to, r.pin = lo, hi, c.cache.Pin(b, lo, hi)
		c.held += int64(hi - lo)
		c.counts.Stored += int64(hi - lo)
		to = lo
	}
	return true
}

// submit hands the worker what the last pass that chose something chose. It returns the
// blocks.
func (l *lazy) submit(now, executing vtime.Time) (blocks int64) {
	if l == nil || !l.due {
		return 0
	}
	c := l.c
	l.due = false
	first := l.n - l.lots[len(l.lots)-1]
	for k := first; k < l.n; k++ {
		r := l.at(k)
		blocks += int64(r.to - r.from)
	}
	t := c.store.submit(noSlot, int32(blocks), now, executing)
	for k := first; k < l.n; k++ {
		r := l.at(k)
		c.cfg.Tier.Sent(&r.seq, r.from, r.to, t.end)
	}
	c.tell(false, t)
	bookStore(c.counts, &t)
	return blocks
}

// act lets the ends of stores act that a pass noticed: their blocks can be read in the tier,
// and taken on the GPU.
func (l *lazy) act(stores int) {
	for range stores {
		c := l.c
		rows := l.lots[0]
		l.lots = append(l.lots[:0], l.lots[1:]...)
		for k := range rows {
			c.readable(&l.at(k).seq, ofNobody, fromGPU)
		}
		for k := range rows {
			r := l.at(k)
			c.held -= int64(r.to - r.from)
			c.cache.Unpin(r.pin)
		}
		l.head, l.n = (l.head+rows)%len(l.rows), l.n-rows
	}
}

// giveBack releases the blocks of a request that ended. With lazy offloading its own content stays
// to be stored: nobody asks for it again, but a server does not know.
func giveBack(c *connector, s *kv.Sequence) {
	if c.lazy != nil {
		c.cache.Preempt(s)
	} else {
		c.cache.Release(s)
	}
}

// idOf returns the number of the request in a slot, ofNobody for noSlot.
func idOf(c *connector, slot int32) int64 {
	if slot == noSlot {
		return ofNobody
	}
	return c.at(slot).id
}

// drop forgets the stores under way.
func (l *lazy) drop() {
	if l != nil {
		l.act(len(l.lots))
		l.due = false
	}
}

// writers returns the sequences of the stores under way, and the blocks that are pinned for
// them.
func (l *lazy) writers() (writers []*kv.TierSequence, blocks int64) {
	if l != nil {
		for k := range l.n {
			r := l.at(k)
			writers = append(writers, &r.seq)
			blocks += int64(r.to - r.from)
		}
	}
	return writers, blocks
}
