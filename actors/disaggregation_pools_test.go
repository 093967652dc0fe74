package actors

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"blis/internal/testsize"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// Each pool has the GPU that it is given: its prompts take as long as on one instance with that GPU,
// and so do its tokens; so many blocks fit.
func TestPoolsHaveGPUsOfTheirOwn(t *testing.T) {
	one := func(gpu string) *served {
		c := DefaultConfig()
		c.NumInstances, c.Hardware = 1, gpu
		return serve(t, c, request(0, 4000, 50))
	}
	c := DefaultConfig()
	c.Architecture, c.PrefillReplicas, c.DecodeReplicas = setup.PD, 1, 1
	assign(&c, "prefill", "hardware=H100", "decode", "hardware=L40S")
	pd, fast, slow := serve(t, c, request(0, 4000, 50)), one("H100"), one("L40S")
	o, f, s := pd.rows[0], fast.rows[0], slow.rows[0]
	if got, want := o.HandOver.Ended.Sub(o.HandOver.Scheduled), f.FirstToken.Sub(f.Scheduled); got != want || want >= s.FirstToken.Sub(s.Scheduled) {
		t.Errorf("the prefill takes %v, want %v as on one H100", got, want)
	}
	if got, want := o.LastToken.Sub(o.FirstToken), s.LastToken.Sub(s.FirstToken); got != want || want <= f.LastToken.Sub(f.FirstToken) {
		t.Errorf("the tokens take %v, want %v as on one L40S", got, want)
	}
	pools := pd.Setup.Pools
	if a, b := pools[0].KVBlocks, pools[1].KVBlocks; a != fast.Setup.KVBlocks || b != slow.Setup.KVBlocks || b >= a {
		t.Errorf("%d and %d blocks, want %d and %d", a, b, fast.Setup.KVBlocks, slow.Setup.KVBlocks)
	}
}

