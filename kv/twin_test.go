package kv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"blis/internal/testsize"
	"blis/workload"
)

// world is a Pool and its twin NaivePool, given the same requests and asked the
// same questions after every operation. The operations come in any order that
// the engine could give them in, chosen by pick.
type world struct {
	pick  func(n int) int // 0 … n−1
	fatal func(format string, args ...any)
	seen  coverage

	size    int32
	caching bool
	async   bool // tokens are keyed once known, which is after they were scheduled
	lazy    bool // blocks on the free list are pinned; requests that end keep their own content
	chunks  int  // tokens scheduled at a time, at most
	lengths [contents][3]int32
	fast    *Pool
	slow    *NaivePool
	list    []*twinRequest
	prompts [][]workload.Span // earlier ones, to repeat
	opened  []*Sequence       // by request number, for the keys of own content
	output  map[uint64]bool   // keys of blocks that named generated tokens filled
	mirrors [2]*mirror        // of the pool and of the twin; nil: no journal
	pins    []twinPin
}

const contents = 5 // names in use; the first requests have the same numbers

// twinRequest is a request as both caches know it. Its tokens are counted as
// in an engine: known = prompt and delivered output, flying = in flight.
type twinRequest struct {
	fast, slow Sequence
	named      int32
	first      int32 // length of the first span
	keyed      int32 // blocks keyed when it was last preempted
	known      int32
	flying     int32
	computed   int32
	running    bool
	member     bool // of the decode run: the pool learns of its blocks when it leaves
}

func newWorld(pick func(int) int, fatal func(string, ...any), seen coverage) *world {
	w := &world{pick: pick, fatal: fatal, seen: seen, output: map[uint64]bool{}}
	total := 4 + pick([]int{57, 57, 200}[pick(3)])
	w.size, w.caching, w.async = int32(1+pick(32)), pick(20) > 0, pick(2) == 0
	w.lazy = pick(2) == 0
	w.chunks = []int{math.MaxInt32, 3 * int(w.size), 8 * int(w.size)}[pick(3)]
	longest := []int{3, 3, 12}[pick(3)] // spans, in blocks
	for i := range w.lengths {
		for k := range w.lengths[i] {
			w.lengths[i][k] = int32(1 + pick(longest*int(w.size)))
		}
	}
	w.fast, w.slow = NewPool(total, w.size, w.caching), NewNaivePool(total, w.size, w.caching)
	if pick(4) > 0 {
		w.mirrors = [2]*mirror{follow(w.fast, fatal), follow(w.slow, fatal)}
	}
	for range 2 + pick(6) {
		r := &twinRequest{}
		w.open(r)
		w.list = append(w.list, r)
	}
	return w
}

// open makes r another request, which fits the pool when it is alone. Its
// prompt begins with spans.
func (w *world) open(r *twinRequest, spans ...workload.Span) {
	room := int32(w.fast.Total())*w.size - 1
	if len(spans) == 0 && len(w.prompts) > 0 && w.pick(3) == 0 {
		spans = slices.Clone(w.prompts[w.pick(len(w.prompts))])
	}
	named := int32(0)
	for i := range spans {
		spans[i].Length = min(spans[i].Length, room-named)
		if named += spans[i].Length; spans[i].Length <= 0 {
			named, spans = room, spans[:i]
			break
		}
	}
	for range w.pick(4) {
		c := w.pick(contents)
		n := min(w.lengths[c][w.pick(3)], room-named)
		if n > 0 {
			spans = append(spans, workload.Span{Content: workload.ContentID(c + 1), Length: n})
			named += n
		}
	}
	w.prompts = append(w.prompts, spans)
	input, output := named, workload.ContentID(w.pick(contents+1))
	if named == 0 || w.pick(2) == 0 && named < room {
		input += int32(1 + w.pick(int(min(room-named, 3*w.size))))
	}
	third := &Sequence{}
	for _, s := range []*Sequence{&r.fast, &r.slow, third} {
		s.Open(uint64(len(w.opened)), input, spans, output, w.size, w.caching)
	}
	w.opened = append(w.opened, third)
	r.named, r.first, r.keyed, r.known, r.flying, r.computed = named, 0, 0, input, 0, 0
	r.running, r.member = false, false
	if len(spans) > 0 {
		r.first = spans[0].Length
	}
}

