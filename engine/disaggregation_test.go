package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/internal/testsize"
	"blis/metrics"
	"blis/vtime"
)

// settings are those of engines in a scenario with prefill and decode instances.
type settings map[string]any

// with returns the settings, some of them replaced.
func (s settings) with(more settings) settings {
	all := settings{}
	for _, list := range []settings{s, more} {
		for k, x := range list {
			all[k] = x
		}
	}
	return all
}

func (s settings) text() json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return text
}

// pair is one prefill and one decode instance of the worked example: blocks of 4 tokens, steps of
// 1,000 µs and 10.5 µs per prefill and 20.25 µs per decode token; a pull of n blocks takes
// 200 + 30.5·n µs, a hand-over 500.
func pair(prefill, decode settings, requests ...scenarioRequest) *pdScenario {
	sc := &pdScenario{Requests: requests}
	c := &sc.Config
	c.Common = settings{"block_size": 4, "num_gpu_blocks": 401, "max_num_batched_tokens": 256, "max_num_seqs": 16, "max_model_len": 256,
		"enable_prefix_caching": true, "enable_chunked_prefill": true, "policy": "fcfs", "scheduler_reserve_full_isl": true, "beta": []float64{1000, 10.5, 20.25}}.text()
	c.Prefill, c.Decode = prefill.text(), decode.text()
	c.Pull, c.Proxy, c.Notify = [2]float64{200, 30.5}, 500, 1
	return sc
}

