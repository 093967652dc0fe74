package policy

import (
	"math/rand/v2"
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

// match is how many blocks of the request in hand an instance has.
func (x *prefixIndex) match(instance int) int32 {
	return x.expected(instance)
}

func (x *prefixIndex) entries(instance int) []entry {
	var list []entry
	for n := x.lru.order[instance].newest; n != 0; n = x.lru.nodes[n].older {
		last := len(list) - 1
		switch {
		case x.lru.nodes[n].slot < 0 && last >= 0 && list[last].length > 0: // what lay between has moved
			list[last].length += x.lru.nodes[n].length
		case x.lru.nodes[n].slot < 0:
			list = append(list, entry{length: x.lru.nodes[n].length})
		default:
			list = append(list, entry{key: x.keys[x.lru.nodes[n].slot]})
		}
	}
	return list
}

// traffic makes prompts that share: a few contents, chained as conversations
// chain them, with tails, and prompts of nothing but a tail.
type traffic struct {
	rng     *rand.Rand
	number  int64
	longest int // blocks of a tail, at most
}

func (g *traffic) next(size int32) Request {
	req := Request{Identity: workload.Identity{ID: g.number}, Terms: workload.Terms{MaxOutput: workload.Absent}}
	g.number++
	content := workload.ContentID(1 + g.rng.IntN(3))
	for range g.rng.IntN(4) {
		length := int32(1 + g.rng.IntN(5*int(size)))
		req.Spans = append(req.Spans, workload.Span{Content: content, Length: length})
		req.Input += length
		content = 10*content + workload.ContentID(g.rng.IntN(3))
	}
	req.Input += int32(g.rng.IntN(g.longest*int(size))) + 1
	return req
}

func TestIndexEqualsPlainLRU(t *testing.T) {
	evictions, hits := 0, 0
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 2))
		size, capacity := int32(1+rng.IntN(6)), 1+rng.IntN(40)
		instances := 1 + rng.IntN(5)
		if seed%10 == 0 {
			instances = 63 + rng.IntN(70) // more than one word of holders
		}
		fast := newPrefixIndex(size, int32(capacity))
		fast.cover(instances)
		slow := &twinLRU{capacity: capacity, lists: make([][]twinBlock, instances)}
		if seed%3 == 0 { // each has a size of its own
			for i := range instances {
				slow.own = append(slow.own, 1+rng.IntN(40))
				fast.lru.limit(i, int32(slow.own[i]))
			}
		}
		source := &traffic{rng: rng, longest: 1 + rng.IntN(30)}
		for step := range 250 {
			req := source.next(size)
			blocks := twinBlocks(&req, size)
			fast.look(&req)
			for i := range instances {
				want := slow.matched(blocks, i)
				hits += want
				if got := fast.match(i); int(got) != want {
					t.Fatalf("seed %d, step %d: instance %d matches %d blocks, want %d of %d", seed, step, i, got, want, len(blocks))
				}
			}
			if rng.IntN(10) == 0 {
				continue // a look that leads to no decision changes nothing
			}
			target := rng.IntN(instances)
			if len(slow.lists[target])+len(blocks) > slow.size(target) {
				evictions++
			}
			fast.record(target)
			slow.record(blocks, target)
			if got, want := fast.entries(target), slow.entries(t, target); !slices.Equal(got, want) {
				t.Fatalf("seed %d, step %d: instance %d holds\n%v, want\n%v", seed, step, target, got, want)
			}
		}
		checkIndex(t, fast)
	}
	if evictions < 10_000 || hits < 10_000 {
		t.Errorf("the traffic tests too little: %d evicting decisions, %d blocks hit", evictions, hits)
	}
}

