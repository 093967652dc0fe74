package engine

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/internal/testsize"
	"blis/kv"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// The books are right at any instant, and after an instance was taken away at any.
func TestBooksOfDisaggregationAtAnyInstant(t *testing.T) {
	seed := lazySeed()
	for n := range testsize.Cases(t, 20, 60, 200) {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		sc := randomPairs(seed + uint64(n))
		at := vtime.Time(r.IntN(60_000))
		m := pdModes[r.IntN(len(pdModes))]
		if m.mail {
			sc.StartShare = 0
		}
		w, _, err := playPDTo(sc, m, false, nil, at)
		for k := 0; err == nil && k < len(w.sides); k++ {
			if err = w.sides[k].e.Check(); err == nil {
				w.sides[k].first[3] = 0 // it is told
				w.sides[k].e.Abort(at)
				err = w.sides[k].e.Check()
			}
		}
		if err != nil {
			t.Fatalf("seed %d, scenario %d at %d: %v", seed, n, at, err)
		}
	}
}

// randomPairs is a scenario of every feature, with tiers below the GPUs too.
func randomPairs(seed uint64) *pdScenario {
	r := rand.New(rand.NewPCG(seed, 0x9d))
	gpu := 14 + r.IntN(30)
	common := settings{"num_gpu_blocks": gpu + 1, "max_num_batched_tokens": 20 + r.IntN(60), "max_num_seqs": 1 + r.IntN(6), "max_model_len": 52,
		"async_scheduling": r.IntN(2) == 0, "enable_prefix_caching": r.IntN(6) > 0, "scheduler_reserve_full_isl": r.IntN(4) > 0, "IdleRelease": r.IntN(3) == 0}
	if common["async_scheduling"] == false && r.IntN(4) == 0 {
		common["idle_poll_us"] = 700
	}
	side := func() settings {
		s := settings{"num_gpu_blocks": gpu + 1 + r.IntN(20)}
		if r.IntN(2) == 0 {
			s["offload"] = settings{"cpu_blocks": 4 + r.IntN(80), "policy": []string{"lru", "arc"}[r.IntN(2)], "store": []int{r.IntN(400), r.IntN(300)}, "load": []int{r.IntN(400), r.IntN(100)}}
		}
		return s
	}
	decode := side()
	decode["kv_load_failure_policy"] = []string{"fail", "recompute"}[r.IntN(2)]
	sc := pair(side(), decode)
	var base settings
	if err := json.Unmarshal(sc.Config.Common, &base); err != nil {
		panic(err)
	}
	sc.Config.Common = base.with(common).text()
	sc.Config.Prefills, sc.Config.Decodes = 1+r.IntN(2), 1+r.IntN(2)
	sc.Config.Pull = [2]float64{float64(r.IntN(3000)), float64(r.IntN(200))}
	sc.Config.Proxy, sc.Config.Notify, sc.MaxHeld = int64(1+r.IntN(1000)), int64(1+r.IntN(300)), r.IntN(4)
	if r.IntN(2) == 0 || common["idle_poll_us"] != nil {
		sc.Config.Timeout = int64(2000 + r.IntN(20_000))
	}
	if r.IntN(3) == 0 {
		sc.StartShare = 1 - r.Float64()
	}
	at := int64(0)
	for k := range int64(10 + r.IntN(20)) {
		at += int64(r.IntN(3000))
		prompt := [][2]int64{}
		for range 1 + r.IntN(3) {
			prompt = append(prompt, [2]int64{int64(1 + r.IntN(4)), int64(1 + r.IntN(12))})
		}
		prompt = append(prompt, [2]int64{100 + k, int64(1 + r.IntN(5))})
		q := ask(k, at, int32(1+r.IntN(10)), prompt...)
		q.FailTransfer, q.Direct = r.IntN(8) == 0, r.IntN(6) == 0
		if r.IntN(5) == 0 {
			abort := at + 1 + int64(r.IntN(20_000))
			q.Abort = &abort
		}
		if r.IntN(6) == 0 {
			most := q.Output + int32(r.IntN(5))
			q.MaxOutput = &most
		}
		sc.Requests = append(sc.Requests, q)
	}
	return sc
}

