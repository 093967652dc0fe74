package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/kv"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// scenarioStorage is a storage tier of a scenario.
type scenarioStorage struct {
	Entries     int
	Read, Write [2]float64
}

// addStorage makes the storage tiers of a scenario.
func (p *kvPlayer) addStorage(o *Offload, sc *scenario, m kvMode) {
	tiers := sc.Config.Offload.Storage
	p.byMail = m.mail && len(tiers) > 0
	for _, s := range tiers {
		c := kv.TierConfig{Capacity: s.Entries, Eviction: kv.LRU}
		var store kv.Tier = kv.NewTier(c)
		if m.slots {
			store = kv.NewNaiveTier(c)
		}
		tier := NewStorageTier(StorageConfig{Tier: store, EntryTokens: o.EntryTokens, EntryBlocks: o.EntryTokens / sc.Config.BlockSize,
			Read: Link{s.Read[0], s.Read[1]}, Write: Link{s.Write[0], s.Write[1]}})
		p.storage = append(p.storage, tier)
		if o.Storage = append(o.Storage, tier); m.mail {
			o.Storage[len(o.Storage)-1] = &mailed{p, tier}
		}
	}
}

// mailed is a storage tier whose answers come as messages.
type mailed struct {
	p    *kvPlayer
	tier *StorageTier
}

func (m *mailed) Submit(op *StorageOp, now vtime.Time) (StorageAnswer, bool) {
	if first := m.p.first; now < first {
		panic(fmt.Sprintf("an operation is submitted at %v; the instance said that none is before %v", now, first))
	}
	m.p.mail = append(m.p.mail, m.tier.Handle(op, now))
	slices.SortStableFunc(m.p.mail, func(x, y StorageAnswer) int { return int(x.End - y.End) })
	return StorageAnswer{}, false
}

// advanceAlone is Engine.Advance for an instance that must come to rest.
func (p *kvPlayer) advanceAlone(until vtime.Time, class uint8) {
	for events := 0; ; events++ {
		at, next := p.e.Next()
		if at > until || at == until && next >= class || at == vtime.Never {
			return
		}
		if events > 100_000 {
			panic(fmt.Sprintf("the instance is still awake at %v", at))
		}
		p.e.Act(until, class)
	}
}

// advance is Engine.Advance, with answers of storage tiers in between. An answer comes a
// microsecond after its operation at the earliest: nothing goes further than that.
func (p *kvPlayer) advance(until vtime.Time, class uint8) {
	e := p.e
	if !p.byMail {
		p.advanceAlone(until, class)
		return
	}
	for {
		at, next := e.Next()
		if len(p.mail) > 0 && (p.mail[0].End < at || p.mail[0].End == at && next > vtime.ClassTransfer) {
			at, next = p.mail[0].End, vtime.ClassTransfer
		}
		if at > until || at == until && next >= class || at == vtime.Never {
			return
		}
		if p.first = e.Storage.FirstSubmission(); next == vtime.ClassTransfer {
			a := p.mail[0]
			p.mail = p.mail[1:]
			e.Storage.Answer(a, at)
			continue
		}
		h, c := until, class
		if first := p.first; first != vtime.Never && first.Add(1) < h {
			h, c = first.Add(1), vtime.ClassTransfer
		}
		if len(p.mail) > 0 && p.mail[0].End < h {
			h, c = p.mail[0].End, vtime.ClassTransfer
		}
		if h < at || h == at && c <= next { // the answers of this event come later
			h, c = at, next+1
		}
		e.Act(h, c)
	}
}

// storageModes are the modes in which storage tiers answer at once, and by messages.
func storageModes() (list []kvMode) {
	for _, m := range kvModes {
		list = append(list, m)
		m.mail, m.name = true, m.name+", by messages"
		list = append(list, m)
	}
	return list
}

// stored is a prompt of six entries that neither GPU nor CPU tier still have when it comes
// again at 40,000.
func stored(tiers ...scenarioStorage) *scenario {
	requests := append(evict(1, 4000, 4000, 5), ask(0, 0, 3, [2]int64{10, 24}), ask(9, 40_000, 4, [2]int64{10, 24}))
	sc := example(14, [2]float64{100, 20.5}, [2]float64{150, 25.25}, requests...)
	sc.Config.Offload.CPUBlocks = 12
	sc.Config.Offload.Storage = tiers
	return sc
}

