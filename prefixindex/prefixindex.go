package prefixindex

import (
	"math"
	"math/bits"
	"slices"

	"blis/kv"
	"blis/workload"
)

// Index is what the router expects each instance to have in its prefix
// cache. For each request the router calls Look, reads what is expected, and calls
// Record with the chosen instance.
//
// An index that follows routing (NewRouted) guesses: each instance has an
// LRU cache of the prompts that were sent there. One that follows events
// (NewMirror) is told by the instances which blocks they store and remove, and in
// which medium.
//
//	Index                   instances ↔ places; the hits of the present request
//	├─ mirrorIndex          follows events
//	│  └─ holdings             per medium: key → set of places
//	└─ routedIndex          follows routing, by extents of content:
//	   ├─ segments          extent → how far which places hold it
//	   └─ orders            per place: runs of blocks, the least recently used last
//
// An example: a prompt of 18 blocks begins with 10 blocks of content a and 5 of
// b; its last 3 are its own and cannot be found again. It went to place 0. Then
// one with 13 blocks of a and b went to place 1, and one with 6 of a to place 2.
//
//	          |a                  |b        |own  |
//	blocks    0         6         10    13  15    18
//	segment a |{0,1,2}  |{0,1}    |
//	segment b                     |{0,1}|{0}|
//	place 0   |a 0–9              |b 10–14  |3    |   order from the newest on
//	place 1   |a 0–9              |b 10–12|
//	place 2   |a 0–5    |
//
// Look walks a and b once and reads from the sets that place 0 holds 15 blocks of
// such a prompt, place 1 13 and place 2 6. When place 0 needs room it loses its
// own 3 blocks first, then b 14, b 13 and so on: intervals and runs become shorter.
//
// Instances come and go, and sets should stay small. So each instance has a
// place: a bit in every set, and an order. A place is used again once its
// instance is gone. While no instance is gone places are instances.
type Index struct {
	blockSize int32
	routed    *routedIndex // nil: the index follows events
	mirror    *mirrorIndex // nil: the index follows routing
	index     placeIndex   // the one of them that is not nil
	capacity  int32        // blocks that each place may hold; 0: as many as the instance's cache

	places   []int32 // by instance; −1: the instance is gone
	instance []int32 // by place; −1: vacant
	vacant   []int32 // places with instance −1

	hits  hits     // of the request that Look was asked about
	found []Holder // the same, in the order of instances
}

// placeIndex is a prefix index by place.
type placeIndex interface {
	// cover makes room for places 0 … places−1.
	cover(places int)
	// look finds the places that hold blocks of a prompt. It changes nothing of
	// what they hold.
	look(input int32, spans []workload.Span, found *hits)
	// empty notes that a place holds nothing any more.
	empty(place int)
}

// Holder is an instance that is expected to hold the first blocks of a prompt.
type Holder struct {
	Instance int32
	Blocks   int32           // from the first one on without a gap; at least 1
	In       [kv.Media]int32 // of them, by the fastest medium that has a copy; their sum is Blocks
}

// NewRouted returns an empty index that follows routing. blockSize is in
// tokens, at least 1. The index remembers capacity blocks of each instance. If
// capacity is 0 it remembers as many tokens, in whole blocks, as the instance's
// own cache holds when the instance joins.
func NewRouted(blockSize, capacity int32) *Index {
	routed := newRoutedIndex(blockSize, capacity)
	return &Index{blockSize: blockSize, routed: routed, index: routed, capacity: capacity}
}

// NewMirror returns an empty index that follows events. entryTokens is the size of the
// entries of tiers below the GPU, a multiple of blockSize; 0: there are no tiers.
func NewMirror(blockSize, entryTokens int32) *Index {
	mirror := newMirrorIndex(blockSize, entryTokens)
	return &Index{blockSize: blockSize, mirror: mirror, index: mirror}
}

// BlockSize returns the tokens per block.
func (x *Index) BlockSize() int32 { return x.blockSize }

// Instances are the instances of a cluster, numbered from 0.
type Instances interface {
	// Len returns the number of instances there ever were.
	Len() int
	// Gone reports whether instance i is gone for good.
	Gone(i int) bool
	// Cache returns the KV blocks of instance i, 0 if that is not known, and the
	// tokens of each, 0 for blocks as large as those of the index.
	Cache(i int) (blocks int64, blockSize int32)
}

// Places returns the number of places: the most instances so far that were covered
// and not gone.
func (x *Index) Places() int { return len(x.instance) }

// Cover gives places to the instances that were added since the last call. Before
// that it takes them from instances that are gone.
func (x *Index) Cover(all Instances) {
	first := len(x.places)
	if all.Len() <= first {
		return
	}
	for _, i := range x.instance {
		if i >= 0 && all.Gone(int(i)) {
			x.Drop(int(i))
		}
	}
	for i := first; i < all.Len(); i++ {
		place := int32(-1)
		if !all.Gone(i) {
			place = x.assign(int32(i))
		}
		x.places = append(x.places, place)
	}
	x.hits.cover(len(x.instance))
	x.index.cover(len(x.instance))
	if x.capacity == 0 && x.routed != nil {
		x.limit(all, first)
	}
}