// An instance that crashes at any instant loses what it holds and pulls, and goes on with its books.
func TestDisaggregationAfterARestart(t *testing.T) {
	seed := lazySeed()
	for n := range testsize.Cases(t, 20, 60, 200) {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		sc := randomPairs(seed + uint64(n))
		at := vtime.Time(r.IntN(60_000))
		w, _, err := playPDTo(sc, pdModes[3], false, nil, at) // without messages of a link, and without twins
		if err != nil {
			t.Fatalf("seed %d, scenario %d: %v", seed, n, err)
		}
		for _, s := range w.sides {
			awaiting := int64(s.e.Pulls.Awaiting())
			before := s.e.Disaggregated
			s.first[3] = 0 // it is told
			CutOff(s.e, at, func(*Delivery, *Progress, int32) {})
			cfg := s.e.cfg
			cfg.Cache = kv.NewPool(cfg.Cache.Total(), cfg.BlockSize, cfg.EnablePrefixCaching)
			if cfg.Offload != nil {
				o := *cfg.Offload
				o.Tier = kv.NewTier(kv.TierConfig{Capacity: o.Tier.Capacity(), Eviction: kv.LRU})
				cfg.Offload = &o
			}
			Restart(s.e, cfg)
			if before.HandOvers > 0 {
				s.e.Pulls.Over(KVSource{Number: before.HandOvers, Slot: 99, Blocks: 1}, at) // of before the restart
			}
			d := Delivery{Request: workload.NewRequest(at, 9, 1), Admitted: at}
			d.ID, d.Deadline = 1000, vtime.Never
			s.e.Deliver(&d, at)
			s.e.Advance(at+100_000, vtime.ClassStep)
			k := &s.e.Disaggregated
			if err := s.e.Check(); err != nil || k.Lost > awaiting || k.HandOvers != before.HandOvers || s.results[1000] == nil {
				t.Fatalf("seed %d, scenario %d at %d: %s: %v, %d of %d prefills that waited were lost; result %v", seed, n, at, s.name, err, k.Lost, awaiting, s.results[1000])
			}
		}
	}
}

// A request that gives back what it pulled, to break a deadlock, computes its prompt: nothing is said to be pulled.
func TestRequestThatGivesItsPullBack(t *testing.T) {
	sc := randomPairs(6251711267775609348 + 148) // until the generator changes: then another that breaks one on a decode instance
	w, _, err := playPD(sc, pdModes[0], false, nil)
	if err != nil {
		t.Fatal(err)
	}
	breaks := int64(0)
	for _, s := range w.decode {
		breaks += s.e.Disaggregated.DeadlockBreak
	}
	if o := w.decode[0].overs[21]; breaks == 0 || o.PullEnd == vtime.Never || o.RemoteTokens != 0 {
		t.Errorf("%d deadlocks broken, hand-over %+v", breaks, o)
	}
}

// pdRun is what all modes must agree in, of one instance.
type pdRun struct {
	rows    []kvRow
	results map[int64][]any
	cache   uint64
	tier    metrics.KVTier
	books   metrics.Disaggregation
	overs   map[int64]metrics.HandOver
}

// Modes agree, with tiers below the GPUs too, and requests never stand still.
func TestModesOfPrefillAndDecodeAgree(t *testing.T) {
	seed := lazySeed()
	seen := metrics.Disaggregation{}
	for n := range testsize.Cases(t, 40, 150, 600) {
		sc := randomPairs(seed + uint64(n))
		runs, heard := map[bool][]pdRun{}, map[pdAbort]pdHearing(nil)
		for _, m := range append(slices.Clone(pdModes), kvMode{name: "all twins", stepByStep: true, blocks: true, slots: true, unnamed: true}) {
			if m.mail && sc.StartShare > 0 {
				continue
			}
			if m.mail && bytes.Contains(sc.Config.Decode, []byte("offload")) {
				continue // what is heard while a step waits for the stores of a victim is noticed by the next pass
			}
			w, stuck, err := playPD(sc, m, false, heard)
			if err != nil || len(stuck) > 0 {
				t.Fatalf("seed %d, scenario %d: %s: %v, stuck: %v", seed, n, m.name, err, stuck)
			}
			if heard == nil {
				heard = w.heard
			}
			var list []pdRun
			for _, s := range w.sides {
				x := pdRun{s.rows, s.results, s.e.cfg.Cache.Fold(), s.e.Tier, s.e.Disaggregated, s.overs}
				for k := range x.rows {
					r := &x.rows[k]
					r.FL, r.CPU, r.ARC, r.Loads, r.Stores, r.KVEvents, r.Invalid = "", "", nil, nil, nil, nil, nil
				}
				list = append(list, x)
			}
			first, ok := runs[m.unnamed] // what is only its own content has no key
			if !ok {
				runs[m.unnamed] = list
				for _, x := range list {
					add(&seen, &x.books)
				}
				continue
			}
			for k := range list {
				if m.silent {
					list[k].rows = first[k].rows
				}
				if !reflect.DeepEqual(list[k], first[k]) {
					t.Fatalf("seed %d, scenario %d: %s: %s differs (-first +this):\n%s", seed, n, m.name, w.sides[k].name, cmp.Diff(first[k], list[k], cmp.AllowUnexported(pdRun{}, kvMove{})))
				}
			}
		}
	}
	if seen.StalePulls == 0 || seen.Expired == 0 || seen.NoticedLeft == 0 || seen.FailedPulls == 0 || seen.WithoutKV == 0 {
		t.Errorf("seed %d: not everything happened: %+v", seed, seen)
	}
}

// add adds counters to others.
func add(to, from *metrics.Disaggregation) {
	x, y := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for k := range x.NumField() {
		x.Field(k).SetInt(x.Field(k).Int() + y.Field(k).Int())
	}
}
