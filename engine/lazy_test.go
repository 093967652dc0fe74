package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/internal/testsize"
)

// lazyModes are all modes, and one with both twins and own content without names.
var lazyModes = append(slices.Clone(kvModes), kvMode{name: "twins, own content unnamed", stepByStep: true, blocks: true, slots: true, unnamed: true},
	kvMode{name: "block twin, extents of entries", blocks: true, stepByStep: true, unnamed: true})

// Two prompts of four blocks in a GPU of six. A pass looks at ten blocks, which are all.
// A store of n blocks takes 100 + 20·n µs.
func TestLazyStoreOfWorkedExample(t *testing.T) {
	sc := example(6, [2]float64{100, 20}, [2]float64{150, 25}, ask(0, 0, 1, [2]int64{1, 16}), ask(1, 2000, 2, [2]int64{2, 16}), ask(2, 9000, 1, [2]int64{1, 16}, [2]int64{3, 1}))
	sc.Config.Budget, sc.Config.Offload.Lazy = 20, true
	eachMode(t, sc, func(p *kvPlayer) error {
		// Request 0 ends at 1,168. The pass at that time executes nothing, sees its four blocks on the
		// free list, and submits their store at once.
		if r := p.at(1168); !slices.Equal(r.Xfers, [][5]any{{"store", -1.0, 4.0, 1168.0, 1348.0}}) || r.Free != 2 {
			return fmt.Errorf("at 1,168: transfers %v, %d free blocks", r.Xfers, r.Free)
		}
		// Request 1 does not fit into the two others. The pass at 2,000 notices the store, and the next
		// one at that time has all blocks.
		if r := p.at(2000); !slices.Equal(r.New, []int64{1}) || len(r.Xfers) > 0 || r.Free != 2 {
			return fmt.Errorf("at 2,000: new %v, transfers %v, %d free blocks", r.New, r.Xfers, r.Free)
		}
		// Request 1 evicts three blocks of request 0. Request 2 has one from the GPU, and three from
		// the tier.
		if r := p.at(9000); !slices.Equal(r.Xfers, [][5]any{{"load", 2.0, 3.0, 9000.0, 9225.0}}) {
			return fmt.Errorf("at 9,000: transfers %v", r.Xfers)
		}
		return nil
	})
}

// lazyScenario is requests whose prompts begin alike, in a GPU that holds few of them.
func lazyScenario(seed uint64) *scenario {
	r := rand.New(rand.NewPCG(seed, 0x1a2))
	gpu := 14 + r.IntN(30)
	sc := example(gpu, [2]float64{float64(r.IntN(400)), float64(r.IntN(300))}, [2]float64{float64(r.IntN(400)), float64(r.IntN(100))})
	c := &sc.Config
	c.Budget, c.Seats, c.Async = int32(8+r.IntN(60)), int32(1+r.IntN(6)), r.IntN(2) == 0
	c.MaxModelLen = min(c.MaxModelLen, 52)
	if r.IntN(3) == 0 {
		c.Policy = "priority"
	}
	c.Offload.CPUBlocks, c.Offload.Lazy, c.IdleRelease = 4+r.IntN(80), true, r.IntN(3) == 0
	c.Offload.Policy = []string{"lru", "arc"}[r.IntN(2)]
	at := int64(0)
	for k := range int64(10 + r.IntN(20)) {
		at += int64(r.IntN(5000))
		var prompt [][2]int64
		for range 1 + r.IntN(3) {
			prompt = append(prompt, [2]int64{int64(1 + r.IntN(4)), int64(1 + r.IntN(12))})
		}
		prompt = append(prompt, [2]int64{100 + k, int64(1 + r.IntN(5))})
		sc.Requests = append(sc.Requests, ask(k, at, int32(1+r.IntN(10)), prompt...))
		if r.IntN(5) == 0 {
			abort := at + 1 + int64(r.IntN(20_000))
			sc.Requests[k].Abort = &abort
		}
	}
	return sc
}

// lazyRun is what all modes must agree in.
type lazyRun struct {
	rows        []kvRow
	results     map[int64][]any
	cache, tier uint64
	books       any
}

func TestLazyModesAgree(t *testing.T) {
	seed, seen := lazySeed(), map[string]int64{}
	for n := range testsize.Cases(t, 40, 150, 2000) {
		sc := lazyScenario(seed + uint64(n))
		runs, lost := map[bool]*lazyRun{}, []int64(nil)
		for _, m := range lazyModes {
			p, stuck, err := playKV(sc, m, false, lost)
			if err != nil || stuck {
				t.Fatalf("seed %d, scenario %d: %s: %v, stuck %v", seed, n, m.name, err, stuck)
			}
			if lost == nil {
				lost = p.lost
			}
			x := &lazyRun{p.rows, p.results, p.e.cfg.Cache.Fold(), p.e.cfg.Offload.Tier.Fold(), p.e.Tier}
			for k := range x.rows {
				r := &x.rows[k]
				r.FL, r.CPU, r.ARC, r.Loads, r.Stores, r.KVEvents = "", "", nil, nil, nil, nil
			}
			if m.silent {
				x.rows = nil
			}
			want := runs[m.unnamed]
			if want == nil {
				runs[m.unnamed] = x
				continue
			}
			if m.silent {
				x.rows = want.rows
			}
			if !reflect.DeepEqual(x, want) {
				t.Fatalf("seed %d, scenario %d: %s differs:\n%s", seed, n, m.name, cmp.Diff(want, x, cmp.AllowUnexported(lazyRun{}, kvMove{})))
			}
			k := &p.e.Tier
			seen["stores"] += k.Stores
			seen["loads"] += k.Loads
			seen["no room"] += k.NoRoom
			seen["preemptions"] += p.e.Counters.Preemptions
		}
	}
	for _, what := range []string{"stores", "loads", "no room", "preemptions"} {
		if t.Logf("seed %d: %d × %s", seed, seen[what], what); seen[what] == 0 {
			t.Errorf("seed %d: no %s", seed, what)
		}
	}
}

func lazySeed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("BLIS_LAZY_SEED"), 10, 64); err == nil {
		return n
	}
	return rand.Uint64()
}
