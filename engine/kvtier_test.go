package engine

import (
	"fmt"
	"slices"
	"testing"
)

// The worked examples of docs/kv-tiers.md, in all modes: blocks of 4 tokens, steps of
// 1,000 µs and 10.5 µs per prefill and 20.25 µs per decode token.

// example is a scenario of the worked examples.
func example(gpu int, store, load [2]float64, requests ...scenarioRequest) *scenario {
	sc := &scenario{Requests: requests}
	c := &sc.Config
	c.BlockSize, c.NumGPUBlocks, c.Budget, c.Seats, c.MaxModelLen = 4, gpu+1, 256, 16, int32(min(256, 4*gpu))
	c.Caching, c.Chunked, c.Reserve, c.Policy = true, true, true, "fcfs"
	c.Beta = [3]float64{1000, 10.5, 20.25}
	c.Offload = &scenarioOffload{CPUBlocks: 400, Store: store, Load: load}
	return sc
}

func ask(id, at int64, output int32, prompt ...[2]int64) scenarioRequest {
	return scenarioRequest{ID: id, Arrival: at, Prompt: prompt, Output: output}
}

// evict fills a GPU of few blocks with prompts of no use to anybody.
func evict(first, from, every int64, n int) (list []scenarioRequest) {
	for k := range int64(n) {
		list = append(list, ask(first+k, from+k*every, 3, [2]int64{100 + k, 24}))
	}
	return list
}

// eachMode plays a scenario in all modes that show their passes.
func eachMode(t *testing.T, sc *scenario, f func(p *kvPlayer) error) {
	t.Helper()
	eachOf(t, kvModes, sc, f)
}

