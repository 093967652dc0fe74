package engine

import (
	"fmt"

	"blis/kv"
	"blis/metrics"
	"blis/vtime"
)

// Offload is the CPU tier of an instance and the way there. An engine without one does
// nothing of what docs/kv-tiers.md describes.
type Offload struct {
	Tier        kv.Tier
	EntryTokens int32     // tokens in an entry of the tier, a multiple of the block size
	Store, Load Link      // GPU to CPU, and back
	PromptOnly  bool      // generated tokens are not stored
	Lazy        bool      // blocks are stored just before the GPU evicts them, not when they are filled; then an entry is a block, and there is no storage
	Storage     []Storage // tiers below this one, in the order in which a request asks them
}

// Link is how long a transfer takes.
type Link struct {
	Base     float64 // µs per transfer
	PerBlock float64 // µs per GPU block
}

// Least returns the least time that a transfer takes.
func (l *Link) Least() vtime.Duration { return l.Time(1) }

// Latency returns the time that a transfer of no blocks takes, which is how long one takes that cannot begin; at least
// 1 µs.
func (l *Link) Latency() vtime.Duration { return l.Time(0) }

// Time returns how long n GPU blocks take, at least 1 µs.
func (l *Link) Time(n int32) vtime.Duration {
	d, err := vtime.Truncate(l.Base + float64(l.PerBlock*float64(n)))
	if err != nil {
		panic(fmt.Sprintf("engine: the time of a transfer of %d blocks is NaN", n))
	}
	return max(1, d)
}

// station moves the KV of one direction: one transfer at a time, in the order in which
// they are submitted.
type station struct {
	link Link
	free vtime.Time // when the last one ends
	// moving are those submitted whose end nobody noticed, in the order of their ends.
	moving []transfer
	books  transferBooks
}

// transfer moves the KV of one request.
type transfer struct {
	slot                  int32
	blocks                int32 // of the GPU
	submitted, start, end vtime.Time
	lasts                 vtime.Duration // 0: as its link says; of a pull it is not known
}

// submit puts a transfer of n blocks on its way at now, to start at earliest.
func (s *station) submit(slot, n int32, now, earliest vtime.Time) transfer {
	return s.put(transfer{slot: slot, blocks: n, submitted: now, start: max(now, earliest, s.free)})
}

// put puts t on its way, and returns it with its end.
func (s *station) put(t transfer) transfer {
	t.end = t.start.Add(t.duration(&s.link))
	s.free = t.end
	s.books.submit(t.blocks)
	s.moving = append(s.moving, t)
	return t
}

// duration returns how long the transfer takes on its link.
func (t *transfer) duration(link *Link) vtime.Duration {
	if t.lasts > 0 {
		return t.lasts
	}
	return link.Time(t.blocks)
}

// poll removes the transfers that ended at now or before, and calls f for each.
func (s *station) poll(now vtime.Time, f func(*transfer)) {
	n := 0
	for n < len(s.moving) && s.moving[n].end <= now {
		s.books.end(&s.moving[n], &s.link, now)
		f(&s.moving[n])
		n++
	}
	if n == len(s.moving) {
		s.moving = s.moving[:0]
	} else if n > 0 {
		s.moving = append(s.moving[:0], s.moving[n:]...)
	}
}

// after returns how long transfers will move after now.
func (s *station) after(now vtime.Time) (d vtime.Duration) {
	for i := range s.moving {
		if t := &s.moving[i]; t.end > now {
			d += t.end.Sub(max(t.start, now))
		}
	}
	return d
}

// close takes back what transfers that are under way will move after now, the end of the
// instance or of the run.
func (c *connector) close(now vtime.Time) {
	c.counts.StoreMicros -= int64(c.store.after(now))
	c.counts.LoadMicros -= int64(c.load.after(now))
	c.disaggregation.close(now)
}

// next returns the first end that nobody noticed, vtime.Never if there is none.
func (s *station) next() vtime.Time {
	if len(s.moving) == 0 {
		return vtime.Never
	}
	return s.moving[0].end
}

// bookThrashing counts the entries that a request loads just after they were stored.
func bookThrashing(k *metrics.KVTier, o Observer, request int64, entries int32, now vtime.Time) {
	k.Thrash += int64(entries)
	if entries > 0 && o != nil {
		o.Anomaly(now, Anomaly{KVThrashing, []int64{request}, float64(entries)})
	}
}

// show shows the observer a transfer that is noticed at now. from is KVSource.From of a pull.
func (c *connector) show(now vtime.Time, way TransferWay, t *transfer, from int64) {
	if c.observer != nil {
		c.observer.Transferred(c.formed, Transfer{idOf(c, t.slot), way, 0, t.blocks, t.submitted, t.start, t.end, now, from})
	}
}

// bookStore counts a store that was submitted.
func bookStore(k *metrics.KVTier, t *transfer) {
	k.Stores++
	k.StoredBlocks += int64(t.blocks)
	k.StoreMicros += int64(t.end.Sub(t.start))
	k.StoreWait += int64(t.start.Sub(t.submitted))
}

func (c *connector) tell(load bool, t transfer) {
	if c.hook != nil {
		c.hook.submitted(load, t)
	}
}
