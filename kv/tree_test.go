package kv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/workload"
)

// Copies are keyed and evicted in any order: they must stay in the order in
// which they were keyed, on both sides of a split.
func TestCopiesOfAnIntervalEqualSlices(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	p := NewPool(1, 1, true)
	g := p.segmentOfOwn(1)
	deep := p.addInterval(g, none, 0, 1<<20)
	copies := map[intervalID][]runID{deep: {p.addRun(deep)}}
	for op := range 20_000 {
		switch n := len(copies[deep]); {
		case n > 0 && r.IntN(12) < n:
			i := r.IntN(n)
			if n == 1 {
				break
			}
			p.dropRun(copies[deep][i])
			copies[deep] = slices.Delete(copies[deep], i, i+1)
		case op%50 == 49:
			p.tree.split(deep, p.intervals.at(deep).from+1)
			shallow := p.intervals.at(deep).prev
			for _, id := range copies[deep] {
				copies[shallow] = append(copies[shallow], p.runs.at(id).shallower)
			}
		default:
			copies[deep] = append(copies[deep], p.addRun(deep))
		}
		for id, want := range copies { // any order
			var got []runID
			for c := p.intervals.at(id).oldest; c != none; c = p.runs.at(c).newer {
				got = append(got, c)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, operation %d: interval %d has copies %v, want %v", seed, op, id, got, want)
			}
		}
		if len(copies) > 20 {
			copies = map[intervalID][]runID{deep: copies[deep]} // the others change no more
		}
	}
}

// inUse is the number of segments, intervals and runs of a pool.
func inUse(p *Pool) [3]int {
	return [3]int{p.segments.inUse(), p.intervals.inUse(), p.runs.inUse()}
}

func wantInUse(t *testing.T, p *Pool, segments, intervals, runs int) {
	t.Helper()
	if got, want := inUse(p), [3]int{segments, intervals, runs}; got != want {
		t.Errorf("%d segments, intervals and runs in use, want %d", got, want)
	}
}

func TestPromptInChunksAndItsOutputAreOneRunEach(t *testing.T) {
	p, s := NewPool(100, 4, true), &Sequence{}
	s.Open(1, 130, []workload.Span{{Content: 7, Length: 130}}, 8, 4, true)
	for n := int32(5); n <= 130; n += 5 {
		extend(t, p, s, n, 130)
	}
	for n := int32(131); n < 200; n++ {
		extend(t, p, s, n, n)
	}
	wantInUse(t, p, 2, 2, 3) // and the run of those never used
	p.Release(s)
	wantInUse(t, p, 2, 2, 3)
}

func TestSplitRunIsWholeAgainAfterItsRelease(t *testing.T) {
	p := NewPool(100, 4, true)
	a := ask(1, 7, 160, 160, 4)
	extend(t, p, a, 160, 160)
	p.Release(a)
	wantInUse(t, p, 1, 1, 2)
	var hits []*Sequence
	for i := range int32(30) {
		s := ask(uint64(2+i), 7, 41+3*i, 41+3*i, 4)
		wantHit(t, p, s, 41+3*i, Hit{int(10 + 3*i/4), int(10+3*i/4) - max(0, int(10+3*(i-1)/4))*min(1, int(i))})
		extend(t, p, s, 41+3*i, 41+3*i)
		hits = append(hits, s)
	}
	if n := p.intervals.inUse(); n < 20 {
		t.Errorf("%d intervals: too easy", n)
	}
	for i := range hits {
		p.Release(hits[(7*i)%30])
	}
	if err := p.Check(nil); err != nil {
		t.Error(err)
	}
	if n := p.intervals.inUse(); n > 20 {
		t.Errorf("%d intervals are left", n)
	}
}

// The number of runs must follow the spans of the content, not its blocks.
func TestNumberOfRunsDoesNotGrowWithTheNumberOfBlocks(t *testing.T) {
	var first [3]int
	for _, size := range []int32{512, 64, 16, 4, 1} {
		p, r := NewPool(int(100_000/size), size, true), rand.New(rand.NewPCG(1, 2))
		var running [8]Sequence
		most := [3]int{}
		for i := range uint64(2000) {
			s := &running[i%8]
			p.Release(s)
			spans := []workload.Span{{Content: workload.ContentID(1 + r.IntN(5)), Length: 3000}, {Content: workload.ContentID(6 + r.IntN(20)), Length: 2048}}
			s.Open(i, 9000, spans, 0, size, true)
			admit(p, s, 9000)
			for k, n := range inUse(p) {
				most[k] = max(most[k], n)
			}
		}
		t.Logf("block size %3d: at most %d segments, intervals and runs", size, most)
		if size == 512 {
			first = most
		}
		for k := range most {
			if most[k] > first[k]*3/2 {
				t.Errorf("block size %d: %d segments, intervals and runs, at block size 512 %d", size, most, first)
			}
		}
	}
}