// limit gives the places of the instances from first on the capacity of the
// instance's own cache.
func (x *Index) limit(all Instances, first int) {
	for i := first; i < all.Len(); i++ {
		if place := x.places[i]; place >= 0 {
			x.routed.limit(int(place), x.cacheSize(all.Cache(i)))
		}
	}
}

// cacheSize returns the size of a cache in blocks of the index.
func (x *Index) cacheSize(blocks int64, blockSize int32) int32 {
	if blocks <= 0 {
		return unknownCache
	}
	if blockSize <= 0 {
		blockSize = x.blockSize
	}
	return int32(min(max(blocks*int64(blockSize)/int64(x.blockSize), 1), math.MaxInt32))
}

// assign gives an instance a place: a vacant one if there is any.
func (x *Index) assign(instance int32) (place int32) {
	if last := len(x.vacant) - 1; last >= 0 {
		place, x.vacant = x.vacant[last], x.vacant[:last]
		x.instance[place] = instance
		return place
	}
	x.instance = append(x.instance, instance)
	return int32(len(x.instance) - 1)
}

// Drop notes that an instance is gone, with all it had. A second call for the
// same instance changes nothing.
func (x *Index) Drop(instance int) {
	place := x.place(instance)
	if place < 0 {
		return
	}
	x.index.empty(place)
	x.places[instance], x.instance[place] = -1, -1
	x.vacant = append(x.vacant, int32(place))
}

// Clear notes that an instance has nothing any more, and goes on.
func (x *Index) Clear(instance int) {
	if place := x.place(instance); place >= 0 {
		x.index.empty(place)
	}
}

// place returns the place of an instance, −1 for one that is gone or not covered.
func (x *Index) place(instance int) int {
	if instance >= len(x.places) {
		return -1
	}
	return int(x.places[instance])
}

// Look finds the instances that are expected to hold blocks of a prompt of input
// tokens which begins with spans, from the start without a gap. Expected and Record
// are about this prompt until the next Look. Spans are valid during the call. Look
// changes nothing of what is expected.
func (x *Index) Look(input int32, spans []workload.Span) {
	x.index.look(input, spans, &x.hits)
	found, ordered := x.found[:0], true
	for word, set := range x.hits.holders {
		for ; set != 0; set &= set - 1 {
			place := 64*word + bits.TrailingZeros64(set)
			h := Holder{x.instance[place], x.hits.depth[place], x.hits.lower[place]}
			h.In[kv.GPU] = h.Blocks - h.In[kv.CPU] - h.In[kv.Storage]
			ordered = ordered && (len(found) == 0 || found[len(found)-1].Instance < h.Instance)
			found = append(found, h)
		}
	}
	if !ordered {
		slices.SortFunc(found, func(a, b Holder) int { return int(a.Instance - b.Instance) })
	}
	x.found = found
}

// Holders lists the instances that Look found, in their order. It is valid until
// the next Look.
func (x *Index) Holders() []Holder { return x.found }

// Affinity returns the share of the full blocks of the prompt that blocks, which
// a holder has, are.
func (x *Index) Affinity(blocks int32) float64 {
	return float64(blocks) / float64(x.hits.blocks)
}

// Weigh returns the sum of the weights of the blocks that a holder has, each by the
// fastest medium that has it, over the full blocks of the prompt. With weights of 1 it
// is Affinity.
func (x *Index) Weigh(h *Holder, weights *[kv.Media]float64) float64 {
	sum := 0.0
	for m, blocks := range h.In {
		sum += float64(float64(blocks) * weights[m])
	}
	return sum / float64(x.hits.blocks)
}

// Expected returns the tokens of the prompt that an instance is expected to hold:
// whole blocks from the start, in any medium. It must be read before Record.
func (x *Index) Expected(instance int) int32 {
	place := x.place(instance)
	if place < 0 {
		return 0
	}
	return x.hits.at(place) * x.blockSize
}

// Record notes that the request goes to an instance. An index that follows events
// hears of it from the instance.
func (x *Index) Record(instance int) {
	if place := x.place(instance); place >= 0 && x.routed != nil {
		x.routed.record(place)
	}
}

// Store notes that an instance has the block or entry of that key in a medium, for an
// index that follows events. The event of an instance that is gone changes nothing.
func (x *Index) Store(instance int, m kv.Medium, key uint64) {
	if place := x.place(instance); place >= 0 {
		x.mirror.media[m].store(place, key)
	}
}

// Remove notes that an instance no longer has the block or entry of that key, as
// Store does.
func (x *Index) Remove(instance int, m kv.Medium, key uint64) {
	if place := x.place(instance); place >= 0 {
		x.mirror.media[m].remove(place, key)
	}
}

// Held returns the keys that an instance has in a medium, in ascending order, for an
// index that follows events.
func (x *Index) Held(instance int, m kv.Medium) []uint64 {
	if place := x.place(instance); place >= 0 && int(m) < len(x.mirror.media) {
		return x.mirror.media[m].of(place)
	}
	return nil
}
