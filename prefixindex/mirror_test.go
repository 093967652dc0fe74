package prefixindex

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/internal/prefixtwin"
	"blis/kv"
	"blis/workload"
)

// mirrorTwin is what each instance has in each medium, as sets of keys.
type mirrorTwin struct {
	size, entry int32 // tokens; entry 0: the GPU alone
	sets        []mediaSets
}

type mediaSets [kv.Media]map[uint64]bool

func newMirrorTwin(size, entry int32, instances int) *mirrorTwin {
	m := &mirrorTwin{size: size, entry: entry, sets: make([]mediaSets, instances)}
	for i := range m.sets {
		m.empty(i)
	}
	return m
}

func (m *mirrorTwin) empty(i int) {
	m.sets[i] = mediaSets{map[uint64]bool{}, map[uint64]bool{}, map[uint64]bool{}}
}

// tokens returns the tokens that a key of a medium stands for.
func (m *mirrorTwin) tokens(medium kv.Medium) int32 {
	if medium == kv.GPU {
		return m.size
	}
	return m.entry
}

// keys returns the keys of a prompt in a medium, none if there is no such medium.
func (m *mirrorTwin) keys(req *workload.Request, medium kv.Medium) []uint64 {
	tokens := m.tokens(medium)
	if tokens == 0 {
		return nil
	}
	return workload.AppendKeys(nil, req.Spans, tokens, int(req.Input/tokens))
}

// holds counts the blocks of a prompt that instance i has without a gap, by the fastest
// medium that has each, and those that it has behind the gap in the GPU.
func (m *mirrorTwin) holds(i int, req *workload.Request) (in [kv.Media]int32, behind int) {
	var keys [kv.Media][]uint64
	for medium := range kv.Medium(kv.Media) {
		keys[medium] = m.keys(req, medium)
	}
	gap := false
	for b := range req.Input / m.size {
		found := -1
		for medium := range kv.Medium(kv.Media) {
			if e := int(b * m.size / max(1, m.tokens(medium))); found < 0 && e < len(keys[medium]) && m.sets[i][medium][keys[medium][e]] {
				found = int(medium)
			}
		}
		gap = gap || found < 0
		switch {
		case !gap:
			in[found]++
		case found == int(kv.GPU):
			behind++
		}
	}
	return in, behind
}

// TestMirrorEqualsSets plays random events and prompts to a mirror and to a map per
// instance and medium: with and without tiers, entries of one block and of more.
func TestMirrorEqualsSets(t *testing.T) {
	var gaps, drops int
	var hits [kv.Media]int
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 21))
		instances := 1 + rng.IntN(5)
		if seed%10 == 0 {
			instances = 63 + rng.IntN(70)
		}
		size := int32(1 + rng.IntN(6))
		entry := []int32{0, size, size, 2 * size, 3 * size}[rng.IntN(5)]
		x, twin := newByPlace(newMirrorIndex(size, entry), 1+rng.IntN(instances)), newMirrorTwin(size, entry, instances)
		source := &prefixtwin.Traffic{Rng: rng, Longest: 3}
		for step := range 200 {
			x.cover(instances)
			req := source.Next(size)
			x.look(&req)
			for i := range instances {
				want, behind := twin.holds(i, &req)
				gaps += behind
				got := [kv.Media]int32{x.at(i)}
				if got[kv.GPU] > 0 {
					for _, m := range []kv.Medium{kv.CPU, kv.Storage} {
						got[m] = x.lower[i][m]
						got[kv.GPU] -= got[m]
					}
				}
				for m := range want {
					hits[m] += int(want[m])
				}
				if got != want {
					t.Fatalf("seed %d, step %d: instance %d is expected to have %d blocks by medium, want %d", seed, step, i, got, want)
				}
			}
			for m := range kv.Medium(kv.Media) {
				for _, k := range twin.keys(&req, m) {
					i := rng.IntN(instances)
					switch rng.IntN(5) {
					case 0:
						x.index.media[m].remove(i, k)
						delete(twin.sets[i][m], k)
					default:
						x.index.media[m].store(i, k)
						twin.sets[i][m][k] = true
					}
				}
			}
			if rng.IntN(40) == 0 {
				i := rng.IntN(instances)
				x.index.empty(i)
				twin.empty(i)
				drops++
			}
		}
		checkMirror(t, seed, x.index, twin)
	}
	if gaps < 1000 || slices.Min(hits[:]) < 1000 || drops < 100 {
		t.Errorf("the events test too little: %d blocks behind a gap, %d hits by medium, %d drops", gaps, hits, drops)
	}
}

// checkMirror compares the books of a mirror with its twin.
func checkMirror(t *testing.T, seed uint64, x *mirrorIndex, twin *mirrorTwin) {
	t.Helper()
	for m := range x.media {
		h, used := &x.media[m], 0
		for _, n := range h.count {
			if n > 0 {
				used++
			}
		}
		if used != h.slots.Len() || used != len(h.keys)-len(h.spare) {
			t.Errorf("seed %d, %v: %d slots are held, %d keys in the table, %d of %d slots spare", seed, kv.Medium(m), used, h.slots.Len(), len(h.spare), len(h.keys))
		}
		for i := range twin.sets {
			if got, want := h.of(i), slices.Sorted(maps.Keys(twin.sets[i][m])); !slices.Equal(got, want) { // any order: they are sorted
				t.Errorf("seed %d, %v: instance %d has %d keys, want %d", seed, kv.Medium(m), i, len(got), len(want))
			}
		}
	}
}

// TestBlocksWeighByTheFastestMedium has the picture above mirrorIndex: of the six blocks
// three are in the GPU and three in the CPU tier alone.
func TestBlocksWeighByTheFastestMedium(t *testing.T) {
	spans := []workload.Span{{Content: 7, Length: 28}}
	blocks, entries := workload.AppendKeys(nil, spans, 4, 7), workload.AppendKeys(nil, spans, 8, 3)
	x := NewMirror(4, 8)
	x.Cover(fleetOf(9, 9))
	for _, b := range []int{0, 1, 4} {
		x.Store(0, kv.GPU, blocks[b])
	}
	for _, e := range entries {
		x.Store(0, kv.CPU, e)
		x.Store(1, kv.Storage, e)
	}
	x.Look(28, spans)
	want := []Holder{{Instance: 0, Blocks: 6, In: [kv.Media]int32{3, 3, 0}}, {Instance: 1, Blocks: 6, In: [kv.Media]int32{0, 0, 6}}}
	if got := x.Holders(); !slices.Equal(got, want) || x.Expected(0) != 24 || x.Expected(1) != 24 {
		t.Fatalf("holders %+v with %d and %d tokens, want %+v with 24 each", got, x.Expected(0), x.Expected(1), want)
	}
	weights := [kv.Media]float64{1, 0.8, 0.5}
	for i, want := range []float64{(3 + 3*0.8) / 7, 6 * 0.5 / 7} {
		if got := x.Weigh(&x.Holders()[i], &weights); math.Abs(got-want) > 1e-15 {
			t.Errorf("instance %d weighs %v, want %v", i, got, want)
		}
	}
	x.Remove(0, kv.CPU, entries[0])
	x.Remove(0, kv.CPU, entries[1])
	x.Drop(1)
	x.Look(28, spans)
	if got := x.Holders(); len(got) != 1 || got[0].Blocks != 2 || got[0].In[kv.CPU] != 0 || len(x.Held(0, kv.CPU)) != 1 || x.Held(1, kv.Storage) != nil {
		t.Errorf("holders %+v, entries %x, want two blocks of the GPU alone and one entry behind a gap", got, x.Held(0, kv.CPU))
	}
}
