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

	"blis/kv"
	"blis/latency"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// scenario is one folder of a ledger set; see the README there for the format.
type scenario struct {
	Name   string
	Config struct {
		BlockSize    int32 `json:"block_size"`
		NumGPUBlocks int   `json:"num_gpu_blocks"`
		Budget       int32 `json:"max_num_batched_tokens"`
		Seats        int32 `json:"max_num_seqs"`
		MaxModelLen  int32 `json:"max_model_len"`
		Threshold    int32 `json:"long_prefill_token_threshold"`
		Caching      bool  `json:"enable_prefix_caching"`
		Chunked      bool  `json:"enable_chunked_prefill"`
		Policy       string
		Reserve      bool `json:"scheduler_reserve_full_isl"`
		Async        bool `json:"async_scheduling"`
		Beta         [3]float64

		Offload  *scenarioOffload
		IdlePoll int64 `json:"idle_poll_us"`

		IdleRelease bool
	}
	Ends     *string
	Requests []scenarioRequest
	Results  [][]any
}

type scenarioRequest struct {
	ID        int64
	Arrival   int64 `json:"arrival_us"`
	Prompt    [][2]int64
	Output    int32  `json:"output_len"`
	OutID     *int64 `json:"out_id"`
	MaxOutput *int32 `json:"max_output"`
	Priority  float64
	Abort     *int64 `json:"abort_us"`

	Direct       bool // no prefill instance
	FailTransfer bool `json:"fail_transfer"`
}

func (r *scenarioRequest) outID() int64 {
	if r.OutID != nil {
		return *r.OutID
	}
	return 100000 + r.ID
}

// ledgerRow is a line of ledger.jsonl.
type ledgerRow struct {
	Form      *int64 `json:"t_form"`
	Start     int64  `json:"t_start"`
	End       int64  `json:"t_end"`
	Scheduled [][2]int64
	New       []int64
	Resumed   []int64
	Preempted []int64
	Cached    [][2]int64
	Running   int32
	Waiting   int32
	Free      int    `json:"free_blocks"`
	FL        string `json:"fl"`
	Finished  []int64
	Aborted   []int64
}

type linear [3]float64

func (m linear) Queueing(latency.QueueInput) float64 { return 0 }
func (m linear) TokenOverhead() float64              { return 0 }
func (m linear) RequestOverhead() float64            { return 0 }
func (m linear) Step(b *latency.Batch) float64 {
	return m[0] + float64(m[1]*float64(b.PrefillTokens)) + float64(m[2]*float64(b.DecodeTokens))
}

// mode is one of the ways to run a scenario, all of which must agree.
type mode struct {
	name       string
	stepByStep bool
	blocks     bool // the block twin as cache
	unnamed    bool // content that only one request uses is its own, not named
	silent     bool // no ledger, so that decode runs are taken; only results are compared
	slice      int64
}

var modes = []mode{
	{name: "step by step, block twin", stepByStep: true, blocks: true},
	{name: "step by step, extents", stepByStep: true},
	{name: "cohort, all content named"},
	{name: "cohort, own content unnamed", unnamed: true},
	{name: "step by step, own content unnamed", unnamed: true, stepByStep: true},
	{name: "runs, own content unnamed", unnamed: true, silent: true},
	{name: "runs, paused every 700 µs", unnamed: true, silent: true, slice: 700},
}

