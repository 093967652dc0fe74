package engine

import (
	"fmt"

	"blis/vtime"
)

// transferBooks follow the transfers of a station apart from what moves them: each ends
// once, is noticed or goes with its instance, begins after the one before it has ended,
// and takes the time of its blocks.
type transferBooks struct {
	submitted, over int64      // transfers; over: noticed, or gone
	blocks, moved   int64      // the GPU blocks of both
	last            vtime.Time // end of the last one that is over
	fault           error      // the first
}

// submit takes in a transfer of n blocks.
func (b *transferBooks) submit(n int32) {
	b.submitted++
	b.blocks += int64(n)
}

// end takes in that t is noticed at now.
func (b *transferBooks) end(t *transfer, link *Link, now vtime.Time) {
	if b.fault == nil {
		b.fault = t.check(link, b.last, now)
	}
	b.over++
	b.moved += int64(t.blocks)
	b.last = t.end
}

// check returns what is wrong with a transfer behind one that ended at last and noticed
// at noticed, vtime.Never for not yet.
func (t *transfer) check(link *Link, last, noticed vtime.Time) error {
	switch want := t.duration(link); {
	case t.submitted > t.start || t.start >= t.end || t.end > noticed:
		return fmt.Errorf("a transfer of %d blocks is submitted at %v, from %v to %v, and noticed at %v: want that order", t.blocks, t.submitted, t.start, t.end, noticed)
	case t.start < last:
		return fmt.Errorf("a transfer of %d blocks begins at %v, before the one before it ends at %v", t.blocks, t.start, last)
	case t.end.Sub(t.start) != want:
		return fmt.Errorf("a transfer of %d blocks takes %v, want %v", t.blocks, t.end.Sub(t.start), want)
	}
	return nil
}

// drop forgets what is under way, which never ends.
func (s *station) drop() {
	for i := range s.moving {
		s.books.over++
		s.books.moved += int64(s.moving[i].blocks)
	}
	s.moving = nil
}

// check verifies the books of a station that was counted to have taken a number of
// transfers of blocks.
func (s *station) check(transfers, blocks int64) error {
	b, last := s.books, s.books.last
	if b.fault != nil {
		return b.fault
	}
	for i := range s.moving {
		t := &s.moving[i]
		if err := t.check(&s.link, last, vtime.Never); err != nil {
			return err
		}
		last = t.end
		b.over++
		b.moved += int64(t.blocks)
	}
	if b.submitted != b.over || b.submitted != transfers || b.blocks != b.moved || b.blocks != blocks {
		return fmt.Errorf("%d transfers of %d blocks were submitted, %d of %d blocks are over or under way, %d of %d were counted", b.submitted, b.blocks, b.over, b.moved, transfers, blocks)
	}
	return nil
}

// checkTransfers verifies the books of both stations.
func (c *connector) checkTransfers() error {
	if err := c.store.check(c.counts.Stores, c.counts.StoredBlocks); err != nil {
		return fmt.Errorf("stores: %w", err)
	}
	if err := c.load.check(c.counts.Loads, c.counts.LoadedBlocks); err != nil {
		return fmt.Errorf("loads: %w", err)
	}
	return nil
}
