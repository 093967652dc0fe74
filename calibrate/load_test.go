package calibrate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/calibrate/measured"
	"blis/vtime"
	"blis/workload"
)

// Two engines' clocks have nothing to do with those of their clients: whatever
// their origins, TTFT and E2E are the same, and the request that was queued
// fastest was queued as it arrived.
func TestClocksOfAnyOriginAlign(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	run := func(arrivals, engine vtime.Duration) *measured.Run {
		r := &measured.Run{}
		for i := range vtime.Time(40) {
			at := 1000 * i * i
			q := measured.Request{Arrival: at.Add(arrivals), Failed: i%9 == 5, HasEngineTimes: i%9 != 5, Output: 3}
			if q.HasEngineTimes {
				q.Queued = at.Add(engine + 200 + vtime.Duration(i*i%17))
				q.Scheduled, q.FirstToken, q.LastToken = q.Queued+10, q.Queued+500*(i+1), q.Queued+900*(i+1)
				// As the reader leaves it, without the wait for the end of a step.
				q.TTFT, q.E2E = q.FirstToken.Sub(q.Queued), q.LastToken.Sub(q.Queued)
			}
			r.Requests = append(r.Requests, q)
		}
		return r
	}
	want := run(0, 0)
	alignClocks(want)
	for i := range want.Requests {
		q := &want.Requests[i]
		wait := vtime.Duration(i * i % 17)
		switch {
		case q.Failed && (q.TTFT != 0 || q.E2E != 0):
			t.Errorf("failed request %d has times", i)
		case !q.Failed && (q.TTFT != wait+vtime.Duration(500*(i+1)) || q.E2E != wait+vtime.Duration(900*(i+1))):
			t.Errorf("request %d: TTFT %v, E2E %v, queued %v late", i, q.TTFT, q.E2E, wait)
		}
	}
	for range 20 {
		got := run(vtime.Duration(random.Int64N(1<<50)), vtime.Duration(random.Int64N(1<<50)))
		alignClocks(got)
		for i := range got.Requests {
			if g, w := &got.Requests[i], &want.Requests[i]; g.TTFT != w.TTFT || g.E2E != w.E2E {
				t.Fatalf("request %d: TTFT %v, E2E %v, want %v, %v", i, g.TTFT, g.E2E, w.TTFT, w.E2E)
			}
		}
	}
	// Without an engine's times nothing changes.
	client := measured.Run{Requests: []measured.Request{{Arrival: 5, TTFT: 7, E2E: 9}, {Arrival: 8, Failed: true}}}
	before := slices.Clone(client.Requests)
	if alignClocks(&client); !slices.Equal(client.Requests, before) {
		t.Errorf("%+v, want %+v", client.Requests, before)
	}
}

const runsHeader = "id,model,gpu,tp,engine,max_num_seqs,max_num_batched_tokens,max_model_len,block_size,kv_blocks,prefix_caching,chunked_prefill,async_scheduling,data_parallel,system_prompt_tokens,question_tokens,stages\n"

// runsFolder is a folder of measured runs: rows of runs.csv, and of the requests
// of each by id, with prompt and ok.
func runsFolder(t *testing.T, rows []string, requests map[string][]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "requests"), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("runs.csv", runsHeader+strings.Join(rows, "\n")+"\n")
	for id, list := range requests {
		write("requests/"+id+".csv", "arrival_us,input_tokens,prompt,output_tokens,ttft_us,e2e_us,ok\n"+strings.Join(list, "\n")+"\n")
	}
	return dir
}

const llama = "meta-llama/Llama-2-7b-hf,H100-SXM-80GB,1,vLLM 0.15.1,128,2048,4096,16,7462,1,1,1"

