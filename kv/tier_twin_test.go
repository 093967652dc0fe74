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
	"blis/vtime"
	"blis/workload"
)

// tierWorld is an ExtentTier and its twin NaiveTier, given the same requests and asked
// the same questions. The operations come in any order that an engine could give them in,
// and some in which it would not, chosen by pick.
type tierWorld struct {
	pick  func(n int) int // 0 … n−1
	fatal func(format string, args ...any)
	seen  coverage

	cfg     TierConfig
	size    int32 // tokens per entry
	lengths [contents][3]int32
	fast    *ExtentTier
	slow    *NaiveTier
	list    []*tierRequest
	prompts [][]workload.Span        // earlier ones, to repeat
	opened  map[uint64]*TierSequence // by request number, for the keys of own content
	now     vtime.Time
	loads   int // entries being read by loads, in sum
	copies  int // … and by copies
	events  [2][]event
}

// tierRequest is a request as both tiers know it.
type tierRequest struct {
	fast, slow TierSequence
	id         uint64
	entries    int32 // whole entries of its prompt
	filled     int32 // entries of which the GPU has the tokens
	next       int32 // the first entry not stored yet
	falling    bool  // what is stored for it is stored the deepest entry first
	unsent     [][2]int32
	loads      [][2]int32
	copies     [][2]int32
}

func newTierWorld(pick func(int) int, fatal func(string, ...any), seen coverage) *tierWorld {
	w := &tierWorld{pick: pick, fatal: fatal, seen: seen, opened: map[uint64]*TierSequence{}}
	w.cfg = TierConfig{Capacity: 1 + pick([]int{10, 40, 120}[pick(3)]), Eviction: Evictions[pick(len(Evictions))]}
	if pick(12) == 0 {
		w.cfg.Capacity = []int{math.MaxInt32, math.MaxInt}[pick(2)]
	}
	if pick(4) == 0 {
		w.cfg.Threshold, w.cfg.Tracked = 2+pick(2), 1+pick(60)
	}
	w.size = int32(1 + pick(8))
	longest := []int{3, 12}[pick(2)] // spans, in entries
	for i := range w.lengths {
		for k := range w.lengths[i] {
			w.lengths[i][k] = int32(1 + pick(longest*int(w.size)))
		}
	}
	w.fast, w.slow = NewTier(w.cfg), NewNaiveTier(w.cfg)
	if pick(4) > 0 {
		w.fast.Journal(func(key uint64, stored bool) { w.events[0] = append(w.events[0], event{key, stored}) })
		w.slow.Journal(func(key uint64, stored bool) { w.events[1] = append(w.events[1], event{key, stored}) })
	}
	for range 2 + pick(5) {
		r := &tierRequest{}
		w.open(r)
		w.list = append(w.list, r)
	}
	return w
}

// open makes r another request.
func (w *tierWorld) open(r *tierRequest) {
	var spans []workload.Span
	if len(w.prompts) > 0 && w.pick(2) == 0 {
		spans = slices.Clone(w.prompts[w.pick(len(w.prompts))])
		spans = spans[:w.pick(len(spans)+1)]
	}
	for range w.pick(4) {
		c := w.pick(contents)
		spans = append(spans, workload.Span{Content: workload.ContentID(c + 1), Length: w.lengths[c][w.pick(3)]})
	}
	w.prompts = append(w.prompts, spans)
	input, output := int32(0), workload.ContentID(w.pick(contents+1))
	for _, s := range spans {
		input += s.Length
	}
	if input == 0 || w.pick(2) == 0 {
		input += int32(1 + w.pick(int(4*w.size)))
	}
	var s Sequence
	r.id = uint64(len(w.prompts)) // equal to some names of content
	s.Open(r.id, input, spans, output, 1+w.size/2, true)
	priority := float64(w.pick(3))
	third := &TierSequence{}
	r.fast.Open(&s, w.size, priority)
	for _, t := range []*TierSequence{&r.slow, third} {
		id, input, spans, output := r.fast.Content()
		t.OpenContent(id, input, spans, output, w.size, priority)
	}
	w.opened[r.id] = third
	r.entries, r.filled, r.next, r.unsent, r.falling = input/w.size, 0, 0, nil, w.pick(4) == 0
}

