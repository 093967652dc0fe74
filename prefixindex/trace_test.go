package prefixindex

import (
	"math/rand/v2"
	"slices"
	"testing"

	"blis/internal/prefixtwin"
	"blis/internal/testsize"
	"blis/kv"
	"blis/workload"
)

// prompts makes prompts that share content: repeated, cut and continued ones of
// the past, and new ones of few contents.
type prompts struct {
	rng     *rand.Rand
	number  int64
	size    int32 // tokens per block
	unit    int32 // spans are multiples of it
	longest int   // units of a span, and of the part that is the request's own
	past    [8][]workload.Span
}

func newPrompts(rng *rand.Rand, size int32) *prompts {
	unit := []int32{1, size, 1 + rng.Int32N(2*size)}[rng.IntN(3)]
	return &prompts{rng: rng, size: size, unit: unit, longest: 1 + rng.IntN(5*int(size/unit+1))}
}

// length draws the length of a span, in tokens.
func (g *prompts) length() int32 { return g.unit * int32(1+g.rng.IntN(g.longest)) }

func (g *prompts) next() workload.Request {
	spans := slices.Clone(g.past[g.rng.IntN(len(g.past))])
	switch g.rng.IntN(4) {
	case 0: // repeated
	case 1: // cut, or with another length of the last span
		if len(spans) > 0 {
			spans = spans[:1+g.rng.IntN(len(spans))]
			spans[len(spans)-1].Length = g.length()
		}
	case 2:
		spans = spans[:0]
		fallthrough
	default: // continued
		for range g.rng.IntN(4) {
			spans = append(spans, workload.Span{Content: workload.ContentID(1 + g.rng.IntN(3)), Length: g.length()})
		}
	}
	g.past[g.rng.IntN(len(g.past))] = spans
	req := workload.Request{Identity: workload.Identity{ID: g.number}, Terms: workload.Terms{MaxOutput: workload.Absent, Spans: spans}}
	g.number++
	for _, s := range spans {
		req.Input += s.Length
	}
	if g.rng.IntN(3) > 0 {
		req.Input += g.length()
	}
	req.Input = max(req.Input, 1)
	return req
}

// blockName is a block as the index names it.
type blockName struct {
	key   uint64 // of the extent
	block int32
}

// trace plays one random trace to an index that follows routing and to its
// block-by-block twin.
type trace struct {
	t     *testing.T
	seed  uint64
	rng   *rand.Rand
	size  int32
	view  *fleet
	fast  *Index
	slow  *prefixtwin.LRU
	keys  map[blockName]uint64 // block keys of all prompts so far
	given bool                 // one capacity for all; else each place has its own
	large int                  // capacity, at most
	seen  traceCounts
}

// traceCounts says what traces have tested.
type traceCounts struct {
	hits, evicting, divided, shared, dropped, reused int
}

func newTrace(t *testing.T, seed uint64) *trace {
	rng := rand.New(rand.NewPCG(seed, 31))
	x := &trace{t: t, seed: seed, rng: rng, size: 1 + rng.Int32N(32), view: &fleet{}, keys: map[blockName]uint64{},
		given: rng.IntN(2) == 0, large: []int{1 + rng.IntN(40), 40, 400}[rng.IntN(3)]}
	x.slow = &prefixtwin.LRU{Capacity: 1 + rng.IntN(x.large)}
	blocks := int32(0)
	if x.given {
		blocks = int32(x.slow.Capacity)
	}
	x.fast = NewRouted(x.size, blocks)
	instances := 1 + rng.IntN(6)
	if seed%20 == 0 {
		instances = 63 + rng.IntN(70) // more than one word of a set
	}
	for range instances {
		x.join()
	}
	return x
}

// join adds an instance.
func (x *trace) join() {
	total := 1 + x.rng.IntN(x.large)
	x.view.add(int64(total))
	x.slow.Lists = append(x.slow.Lists, nil)
	if !x.given {
		x.slow.Own = append(x.slow.Own, total)
	}
	x.fast.Cover(x.view)
}

// leave lets an instance go. The index is told now, or finds out when the next
// one joins.
func (x *trace) leave() {
	present := x.view.present()
	i := int(present[x.rng.IntN(len(present))])
	x.view.leave(i)
	if x.slow.Lists[i] = nil; x.rng.IntN(2) == 0 {
		x.fast.Drop(i)
		x.seen.dropped++
	}
}