// play runs sc in one mode and returns its ledger and results.
func play(sc *scenario, m mode) (rows []ledgerRow, results map[int64][]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	c := &sc.Config
	var cache kv.Cache = kv.NewPool(c.NumGPUBlocks-1, c.BlockSize, c.Caching)
	var twin *kv.NaivePool
	if m.blocks {
		twin = kv.NewNaivePool(c.NumGPUBlocks-1, c.BlockSize, c.Caching)
		cache = twin
	}
	name := "fcfs"
	if c.Policy == "priority" {
		name = "priority-fcfs"
	}
	sched, err := policy.NewScheduler(name, nil, policy.Env{BlockSize: c.BlockSize})
	if err != nil {
		return nil, nil, err
	}
	p := &player{results: map[int64][]any{}}
	cfg := Config{
		BlockSize: c.BlockSize, Args: Args{
			MaxNumBatchedTokens: c.Budget, MaxNumSeqs: c.Seats, MaxModelLen: c.MaxModelLen, LongPrefillTokenThreshold: c.Threshold,
			EnablePrefixCaching: c.Caching, EnableChunkedPrefill: c.Chunked, SchedulerReserveFullISL: c.Reserve,
		}, Async: c.Async, StepByStep: m.stepByStep,
		Model: linear(c.Beta), Scheduler: sched, Cache: cache, Sink: p,
	}
	if !m.silent {
		p.twin, cfg.Observer = twin, p
	}
	e := New(0, cfg)
	now := int64(0)
	for _, r := range sc.deliveries(m.unnamed) {
		for ; m.slice > 0 && now < int64(r.Arrival); now += m.slice {
			e.Advance(vtime.Time(now), vtime.ClassStep)
		}
		now = int64(r.Arrival)
		e.Advance(r.Arrival, 3)
		e.Deliver(&r, r.Arrival)
	}
	for ; m.slice > 0 && e.requests.running()+e.requests.waiting() > 0; now += m.slice {
		e.Advance(vtime.Time(now), vtime.ClassStep)
	}
	e.Advance(vtime.Never, 255)
	if err := e.Check(); err != nil {
		return nil, nil, err
	}
	if e.UsedBlocks() != 0 {
		return nil, nil, fmt.Errorf("%d blocks in use after the last request", e.UsedBlocks())
	}
	return p.rows, p.results, nil
}

// deliveries are the requests in order of (arrival, id).
func (sc *scenario) deliveries(unnamed bool) []Delivery {
	users := map[int64]int{}
	for _, r := range sc.Requests {
		seen := map[int64]bool{r.outID(): true}
		for _, sp := range r.Prompt {
			seen[sp[0]] = true
		}
		for c := range seen {
			users[c]++
		}
	}
	var out []Delivery
	for _, r := range sc.Requests {
		d := Delivery{Priority: -r.Priority}
		d.ID, d.Arrival, d.Deadline, d.Output, d.MaxOutput = r.ID, vtime.Time(r.Arrival), vtime.Never, r.Output, workload.Absent
		if r.MaxOutput != nil {
			d.MaxOutput = *r.MaxOutput
		}
		if r.Abort != nil {
			d.Deadline = vtime.Time(*r.Abort)
		}
		spans := r.Prompt
		for _, sp := range spans {
			d.Input += int32(sp[1])
		}
		d.OutputContent = workload.ContentID(r.outID())
		if unnamed {
			if users[r.outID()] == 1 {
				d.OutputContent = 0
			}
			for len(spans) > 0 && users[spans[len(spans)-1][0]] == 1 && d.OutputContent == 0 {
				spans = spans[:len(spans)-1]
			}
		}
		for _, sp := range spans {
			d.Spans = append(d.Spans, workload.Span{Content: workload.ContentID(sp[0]), Length: int32(sp[1])})
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b Delivery) int {
		if a.Arrival != b.Arrival {
			return int(a.Arrival - b.Arrival)
		}
		return int(a.ID - b.ID)
	})
	return out
}

// player is the sink of a played scenario.
type player struct {
	twin    *kv.NaivePool // nil: another cache
	rows    []ledgerRow
	results map[int64][]any
}

func (p *player) Group(workload.Label, workload.Label, vtime.Time) int { return 0 }
func (p *player) ITL(int, vtime.Duration, int)                         {}

func (p *player) Done(o *metrics.Outcome, now vtime.Time) {
	row := func() *ledgerRow {
		for i := len(p.rows) - 1; i >= 0; i-- {
			if r := &p.rows[i]; r.End == int64(now) && len(r.Scheduled) > 0 {
				return r
			}
		}
		return &ledgerRow{}
	}
	var first, completed any
	if o.FirstToken != vtime.Never {
		first = int64(o.FirstToken)
	}
	status := o.State.String()
	switch o.State {
	case metrics.Completed:
		completed = int64(now)
		r := row()
		r.Finished = append(r.Finished, o.ID)
	case metrics.TimedOut:
		status = "aborted"
		r := row()
		r.Aborted = append(r.Aborted, o.ID)
	}
	p.results[o.ID] = []any{o.ID, first, completed, int64(o.Preemptions), int64(o.Generated), status}
}

