package actors

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// benchmark is the load of the speed budget on 16 instances, shortened.
func benchmark(routing string) *trial {
	c := DefaultConfig()
	c.AlphaCoeffs, c.BetaCoeffs = []float64{1601.35, 3.51, 1805.54}, []float64{6910.42, 17.67, 2.84}
	c.NumInstances, c.RoutingPolicy = 16, routing
	c.TotalKVBlocks, c.MaxNumBatchedTokens, c.MaxNumSeqs = 29_205, 2_048, 256
	c.NumRequests, c.Rate = 1_500, 44*16
	c.PromptTokens, c.PromptTokensStdev, c.PromptTokensMin, c.PromptTokensMax = 512, 128, 32, 2_048
	c.OutputTokens, c.OutputTokensStdev, c.OutputTokensMin, c.OutputTokensMax = 256, 64, 16, 1_024
	return &trial{Config: c}
}

// TestEqualityOfBenchmarks: what the speed budget measures, on every executor.
func TestEqualityOfBenchmarks(t *testing.T) {
	stale := benchmark("least-loaded")
	stale.Config.SnapshotRefreshInterval, stale.Config.InFlight = 50*vtime.Millisecond, "periodic"
	staleWeighted := benchmark("weighted")
	staleWeighted.Config.SnapshotRefreshInterval, staleWeighted.Config.InFlight = 50*vtime.Millisecond, "periodic"
	coarse := benchmark("round-robin")
	coarse.Config.BlockSizeInTokens = 512
	long := benchmark("round-robin")
	long.Config.NumRequests, long.Config.Rate = 300, 44*2
	long.Config.OutputTokens, long.Config.OutputTokensStdev = 2_048, 512
	long.Config.OutputTokensMin, long.Config.OutputTokensMax = 128, 8_192
	single := benchmark("round-robin")
	single.Config.NumInstances, single.Config.NumRequests, single.Config.Rate = 1, 1_000, 44
	for _, c := range []struct {
		name string
		*trial
	}{
		{"one instance", single}, {"round-robin", benchmark("round-robin")}, {"least-loaded", benchmark("least-loaded")},
		{"weighted", benchmark("weighted")}, {"least-loaded, signals every 50 ms", stale}, {"weighted, signals every 50 ms", staleWeighted},
		{"blocks of 512", coarse}, {"output ×8 at rate ÷8", long},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := mustAgree(t, c.trial, everyExecutor(uint64(len(c.name))))
			if n := int64(len(y.rows)); n != c.Config.NumRequests || y.rows[n-1].State != metrics.Completed {
				t.Errorf("%d rows, the last %v; want %d, completed", n, y.rows[n-1].State, c.Config.NumRequests)
			}
		})
	}
}

// TestEqualityOfReferenceSets: the scenarios that are compared with others'
// results elsewhere, through the whole cluster and on every executor.
func TestEqualityOfReferenceSets(t *testing.T) {
	t.Run("conformance", func(t *testing.T) {
		files, _ := filepath.Glob(filepath.Join(conformanceDir(), "*", "flags.txt"))
		if len(files) == 0 {
			t.Skipf("no scenarios in %s", conformanceDir())
		}
		for i, file := range files {
			dir := filepath.Dir(file)
			t.Run(filepath.Base(dir), func(t *testing.T) {
				flags, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				x := &trial{Config: DefaultConfig()}
				x.Config.NumInstances = 1
				setFlags(t, &x.Config, strings.Fields(string(flags)))
				x.Config.Trace = filepath.Join(dir, "requests.csv")
				mustAgree(t, x, everyExecutor(uint64(i)))
			})
		}
	})
	t.Run("scheduler", func(t *testing.T) {
		files, _ := filepath.Glob(filepath.Join(ledgerDir(), "*", "scenario.json"))
		if len(files) == 0 {
			t.Skipf("no scenarios in %s", ledgerDir())
		}
		for i, file := range files {
			t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
				x, want := readLedger(t, file)
				y := mustAgree(t, x, everyExecutor(uint64(i)))
				for _, o := range y.rows {
					if got := ledgerResult(&o); got != want[o.Session] {
						t.Errorf("request %d: %s, want %s", o.Session, got, want[o.Session])
					}
				}
				if len(y.rows) != len(want) {
					t.Errorf("%d requests, want %d", len(y.rows), len(want))
				}
			})
		}
	})
}