// pass lets time pass.
func (w *tierWorld) pass() {
	w.now = w.now.Add(vtime.Duration([]int{0, 0, 1, 50, 300, 1500}[w.pick(6)]))
	if w.pick(2) == 0 {
		w.fast.Advance(w.now)
		w.slow.Advance(w.now)
	}
}

// operate does one operation on both tiers and compares all that they show.
func (w *tierWorld) operate() {
	r := w.list[w.pick(len(w.list))]
	w.pass()
	switch p := w.pick(33); {
	case p < 4:
		w.lookup(r)
	case p < 6:
		w.touch(r, int32(w.pick(int(r.filled+r.entries)+2)))
	case p < 8:
		w.endLoad(r)
	case p < 14:
		w.store(r)
	case p < 17:
		w.sent(r)
	case p < 19:
		if w.pick(2) == 0 {
			w.sent(r)
		}
		w.written(r)
	case p < 23:
		w.promote(r)
	case p < 25:
		w.withdraw(r)
	case p < 27:
		w.copy(r)
	case p < 29:
		w.endCopy(r)
	case p < 30:
		w.remove(r)
	case p < 32:
		w.decode(r)
	default:
		if w.endLoads(r); w.pick(2) == 0 {
			w.sent(r)
		}
		for len(r.copies) > 0 {
			w.endCopy(r)
		}
		w.written(r)
		w.open(r)
	}
	w.comparePromoting(r)
	w.compare()
}

func (w *tierWorld) touch(r *tierRequest, n int32) {
	w.coverGroups(r, n)
	before := w.fast.tree.intervals.inUse()
	w.coverTail(r, "tail cut by a touch", func(*tierInterval, *tierWriter) bool { return true })
	w.fast.Touch(&r.fast, n)
	w.slow.Touch(&r.slow, n)
	w.seen.count("split", w.fast.tree.intervals.inUse() > before)
	w.seen.count("merge", w.fast.tree.intervals.inUse() < before)
}

// lookup asks for a waiting request, and begins to load what it found now and then.
func (w *tierWorld) lookup(r *tierRequest) {
	to := r.entries + int32(w.pick(2))*r.filled
	w.coverGhosts(r, to)
	w.touch(r, to)
	from := int32(w.pick(int(to) + 1))
	if w.pick(2) == 0 {
		from = 0
	}
	fast, slow := w.fast.Lookup(&r.fast, from, to), w.slow.Lookup(&r.slow, from, to)
	if fast != slow {
		w.fatal("lookup of entries %d to %d: tier %d, twin %d", from, to, fast, slow)
	}
	if slow == 0 || w.pick(2) == 0 {
		return
	}
	if w.pick(3) == 0 {
		to = from + int32(1+w.pick(int(slow)))
	} else {
		to = from + slow
	}
	a, b := w.fast.Loading(&r.fast, from, to), w.slow.Loading(&r.slow, from, to)
	if a != b {
		w.fatal("loading of entries %d to %d: tier %v, twin %v", from, to, a, b)
	}
	if w.seen.count("entry being read looked up", b); b && w.pick(2) == 0 {
		return
	}
	w.loads += int(to - from)
	r.loads = append(r.loads, [2]int32{from, to})
	fast, slow = w.fast.BeginLoad(&r.fast, from, to, w.now), w.slow.BeginLoad(&r.slow, from, to, w.now)
	if fast != slow {
		w.fatal("load of entries %d to %d at %d: tier %d of them thrash, twin %d", from, to, w.now, fast, slow)
	}
	w.seen.count("entry read twice at a time", b)
	w.seen.count("load of an entry being copied", w.slow.entry(&r.slow, from).copies > 0)
	w.seen.count("thrashing in part", slow > 0 && slow < to-from)
	w.seen.count("thrashing as a whole", slow == to-from)
	w.seen.count("load without thrashing", slow == 0)
	r.next = max(r.next, to)
	r.filled = max(r.filled, to)
}