// The idle instance asks at 40,000 and has the answer 50 µs later; the pass then takes six slots
// of the CPU tier and reads for 50 + 6 · 10 µs; the pass at 40,160 notices it, the one after it
// loads for 150 + 6 · 25.25 µs, and one token is computed.
func TestReadFromStorage(t *testing.T) {
	sc := stored(scenarioStorage{400, [2]float64{50, 10}, [2]float64{30, 20}})
	eachOf(t, storageModes(), sc, func(p *kvPlayer) error {
		if want := [5]any{"load", 9.0, 6.0, 40_160.0, 40_461.0}; !slices.Contains(p.at(40_160).Xfers, want) {
			return fmt.Errorf("loads submitted at 40,160: %v, want %v", p.at(40_160).Xfers, want)
		}
		if got := p.results[9][0]; got != int64(41_471) {
			return fmt.Errorf("first token at %v, want 41,471", got)
		}
		c, k := &p.storage[0].Counts, &p.e.Tier
		want := metrics.KVStorage{Capacity: 400, EntryBlocks: 1, PeakUsed: 36, UsedMicros: c.UsedMicros,
			Asked: 7, AskedEntries: 42, FoundEntries: 6, ReadEntries: 6, WrittenEntries: 36, Reads: 1, Writes: 6, ReadMicros: 110, WriteMicros: 6 * 150}
		if d := cmp.Diff(want, *c); d != "" {
			return fmt.Errorf("counts (-want +got):\n%s", d)
		}
		if k.StorageTokens != 23 || k.CachedTokens != 0 || k.Promoted != 6 || k.Found != 1 || k.Vanished != 0 {
			return fmt.Errorf("%d tokens from storage, %d from the CPU tier, %d entries promoted, %d found, %d vanished", k.StorageTokens, k.CachedTokens, k.Promoted, k.Found, k.Vanished)
		}
		return nil
	})
}

// The first tier that has something is read; one that has nothing costs its answer.
func TestStorageTiersAreAskedInOrder(t *testing.T) {
	small := scenarioStorage{6, [2]float64{70, 10}, [2]float64{30, 20}}
	large := scenarioStorage{400, [2]float64{50, 10}, [2]float64{30, 20}}
	eachOf(t, storageModes(), stored(small, large), func(p *kvPlayer) error {
		if got := p.results[9][0]; got != int64(41_471+70) {
			return fmt.Errorf("first token at %v, want 41,541", got)
		}
		return nil
	})
	eachOf(t, storageModes(), stored(large, small), func(p *kvPlayer) error {
		if got := p.results[9][0]; got != int64(41_471) {
			return fmt.Errorf("first token at %v, want 41,471", got)
		}
		p.storage[1].Finish(p.e.Now())
		if c := &p.storage[1].Counts; c.Asked != 6 || c.WrittenEntries != 42 || c.Evicted != 36 {
			return fmt.Errorf("the second tier was asked %d times, has written %d entries and evicted %d", c.Asked, c.WrittenEntries, c.Evicted)
		}
		return nil
	})
}

// An answer is used once: when it came the CPU tier had no room, as all its entries were being
// written for running requests. When one of them ends there is room, while the request still waits
// for GPU blocks, and nothing is read.
func TestAnswersOfStorageAreUsedOnce(t *testing.T) {
	requests := append(evict(10, 4000, 4000, 3), ask(0, 0, 3, [2]int64{10, 24}), ask(1, 19_000, 40, [2]int64{12, 4}), ask(2, 20_000, 4, [2]int64{11, 36}), ask(3, 22_000, 3, [2]int64{10, 24}, [2]int64{13, 28}))
	sc := example(14, [2]float64{100, 20.5}, [2]float64{150, 25.25}, requests...)
	sc.Config.Offload.CPUBlocks = 10
	sc.Config.Offload.Storage = []scenarioStorage{{400, [2]float64{50, 10}, [2]float64{30, 20}}}
	eachOf(t, storageModes(), sc, func(p *kvPlayer) error {
		c, k := &p.storage[0].Counts, &p.e.Tier
		if k.Found != 1 || c.Reads != 0 || k.Promoted != 0 {
			return fmt.Errorf("%d questions of %d found something, %d reads of %d entries; want 1 and 0", k.Found, c.Asked, c.Reads, k.Promoted)
		}
		return nil
	})
}

// storageStep is an operation of a storage tier at a time, and its answer.
type storageStep struct {
	at   vtime.Time
	kind StorageKind
	part []StoragePart
	want StorageAnswer
}

// partsOf is a range of the entries of a prompt that no other request has.
func partsOf(id uint64, from, to int32) []StoragePart {
	return []StoragePart{{ID: id, Input: 100, Spans: []workload.Span{{Content: workload.ContentID(id), Length: 100}}, EntryRange: kv.EntryRange{From: from, To: to}}}
}