func TestLoad(t *testing.T) {
	dir := runsFolder(t,
		[]string{"steady," + llama + ",1,40,60,2x1;4x1", "two," + llama + ",2,0,0,", "late," + llama + ",1,40,50,", "open,Llama-3.1-8B,H100,1,vLLM 0.19.0,128,2048,4096,16,,1,0,0,,,,"},
		map[string][]string{
			"steady": {"500,100,0,9,30000,90000,1", "0,90,1,9,30000,90000,1"},
			"two":    {"0,100,0,9,30000,90000,1"},
			"late":   {"0,100,3,9,30000,90000,1", "10,0,3,9,,,0", "20,0,4,9,,,0", "30,70,5,8,0,0,0"},
			"open":   {"0,100,-1,9,30000,90000,1"},
		})
	if _, _, err := Load([]string{dir}, Overrides{}, 0); err == nil || !strings.Contains(err.Error(), `open.csv:2: prompt: "-1": want a whole number from 0`) {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "requests", "open.csv"), []byte("arrival_us,input_tokens,output_tokens,ttft_us,e2e_us\n0,100,9,30000,90000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, skipped, err := Load([]string{dir}, Overrides{}, 77*vtime.Second)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"two: 2 schedulers share its requests; a replay has one"}; !slices.Equal(skipped, want) {
		t.Errorf("skipped %q, want %q", skipped, want)
	}
	var names []string
	for _, s := range list {
		names = append(names, fmt.Sprint(s.Run.ID, " ", s.Timeout, " ", s.overloaded(), " ", s.From, "-", s.To))
	}
	if want := []string{"steady 0µs false 0-2", "late 77s true 0-4", "open 0µs false 0-1"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	some, overloaded := notOverloaded(list)
	if len(some) != 2 || !slices.Equal(overloaded, []string{"late"}) {
		t.Errorf("%d steady, overloaded %v", len(some), overloaded)
	}
	// Of requests that failed without saying so, the length is that of their
	// prompt; of an unknown prompt, the usual one.
	if got, want := pulled(t, newSource(list[1].Run, list[1].Timeout)), []string{
		"0µs 100+9 by 77000000µs", "10µs 100+9 by 77000010µs", "20µs 90+9 by 77000020µs", "30µs 70+8 by 77000030µs",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// What the run leaves open is derived.
	open := list[2].Server
	if c := &open.Config; c.TotalKVBlocks < 10_000 || c.EnableChunkedPrefill || *c.AsyncScheduling || !c.SchedulerReserveFullISL || !c.EnablePrefixCaching {
		t.Errorf("%+v", c)
	}
	if l := open.Limits; l.MaxBatchedTokens != 2048 || l.MaxSeqs != 128 || l.BlockSize != 16 || l.GPUBlocks != open.Config.TotalKVBlocks || l.ChunkedPrefill {
		t.Errorf("%+v", l)
	}
	if c := &list[0].Server.Config; c.TotalKVBlocks != 7462 || c.SchedulerReserveFullISL || !*c.AsyncScheduling {
		t.Errorf("%+v", c)
	}
}

// pulled is what a source yields, a line each.
func pulled(t *testing.T, s *source) (list []string) {
	t.Helper()
	for {
		var r workload.Request
		more, err := s.Pull(&r)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return list
		}
		list = append(list, fmt.Sprintf("%v %d+%d by %v", r.Arrival, r.Input, r.Output, r.Deadline))
	}
}

// Prompts are equal as far as measured ones are: all of them, the ten under one
// system prompt in its tokens, and otherwise in nothing.
func TestIdentityOfPrompts(t *testing.T) {
	run := &measured.Run{SystemPromptTokens: 40, Requests: []measured.Request{
		{Prompt: 3, Input: 100}, {Prompt: 7, Input: 90}, {Prompt: 13, Input: 100}, {Prompt: 3, Input: 100}, {Prompt: -1, Input: 100}, {Prompt: 4, Input: 40},
	}}
	s := newSource(run, 0)
	var spans [][]workload.Span
	for range run.Requests {
		var r workload.Request
		if more, err := s.Pull(&r); !more || err != nil {
			t.Fatal(more, err)
		}
		if r.Deadline != vtime.Never {
			t.Errorf("a deadline %v without a timeout", r.Deadline)
		}
		if r.Shared() != r.Input && len(r.Spans) > 0 {
			t.Errorf("%d tokens of %d are named", r.Shared(), r.Input)
		}
		spans = append(spans, slices.Clone(r.Spans))
	}
	for _, c := range []struct {
		a, b   int
		shared int32
	}{{0, 1, 40}, {0, 2, 0}, {0, 3, 100}, {0, 4, 0}, {0, 5, 0}, {1, 2, 0}, {1, 3, 40}} {
		if got := sharedTokens(spans[c.a], spans[c.b]); got != c.shared {
			t.Errorf("requests %d and %d share %d tokens, want %d", c.a, c.b, got, c.shared)
		}
	}
}

// sharedTokens is how many leading tokens two prompts have in common.
func sharedTokens(a, b []workload.Span) (n int32) {
	for i := range min(len(a), len(b)) {
		if a[i].Content != b[i].Content {
			return n
		}
		if n += min(a[i].Length, b[i].Length); a[i].Length != b[i].Length {
			return n
		}
	}
	return n
}

// A server was overloaded when clients gave up: some failed, and others took so
// long that patience may be why, or many failed.
func TestOverloaded(t *testing.T) {
	const timeout = 100 * vtime.Second
	for _, c := range []struct {
		name            string
		requests, fails int
		slowest         vtime.Duration
		want            bool
	}{
		{"all well", 100, 0, 5 * vtime.Second, false},
		{"slow, but nobody gave up", 100, 0, 99 * vtime.Second, false},
		{"one mishap", 100, 1, 5 * vtime.Second, false},
		{"one gave up", 100, 1, 51 * vtime.Second, true},
		{"just patient enough", 100, 1, 50 * vtime.Second, false},
		{"as many mishaps as may be", 100, 5, 5 * vtime.Second, false},
		{"many failed", 100, 6, 5 * vtime.Second, true},
		{"all failed", 3, 3, 0, true},
	} {
		var rows []string
		for i := range c.requests {
			row := fmt.Sprintf("%d,100,0,9,30000,%d,1", i, int64(c.slowest))
			if i < c.fails {
				row = fmt.Sprintf("%d,100,0,9,,,0", i)
			}
			rows = append(rows, row)
		}
		dir := runsFolder(t, []string{"run," + llama + ",1,40,60,"}, map[string][]string{"run": rows})
		list, _, err := Load([]string{dir}, Overrides{}, timeout)
		if err != nil || len(list) != 1 {
			t.Fatal(len(list), err)
		}
		wanted := vtime.Duration(0)
		if c.want {
			wanted = timeout
		}
		if s := list[0]; s.overloaded() != c.want || s.Timeout != wanted {
			t.Errorf("%s: overloaded %v, clients wait %v", c.name, s.overloaded(), s.Timeout)
		}
	}
}