func (w *tierWorld) endLoad(r *tierRequest) {
	if len(r.loads) == 0 {
		return
	}
	i := w.pick(len(r.loads))
	load := r.loads[i]
	r.loads = slices.Delete(r.loads, i, i+1)
	w.fast.EndLoad(&r.fast, load[0], load[1])
	w.slow.EndLoad(&r.slow, load[0], load[1])
	w.loads -= int(load[1] - load[0])
}

func (w *tierWorld) endLoads(r *tierRequest) {
	for len(r.loads) > 0 {
		w.endLoad(r)
	}
}

// store fills some more entries and stores what is not stored yet, or anything.
func (w *tierWorld) store(r *tierRequest) {
	if w.pick(2) == 0 {
		r.filled += int32(1 + w.pick(2+min(w.cfg.Capacity/8, 20)))
	} else {
		r.filled = max(r.filled, r.entries)
	}
	from, to := min(r.next, r.filled), r.filled
	if w.pick(4) == 0 {
		from = int32(w.pick(int(to) + 1))
		to = from + int32(w.pick(int(to-from)+1))
	}
	if w.cfg.Threshold > 0 && w.pick(2) == 0 {
		w.fast.Lookup(&r.fast, from, to)
		w.slow.Lookup(&r.slow, from, to)
	}
	if r.falling {
		w.storeDeepest(r, from, to)
		return
	}
	w.storeRange(r, from, to, w.pick(2) == 0)
}

// storeRange stores entries from … to−1, with StoreTouched or with Store.
func (w *tierWorld) storeRange(r *tierRequest, from, to int32, touched bool) {
	fold, before := w.slow.Fold(), w.slow.Evicted()
	w.coverStore(r, from, to)
	store, twin := w.fast.Store, w.slow.Store
	if w.coverTail(r, "tail cut by a store", func(*tierInterval, *tierWriter) bool { return !touched || growing(w.fast, &r.fast, from) == none }); touched {
		w.coverGrowth(r, from, to)
		store, twin = w.fast.StoreTouched, w.slow.StoreTouched
	}
	n, ok := store(&r.fast, from, to)
	m, fits := twin(&r.slow, from, to)
	if n != m || ok != fits {
		w.fatal("store of entries %d to %d: tier %d, %v, twin %d, %v", from, to, n, ok, m, fits)
	}
	w.seen.count("failed store", !fits)
	w.seen.count("eviction by "+string(w.cfg.Eviction), w.slow.Evicted() > before)
	w.seen.count("store of some of the entries", m > 0 && m < to-from)
	if !fits {
		if w.slow.Fold() != fold {
			w.fatal("a failed store changed the twin")
		}
		return
	}
	r.next = max(r.next, to)
	if m > 0 {
		r.unsent = append(r.unsent, [2]int32{from, to})
	}
	if m > 0 && !touched && w.pick(5) > 0 {
		w.touch(r, to)
	}
}

func (w *tierWorld) sent(r *tierRequest) {
	end := w.now.Add(vtime.Duration(w.pick(800)))
	for i, u := range r.unsent {
		if w.pick(6) == 0 { // sent in part
			mid := u[0] + int32(w.pick(int(u[1]-u[0])+1))
			w.send(r, mid, u[1], end.Add(200))
		}
		if w.pick(6) == 0 && i > 0 {
			continue
		}
		w.send(r, u[0], u[1], end)
		end = end.Add(vtime.Duration(w.pick(300)))
	}
	r.unsent = r.unsent[:0]
}