// operate does one operation on both caches and compares all that they show.
func (w *world) operate() {
	if w.lazy && w.pick(4) == 0 {
		w.pin()
	} else if w.pick(5) == 0 {
		w.run()
	} else if r := w.list[w.pick(len(w.list))]; !r.running {
		w.waiting(r)
	} else {
		w.settle(r)
		w.serve(r)
	}
	w.coverRuns()
	w.compare()
}

func (w *world) waiting(r *twinRequest) {
	if w.pick(12) == 0 {
		w.open(r) // timed out in the queue
		return
	}
	r.known, r.flying = r.known+r.flying, 0
	if r.keyed > 0 {
		r.known += int32(w.pick(3))
	}
	if r.known > int32(w.fast.Total())*w.size {
		w.open(r)
		return
	}
	w.admit(r)
}

func (w *world) serve(r *twinRequest) {
	switch p := w.pick(20); {
	case p == 0:
		w.release(r)
	case p == 1:
		w.preempt(r)
	case p < 5 && r.flying > 0:
		w.deliver(r)
	case p < 9 && r.known+r.flying == r.computed+1 && r.fast.OwnOnly(r.computed):
		w.land(r)
		r.member = true
	default:
		w.grow(r)
	}
}

// release completes r. When its output has a name, a request may follow that
// goes on from it.
func (w *world) release(r *twinRequest) {
	if w.lazy {
		w.fast.Preempt(&r.fast)
		w.slow.Preempt(&r.slow)
	} else {
		w.fast.Release(&r.fast)
		w.slow.Release(&r.slow)
	}
	var turn []workload.Span
	c := &r.slow.content
	if n := r.known - c.input; c.output != 0 && n > 0 && w.pick(3) > 0 {
		turn = append(slices.Clone(c.spans), workload.Span{Content: c.output, Length: n})
	}
	w.open(r, turn...)
}

func (w *world) admit(r *twinRequest) {
	hit := w.lookup(r)
	w.coverPinned(r)
	cached := int32(hit.Blocks) * w.size
	upto := cached + int32(1+w.pick(min(int(r.known-cached), w.chunks)))
	if w.pick(2) == 0 && int(r.known-cached) <= w.chunks {
		upto = r.known
	}
	if w.extend(r, upto) {
		r.running, r.computed = true, upto
		w.coverHit(r, hit)
	}
}

// grow gives a running request some of the tokens that it wants.
func (w *world) grow(r *twinRequest) {
	w.land(r)
	want := r.known + r.flying - r.computed
	if want <= 0 {
		return
	}
	n := min(want, int32(1+w.pick(min(int(want+w.size), w.chunks))))
	if !w.extend(r, r.computed+n) {
		w.preempt(w.list[w.pick(len(w.list))])
		return
	}
	if r.computed += n; r.computed == r.known+r.flying {
		r.flying++
	}
}

// land delivers the tokens that must be known before the next formation.
func (w *world) land(r *twinRequest) {
	for !w.async && r.flying > 0 || r.flying > 1 {
		w.deliver(r)
	}
}

// deliver makes the oldest token in flight a known one.
func (w *world) deliver(r *twinRequest) {
	r.known++
	r.flying--
	if w.async {
		before := r.slow.keyed
		w.fast.Key(&r.fast, r.computed-r.flying)
		w.slow.Key(&r.slow, r.computed-r.flying)
		w.seen.count("block keyed after its allocation", r.slow.keyed > before)
		w.coverKeys(r, before)
		w.coverGap(r, before)
	}
}

func (w *world) preempt(r *twinRequest) {
	if !r.running {
		return
	}
	w.settle(r)
	r.keyed = r.slow.keyed
	w.fast.Preempt(&r.fast)
	w.slow.Preempt(&r.slow)
	r.running, r.computed = false, 0
}

// extend gives r blocks for tokens up to upto in both caches.
func (w *world) extend(r *twinRequest, upto int32) bool {
	need := w.slow.Need(&r.slow, upto)
	if got := w.fast.Need(&r.fast, upto); got != need {
		w.fatal("need of %d tokens: pool %d, twin %d", upto, got, need)
	}
	fits := need <= w.slow.Free()
	if fits {
		w.coverEvictions(r, need, "")
	}
	fast, slow, keyed := w.fast.Fold(), w.slow.Fold(), r.slow.keyed
	a, b := w.fast.Extend(&r.fast, upto, r.known), w.slow.Extend(&r.slow, upto, r.known)
	if a != fits || b != fits {
		w.fatal("extend to %d tokens: pool %v, twin %v, %d of %d free blocks needed", upto, a, b, need, w.slow.Free())
	}
	if !fits {
		w.seen.count("failed admission", !r.running)
		w.seen.count("failed growth", r.running)
		if w.fast.Fold() != fast || w.slow.Fold() != slow {
			w.fatal("a failed extend changed the free list")
		}
		return false
	}
	w.coverKeys(r, keyed)
	w.coverGap(r, keyed)
	return true
}

