package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"blis/metrics"
	"blis/vtime"
	"blis/workload"
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
	var heard map[pdAbort]pdHearing
	for _, m := range pdModes {
		if m.mail && sc.StartShare > 0 {
			continue // the link knows nothing of parts
		}
		w, stuck, err := playPD(sc, m, false, heard)
		heard = w.heard
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
		if got, want := d.overs[0], (metrics.HandOver{Queued: 0, Scheduled: 0, Ended: 1094, PullStart: 1594, PullEnd: 1885, RemoteTokens: 8}); got != want {
			return fmt.Errorf("hand-over %+v, want %+v", got, want)
		}
		if k := &d.e.Disaggregated; k.PulledPrompts != 9+16 || k.PulledCached != 0 || d.e.State().CachedTokens != 0 || p.e.Disaggregated.HeldMicros == 0 {
			return fmt.Errorf("prompts of %d tokens were pulled, %d of them cached; cached by the signals %d; held for %d block·µs", k.PulledPrompts, k.PulledCached, d.e.State().CachedTokens, p.e.Disaggregated.HeldMicros)
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
	busy := ask(1, 4000, 30, [2]int64{2, 8})
	busy.Direct = true
	long.Requests = append(long.Requests, busy)
	eachPair(t, long, func(p, d *pdSide, shown bool) error {
		if d.results[0][4] != "aborted" || d.e.connector.held != 0 {
			return fmt.Errorf("request 0 is %v, %d blocks are held at the end", d.results[0], d.e.connector.held)
		}
		for k := range d.rows {
			switch r := &d.rows[k]; {
			case r.Start > 10_000 && r.Start < 15_000 && r.Free > 360:
				return fmt.Errorf("at %d %d blocks are free; the pull lasts until 15,580", r.Start, r.Free)
			case r.Start > 19_000 && r.Free < 390:
				return fmt.Errorf("at %d %d blocks are free; the pull has ended at 15,580", r.Start, r.Free)
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
			s.first[3] = 0 // it is told
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

// A request that was delivered while a step executes, with an empty pass behind it, is taken in by the pass after
// both. An abort at that instant is told by that pass, in all modes. Here the request does not fit in.
func TestAbortAtTheInstantOfAPass(t *testing.T) {
	first, second := ask(0, 0, 5, [2]int64{1, 9}), ask(1, 500, 5, [2]int64{2, 36})
	abort := int64(1094)
	second.Abort = &abort
	eachPair(t, pair(settings{"async_scheduling": true, "num_gpu_blocks": 11}, settings{}, first, second), func(p, _ *pdSide, shown bool) error {
		if got, want := p.results[1], []any{nil, abort, int64(0), int64(0), "aborted"}; !slices.Equal(got, want) {
			return fmt.Errorf("got %v, want %v", got, want)
		}
		k := slices.IndexFunc(p.rows, func(r kvRow) bool { return len(r.Aborted) > 0 })
		if shown && (k < 0 || p.rows[k].Form != nil || !slices.Equal(p.rows[k].Queue, []int64{1})) {
			return fmt.Errorf("the abort is in row %d of %+v", k, p.rows)
		}
		return nil
	})
}

// notices takes what an instance tells, and forgets it.
type notices struct{}

func (notices) Prefilled(*metrics.Outcome, KVSource, vtime.Time) {}
func (notices) Pulls(*Pull, vtime.Time)                          {}
func (notices) Left(KVSource, vtime.Time)                        {}
func (notices) Released(int, vtime.Time)                         {}

// A request whose pull fails ends with that, which may come long before any step could end.
func TestFailingPullsAreForeseen(t *testing.T) {
	e, l := instance(t, shared{linear: linear{1000, 10, 20}, delay: 10}, func(c *Config) {
		c.Disaggregation = &Disaggregation{Pull: Link{100, 1}, HoldTimeout: vtime.Second, Notices: notices{}}
	})
	d := Delivery{Request: workload.NewRequest(0, 40, 5)}
	d.ID = 1
	e.Pulls.Pull(&d, KVSource{Number: 1, Blocks: 3}, true, 0)
	for at, _ := e.Next(); at != vtime.Never; at, _ = e.Next() {
		if first := e.FirstEnd(); first > 503 {
			t.Errorf("at %v: the request ends at 503, and %v was promised", e.Now(), first)
		}
		e.Act(vtime.Never, 0)
	}
	if want := "503 1 failed"; len(l.lines) != 1 || l.lines[0] != want {
		t.Errorf("got %v, want %s", l.lines, want)
	}
	if n := e.connector.disaggregation.failing; n != 0 {
		t.Errorf("%d pulls are still to fail", n)
	}
}
