package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"blis/kv"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
)

// These tests hold an engine with a CPU tier to what vLLM's scheduler, KV manager,
// offload manager and worker did, pass by pass. The README of the ledger set has the
// format.

// playKV runs sc in one mode and returns its ledger, its results, and whether it ended.
//
// vLLM's core takes requests in when it forms a pass. An abort that comes before, while the pass
// before is open, is lost. lost are the requests of which that is known; where nobody looks at
// formations these are all.
func playKV(sc *scenario, m kvMode, keepDeadlocks bool, lost []int64) (p *kvPlayer, stuck bool, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v", x)
		}
	}()
	p = &kvPlayer{results: map[int64][]any{}, lost: []int64{}, now: -1}
	e, err := kvEngine(sc, m, keepDeadlocks, p)
	if err != nil {
		return nil, false, err
	}
	now := int64(0)
	aborts := []Delivery{}
	deliveries := sc.deliveries(m.unnamed)
	for i := range deliveries {
		if r := &deliveries[i]; slices.Contains(lost, r.ID) {
			r.Deadline = vtime.Never
		} else if r.Deadline != vtime.Never && !m.silent {
			aborts = append(aborts, *r)
			r.Deadline = vtime.Never
		}
	}
	slices.SortStableFunc(aborts, func(x, y Delivery) int { return int(x.Deadline - y.Deadline) })
	for _, r := range deliveries {
		aborts = p.abort(aborts, int64(r.Arrival)-1)
		for ; m.slice > 0 && now < int64(r.Arrival); now += m.slice {
			p.advance(vtime.Time(now), vtime.ClassStep)
		}
		now = int64(r.Arrival)
		p.advance(r.Arrival, vtime.ClassDelivery)
		e.Deliver(&r, r.Arrival)
	}
	p.abort(aborts, 1<<62)
	for ; m.slice > 0 && now < 1<<24 && e.requests.unfinished(); now += m.slice {
		p.advance(vtime.Time(now), vtime.ClassStep)
	}
	p.advance(vtime.Never, 255)
	e.Unfinished(func(o *metrics.Outcome) {
		stuck = true
		p.span(o)
		var first any
		if o.FirstToken != vtime.Never {
			first = int64(o.FirstToken)
		}
		p.results[o.ID] = []any{first, nil, int64(o.Preemptions), int64(o.Generated), "in"}
	})
	return p, stuck, e.Check()
}

// abort aborts requests whose clients do so until a time, and returns the others.
func (p *kvPlayer) abort(list []Delivery, until int64) []Delivery {
	e := p.e
	for len(list) > 0 && int64(list[0].Deadline) <= until {
		r := list[0]
		list = list[1:]
		p.advance(r.Deadline, vtime.ClassStep) // a pass of that time hears of it
		if p.now < int64(r.Arrival) {
			p.advance(r.Deadline, vtime.ClassTimeout)
		}
		if p.now < int64(r.Arrival) && e.passes.until != pollEnds {
			p.lost = append(p.lost, r.ID)
			continue
		}
		for i := range e.requests.slots {
			if m := (member{int32(i), r.ID}); e.requests.holds(m) {
				e.agenda.addDeadline(r.Deadline, m)
			}
		}
	}
	return list
}

// kvEngine returns the engine of a scenario.
func kvEngine(sc *scenario, m kvMode, keepDeadlocks bool, p *kvPlayer) (*Engine, error) {
	c, o := &sc.Config, sc.Config.Offload
	var cache kv.Cache = kv.NewPool(c.NumGPUBlocks-1, c.BlockSize, c.Caching)
	if m.blocks {
		p.pool = kv.NewNaivePool(c.NumGPUBlocks-1, c.BlockSize, c.Caching)
		p.pool.Watch(func(stored bool, n int) { p.gpu = append(p.gpu, kvEvent(stored, "GPU", n)) })
		cache = p.pool
	}
	var off *Offload
	if o != nil {
		off = p.addTier(sc, m)
	}
	name := "fcfs"
	if c.Policy == "priority" {
		name = "priority-fcfs"
	}
	sched, err := policy.NewScheduler(name, nil, policy.Env{BlockSize: c.BlockSize})
	if err != nil {
		return nil, err
	}
	p.e = New(0, Config{
		BlockSize: c.BlockSize, Args: Args{
			MaxNumBatchedTokens: c.Budget, MaxNumSeqs: c.Seats, MaxModelLen: c.MaxModelLen, LongPrefillTokenThreshold: c.Threshold,
			EnablePrefixCaching: c.Caching, EnableChunkedPrefill: c.Chunked, SchedulerReserveFullISL: c.Reserve,
		}, Async: c.Async, StepByStep: m.stepByStep, Offload: off,
		Passes: Passes{IdlePoll: vtime.Duration(c.IdlePoll), IdleRelease: c.IdleRelease, KeepDeadlocks: keepDeadlocks}, Disaggregation: p.disaggregation,
		Model: linear(c.Beta), Scheduler: sched, Cache: cache, Sink: p,
	})
	p.e.requests.maxLen = c.MaxModelLen // the scheduler of a ledger does not ask whether a prompt fits a budget
	if !m.silent {
		p.e.connector.hook = p
	}
	return p.e, nil
}