// run lets the members of the decode run take some steps: the pool sees only
// the blocks taken, the twin each token.
func (w *world) run() {
	for range 1 + w.pick(int(2*w.size)) {
		crossing := 0
		for _, r := range w.list {
			if r.member && r.computed%w.size == 0 {
				crossing++
			}
		}
		if crossing > w.slow.Free() {
			return
		}
		w.fast.Take(crossing)
		for _, r := range w.list {
			if !r.member {
				continue
			}
			w.seen.count("step in a decode run", true)
			if r.computed%w.size == 0 {
				w.coverEvictions(r, 1, " in a decode run")
			}
			if !w.slow.Extend(&r.slow, r.computed+1, r.known) {
				w.fatal("the twin has no block for a decode run")
			}
			r.computed++
			r.known++
		}
	}
}

// settle ends r's membership of the decode run.
func (w *world) settle(r *twinRequest) {
	if r.member {
		w.adopt(r)
		r.member = false
	}
}

func (w *world) adopt(r *twinRequest) { w.fast.Adopt(&r.fast, r.computed, r.computed-r.flying) }

func (w *world) lookup(r *twinRequest) Hit {
	a, b := w.fast.Lookup(&r.fast, r.known), w.slow.Lookup(&r.slow, r.known)
	if a != b {
		w.fatal("lookup of request with %d tokens: pool %+v, twin %+v", r.known, a, b)
	}
	return b
}

// compare compares everything that the two caches show.
func (w *world) compare() {
	if w.fast.Total() != w.slow.Total() || w.fast.Free() != w.slow.Free() {
		w.fatal("free blocks: pool %d of %d, twin %d of %d", w.fast.Free(), w.fast.Total(), w.slow.Free(), w.slow.Total())
	}
	if a, b := w.fast.Fold(), w.slow.Fold(); a != b {
		w.fatal("free lists differ: pool %x, twin %x", a, b)
	}
	w.compareFreeLists()
	w.compareMirrors()
	var fast, slow []*Sequence
	late := w.pick(4) > 0 // the pool need not know how far the run is
	for _, r := range w.list {
		if !r.running {
			w.lookup(r)
			if a, b := w.fast.Need(&r.fast, r.known), w.slow.Need(&r.slow, r.known); a != b {
				w.fatal("need of a waiting request: pool %d, twin %d", a, b)
			}
			continue
		}
		fast, slow = append(fast, &r.fast), append(slow, &r.slow)
		if r.member && late {
			continue
		}
		if r.member {
			w.adopt(r)
		}
		if r.fast.Held() != r.slow.Held() || r.fast.keyed != r.slow.keyed && w.caching {
			w.fatal("blocks held and keyed: pool %d and %d, twin %d and %d", r.fast.Held(), r.fast.keyed, r.slow.Held(), r.slow.keyed)
		}
		w.compareHeld(r)
	}
	if err := w.slow.Check(slow); err != nil {
		w.fatal("twin: %v", err)
	}
	if late && slices.ContainsFunc(w.list, func(r *twinRequest) bool { return r.member }) {
		return
	}
	if err := w.fast.Check(fast); err != nil {
		w.fatal("pool: %v", err)
	}
}

func TestPoolEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		w := newWorld(pick, t.Fatalf, coverage{})
		for range 150 {
			w.operate()
		}
	})
}

// BLIS_CASES is the number of worlds, BLIS_KV_SEED their seed.
func TestPoolEqualsItsTwinInManyWorlds(t *testing.T) {
	seed, worlds := rand.Uint64(), testsize.Cases(t, 300, 1000, 10_000)
	if n, err := strconv.ParseUint(os.Getenv("BLIS_KV_SEED"), 10, 64); err == nil {
		seed = n
	}
	seen := coverage{}
	for n := range worlds {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		op := 0
		w := newWorld(r.IntN, func(format string, args ...any) {
			t.Fatalf("seed %d, world %d, operation %d: %s", seed, n, op, fmt.Sprintf(format, args...))
		}, seen)
		for op = range 200 {
			w.operate()
		}
	}
	t.Logf("seed %d: %d worlds", seed, worlds)
	seen.require(t, seed)
}