// eachPair plays a scenario in all modes. f gets the prefill and the decode instance.
func eachPair(t *testing.T, sc *pdScenario, f func(p, d *pdSide, shown bool) error) {
	t.Helper()
	var lost map[pdLoss]bool
	for _, m := range pdModes {
		if m.mail && sc.StartShare > 0 {
			continue // the link knows nothing of parts
		}
		w, stuck, err := playPD(sc, m, false, lost)
		lost = w.lost
		if err == nil && len(stuck) > 0 {
			err = fmt.Errorf("requests never end on %v", stuck)
		}
		for k := 0; err == nil && k < len(w.sides); k++ {
			if n := w.sides[k].e.Tier.DeadlockBreak; n > 0 {
				err = fmt.Errorf("%s broke %d deadlocks, want none", w.sides[k].name, n)
			}
		}
		if err == nil {
			err = f(w.sides[0], w.sides[1], !m.silent)
		}
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// Nine tokens are prefilled until 1,094 and handed over until 1,594. Their three blocks are pulled
// until 1,885, and the ninth token is computed again until 2,895. The prefill instance notices the
// end of the pull when its next step has ended, at 2,668, and frees the blocks at once.
func TestPullOfWorkedExample(t *testing.T) {
	sc := pair(nil, nil, ask(0, 0, 3, [2]int64{1, 9}), ask(1, 1500, 1, [2]int64{2, 16}))
	eachPair(t, sc, func(p, d *pdSide, shown bool) error {
		if got := d.results[0][0]; got != int64(2895) {
			return fmt.Errorf("first token at %v, want 2,895", got)
		}
		if k := &d.e.Disaggregated; k.RemoteTokens != 8+15 || k.Pulls != 2 || k.PullMicros != 291+322 {
			return fmt.Errorf("%d tokens were pulled in %d pulls of %d µs in all, want 23 in 2 of 613 µs", k.RemoteTokens, k.Pulls, k.PullMicros)
		}
		if n := p.e.Pulls.Awaiting(); n != 1 {
			return fmt.Errorf("%d prefills await their pull at the end, want the second: nobody wakes the instance", n)
		}
		if !shown {
			return nil
		}
		if want := [5]any{"pd", 0.0, 3.0, 1594.0, 1885.0}; !slices.Contains(d.at(1594).Xfers, want) {
			return fmt.Errorf("pulls at 1,594: %v, want %v", d.at(1594).Xfers, want)
		}
		if r := d.at(1885); !slices.Contains(r.Scheduled, [2]int64{0, 1}) || r.End != 2895 {
			return fmt.Errorf("at 1,885 %v until %d, want one token until 2,895", r.Scheduled, r.End)
		}
		if step, empty := p.at(1500), p.at(2668); step.Free != 393 || !slices.Equal(empty.Sent, []int64{0}) || empty.End != 2668 || empty.Free != 393 {
			return fmt.Errorf("%d blocks free after the formation at 1,500, want 393; at 2,668 %v is noticed until %d", step.Free, empty.Sent, empty.End)
		}
		if free := p.e.cfg.Cache.Free(); free != 396 {
			return fmt.Errorf("%d blocks free at the end, want 396", free)
		}
		return nil
	})
}

// With half of its three blocks the request of the worked example starts 30 µs earlier. A step that
// would end before the rest of a pull waits for it: of 40 blocks 4 are there after 322 µs, and all
// 1,098 µs later. A request that leaves in between leaves
// its blocks held until then.
func TestStartBeforeAPullHasEnded(t *testing.T) {
	sc := pair(nil, nil, ask(0, 0, 3, [2]int64{1, 9}))
	sc.StartShare = 0.5
	eachPair(t, sc, func(p, d *pdSide, shown bool) error {
		if got := d.results[0][0]; got != int64(2865) {
			return fmt.Errorf("first token at %v, want 2,865", got)
		}
		return nil
	})
	long := pair(nil, nil, ask(0, 0, 3, [2]int64{1, 160}))
	long.StartShare = 0.1 // prefill until 2,680, queued at 3,180, four blocks at 3,502, all at 4,600
	eachPair(t, long, func(p, d *pdSide, shown bool) error {
		if got := d.results[0][0]; got != int64(4600) {
			return fmt.Errorf("first token at %v, want 4,600", got)
		}
		return nil
	})
	abort := int64(9000)
	long.Requests[0].Abort = &abort
	long.Config.Decode, long.Config.Pull = settings{"max_num_seqs": 1}.text(), [2]float64{200, 305}
	busy := ask(1, 1000, 30, [2]int64{2, 8})
	busy.Direct = true
	long.Requests = append(long.Requests, busy)
	eachPair(t, long, func(p, d *pdSide, shown bool) error {
		if d.results[0][4] != "aborted" || d.e.connector.held != 0 {
			return fmt.Errorf("request 0 is %v, %d blocks are held at the end", d.results[0], d.e.connector.held)
		}
		for k := range d.rows {
			switch r := &d.rows[k]; {
			case r.Start > 10_000 && r.Start < 16_000 && r.Free > 360:
				return fmt.Errorf("at %d %d blocks are free; the pull lasts until 16,524", r.Start, r.Free)
			case r.Start > 19_000 && r.Free < 390:
				return fmt.Errorf("at %d %d blocks are free; the pull has ended at 16,524", r.Start, r.Free)
			}
		}
		return nil
	})
}

// A prefill instance with as many prefills that await their pull as it may have admits nobody until
// it has noticed the end of a pull.
func TestPrefillsThatAwaitTheirPullHoldOthersBack(t *testing.T) {
	sc := pair(nil, nil, ask(0, 0, 1, [2]int64{1, 9}), ask(1, 100, 1, [2]int64{2, 16}))
	sc.MaxHeld = 1
	eachPair(t, sc, func(p, d *pdSide, shown bool) error {
		if p.results[1][0] != int64(1885+1168) {
			return fmt.Errorf("the second prefill ends at %v, want 3,053: 1,168 µs after the end of the first pull", p.results[1][0])
		}
		if k := &p.e.Disaggregated; k.PeakAwaiting != 1 {
			return fmt.Errorf("%d prefills awaited their pull at once", k.PeakAwaiting)
		}
		return nil
	})
}

// The blocks of the first prefill are given up 2,000 µs after it, and not pulled before: the decode
// instance has no room. When it pulls them after all, that is counted.
func TestPullsThatComeTooLate(t *testing.T) {
	first, second := ask(0, 0, 30, [2]int64{1, 40}), ask(1, 10, 3, [2]int64{2, 40})
	sc := pair(nil, settings{"num_gpu_blocks": 20, "max_model_len": 76}, first, second, ask(2, 10_000, 1, [2]int64{3, 16}), ask(3, 60_000, 1, [2]int64{3, 16}))
	sc.Config.Timeout = 5000
	eachPair(t, sc, func(p, d *pdSide, shown bool) error {
		if k := &p.e.Disaggregated; k.Expired != 1 || k.StalePulls != 1 || k.HandOvers != 4 {
			return fmt.Errorf("%d prefills expired, %d pulls were stale, of %d", k.Expired, k.StalePulls, k.HandOvers)
		}
		if d.results[1][4] != "completed" {
			return fmt.Errorf("the second request is %v", d.results[1])
		}
		return nil
	})
}

// A request that leaves before its pull tells the prefill instance; its pass after that frees the
// blocks.
func TestRequestsThatLeaveBeforeTheirPull(t *testing.T) {
	abort := int64(8000)
	second := ask(1, 10, 3, [2]int64{2, 40})
	second.Abort = &abort
	sc := pair(nil, settings{"num_gpu_blocks": 20, "max_model_len": 76}, ask(0, 0, 30, [2]int64{1, 40}), second, ask(2, 40_000, 1, [2]int64{3, 16}))
	eachPair(t, sc, func(p, d *pdSide, shown bool) error {
		if a, b := &p.e.Disaggregated, &d.e.Disaggregated; a.NoticedLeft != 1 || b.Left != 1 || a.Expired != 0 {
			return fmt.Errorf("%d left, %d were noticed, %d expired", b.Left, a.NoticedLeft, a.Expired)
		}
		return nil
	})
}

// An instance that is taken away loses what it holds and what it pulls, and its books say so.
func TestDisaggregationOfAnInstanceThatIsTakenAway(t *testing.T) {
	for _, m := range pdModes {
		sc := pair(nil, nil, ask(0, 0, 3, [2]int64{1, 9}), ask(1, 1200, 3, [2]int64{2, 9}), ask(2, 1300, 3, [2]int64{3, 9}))
		w, _, err := playPDTo(sc, m, false, nil, 1800)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range w.sides {
			s.e.Abort(1800)
			if err := s.e.Check(); err != nil {
				t.Errorf("%s: %s: %v", m.name, s.name, err)
			}
			if n := s.e.cfg.Cache.Free(); n != 400 {
				t.Errorf("%s: %s: %d blocks are free, want all", m.name, s.name, n)
			}
		}
		if k := &w.sides[0].e.Disaggregated; k.HandOvers != 1 || k.Lost != 1 {
			t.Errorf("%s: %d prefills left KV, %d were lost; want 1 and 1", m.name, k.HandOvers, k.Lost)
		}
		w.sides[0].e.Pulls.Over(KVSource{Request: 0, Number: 1, Slot: 0, Blocks: 3}, 1885)
		if k := &w.sides[0].e.Disaggregated; k.StalePulls != 0 {
			t.Errorf("%s: a pull of lost KV is said to be stale", m.name)
		}
	}
}

// A pull that comes too late frees nothing: the slot of what it read has the KV of another request by
// then.
func TestPullsThatComeTooLateFreeNothing(t *testing.T) {
	for _, m := range pdModes {
		sc := pair(nil, nil, ask(0, 0, 3, [2]int64{1, 9}), ask(1, 4000, 3, [2]int64{2, 9}), ask(2, 6000, 3, [2]int64{3, 9}))
		sc.Config.Proxy, sc.Config.Timeout = 1_000_000, 2000
		w, _, err := playPDTo(sc, m, false, nil, 9000)
		if err != nil {
			t.Fatal(err)
		}
		e := w.sides[0].e
		if s := &e.connector.disaggregation.slots[0]; s.hold != 3 {
			t.Fatalf("%s: slot 0 has KV %d, want the third", m.name, s.hold)
		}
		e.Pulls.Over(KVSource{Request: 0, Number: 1, Slot: 0, Blocks: 3}, 9000)
		if k := &e.Disaggregated; k.StalePulls != 1 || len(e.connector.disaggregation.over) > 0 {
			t.Errorf("%s: %d stale pulls, %d prefills are over", m.name, k.StalePulls, len(e.connector.disaggregation.over))
		}
	}
}

// The books are right at any instant, and after an instance was taken away at any.
func TestBooksOfDisaggregationAtAnyInstant(t *testing.T) {
	seed := lazySeed()
	for n := range testsize.Cases(t, 20, 60, 500) {
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

// pdRun is what all modes must agree in, of one instance.
type pdRun struct {
	rows    []kvRow
	results map[int64][]any
	cache   uint64
	tier    metrics.KVTier
	books   metrics.Disaggregation
}

// Modes agree, with tiers below the GPUs too, and requests never stand still.
func TestModesOfPrefillAndDecodeAgree(t *testing.T) {
	seed := lazySeed()
	seen := metrics.Disaggregation{}
	for n := range testsize.Cases(t, 40, 150, 2000) {
		sc := randomPairs(seed + uint64(n))
		runs, lost := map[bool][]pdRun{}, map[pdLoss]bool(nil)
		for _, m := range append(slices.Clone(pdModes), kvMode{name: "all twins", stepByStep: true, blocks: true, slots: true, unnamed: true}) {
			if m.mail && sc.StartShare > 0 {
				continue
			}
			if m.mail && bytes.Contains(sc.Config.Decode, []byte("offload")) {
				continue // what is heard while a step waits for the stores of a victim is noticed by the next pass
			}
			w, stuck, err := playPD(sc, m, false, lost)
			if err != nil || len(stuck) > 0 {
				t.Fatalf("seed %d, scenario %d: %s: %v, stuck: %v", seed, n, m.name, err, stuck)
			}
			if lost == nil {
				lost = w.lost
			}
			var list []pdRun
			for _, s := range w.sides {
				x := pdRun{s.rows, s.results, s.e.cfg.Cache.Fold(), s.e.Tier, s.e.Disaggregated}
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