func ledgerDir() string {
	if dir := os.Getenv("BLIS_LEDGERS"); dir != "" {
		return dir
	}
	return "../../shared/reference/vllm_ledger"
}

// readLedger maps a scheduler scenario to a cluster of one instance. The
// session of a request is its id in the scenario. want is by id.
func readLedger(t *testing.T, file string) (x *trial, want map[uint64]string) {
	var s struct {
		Config struct {
			BlockSize int32 `json:"block_size"`
			Blocks    int64 `json:"num_gpu_blocks"` // with vLLM's null block
			Budget    int32 `json:"max_num_batched_tokens"`
			Seats     int32 `json:"max_num_seqs"`
			Longest   int32 `json:"max_model_len"`
			Threshold int32 `json:"long_prefill_token_threshold"`
			Caching   bool  `json:"enable_prefix_caching"`
			Chunked   bool  `json:"enable_chunked_prefill"`
			Policy    string
			Reserve   bool `json:"scheduler_reserve_full_isl"`
			Async     bool `json:"async_scheduling"`
			Beta      []float64
		}
		Requests []struct {
			ID       int64
			Arrival  int64 `json:"arrival_us"`
			Prompt   [][2]int64
			Output   int32  `json:"output_len"`
			OutID    *int64 `json:"out_id"`
			Limit    *int32 `json:"max_output"`
			Priority float64
			Abort    *int64 `json:"abort_us"`
		}
		Results [][]any
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	x = &trial{Config: DefaultConfig(), Requests: []workload.Request{}, Hints: true}
	c := &x.Config
	c.NumInstances, c.AlphaCoeffs, c.BetaCoeffs = 1, []float64{0, 0, 0}, s.Config.Beta
	c.BlockSizeInTokens, c.NumGPUBlocksOverride = s.Config.BlockSize, s.Config.Blocks
	c.MaxNumBatchedTokens, c.MaxNumSeqs, c.MaxModelLen = s.Config.Budget, s.Config.Seats, s.Config.Longest
	c.LongPrefillTokenThreshold = s.Config.Threshold
	c.EnablePrefixCaching, c.EnableChunkedPrefill = s.Config.Caching, s.Config.Chunked
	c.SchedulerReserveFullISL, c.AsyncScheduling, c.Scheduler = s.Config.Reserve, &s.Config.Async, s.Config.Policy
	for _, q := range s.Requests {
		r := workload.NewRequest(vtime.Time(q.Arrival), 0, q.Output)
		r.Session, r.Index, r.Hint = uint64(q.ID), uint64(q.ID), -q.Priority
		for _, p := range q.Prompt {
			r.Spans = append(r.Spans, workload.Span{Content: workload.ContentID(p[0]), Length: int32(p[1])})
		}
		r.Input, r.OutputContent = r.Shared(), workload.ContentID(100000+q.ID)
		if q.OutID != nil {
			r.OutputContent = workload.ContentID(*q.OutID)
		}
		if q.Limit != nil {
			r.MaxOutput = *q.Limit
		}
		if q.Abort != nil {
			r.Deadline = vtime.Time(*q.Abort)
		}
		x.Requests = append(x.Requests, r)
	}
	slices.SortStableFunc(x.Requests, func(a, b workload.Request) int {
		if a.Arrival != b.Arrival {
			return int(a.Arrival - b.Arrival)
		}
		return int(a.Index) - int(b.Index)
	})
	want = map[uint64]string{}
	for _, row := range s.Results {
		id := uint64(row[0].(float64))
		for i, v := range row {
			if f, ok := v.(float64); ok {
				row[i] = int64(f)
			}
		}
		want[id] = fmt.Sprintln(row[1:]...)
	}
	return x, want
}

// ledgerResult is an outcome as a scenario's results write it.
func ledgerResult(o *metrics.Outcome) string {
	var first, completed any
	if o.FirstToken != vtime.Never {
		first = int64(o.FirstToken)
	}
	status := o.State.String()
	switch o.State {
	case metrics.Completed:
		completed = int64(o.Finished)
	case metrics.TimedOut:
		status = "aborted"
	}
	return fmt.Sprintln(first, completed, o.Preemptions, o.Generated, status)
}

// byHint is a priority policy that takes the client's word.
type byHint struct{}

func (byHint) Observes() policy.Signals { return policy.NoSignals }

func (byHint) Score(r *policy.Request, _ *policy.RouterState, _ vtime.Time) float64 { return r.Hint }