// eachOf plays a scenario in those modes that show their passes.
func eachOf(t *testing.T, modes []kvMode, sc *scenario, f func(p *kvPlayer) error) {
	t.Helper()
	for _, m := range modes {
		if m.silent {
			continue
		}
		p, stuck, err := playKV(sc, m, false, nil)
		if err == nil && stuck {
			err = fmt.Errorf("requests never end")
		}
		if err == nil {
			err = f(p)
		}
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// at returns the row of the pass that was formed at a time, the last of several.
func (p *kvPlayer) at(formed int64) *kvRow {
	for k := len(p.rows) - 1; k >= 0; k-- {
		r := &p.rows[k]
		if at := r.Start; r.Form == nil && at == formed || r.Form != nil && *r.Form == formed {
			return r
		}
	}
	return &kvRow{}
}

// Five entries are stored a pass after they were filled; the sixth one when the
// twenty-fourth token is there. The blocks stay until the pass after the end of the
// request has ended.
func TestStoreOfWorkedExample(t *testing.T) {
	sc := example(400, [2]float64{100, 20.5}, [2]float64{150, 25.25}, ask(0, 0, 6, [2]int64{1, 21}), ask(1, 500, 9, [2]int64{2, 9}))
	eachMode(t, sc, func(p *kvPlayer) error {
		first, second := p.at(1220), p.at(4414)
		if want := [5]any{"store", 0.0, 5.0, 1220.0, 1422.0}; !slices.Contains(first.Xfers, want) {
			return fmt.Errorf("stores submitted at 1,220: %v, want %v", first.Xfers, want)
		}
		if want := [5]any{"store", 0.0, 1.0, 4414.0, 4534.0}; !slices.Contains(second.Xfers, want) {
			return fmt.Errorf("stores submitted at 4,414: %v, want %v", second.Xfers, want)
		}
		if end, next := p.at(6494), p.at(7514); end.Free != 389 || next.Free != 396 || !slices.Equal(end.Sent, []int64{0}) {
			return fmt.Errorf("%d and %d free blocks after 6,494 and 7,514, want 389 and 396; noticed at 6,494: %v", end.Free, next.Free, end.Sent)
		}
		return nil
	})
}

// With the whole prompt in the tier the last token is computed all the same, and
// loading 24 tokens takes longer than computing them.
func TestFullHitOfWorkedExample(t *testing.T) {
	requests := append(evict(1, 4000, 4000, 5), ask(0, 0, 3, [2]int64{10, 24}), ask(9, 40_000, 4, [2]int64{10, 24}))
	sc := example(14, [2]float64{100, 20.5}, [2]float64{150, 25.25}, requests...)
	eachMode(t, sc, func(p *kvPlayer) error {
		if want := [5]any{"load", 9.0, 6.0, 40_000.0, 40_301.0}; !slices.Contains(p.at(40_000).Xfers, want) {
			return fmt.Errorf("loads submitted at 40,000: %v, want %v", p.at(40_000).Xfers, want)
		}
		if r := p.at(40_301); !slices.Contains(r.Scheduled, [2]int64{9, 1}) || r.End != 41_311 {
			return fmt.Errorf("at 40,301 %v until %d, want one token until 41,311", r.Scheduled, r.End)
		}
		return nil
	})
	sc.Config.Offload.CPUBlocks = 1 // never holds the six entries
	eachMode(t, sc, func(p *kvPlayer) error {
		if got := p.results[9][0]; got != int64(41_252) {
			return fmt.Errorf("without the tier the first token comes at %v, want 41,252", got)
		}
		return nil
	})
}

// A load of 16 µs that starts with a step is noticed when the step ends, and acts a
// step later: its request runs 2,040 µs after its lookup.
func TestNoticeOfWorkedExample(t *testing.T) {
	requests := append(evict(1, 4100, 4000, 4), ask(0, 100, 3, [2]int64{10, 24}),
		ask(9, 30_000, 4, [2]int64{10, 24}, [2]int64{99, 5}), ask(20, 0, 60, [2]int64{50, 8}))
	sc := example(32, [2]float64{100, 20.5}, [2]float64{10, 1}, requests...)
	eachMode(t, sc, func(p *kvPlayer) error {
		if want := [5]any{"load", 9.0, 6.0, 30_084.0, 30_100.0}; !slices.Contains(p.at(30_084).Xfers, want) {
			return fmt.Errorf("loads submitted at 30,084: %v, want %v", p.at(30_084).Xfers, want)
		}
		if got := p.at(31_104).Recv; !slices.Equal(got, []int64{9}) {
			return fmt.Errorf("loads noticed at 31,104: %v", got)
		}
		if r := p.at(32_124); !slices.Contains(r.Scheduled, [2]int64{9, 5}) {
			return fmt.Errorf("scheduled at 32,124: %v", r.Scheduled)
		}
		return nil
	})
}

// deadlock is a scenario with one.
func deadlock() *scenario {
	return example(12, [2]float64{100, 20.5}, [2]float64{1000, 25.25},
		ask(0, 0, 2, [2]int64{10, 20}), ask(1, 5000, 2, [2]int64{11, 20}), ask(2, 10_000, 2, [2]int64{12, 40}),
		ask(3, 20_000, 2, [2]int64{10, 20}, [2]int64{99, 16}), ask(4, 20_010, 2, [2]int64{11, 20}, [2]int64{98, 8}))
}

// A scheduler that looks again by the clock would do so for ever.
func TestDeadlockIsBrokenWhilePolling(t *testing.T) {
	sc := deadlock()
	sc.Config.IdlePoll = 1000
	p, stuck, err := playKV(sc, kvModes[0], false, nil)
	if err != nil || stuck || p.results[3][4] != "completed" || p.results[4][4] != "completed" || p.e.Tier.DeadlockBreak != 1 {
		t.Errorf("stuck %v, results %v and %v, %d deadlocks were broken, %v", stuck, p.results[3], p.results[4], p.e.Tier.DeadlockBreak, err)
	}
}

// Two requests that were loaded in part take the blocks from each other that both
// need. vLLM 0.19 stands still then; here the last one gives its blocks back.
func TestDeadlockOfWorkedExample(t *testing.T) {
	sc := deadlock()
	for _, m := range kvModes {
		if p, stuck, err := playKV(sc, m, true, nil); err != nil || !stuck || p.results[3][4] != "in" {
			t.Errorf("%s: as vLLM has it: stuck %v, %v", m.name, stuck, err)
		}
		p, stuck, err := playKV(sc, m, false, nil)
		if err != nil || stuck || p.results[3][4] != "completed" || p.results[4][4] != "completed" {
			t.Errorf("%s: stuck %v, results %v and %v, %v", m.name, stuck, p.results[3], p.results[4], err)
		} else if n := p.e.Tier.DeadlockBreak; n != 1 {
			t.Errorf("%s: %d deadlocks were broken, want 1", m.name, n)
		}
	}
}

// Loads of the same content are one after the other with prefix caching, and side by
// side without.
func TestEqualPrefixesAreLoadedOnce(t *testing.T) {
	requests := append(evict(1, 4000, 4000, 5), ask(0, 0, 3, [2]int64{10, 24}),
		ask(9, 40_000, 4, [2]int64{10, 24}, [2]int64{20, 4}), ask(10, 40_000, 4, [2]int64{10, 24}, [2]int64{21, 4}))
	sc := example(20, [2]float64{100, 20.5}, [2]float64{150, 25.25}, requests...)
	eachMode(t, sc, func(p *kvPlayer) error {
		if p.e.Tier.Loads != 1 || p.e.Tier.AskedAgain == 0 {
			return fmt.Errorf("%d loads, %d asked again", p.e.Tier.Loads, p.e.Tier.AskedAgain)
		}
		return nil
	})
}

// What a request stores can be read when it has ended, not when its stores have.
func TestEntriesOfLivingRequestsAreNotRead(t *testing.T) {
	sc := example(40, [2]float64{10, 1}, [2]float64{10, 1}, ask(0, 0, 40, [2]int64{10, 24}), ask(1, 10_000, 2, [2]int64{10, 24}), ask(2, 60_000, 2, [2]int64{10, 24}))
	sc.Config.Caching = false
	eachMode(t, sc, func(p *kvPlayer) error {
		if first := p.results[1][0]; first != int64(11_704) || p.e.Tier.Loads != 1 {
			return fmt.Errorf("first token beside the other at %v, want 11,704; %d loads, want that of the third alone", first, p.e.Tier.Loads)
		}
		return nil
	})
}

// A request that was passed over while its KV was loaded comes before those that were
// queued since.
func TestPassedOverComeFirst(t *testing.T) {
	requests := append(evict(1, 4000, 4000, 5), ask(0, 0, 3, [2]int64{10, 24}),
		ask(9, 40_000, 4, [2]int64{10, 24}), ask(20, 40_010, 8, [2]int64{60, 4}), ask(10, 40_100, 4, [2]int64{61, 8}))
	sc := example(14, [2]float64{100, 20.5}, [2]float64{1500, 25.25}, requests...)
	sc.Config.Seats = 1
	eachMode(t, sc, func(p *kvPlayer) error {
		if loaded, queued := p.results[9][0].(int64), p.results[10][0].(int64); loaded > queued || p.e.Tier.Loads != 1 {
			return fmt.Errorf("first tokens at %d and %d, %d loads", loaded, queued, p.e.Tier.Loads)
		}
		return nil
	})
}

// A load begins only when all of its prompt fits.
func TestLoadsWaitForAllOfThePrompt(t *testing.T) {
	sc := example(14, [2]float64{100, 20.5}, [2]float64{150, 25.25}, append(evict(1, 4000, 4000, 5), ask(0, 0, 3, [2]int64{10, 24}),
		ask(20, 39_000, 8, [2]int64{60, 24}), ask(9, 40_000, 4, [2]int64{10, 24}, [2]int64{70, 12}))...)
	eachMode(t, sc, func(p *kvPlayer) error {
		for _, r := range p.rows {
			if len(r.Xfers) > 0 && r.Xfers[len(r.Xfers)-1][0] == "load" && r.Start < p.results[20][1].(int64) {
				return fmt.Errorf("a load began at %d, before there was room", r.Start)
			}
		}
		if p.e.Tier.Loads != 1 {
			return fmt.Errorf("%d loads", p.e.Tier.Loads)
		}
		return nil
	})
}

// The step that follows a preemption waits for the stores of the victim.
func TestStepsWaitForTheStoresOfAVictim(t *testing.T) {
	sc := example(10, [2]float64{20_000, 20.5}, [2]float64{150, 25.25}, ask(0, 0, 20, [2]int64{10, 16}), ask(1, 0, 20, [2]int64{11, 16}))
	eachMode(t, sc, func(p *kvPlayer) error {
		for _, r := range p.rows {
			if len(r.Preempted) > 0 && (r.Form == nil || r.Start-*r.Form != 76_044) {
				return fmt.Errorf("the step of the preemption starts at %d, %v", r.Start, r.Form)
			}
		}
		if k := p.e.Tier; k.FlushWaits != 1 || k.FlushMicros != 76_044 {
			return fmt.Errorf("%d waits of %d µs", k.FlushWaits, k.FlushMicros)
		}
		return nil
	})
}