// playStorageTier plays the steps on a storage tier by itself and on its naive twin, up to end. wrong reports whether
// their counts are.
func playStorageTier(t *testing.T, capacity int, faults StorageFaults, end vtime.Time, steps []storageStep, wrong func(*metrics.KVStorage) bool) {
	t.Helper()
	c := kv.TierConfig{Capacity: capacity, Eviction: kv.LRU}
	for i, store := range []kv.Tier{kv.NewTier(c), kv.NewNaiveTier(c)} {
		tier := NewStorageTier(StorageConfig{Tier: store, EntryTokens: 4, EntryBlocks: 1, Read: Link{50, 10}, Write: Link{30, 20}, Faults: faults})
		for _, x := range steps {
			if got := tier.Handle(&StorageOp{Kind: x.kind, Parts: x.part}, x.at); got != x.want {
				t.Errorf("naive %v: %v of %v at %v: %+v, want %+v", i == 1, x.kind, x.part, x.at, got, x.want)
			}
			if err := tier.Check(); err != nil {
				t.Fatal(err)
			}
		}
		if tier.Finish(end); wrong(&tier.Counts) {
			t.Errorf("naive %v: %+v", i == 1, tier.Counts)
		}
	}
}

// A storage tier by itself: what is being written cannot be read before the write ends, a read
// keeps its entries until it ends, each station does one thing at a time, and what is used longest
// ago goes first.
func TestStorageTier(t *testing.T) {
	playStorageTier(t, 6, nil, 450, []storageStep{
		{0, StorageAsk, partsOf(1, 0, 4), StorageAnswer{0, 0, 0, 0, 50}},
		{0, StorageWrite, partsOf(1, 0, 4), StorageAnswer{0, 4, 4, 0, 110}},
		{0, StorageWrite, partsOf(2, 0, 2), StorageAnswer{0, 2, 6, 110, 180}},   // behind the first
		{0, StorageWrite, partsOf(2, 0, 2), StorageAnswer{0, 0, 6, 0, 30}},      // all there already
		{5, StorageWrite, partsOf(3, 0, 1), StorageAnswer{0, 0, 6, 5, 35}},      // no room: all is being written
		{109, StorageAsk, partsOf(1, 0, 4), StorageAnswer{0, 0, 6, 109, 159}},   // one microsecond too early
		{110, StorageAsk, partsOf(1, 0, 9), StorageAnswer{0, 4, 6, 110, 160}},   // as many as there are
		{180, StorageRead, partsOf(1, 1, 4), StorageAnswer{0, 3, 6, 180, 260}},  // 50 + 3 · 10
		{180, StorageRead, partsOf(1, 2, 4), StorageAnswer{0, 2, 6, 260, 330}},  // behind the first
		{200, StorageWrite, partsOf(4, 0, 4), StorageAnswer{0, 0, 6, 200, 230}}, // 2 and the head of 1 would be too few
		{200, StorageWrite, partsOf(4, 0, 3), StorageAnswer{0, 3, 6, 200, 290}}, // those three go
		{300, StorageRead, partsOf(2, 0, 2), StorageAnswer{0, 0, 6, 300, 350}},  // evicted since
		{300, StorageRead, partsOf(1, 0, 4), StorageAnswer{0, 0, 6, 300, 350}},  // its head too
		{330, StorageWrite, partsOf(5, 0, 3), StorageAnswer{0, 3, 6, 330, 420}}, // nobody reads 1 any more
		{419, StorageRead, partsOf(5, 0, 3), StorageAnswer{0, 0, 6, 419, 469}},  // one microsecond too early
		{420, StorageRead, partsOf(5, 0, 3), StorageAnswer{0, 3, 6, 420, 500}},
	}, func(c *metrics.KVStorage) bool {
		return c.Evicted != 6 || c.NoRoom != 2 || c.Reads != 3 || c.Writes != 4 || c.ReadMicros != 80+70+30 || c.WriteMicros != 110+70+90+90 || c.ReadWait != 80 || c.WriteWait != 110 || c.UsedMicros != 6*450
	})
}

