package policy

import (
	"slices"
	"testing"

	"blis/workload"
)

// twinBlock is a block as the plain LRU sees it: a key of its own for every
// block, private ones too.
type twinBlock struct {
	key   uint64 // of a named block
	owner int64  // request of a private block; −1 for a named one
	depth int32  // its index in that prompt
}

// twinLRU is the prefix index in its plainest form: a list of keys per
// instance, the most recent first.
type twinLRU struct {
	capacity int
	lists    [][]twinBlock
	own      []int // capacities of the first instances; the others have the common one
}

// join gives the instances that are new in the view the size of their caches.
func (x *twinLRU) join(view *View) {
	for i := len(x.own); i < view.Len(); i++ {
		size := int(view.slots[i].Total)
		if size == 0 {
			size = unknownCache
		}
		x.own = append(x.own, size)
	}
}

func (x *twinLRU) size(instance int) int {
	if instance < len(x.own) {
		return x.own[instance]
	}
	return x.capacity
}

// twinBlocks lists the full blocks of a prompt.
func twinBlocks(req *Request, size int32) []twinBlock {
	total := int(req.Input / size)
	var blocks []twinBlock
	for _, key := range workload.AppendKeys(nil, req.Spans, size, total) {
		blocks = append(blocks, twinBlock{key: key, owner: -1})
	}
	for i := len(blocks); i < total; i++ {
		blocks = append(blocks, twinBlock{owner: req.ID, depth: int32(i)})
	}
	return blocks
}

func (x *twinLRU) matched(blocks []twinBlock, instance int) int {
	for i, b := range blocks {
		if !slices.Contains(x.lists[instance], b) {
			return i
		}
	}
	return len(blocks)
}

// record touches from the deepest block to the first and drops the oldest one
// whenever there is one too many.
func (x *twinLRU) record(blocks []twinBlock, instance int) {
	list := x.lists[instance]
	for i := len(blocks) - 1; i >= 0; i-- {
		if at := slices.Index(list, blocks[i]); at >= 0 {
			list = slices.Delete(list, at, at+1)
		}
		list = slices.Insert(list, 0, blocks[i])
		list = list[:min(len(list), x.size(instance))]
	}
	x.lists[instance] = list
}

// entry is a stretch of an LRU order in a form that both sides can give.
type entry struct {
	key    uint64
	length int32 // of a tail; 0 for a named block
}

func (x *twinLRU) entries(t *testing.T, instance int) []entry {
	var list []entry
	var last twinBlock
	for i, b := range x.lists[instance] {
		switch {
		case b.owner < 0:
			list = append(list, entry{key: b.key})
		case i > 0 && last.owner >= 0: // tails that follow each other are one
			if b.owner == last.owner && b.depth != last.depth+1 {
				t.Fatalf("tail of request %d: block %d after %d", b.owner, b.depth, last.depth)
			}
			list[len(list)-1].length++
		default:
			list = append(list, entry{length: 1})
		}
		last = b
	}
	return list
}