// conversations writes a trace as Mooncake's: n requests of conversations that go on with what there was,
// in blocks of 512 tokens.
func conversations(t *testing.T, seed uint64, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, d := bufio.NewWriter(file), rand.New(rand.NewPCG(seed, 0))
	talks, next := make([][]int, 40), 1
	for i := range n {
		k := d.IntN(len(talks))
		if len(talks[k]) > 12 || d.IntN(20) == 0 {
			talks[k] = nil
		}
		if talks[k] == nil {
			talks[k] = []int{0} // a system prompt that all share
		}
		for range 1 + d.IntN(3) {
			talks[k] = append(talks[k], next)
			next++
		}
		ids := ""
		for j, id := range talks[k] {
			if j > 0 {
				ids += ", "
			}
			ids += fmt.Sprint(id)
		}
		fmt.Fprintf(w, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%s]}`+"\n", i*60, 512*len(talks[k])-d.IntN(512), 1+d.IntN(200), ids)
	}
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkRows says what in the rows of a run that was not cut short cannot be.
func checkRows(rows []metrics.Outcome, o *metrics.Options) error {
	for i := range rows {
		r := &rows[i]
		if r.State >= metrics.Running && r.State != metrics.Failed {
			return fmt.Errorf("request %d is %v at the end", r.ID, r.State)
		}
		ttft, has := r.TTFT(o.TokenOverhead)
		e2e, whole := r.E2E(o.TokenOverhead, o.RequestOverhead)
		if has && (ttft != r.FirstToken.Sub(r.Arrival)+o.TokenOverhead || whole && e2e < ttft) {
			return fmt.Errorf("request %d: TTFT %v, E2E %v, first token at %v after %v", r.ID, ttft, e2e, r.FirstToken, r.Arrival)
		}
		h := &r.HandOver
		if !h.Made() {
			continue
		}
		whole = h.PullStart != vtime.Never && h.PullEnd != vtime.Never // else it left before, or there was nothing to pull
		if list := []vtime.Time{h.Queued, h.Scheduled, h.Ended, h.PullStart, h.PullEnd, r.FirstToken}; whole && !slices.IsSorted(list) {
			return fmt.Errorf("request %d: times %v", r.ID, list)
		}
		list := []vtime.Time{r.Arrival, h.Queued, h.Scheduled, h.Ended, r.Queued, r.Scheduled, r.FirstToken}
		if at := slices.Index(list, vtime.Never); at > 0 {
			list = list[:at]
		}
		if !slices.IsSorted(list) {
			return fmt.Errorf("request %d: times %v", r.ID, list)
		}
	}
	return nil
}

// Conversations on pools whose GPUs are too small for them and whose CPU tiers are not: the run ends,
// with hits of prefill instances in both.
func TestDisaggregationWithTiers(t *testing.T) {
	play := func(t *testing.T, trace string, n int, blocks int64) {
		c := DefaultConfig()
		c.Architecture, c.PrefillReplicas, c.DecodeReplicas = setup.PD, 2, 2
		c.Trace, c.TraceLimit, c.TotalKVBlocks = trace, int64(n), blocks
		assign(&c, "kv-cpu-size", "16GiB", "prefill", "routing-policy=weighted")
		var rows []metrics.Outcome
		c.Row = func(r *Row) { rows = append(rows, *r.Outcome) }
		r, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Report.Overall.States[metrics.Completed]; got != int64(n) {
			t.Errorf("states %v, want %d completed", r.Report.Overall.States, n)
		}
		if err := checkRows(rows, &metrics.Options{}); err != nil {
			t.Error(err)
		}
		stored, loaded, remote := int64(0), int64(0), int64(0)
		for i := range r.KVTiers {
			stored += r.KVTiers[i].Stored
			loaded += r.KVTiers[i].Loaded
		}
		for i := range rows {
			remote += int64(rows[i].HandOver.RemoteTokens)
		}
		if stored == 0 || loaded == 0 || remote == 0 {
			t.Errorf("%d entries stored, %d loaded, %d tokens pulled", stored, loaded, remote)
		}
	}
	t.Run("generated", func(t *testing.T) {
		seed := rand.Uint64()
		t.Log("seed", seed)
		play(t, conversations(t, seed, 1000), 1000, 2500)
	})
	t.Run("Mooncake", func(t *testing.T) {
		const path = "../../shared/data/traces/mooncake_fast25_conversation_trace.jsonl"
		if _, err := os.Stat(path); err != nil {
			t.Skip(err)
		}
		testsize.Long(t)
		play(t, path, 1000, 12_000)
	})
}

// Whatever is drawn, TTFT is from arrival to the first token of the decode instance, E2E is no
// less, and the times of a request are in order.
func TestTimesOfDisaggregatedRequests(t *testing.T) {
	cases, first := budget(t, testsize.Of(40, 80, 200))
	for seed := first; seed < first+uint64(cases); seed++ {
		x := drawDisaggregated(seed)
		x.Config.Horizon = 0
		y, err := x.play(everyExecutor(seed)[0])
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := checkRows(y.rows, &metrics.Options{}); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, x.describe())
		}
	}
}

// A run that is cancelled, wherever it stands, has a row for every request that arrived, in whatever
// instance or between them.
func TestCancelledDisaggregation(t *testing.T) {
	for _, choice := range []string{"arrival", "handoff"} {
		for _, x := range Executors(2) {
			for _, after := range []int64{1, 30, 700} {
				ctx, cancel := context.WithCancel(context.Background())
				cfg := DefaultConfig()
				cfg.Architecture, cfg.PDDecodeChoice, cfg.PDHandoffLatency = setup.PD, choice, 40_000
				cfg.NumRequests, cfg.Rate, cfg.Execution = 20_000, 60, x.Execution
				if after == 700 {
					cfg.RoutingPolicy = "least-loaded" // the router is not far ahead
				}
				rows, states := int64(0), [metrics.States]int64{}
				cfg.Row = func(r *Row) {
					if r.ID != rows {
						t.Fatalf("row %d is that of request %d", rows, r.ID)
					}
					rows++
					states[r.State]++
				}
				cfg.Custom.Source = &countdown{Source: mustSource(t, cfg), left: after, stop: cancel}
				result, err := Run(ctx, cfg)
				cancel()
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("%s, %s, after %d: error %v", choice, x.Name, after, err)
				}
				if n := result.Report.Injected; !result.Partial || rows != n || states != [metrics.States]int64(result.Report.Overall.States) {
					t.Errorf("%s, %s, after %d: %d rows of states %v, %d injected, states %v", choice, x.Name, after, rows, states, n, result.Report.Overall.States)
				}
			}
		}
	}
}