func (*player) Preempted(vtime.Time, Preemption) {}
func (*player) Transferred(vtime.Time, Transfer) {}

func (*player) Expired(vtime.Time, int64, int32) {}
func (*player) Anomaly(vtime.Time, Anomaly)      {}

func (p *player) Formed(now vtime.Time, f *Formation) {
	r := ledgerRow{Start: int64(f.Start), End: int64(f.End), New: slices.Clone(f.New), Resumed: slices.Clone(f.Resumed),
		Preempted: slices.Clone(f.Preempted), Running: f.Running, Waiting: f.Waiting, Free: f.Free}
	if now != f.Start {
		formed := int64(now)
		r.Form = &formed
	}
	for _, s := range f.Scheduled() {
		r.Scheduled = append(r.Scheduled, [2]int64{s.Request, int64(s.Tokens)})
	}
	for _, s := range f.Cached {
		r.Cached = append(r.Cached, [2]int64{s.Request, int64(s.Tokens)})
	}
	if p.twin != nil {
		r.FL = fmt.Sprintf("%08x", p.twin.Checksum())
	}
	p.rows = append(p.rows, r)
}

// decodeScenario reads the scenario in a folder of ledgers.
func decodeScenario(dir string, into any) error {
	text, err := os.ReadFile(filepath.Join(dir, "scenario.json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func readScenario(dir string) (*scenario, []ledgerRow, error) {
	var sc scenario
	if err := decodeScenario(dir, &sc); err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "ledger.jsonl"))
	if err != nil {
		return nil, nil, err
	}
	var rows []ledgerRow
	for in := bufio.NewScanner(bytes.NewReader(text)); in.Scan(); {
		var r ledgerRow
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return nil, nil, err
		}
		rows = append(rows, r)
	}
	return &sc, rows, nil
}

// compare plays a scenario in every mode and returns the first difference.
func compare(sc *scenario, want []ledgerRow) error {
	for _, m := range modes {
		rows, results, err := play(sc, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		for i := 0; !m.silent && (i < len(want) || i < len(rows)); i++ {
			var w, g ledgerRow
			if i < len(want) {
				w = want[i]
			}
			if i < len(rows) {
				g = rows[i]
			}
			if !m.blocks {
				w.FL = ""
			}
			if d := cmp.Diff(normal(w), normal(g)); d != "" {
				return fmt.Errorf("%s: step %d (-vLLM +engine):\n%s", m.name, i, d)
			}
		}
		for _, w := range sc.Results {
			id := int64(w[0].(float64))
			for i, x := range w {
				if f, ok := x.(float64); ok {
					w[i] = int64(f)
				}
			}
			w[0] = any(id)
			if d := cmp.Diff(w, results[id]); d != "" {
				return fmt.Errorf("%s: result of request %d (-vLLM +engine):\n%s", m.name, id, d)
			}
			w[0] = float64(id)
		}
	}
	return nil
}

// normal makes empty and absent lists equal.
func normal(r ledgerRow) ledgerRow {
	for _, list := range []*[]int64{&r.New, &r.Resumed, &r.Preempted, &r.Finished, &r.Aborted} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	if len(r.Scheduled) == 0 {
		r.Scheduled = nil
	}
	if len(r.Cached) == 0 {
		r.Cached = nil
	}
	return r
}

// ledgerDir is where the scenarios are: BLIS_LEDGERS, or the reference set.
func ledgerDir() string {
	if dir := os.Getenv("BLIS_LEDGERS"); dir != "" {
		return dir
	}
	return "../../shared/reference/vllm_ledger"
}

func TestLedger(t *testing.T) {
	dirs, _ := filepath.Glob(filepath.Join(ledgerDir(), "*", "scenario.json"))
	if len(dirs) == 0 {
		t.Skipf("no ledgers in %s", ledgerDir())
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			sc, want, err := readScenario(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := compare(sc, want); err != nil {
				t.Error(strings.TrimSpace(err.Error()))
			}
		})
	}
}