// drawStorage draws prompts that share prefixes, on an instance whose GPU and CPU tier are too
// small for them, with one or two storage tiers.
func drawStorage(seed uint64) *scenario {
	r := rand.New(rand.NewPCG(seed, 7))
	n, long := 10+r.IntN(40), r.IntN(3) == 0 // or few requests that decode together, with slow writes
	if long {
		n = 3 + r.IntN(8)
	}
	var requests []scenarioRequest
	at := int64(0)
	for k := range n {
		at += int64(r.IntN(6000))
		doc := int64(10 + r.IntN(6))
		output := 1 + r.IntN(12)
		if long {
			output *= 5
		}
		q := ask(int64(k), at, int32(output), [2]int64{doc, int64(4 * (1 + r.IntN(8)))}, [2]int64{1000 + int64(r.IntN(12)), int64(1 + r.IntN(9))})
		requests = append(requests, q)
	}
	link := func() [2]float64 { return [2]float64{float64(r.IntN(3000)), float64(r.IntN(200))} }
	sc := example(26+r.IntN(20), link(), link(), requests...)
	c := &sc.Config
	c.MaxModelLen = 100
	c.Budget, c.Seats = int32(8+r.IntN(60)), int32(1+r.IntN(6))
	c.Async = r.IntN(3) == 0
	if c.Offload.CPUBlocks = 2 + r.IntN(24); r.IntN(3) == 0 {
		c.Offload.Policy = "arc"
	}
	if !c.Async && r.IntN(4) == 0 {
		c.IdlePoll = 1000
	}
	for range 1 + r.IntN(2) {
		c.Offload.Storage = append(c.Offload.Storage, scenarioStorage{4 + r.IntN(60), link(), link()})
	}
	if long {
		sc.Config.NumGPUBlocks, c.Offload.BlockSize = 120, 16
		for k := range c.Offload.Storage {
			c.Offload.Storage[k].Write[0] *= 10
		}
	}
	return sc
}

// All modes agree, and it does not matter whether answers come at once or by messages.
func TestStorageModesAgree(t *testing.T) {
	trials := 60
	if testing.Short() {
		trials = 15
	}
	first := rand.Uint64()
	var promoted, vanished, written int64
	for seed := first; seed < first+uint64(trials); seed++ {
		sc := drawStorage(seed)
		var rows []kvRow
		var results map[int64][]any
		var counts []metrics.KVStorage
		var tier metrics.KVTier
		for k, m := range storageModes() {
			p, stuck, err := playKV(sc, m, false, nil)
			if err != nil || stuck {
				t.Fatalf("seed %d, %s: stuck %v, %v", seed, m.name, stuck, err)
			}
			var got []metrics.KVStorage
			for _, s := range p.storage {
				s.Finish(p.e.Now())
				if err := s.Check(); err != nil {
					t.Fatalf("seed %d, %s: %v", seed, m.name, err)
				}
				got = append(got, s.Counts)
			}
			if k == 0 {
				rows, results, counts, tier = p.rows, p.results, got, p.e.Tier
				promoted, vanished = promoted+p.e.Tier.Promoted, vanished+p.e.Tier.Vanished
				written += got[0].WrittenEntries
				continue
			}
			if d := cmp.Diff(results, p.results) + cmp.Diff(counts, got) + cmp.Diff(tier, p.e.Tier); d != "" {
				t.Fatalf("seed %d, %s (-%s +this):\n%s", seed, m.name, storageModes()[0].name, d)
			}
			for i := 0; !m.silent && (i < len(rows) || i < len(p.rows)); i++ {
				if i >= len(rows) || i >= len(p.rows) || rows[i].Start != p.rows[i].Start || !cmp.Equal(rows[i].Xfers, p.rows[i].Xfers) {
					t.Fatalf("seed %d, %s: pass %d", seed, m.name, i)
				}
			}
		}
	}
	if promoted == 0 || written == 0 || vanished == 0 && trials > 15 {
		t.Errorf("seed %d: %d entries written, %d promoted, %d vanished", first, written, promoted, vanished)
	}
}

// A request that was admitted with its question open, and preempted, hears no answer to it: it
// asks once more, here 50 µs later than in TestReadFromStorage.
func TestAnswersAreForTheQuestionThatAsked(t *testing.T) {
	sc := stored(scenarioStorage{400, [2]float64{50, 10}, [2]float64{30, 20}})
	p := &kvPlayer{results: map[int64][]any{}, lost: []int64{}, now: -1}
	e, err := kvEngine(sc, kvMode{mail: true}, true, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range sc.deliveries(false) {
		p.advance(r.Arrival, vtime.ClassDelivery)
		e.Deliver(&r, r.Arrival)
	}
	p.advance(40_001, 0)
	for i := range e.connector.slots {
		if e.connector.at(int32(i)).question.state == asking {
			e.connector.preempted(int32(i))
		}
	}
	p.advance(vtime.Never, 255)
	if got := p.results[9][0]; got != int64(41_521) || p.storage[0].Counts.Asked != 8 {
		t.Errorf("first token at %v, %d questions; want 41,521 and 8", got, p.storage[0].Counts.Asked)
	}
	if err := e.Check(); err != nil {
		t.Error(err)
	}
}