// n equal prompts computed side by side, each in chunks of its own length: as
// many copies. What is done once for each copy must be done for each block at
// most once.
func TestCopiesOfManyEqualPromptsCostNoMoreThanTheirBlocks(t *testing.T) {
	for _, n := range []int{4, 16, 64, 256} {
		const blocks = 200
		p := NewPool(n*blocks, 1, true)
		prompts := make([]*Sequence, n)
		for i := range prompts {
			prompts[i] = ask(uint64(i), 7, blocks, blocks, 1)
		}
		for done, step := 0, int32(1); done < n; step++ {
			done = 0
			for i, s := range prompts {
				upto := min(blocks, step*int32(1+i%7))
				if upto == blocks {
					done++
				}
				extend(t, p, s, upto, blocks)
			}
		}
		t.Logf("%d equal prompts of %d blocks: %d intervals, %d runs", n, blocks, p.intervals.inUse(), p.runs.n)
		if p.runs.n > n*blocks+1 {
			t.Errorf("%d equal prompts: %d runs of %d blocks", n, p.runs.n, n*blocks)
		}
		for _, s := range prompts {
			p.Release(s)
		}
		if err := p.Check(nil); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckSeesWhatIsWrongInTheTree(t *testing.T) {
	// Two prompts share a span; one of them was computed twice; a third one was
	// released, and one block of it is hit.
	build := func() (*Pool, []*Sequence) {
		p := NewPool(64, 4, true)
		var held []*Sequence
		for i, length := range []int32{20, 20, 14} {
			s := &Sequence{}
			s.Open(uint64(i), 40, []workload.Span{{Content: 1, Length: length}, {Content: 2, Length: 40 - length}}, 0, 4, true)
			extend(t, p, s, 40, 0)
			held = append(held, s)
		}
		for _, s := range held {
			p.Key(s, 40)
		}
		p.Release(held[1])
		gone := ask(3, 9, 24, 24, 4)
		extend(t, p, gone, 24, 24)
		p.Release(gone)
		again := ask(4, 9, 5, 5, 4)
		wantHit(t, p, again, 5, Hit{1, 1})
		extend(t, p, again, 5, 5)
		return p, []*Sequence{held[0], held[2], again}
	}
	p, held := build()
	if err := p.Check(held); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d segments, intervals and runs", inUse(p))
	deep := held[0].runs[1]
	for name, spoil := range map[string]func(p *Pool, held []*Sequence){
		"reference too many":           func(p *Pool, held []*Sequence) { p.runs.at(deep).refs++ },
		"block count of the free list": func(p *Pool, held []*Sequence) { p.free.blocks++ },
		"anonymous blocks":             func(p *Pool, held []*Sequence) { p.runs.at(p.free.head).anonymous++ },
		"end of an interval":           func(p *Pool, held []*Sequence) { p.intervals.at(p.runs.at(deep).interval).to++ },
		"begin of an interval":         func(p *Pool, held []*Sequence) { p.intervals.at(p.runs.at(deep).interval).from++ },
		"link of the free list":        func(p *Pool, held []*Sequence) { p.runs.at(p.free.tail).prev = none },
		"tail of the free list":        func(p *Pool, held []*Sequence) { p.free.tail = p.free.head },
		"two anonymous runs":           func(p *Pool, held []*Sequence) { p.free.insert(p.free.head, p.runs.add(run{interval: none})) },
		"number of children":           func(p *Pool, held []*Sequence) { p.segments.at(0).children++ },
		"segment without a key":        func(p *Pool, held []*Sequence) { p.named.remove(p.segments.at(0).key) },
		"copies out of order":          func(p *Pool, held []*Sequence) { p.runs.at(p.intervals.at(0).newest).older = none },
		"newest copy":                  func(p *Pool, held []*Sequence) { p.intervals.at(0).newest = p.intervals.at(0).oldest },
		"start of a segment":           func(p *Pool, held []*Sequence) { p.segments.at(p.intervals.at(0).segment).start += 4 },
		"run that no interval has":     func(p *Pool, held []*Sequence) { p.runs.add(run{interval: none}) },
		"blocks of a sequence":         func(p *Pool, held []*Sequence) { held[0].filed-- },
		"count of a sequence":          func(p *Pool, held []*Sequence) { held[0].rest++ },
		"run of a sequence":            func(p *Pool, held []*Sequence) { held[0].runs = held[0].runs[1:] },
		"shallow part of a run missing": func(p *Pool, held []*Sequence) {
			p.runs.at(deep).refs, p.runs.at(deep).shallower = 1, 0
			held[0].runs = held[0].runs[1:]
		},
	} {
		p, held := build()
		spoil(p, held)
		err := func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("panic: %v", r)
				}
			}()
			return p.Check(held)
		}()
		if err == nil {
			t.Errorf("%s: Check sees nothing", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