// addTier makes the CPU tier of a scenario.
func (p *kvPlayer) addTier(sc *scenario, m kvMode) *Offload {
	c, o := &sc.Config, sc.Config.Offload
	entry := c.BlockSize
	if o.BlockSize > 0 {
		entry = o.BlockSize
	}
	eviction := kv.LRU
	if o.Policy != "" {
		eviction = kv.Eviction(o.Policy)
	}
	tier := kv.TierConfig{Capacity: o.CPUBlocks, Eviction: eviction, Threshold: o.Threshold, Tracked: o.Tracked}
	off := &Offload{EntryTokens: entry, Store: Link{o.Store[0], o.Store[1]}, Load: Link{o.Load[0], o.Load[1]}, Lazy: o.Lazy}
	if m.slots {
		p.tier = kv.NewNaiveTier(tier)
		p.tier.Watch(func(stored bool, n int) { p.cpu = append(p.cpu, kvEvent(stored, "CPU", n)) })
		off.Tier = p.tier
	} else {
		off.Tier = kv.NewTier(tier)
	}
	p.addStorage(off, sc, m)
	return off
}

func kvEvent(stored bool, medium string, n int) [3]any {
	if stored {
		return [3]any{"S", medium, float64(n)}
	}
	return [3]any{"R", medium, float64(n)}
}

// compareKV plays a scenario in every mode and returns the first difference.
func compareKV(sc *scenario, want []kvRow) error {
	var lost []int64
	for _, m := range kvModes {
		p, stuck, err := playKV(sc, m, true, lost)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if lost == nil {
			lost = p.lost
		}
		if stuck != (sc.Ends != nil) {
			return fmt.Errorf("%s: stuck is %v", m.name, stuck)
		}
		if err := compareKVRows(p, m, want); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if err := compareKVResults(sc, p.results); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// compareKVRows returns the first difference between the passes of an instance and its ledger.
func compareKVRows(p *kvPlayer, m kvMode, want []kvRow) error {
	for i := 0; !m.silent && (i < len(want) || i < len(p.rows)); i++ {
		var w, g kvRow
		if i < len(want) {
			w = want[i]
		}
		if i < len(p.rows) {
			g = p.rows[i]
		}
		if p.tier == nil {
			w.CPU, w.ARC = "", nil
		}
		if p.pool == nil {
			w.FL, w.Loads, w.Stores, w.Invalid = "", nil, nil, nil
		}
		if p.pool == nil || w.KVEvents == nil && os.Getenv("BLIS_KV_LEDGERS") != "" {
			w.KVEvents, g.KVEvents = nil, nil // the oracle has no events
		}
		if p.side != nil && w.onlyAborts() && g.onlyAborts() {
			w.Form, w.Start, w.End = g.Form, g.Start, g.End // the recorder also wakes for time-outs of KV that was pulled
		}
		if d := cmp.Diff(w, g, cmpopts.EquateEmpty(), cmp.AllowUnexported(kvMove{})); d != "" {
			return fmt.Errorf("pass %d (-vLLM +engine):\n%s", i, d)
		}
	}
	if p.gaps != p.spans {
		return fmt.Errorf("%d µs between tokens by the steps, %d by the requests", p.gaps, p.spans)
	}
	return nil
}

func compareKVResults(sc *scenario, got map[int64][]any) error {
	for _, w := range sc.Results {
		id, of := int64(w[0].(float64)), w[1].([]any)
		want := make([]any, len(of)-1)
		for k, x := range of[1:] {
			if f, ok := x.(float64); ok {
				x = int64(f)
			}
			want[k] = x
		}
		g := got[id]
		if len(g) > 0 && g[len(g)-1] == "dropped" {
			want, g = want[4:], g[4:]
		}
		if d := cmp.Diff(want, g); d != "" {
			return fmt.Errorf("result of request %d (-vLLM +engine):\n%s", id, d)
		}
	}
	return nil
}

// kvLedgerDir is where the scenarios are: BLIS_KV_LEDGERS, or the reference set.
func kvLedgerDir() string {
	if dir := os.Getenv("BLIS_KV_LEDGERS"); dir != "" {
		return dir
	}
	return "../../shared/reference/vllm_ledger_kv"
}

func TestKVLedger(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(kvLedgerDir(), "*", "ledger.jsonl")) // those of prefill and decode instances have other names
	if len(files) == 0 {
		t.Skipf("no ledgers in %s", kvLedgerDir())
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var sc scenario
			if err := decodeScenario(dir, &sc); err != nil {
				t.Fatal(err)
			}
			rows, err := readKVRows(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := compareKV(&sc, rows); err != nil {
				t.Error(strings.TrimSpace(err.Error()))
			}
		})
	}
}

// readKVRows reads a ledger.
func readKVRows(file string) (rows []kvRow, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for in := bufio.NewScanner(bytes.NewReader(text)); in.Scan(); {
		var r kvRow
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}
