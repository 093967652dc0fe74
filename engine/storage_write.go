package engine

import (
	"blis/kv"
	"blis/vtime"
)

// What becomes readable in the CPU tier is written to the storage tiers below it.

// writeLot is what one pass writes to the storage tiers. It is read in the CPU tier until the
// last of them has it.
type writeLot struct {
	request int64 // the first one whose entries it has
	pieces  []writePiece
	left    int // writes that nobody noticed
}

// writePiece is entries that became readable in the CPU tier.
type writePiece struct {
	seq kv.TierSequence
	kv.EntryRange
	source int8 // the storage tier from which they were read; fromGPU
}

const fromGPU = -1

// readable makes the entries readable that are being written for t, which came from a storage
// tier or from the GPU, and lets those storage tiers have them that did not have them before.
func (c *connector) readable(t *kv.TierSequence, request int64, source int8) {
	s := &c.storages
	s.ranges = c.cfg.Tier.Written(t, s.ranges[:0])
	if len(s.list) == 0 || len(s.list) == 1 && source != fromGPU {
		return
	}
	for _, r := range s.ranges {
		p := s.piece(request)
		id, input, spans, output := t.Content()
		p.seq.OpenContent(id, input, spans, output, c.cfg.EntryTokens, 0)
		p.EntryRange, p.source = r, source
		c.cfg.Tier.BeginCopy(&p.seq, r.From, r.To)
		s.copied += int(r.To - r.From)
	}
}

// piece returns one more piece of what became readable, for a request.
func (s *storages) piece(request int64) *writePiece {
	if s.fresh == nil {
		if n := len(s.spare); n > 0 {
			s.fresh, s.spare = s.spare[n-1], s.spare[:n-1]
		} else {
			s.fresh = &writeLot{}
		}
		s.fresh.request = request
	}
	l := s.fresh
	if n := len(l.pieces); n < cap(l.pieces) {
		l.pieces = l.pieces[:n+1] // with the memory of its sequence
	} else {
		l.pieces = append(l.pieces, writePiece{})
	}
	return &l.pieces[len(l.pieces)-1]
}

// writeDown submits what became readable since the last call to the storage tiers, at now, the
// end of a pass.
func (c *connector) writeDown(now vtime.Time) {
	s := &c.storages
	l := s.fresh
	if l == nil {
		return
	}
	s.fresh = nil
	l.left = len(s.list)
	for tier := range s.list {
		s.parts = s.parts[:0]
		for i := range l.pieces {
			if p := &l.pieces[i]; int(p.source) != tier {
				s.parts = append(s.parts, partOf(&p.seq, p.EntryRange))
			}
		}
		if len(s.parts) == 0 {
			l.left--
			continue
		}
		x := s.begin(StorageWrite, int8(tier))
		s.ops[x].lot, s.ops[x].member = l, member{-1, l.request}
		s.submit(x, now)
	}
}

// endCopies lets the CPU tier evict what was written to the storage tiers.
func (s *storages) endCopies(l *writeLot, t kv.Tier) {
	for i := range l.pieces {
		p := &l.pieces[i]
		t.EndCopy(&p.seq, p.From, p.To)
		s.copied -= int(p.To - p.From)
	}
	l.pieces = l.pieces[:0]
	s.spare = append(s.spare, l)
}