func (w *tierWorld) send(r *tierRequest, from, to int32, end vtime.Time) {
	w.coverTail(r, "tail of one entry sent", func(v *tierInterval, x *tierWriter) bool { return x.unsent == 1 && from <= x.tail && to >= v.to })
	w.coverTail(r, "tail sent in part", func(v *tierInterval, x *tierWriter) bool {
		return x.unsent > 0 && max(from, x.tail) < min(to, v.to) && (from > x.tail || to < v.to)
	})
	w.fast.Sent(&r.fast, from, to, end)
	w.slow.Sent(&r.slow, from, to, end)
}

func (w *tierWorld) written(r *tierRequest) {
	w.coverTail(r, "tail written", func(*tierInterval, *tierWriter) bool { return true })
	w.coverTail(r, "tail written that can thrash", func(_ *tierInterval, x *tierWriter) bool {
		return x.tailEnd != vtime.Never && x.tailEnd.Add(Thrashing) > w.fast.tree.clock
	})
	list := []EntryRange{{0, 1}, {2, int32(w.pick(3))}}[:w.pick(3)]
	fast, slow := w.fast.Written(&r.fast, slices.Clone(list)), w.slow.Written(&r.slow, slices.Clone(list))
	if !slices.Equal(fast, slow) {
		w.fatal("written, behind %d: tier %d, twin %d", list, fast, slow)
	}
	w.seen.count("several ranges written", !r.falling && len(slow) > len(list)+1)
	w.seen.count("several falling ranges written", r.falling && len(slow) > len(list)+1)
	r.unsent = r.unsent[:0]
}

// compare compares everything that the two tiers show.
func (w *tierWorld) compare() {
	if w.fast.Used() != w.slow.Used() || w.fast.Capacity() != w.slow.Capacity() || w.fast.Evicted() != w.slow.Evicted() {
		w.fatal("tier: %d of %d entries, %d evicted; twin: %d of %d, %d", w.fast.Used(), w.fast.Capacity(), w.fast.Evicted(), w.slow.Used(), w.slow.Capacity(), w.slow.Evicted())
	}
	w.compareTierLists()
	if w.fast.Fold() != w.slow.Fold() {
		w.fatal("folds of %s: tier %x, twin %x", w.cfg.Eviction, w.fast.Fold(), w.slow.Fold())
	}
	if !slices.Equal(w.events[0], w.events[1]) {
		w.fatal("events: tier %x, twin %x", w.events[0], w.events[1])
	}
	for k := range w.events {
		w.seen.count("journal", len(w.events[k]) > 0)
		w.events[k] = w.events[k][:0]
	}
	var fast, slow []*TierSequence
	for _, r := range w.list {
		fast, slow = append(fast, &r.fast), append(slow, &r.slow)
	}
	if err := w.slow.Check(slow, w.loads, w.copies); err != nil {
		w.fatal("twin: %v", err)
	}
	if err := w.fast.Check(fast, w.loads, w.copies); err != nil {
		w.fatal("tier: %v", err)
	}
}

func TestTierEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		w := newTierWorld(pick, t.Fatalf, coverage{})
		for range 150 {
			w.operate()
		}
	})
}

// BLIS_CASES is the number of worlds, BLIS_KV_SEED their seed.
func TestTierEqualsItsTwinInManyWorlds(t *testing.T) {
	seed, worlds := rand.Uint64(), testsize.Cases(t, 300, 1000, 10_000)
	if n, err := strconv.ParseUint(os.Getenv("BLIS_KV_SEED"), 10, 64); err == nil {
		seed = n
	}
	seen := coverage{}
	for n := range worlds {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		op := 0
		w := newTierWorld(r.IntN, func(format string, args ...any) {
			t.Fatalf("seed %d, world %d, operation %d: %s", seed, n, op, fmt.Sprintf(format, args...))
		}, seen)
		for op = range 300 {
			w.operate()
		}
	}
	t.Logf("seed %d: %d worlds", seed, worlds)
	seen.requireTier(t, seed)
}