// request sends a prompt to an instance, or only looks.
func (x *trace) request(req workload.Request) {
	for i, key := range workload.AppendKeys(nil, req.Spans, x.size, int(req.Input/x.size)) {
		for _, e := range workload.AppendExtents(nil, req.Spans, x.size, int(req.Input/x.size)) {
			if int(e.First) <= i && i < int(e.End) {
				x.keys[blockName{e.Key, int32(i)}] = key
			}
		}
	}
	blocks := prefixtwin.Blocks(req.ID, req.Input, req.Spans, x.size)
	x.fast.Look(req.Input, req.Spans)
	x.compareHits(&req, blocks)
	if x.rng.IntN(10) == 0 {
		return
	}
	present := x.view.present()
	target := int(present[x.rng.IntN(len(present))])
	if len(x.slow.Lists[target])+len(blocks) > x.slow.Size(target) {
		x.seen.evicting++
	}
	x.fast.Record(target)
	x.slow.Record(blocks, target)
}

// compareHits compares the holders of a prompt, and how much they hold.
func (x *trace) compareHits(req *workload.Request, blocks []prefixtwin.Block) {
	var holders []Holder
	for i := range x.view.Len() {
		want := int32(x.slow.Matched(blocks, i))
		if x.view.Gone(i) && x.fast.place(i) >= 0 {
			continue // the index has not been told
		}
		if got := x.fast.Expected(i); got != want*x.size {
			x.t.Fatalf("seed %d, request %d: %d tokens expected of instance %d, want %d blocks of %d", x.seed, req.ID, got, i, want, x.size)
		}
		if want > 0 {
			holders = append(holders, Holder{int32(i), want, [kv.Media]int32{want}})
			x.seen.hits += int(want)
		}
	}
	found := slices.DeleteFunc(slices.Clone(x.fast.Holders()), func(h Holder) bool { return x.view.Gone(int(h.Instance)) })
	if !slices.Equal(found, holders) {
		x.t.Fatalf("seed %d, request %d: holders %v, want %v", x.seed, req.ID, found, holders)
	}
}

// compareOrders compares the LRU order of every place, block for block.
func (x *trace) compareOrders(step int) {
	for i := range x.view.Len() {
		place := x.fast.place(i)
		if place < 0 || x.view.Gone(i) {
			continue
		}
		if got, want := x.fast.routed.entries(place, x.keys), x.slow.Entries(x.t, i); !slices.Equal(got, want) {
			x.t.Fatalf("seed %d, step %d: instance %d holds, the newest first,\n%v, want\n%v", x.seed, step, i, got, want)
		}
	}
}

// entries lists the LRU order of a place block by block, the newest first.
func (x *routedIndex) entries(place int, keys map[blockName]uint64) []prefixtwin.Entry {
	var list []prefixtwin.Entry
	for n := x.orders.list[place].newest; n != 0; n = x.orders.runs[n].older {
		r := &x.orders.runs[n]
		if r.segment < 0 {
			list = append(list, prefixtwin.Entry{Length: r.end})
			continue
		}
		for block := x.begin(r); block < r.end; block++ {
			list = append(list, prefixtwin.Entry{Key: keys[blockName{x.segments.list[r.segment].key, block}]})
		}
	}
	return list
}

// play is one trace. After each operation both sides hold the same.
func (x *trace) play() {
	source := newPrompts(x.rng, x.size)
	for step := range 60 {
		switch r := x.rng.IntN(40); {
		case r == 0:
			x.join()
		case r == 1 && len(x.view.present()) > 1:
			x.leave()
		default:
			x.request(source.next())
		}
		x.compareOrders(step)
		checkRouted(x.t, x.seed, x.fast.routed)
	}
	for _, r := range x.fast.routed.orders.runs {
		if r.shallower != 0 {
			x.seen.divided++
		}
	}
	for _, p := range x.fast.routed.segments.intervals {
		if p.count > 1 {
			x.seen.shared++
		}
	}
	x.seen.reused += len(x.fast.places) - len(x.fast.instance)
}

// TestRoutedEqualsBlocks plays random traces of prompts to the index by extents
// and to a plain LRU list of blocks per instance.
func TestRoutedEqualsBlocks(t *testing.T) {
	first := rand.Uint64()
	seen := traceCounts{}
	traces := testsize.Cases(t, 300, 1000, 10_000)
	for k := range uint64(traces) {
		x := newTrace(t, first+k)
		x.seen = seen
		x.play()
		seen = x.seen
	}
	t.Logf("seeds from %d: %+v", first, seen)
	if n := traces; seen.hits < 100*n || seen.evicting < 10*n || seen.divided < n/2 || seen.shared < 2*n || seen.dropped < n/4 || seen.reused < n/4 {
		t.Errorf("seeds from %d: %d traces test too little: %+v", first, n, seen)
	}
}
