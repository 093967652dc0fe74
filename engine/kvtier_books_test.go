package engine

import (
	"math/rand/v2"
	"strings"
	"testing"

	"blis/vtime"
)

// one-at-a-time requests on prefixes of eight documents.
func visits(seed uint64, n int) (list []scenarioRequest) {
	r := rand.New(rand.NewPCG(seed, 1))
	for k := range n {
		list = append(list, ask(int64(k), int64(k)*100_000, int32(1+r.IntN(5)), [2]int64{int64(10 + r.IntN(8)), int64(8 + 4*r.IntN(6))}, [2]int64{int64(1000 + k), int64(1 + r.IntN(9))}))
	}
	return list
}

// tierOf plays visits with a tier and returns its counters, and all tokens found.
func tierOf(t *testing.T, sc *scenario) (hits, loads, moved int64) {
	t.Helper()
	p, stuck, err := playKV(sc, kvMode{unnamed: true}, false, nil)
	if err != nil || stuck {
		t.Fatal(stuck, err)
	}
	return p.e.Tier.CachedTokens, p.e.Tier.Loaded, p.e.Tier.StoreMicros + p.e.Tier.LoadMicros
}

// With one request at a time a larger tier has all that a smaller one has, if each holds
// any request: one that does not fit is not stored, and evicts nothing.
func TestLargerTiersHaveNoFewerHits(t *testing.T) {
	for seed := range uint64(20) {
		before := int64(-1)
		for _, capacity := range []int{13, 17, 22, 30, 60, 400} {
			sc := example(13, [2]float64{100, 2}, [2]float64{100, 2}, visits(seed, 60)...)
			sc.Config.Offload.CPUBlocks = capacity
			hits, _, _ := tierOf(t, sc)
			if hits < before {
				t.Errorf("seed %d: %d tokens found in a tier of %d entries, %d in a smaller one", seed, hits, capacity, before)
			}
			before = hits
		}
		if before == 0 {
			t.Errorf("seed %d: nothing was ever found", seed)
		}
	}
}

// What GPU and tier find together does not depend on the size of the GPU's cache when
// the tier holds everything: each admission looks it up.
func TestHitsOfBothTiersDoNotDependOnTheGPU(t *testing.T) {
	for seed := range uint64(20) {
		found := map[int64]bool{}
		for _, gpu := range []int{13, 20, 60, 400} {
			sc := example(gpu, [2]float64{100, 2}, [2]float64{100, 2}, visits(seed, 60)...)
			sc.Config.MaxModelLen = 52
			p, _, err := playKV(sc, kvMode{unnamed: true}, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			found[p.e.Counters.CachedTokens] = true
		}
		if len(found) != 1 {
			t.Errorf("seed %d: cached tokens by the size of the GPU's cache: %v", seed, found)
		}
	}
}

// Twice the bandwidth halves what transfers take, up to truncation of each.
func TestTwiceTheBandwidthHalvesTransfers(t *testing.T) {
	for seed := range uint64(20) {
		slow := example(13, [2]float64{0, 40}, [2]float64{0, 40}, visits(seed, 60)...)
		fast := example(13, [2]float64{0, 20}, [2]float64{0, 20}, visits(seed, 60)...)
		_, loads, long := tierOf(t, slow)
		_, same, short := tierOf(t, fast)
		if loads != same || long != 2*short || long == 0 {
			t.Errorf("seed %d: %d and %d loads, %d and %d µs", seed, loads, same, long, short)
		}
	}
}

// Check sees transfers that never end, or end twice, overlap, are noticed too early, take
// another time than their blocks do, or were counted wrong: while they are under way, and
// once they were noticed.
func TestTransfersThatCannotBe(t *testing.T) {
	for _, x := range []struct {
		want  string
		spoil func(c *connector, moving []transfer)
	}{
		{"5 transfers of 10 blocks were submitted, 4 of 9 blocks are over", func(c *connector, moving []transfer) { c.store.moving = moving[:4] }},
		{"begins at 1252µs, before the one before it ends at 1001258µs", func(c *connector, moving []transfer) { moving[1] = moving[0] }},
		{"is submitted at 1253µs, from 1252µs to 1001258µs, and noticed at", func(_ *connector, moving []transfer) { moving[0].submitted = 1253 }},
		{"is submitted at 1252µs, from 1252µs to 1252µs, and noticed at", func(_ *connector, moving []transfer) { moving[0].end = 1252 }},
		{"a transfer of 7 blocks takes", func(_ *connector, moving []transfer) { moving[0].blocks++ }},
		{"5 of 11 were counted", func(c *connector, _ []transfer) { c.counts.StoredBlocks++ }},
		{"6 of 10 were counted", func(c *connector, _ []transfer) { c.counts.Stores++ }},
	} {
		for _, until := range []vtime.Time{20_000, 1e9} {
			sc := example(40, [2]float64{1e6, 1}, [2]float64{10, 1}, ask(0, 0, 20, [2]int64{10, 24}))
			p := &kvPlayer{results: map[int64][]any{}}
			e, err := kvEngine(sc, kvMode{slots: true}, false, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range sc.deliveries(false) {
				e.Deliver(&d, d.Arrival)
			}
			e.Advance(20_000, vtime.ClassStep)
			if err := e.Check(); err != nil {
				t.Fatal(err)
			}
			x.spoil(e.connector, e.connector.store.moving)
			e.connector.poll(&pass{}, until)
			if err := e.connector.checkTransfers(); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("noticed until %v: %v, want %s", until, err, x.want)
			}
		}
	}
}

// Check sees blocks that are held for nobody, and entries that nobody writes.
func TestTierBooksThatDoNotBalance(t *testing.T) {
	for what, spoil := range map[string]func(*connector){
		"held for transfers": func(c *connector) { c.held++ },
		"being written":      func(c *connector) { c.at(0).stored = false },
	} {
		sc := example(40, [2]float64{1e6, 1}, [2]float64{10, 1}, ask(0, 0, 40, [2]int64{10, 24}))
		p := &kvPlayer{results: map[int64][]any{}}
		e, err := kvEngine(sc, kvMode{slots: true}, false, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range sc.deliveries(false) {
			e.Deliver(&d, d.Arrival)
		}
		e.Advance(vtime.Time(20_000), vtime.ClassStep)
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
		spoil(e.connector)
		if err := e.Check(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
