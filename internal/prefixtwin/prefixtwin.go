package prefixtwin

import (
	"math/rand/v2"
	"slices"
	"testing"

	"blis/workload"
)

// Block is a block as the plain LRU sees it: a key of its own for every
// block, private ones too.
type Block struct {
	key   uint64 // of a named block
	owner int64  // request of a private block; −1 for a named one
	depth int32  // its index in that prompt
}

// LRU is the prefix index in its plainest form: a list of blocks per instance, the
// most recent first.
type LRU struct {
	Capacity int // blocks of each instance
	Lists    [][]Block
	Own      []int // capacities of the first instances; the others have Capacity
}

// Join gives the instances up to n that are new the size of their caches.
func (x *LRU) Join(n int, blocks func(instance int) int64) {
	for i := len(x.Own); i < n; i++ {
		size := int(blocks(i))
		if size == 0 {
			size = 31_250
		}
		x.Own = append(x.Own, size)
	}
}

// Size returns the capacity of an instance, in blocks.
func (x *LRU) Size(instance int) int {
	if instance < len(x.Own) {
		return x.Own[instance]
	}
	return x.Capacity
}

// Blocks lists the full blocks of the prompt of a request.
func Blocks(id int64, input int32, spans []workload.Span, size int32) []Block {
	total := int(input / size)
	var blocks []Block
	for _, key := range workload.AppendKeys(nil, spans, size, total) {
		blocks = append(blocks, Block{key: key, owner: -1})
	}
	for i := len(blocks); i < total; i++ {
		blocks = append(blocks, Block{owner: id, depth: int32(i)})
	}
	return blocks
}

// Matched returns how many of the first blocks an instance holds, without a gap.
func (x *LRU) Matched(blocks []Block, instance int) int {
	for i, b := range blocks {
		if !slices.Contains(x.Lists[instance], b) {
			return i
		}
	}
	return len(blocks)
}

// Record touches from the deepest block to the first and drops the oldest one
// whenever there is one too many.
func (x *LRU) Record(blocks []Block, instance int) {
	list := x.Lists[instance]
	for i := len(blocks) - 1; i >= 0; i-- {
		if at := slices.Index(list, blocks[i]); at >= 0 {
			list = slices.Delete(list, at, at+1)
		}
		list = slices.Insert(list, 0, blocks[i])
		list = list[:min(len(list), x.Size(instance))]
	}
	x.Lists[instance] = list
}

// Entry is a stretch of an LRU order in a form that both sides can give.
type Entry struct {
	Key    uint64
	Length int32 // of a tail; 0 for a named block
}

// Entries lists the LRU order of an instance, the newest first.
func (x *LRU) Entries(t *testing.T, instance int) []Entry {
	var list []Entry
	var last Block
	for i, b := range x.Lists[instance] {
		switch {
		case b.owner < 0:
			list = append(list, Entry{Key: b.key})
		case i > 0 && last.owner >= 0: // tails that follow each other are one
			if b.owner == last.owner && b.depth != last.depth+1 {
				t.Fatalf("tail of request %d: block %d after %d", b.owner, b.depth, last.depth)
			}
			list[len(list)-1].Length++
		default:
			list = append(list, Entry{Length: 1})
		}
		last = b
	}
	return list
}

// Traffic makes prompts that share: a few contents, chained as conversations chain
// them, with tails, and prompts of nothing but a tail.
type Traffic struct {
	Rng     *rand.Rand
	Longest int // blocks of a tail, at most

	number int64
}

// Next returns the next request, for blocks of size tokens.
func (g *Traffic) Next(size int32) workload.Request {
	req := workload.Request{Identity: workload.Identity{ID: g.number}, Terms: workload.Terms{MaxOutput: workload.Absent}}
	g.number++
	content := workload.ContentID(1 + g.Rng.IntN(3))
	for range g.Rng.IntN(4) {
		length := int32(1 + g.Rng.IntN(5*int(size)))
		req.Spans = append(req.Spans, workload.Span{Content: content, Length: length})
		req.Input += length
		content = 10*content + workload.ContentID(g.Rng.IntN(3))
	}
	req.Input += int32(g.Rng.IntN(g.Longest*int(size))) + 1
	return req
}
