package kv

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"blis/workload"
)

// blockKeys computes the keys of single blocks of named segments, which only
// journals and folds ask for, and remembers them.
type blockKeys struct {
	tree *segmentTree
	size int32 // tokens per block
	// keys has the keys of each segment by its number, from its first block on;
	// of some segment before if extent is another.
	keys []segmentKeys
	none []uint64 // stays empty
}

type segmentKeys struct {
	extent uint64
	blocks []uint64
}

// of returns the keys of the blocks from … to−1 of segment g.
func (k *blockKeys) of(g segmentID, from, to int32) []uint64 {
	s := k.tree.segments.at(g)
	first := s.start / k.size
	if missing := int(g) + 1 - len(k.keys); missing > 0 {
		k.keys = append(k.keys, make([]segmentKeys, missing)...)
	}
	if m := &k.keys[g]; m.extent != s.key {
		*m = segmentKeys{s.key, m.blocks[:0]}
	}
	if have := first + int32(len(k.keys[g].blocks)); have < to {
		token := max(s.start, have*k.size)
		chain := k.chain(g, token)
		k.keys[g].blocks = chain.Append(k.keys[g].blocks, workload.Piece{Content: s.content, Offset: token - s.start, Length: to*k.size - token})
	}
	return k.keys[g].blocks[from-first : to-first]
}

// chain returns the chain of keys of a prompt that goes through g, before the
// given token, which is in g or the first one after it.
func (k *blockKeys) chain(g segmentID, token int32) workload.Chain {
	s := k.tree.segments.at(g)
	block := token / k.size
	from := block * k.size
	var c workload.Chain
	switch {
	case from > s.start:
		c = workload.NewChain(k.size, k.of(g, block-1, block)[0])
	case s.parent == none:
		c = workload.NewChain(k.size, workload.RootKey)
	default:
		from, c = s.start, k.chain(s.parent, s.start)
	}
	k.none = c.Append(k.none, workload.Piece{Content: s.content, Offset: from - s.start, Length: token - from})
	return c
}

// Journal implements Cache.
func (p *Pool) Journal(f func(key uint64, stored bool)) {
	p.journal, p.keys = f, newKeys(&p.segmentTree, p.size)
}

// newKeys returns the keys of blocks of size tokens.
func newKeys(t *segmentTree, size int32) blockKeys { return blockKeys{tree: t, size: size} }

// tell tells the journal that the blocks from … to−1 of g were stored, or
// evicted with the deepest first.
func (p *Pool) tell(g segmentID, from, to int32, stored bool) {
	if p.journal == nil || p.segments.at(g).own {
		return
	}
	keys := p.keys.of(g, from, to)
	if stored {
		for _, key := range keys {
			p.journal(key, true)
		}
		return
	}
	for _, key := range slices.Backward(keys) {
		p.journal(key, false)
	}
}

// Fold implements Cache.
func (p *Pool) Fold() uint64 {
	d, keys := newFold(), newKeys(&p.segmentTree, p.size)
	for id := p.free.head; id != none; {
		r := p.runs.at(id)
		id = r.next
		if r.interval == none {
			d.add(0, uint64(r.anonymous))
			continue
		}
		v := p.intervals.at(r.interval)
		if p.segments.at(v.segment).own {
			d.add(0, uint64(v.to-v.from))
			continue
		}
		for _, key := range slices.Backward(keys.of(v.segment, v.from, v.to)) {
			d.add(key, 1)
		}
	}
	return d.sum()
}

// fold is the digest of a free list as (key, length), neighbours without a key
// as one.
type fold struct {
	digest *xxhash.Digest
	blank  uint64
}

func newFold() *fold { return &fold{digest: xxhash.New()} }

func (r *fold) add(key, n uint64) {
	if key == 0 {
		r.blank += n
		return
	}
	r.flush()
	r.write(key, n)
}

func (r *fold) flush() {
	if r.blank > 0 {
		r.write(0, r.blank)
		r.blank = 0
	}
}

func (r *fold) write(key, n uint64) {
	var buf [16]byte
	binary.LittleEndian.PutUint64(buf[:], key)
	binary.LittleEndian.PutUint64(buf[8:], n)
	r.digest.Write(buf[:])
}

func (r *fold) sum() uint64 {
	r.flush()
	return r.digest.Sum64()
}