// checkIndex counts the books of the index: its lists, tables and sets say the
// same.
func checkIndex(t *testing.T, x *prefixIndex) {
	t.Helper()
	held := make([]int32, len(x.keys))
	named := 0
	for instance, o := range x.lru.order {
		if o.blocks > o.capacity {
			t.Errorf("instance %d holds %d blocks of at most %d", instance, o.blocks, o.capacity)
		}
		blocks := int32(0)
		for n := o.newest; n != 0; n = x.lru.nodes[n].older {
			blocks += x.lru.nodes[n].length
			if slot := x.lru.nodes[n].slot; slot >= 0 {
				named++
				held[slot]++
				if x.held.at(slot)[instance/64]>>(instance%64)&1 == 0 {
					t.Errorf("instance %d is not among the holders of slot %d", instance, slot)
				}
				if x.lru.where.find(uint64(slot)<<32|uint64(instance)) != n {
					t.Errorf("node %d of instance %d is not found", n, instance)
				}
			}
		}
		if blocks != o.blocks {
			t.Errorf("instance %d counts %d blocks, holds %d", instance, o.blocks, blocks)
		}
	}
	if named != x.lru.where.used {
		t.Errorf("%d named nodes, %d in the table", named, x.lru.where.used)
	}
	if !slices.Equal(held, x.count) {
		t.Errorf("holders per slot %v, counted %v", held, x.count)
	}
	if live := len(x.keys) - len(x.spare); live != x.slots.used {
		t.Errorf("%d slots in use, %d keys in the table", live, x.slots.used)
	}
}

func TestIndexRules(t *testing.T) {
	span := func(content workload.ContentID, tokens int32) workload.Span {
		return workload.Span{Content: content, Length: tokens}
	}
	prompt := func(own int32, spans ...workload.Span) Request {
		req := Request{Identity: workload.Identity{Input: own}, Terms: workload.Terms{Spans: spans}}
		for _, s := range spans {
			req.Input += s.Length
		}
		return req
	}
	for _, c := range []struct {
		name     string
		capacity int32
		past     []Request // all to instance 0
		ask      Request
		want     int32
	}{
		{"equal named prefix hits", 100, []Request{prompt(4, span(1, 40))}, prompt(9, span(1, 40)), 10},
		{"a shorter prompt hits all its named blocks", 100, []Request{prompt(4, span(1, 40))}, prompt(0, span(1, 21)), 5},
		{"a block with a private token is private", 100, []Request{prompt(2, span(1, 6))}, prompt(2, span(1, 6)), 1},
		{"other content before it: no hit", 100, []Request{prompt(0, span(1, 4), span(2, 40))}, prompt(0, span(3, 4), span(2, 40)), 0},
		{"a tail is never hit", 100, []Request{prompt(40)}, prompt(40), 0},
		{"the deepest blocks go first", 6, []Request{prompt(0, span(1, 40))}, prompt(0, span(1, 40)), 6},
		{"the tail goes before the prefix it hangs on", 12, []Request{prompt(8, span(1, 40)), prompt(8)}, prompt(0, span(1, 40)), 10},
		{"then the prefix from its deep end", 12, []Request{prompt(8, span(1, 40)), prompt(20)}, prompt(0, span(1, 40)), 7},
		{"a prompt longer than the index drives out everything", 12, []Request{prompt(0, span(1, 40)), prompt(400)}, prompt(0, span(1, 40)), 0},
		{"touching again saves a prefix", 12, []Request{prompt(0, span(1, 20)), prompt(20), prompt(8, span(1, 20)), prompt(8)}, prompt(0, span(1, 20)), 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newPrefixIndex(4, c.capacity)
			x.cover(2)
			for i := range c.past {
				x.look(&c.past[i])
				x.record(0)
			}
			x.look(&c.ask)
			if x.match(0) != c.want || x.match(1) != 0 {
				t.Errorf("matched %d and %d, want %d and 0", x.match(0), x.match(1), c.want)
			}
		})
	}
}

// TestIndexStopsGrowing feeds a small index long after it is full: its arrays
// and tables must recycle what they have.
func TestIndexStopsGrowing(t *testing.T) {
	x := newPrefixIndex(4, 50)
	x.cover(3)
	source := &traffic{rng: rand.New(rand.NewPCG(3, 3)), longest: 20}
	requests := make([]Request, 3000)
	for i := range requests {
		requests[i] = source.next(4)
	}
	feed := func() {
		for i := range requests {
			x.look(&requests[i])
			x.record(i % 3)
		}
	}
	feed()
	if allocations := testing.AllocsPerRun(3, feed); allocations != 0 {
		t.Errorf("%v allocations in steady state, want 0", allocations)
	}
}
