package measured

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"blis/vtime"
)

// The measured runs are not part of the project. What is expected of them was
// counted with other tools.
func realPath(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("../../../shared/reference/measured", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("no measured runs here")
	}
	return path
}

func TestRealRunsAreAsTheirTableSays(t *testing.T) {
	list, err := ReadRuns(realPath(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 11 {
		t.Errorf("%d runs", len(list))
	}
	for i := range list {
		r := &list[i]
		if err := r.Load(); err != nil { // compares counts
			t.Error(err)
			continue
		}
		if r.Rows <= 0 || r.Completed <= 0 || r.ReserveFullISL || !*r.AsyncScheduling || r.DataParallel != 1 {
			t.Errorf("%s: %d rows, %d completed, reserves %v, async %v, %d schedulers", r.ID, r.Rows, r.Completed, r.ReserveFullISL, *r.AsyncScheduling, r.DataParallel)
		}
		checkRealRequests(t, r)
		rates := stageRates(r)
		for k, s := range r.Stages {
			if rates[k] < 0.98*s.Rate || rates[k] > 1.02*s.Rate {
				t.Errorf("%s: stage %d: %.2f requests/s, want about %v", r.ID, k+1, rates[k], s.Rate)
			}
		}
		ttft, e2e := means(r)
		t.Logf("%-27s TP%d %5d requests, %5d completed, rates %.2f of %v, TTFT %.1f ms, E2E %.1f ms",
			r.ID, r.TP, len(r.Requests), r.Completed, rates, r.Stages, ttft, e2e)
		r.Requests = nil
	}
}

// checkRealRequests: in order, and 100 prompts in a cycle.
func checkRealRequests(t *testing.T, r *Run) {
	t.Helper()
	last := vtime.Time(0)
	for k, q := range r.Requests {
		if q.Arrival < last || int(q.Prompt) != k%100 || int(q.Output) != r.OutputTokens || q.HasEngineTimes {
			t.Fatalf("%s: request %d: %+v after %v", r.ID, k, q, last)
		}
		if q.Failed != (q.TTFT == 0) || q.Failed != (q.E2E == 0) || q.E2E < q.TTFT {
			t.Fatalf("%s: request %d: %+v", r.ID, k, q)
		}
		last = q.Arrival
	}
}

// stageRates are the requests per second in each stage, of the last until the
// last request.
func stageRates(r *Run) []float64 {
	var rates []float64
	begin := vtime.Time(0)
	for k, s := range r.Stages {
		end := begin.Add(s.Duration)
		if k == len(r.Stages)-1 {
			end = max(end, r.Requests[len(r.Requests)-1].Arrival+1)
		}
		n := 0
		for _, q := range r.Requests {
			if begin <= q.Arrival && q.Arrival < end {
				n++
			}
		}
		rates = append(rates, float64(n)/end.Sub(begin).Seconds())
		begin = end
	}
	return rates
}

func means(r *Run) (ttft, e2e float64) {
	n := 0.0
	for _, q := range r.Requests {
		if !q.Failed {
			n++
			ttft += q.TTFT.Milliseconds()
			e2e += q.E2E.Milliseconds()
		}
	}
	return ttft / n, e2e / n
}

func TestOneFileOfRequestsIsItsRun(t *testing.T) {
	list, err := ReadRuns(realPath(t, "requests/llama-2-7b-tp1-reasoning.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].ID != "llama-2-7b-tp1-reasoning" || list[0].KVBlocks != 7462 {
		t.Fatalf("%+v", list)
	}
	if err := list[0].Load(); err != nil {
		t.Fatal(err)
	}
	if n := len(list[0].Requests); n != 4800 {
		t.Errorf("%d requests", n)
	}
}

func TestRealEngineRuns(t *testing.T) {
	for _, c := range []struct {
		name     string
		parallel int
		blocks   int64
		length   int32
		seqs     int32
	}{
		{"RTX4090_Llama-3.1-8B", 1, 2587, 32768, 256},
		{"RTXPRO6000_Llama-3.1-8B", 1, 0, 0, 128},
		{"RTXPRO6000_Qwen3-30B-A3B-Instruct-2507", 2, 0, 0, 128},
	} {
		list, err := ReadRuns(realPath(t, "engine/"+c.name))
		if err != nil {
			t.Fatal(err)
		}
		r := &list[0]
		if err := r.Load(); err != nil {
			t.Fatal(err)
		}
		if r.ID != c.name || r.DataParallel != c.parallel || r.KVBlocks != c.blocks || r.MaxModelLen != c.length || r.MaxNumSeqs != c.seqs ||
			r.MaxNumBatchedTokens != 2048 || !r.ReserveFullISL || !*r.AsyncScheduling || !r.PrefixCaching || r.Engine != "vLLM 0.19.0" || len(r.Requests) != 300 {
			t.Errorf("%+v", *r)
		}
		checkEngineTimes(t, r)
		ttft, e2e := means(r)
		last := r.Requests[299]
		t.Logf("%s: GPU %q, %d requests over %v, TTFT %.1f ms, E2E %.1f ms", r.ID, r.GPU, len(r.Requests), last.Arrival, ttft, e2e)
	}
}

func checkEngineTimes(t *testing.T, r *Run) {
	t.Helper()
	firsts, behind := 0, 0
	for k, q := range r.Requests {
		if q.Failed || !q.HasEngineTimes || q.Prompt != -1 || q.TTFT != q.FirstToken.Sub(q.Queued) || q.E2E != q.LastToken.Sub(q.Queued) {
			t.Fatalf("%s: request %d: %+v", r.ID, k, q)
		}
		if q.Queued == 0 {
			firsts++
		}
		if k > 0 && q.Queued < r.Requests[k-1].Queued {
			behind++
		}
	}
	if firsts == 0 || r.DataParallel == 1 && behind > 0 {
		t.Errorf("%s: %d requests queued first, %d behind one that arrived later", r.ID, firsts, behind)
	}
	t.Logf("%s: %d requests queued before one that had arrived earlier", r.ID, behind)
}

func TestRealSteps(t *testing.T) {
	list, err := ReadSteps(realPath(t, "step_periods.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	consecutive, waiting, notAll, single := 0, 0, 0, 0
	for _, s := range list {
		if s.HasSums || math.IsNaN(s.KVUsage+s.Period+s.Duration) || s.Duration > s.Period {
			t.Fatalf("%+v", s)
		}
		if used := 1 - float64(s.BlocksFree)/float64(s.BlocksTotal); math.Abs(used-s.KVUsage) > 1e-12 {
			t.Fatalf("%+v: usage is not that of usable blocks", s)
		}
		if s.PreviousInSample {
			consecutive++
		}
		if s.Waiting > 0 {
			waiting++
		}
		if s.Running > s.PrefillRequests+s.DecodeRequests {
			notAll++
		}
		if s.PrefillRequests > 0 && s.PrefillTokens == s.PrefillRequests {
			single++
		}
	}
	if len(list) != 1967 || consecutive != 198 {
		t.Errorf("%d steps, %d of them behind the step before", len(list), consecutive)
	}
	t.Logf("%d steps, %d behind the step before, %d with requests waiting, %d with running requests that were not scheduled, %d whose prefills are of one token each",
		len(list), consecutive, waiting, notAll, single)
}

func TestRealTracesAreAccountedFor(t *testing.T) {
	for _, c := range []struct {
		name         string
		spans, alone int
	}{{"codellama-34b-tp1", 280, 23}, {"llama-2-7b-tp1", 282, 31}} {
		trace, err := ReadOTLP(realPath(t, "otlp/"+c.name+".json.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if trace.Spans != c.spans || !accounted(trace) || len(trace.Requests) != c.spans || len(trace.Steps) != 0 {
			t.Errorf("%s: %d spans, %d used, skipped %v, %d requests, %d steps", c.name, trace.Spans, trace.Used, trace.Skipped, len(trace.Requests), len(trace.Steps))
		}
		alone := Alone(trace.Requests)
		if len(alone) != c.alone {
			t.Errorf("%s: %d requests alone, want %d", c.name, len(alone), c.alone)
		}
		t.Logf("%s: %d spans, %d requests alone", c.name, trace.Spans, len(alone))
		for _, r := range alone {
			t.Logf("  %5d tokens %7.1f ms", r.Input, r.Prefill.Milliseconds())
		}
	}
}

// accounted: every span is used or skipped.
func accounted(trace *Trace) bool {
	n := trace.Used
	for _, k := range trace.Skipped {
		n += k
	}
	return n == trace.Spans
}

func TestPublicClosedLoops(t *testing.T) {
	list, err := ReadClosedLoops(realPath(t, "closed_loop.csv.gz"))
	if err != nil || len(list) != 875 {
		t.Fatalf("%d benchmarks, %v", len(list), err)
	}
	schedulers := map[int]int{}
	for _, p := range list {
		schedulers[p.AttentionDP]++
	}
	if schedulers[1] != 801 || schedulers[2] != 28 || schedulers[4] != 46 {
		t.Errorf("benchmarks by attention data parallelism: %v", schedulers)
	}
}
