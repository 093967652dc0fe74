package engine

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pdModes are the modes in which scenarios with prefill and decode instances are played. With mail
// an instance hears of the ends of its pulls by messages.
var pdModes = []kvMode{
	{name: "step by step, block twin", stepByStep: true, blocks: true},
	{name: "step by step, block twin, ends by messages", stepByStep: true, blocks: true, mail: true},
	{name: "step by step", stepByStep: true},
	{name: "cohort, all content named"},
	{name: "cohort, own content unnamed", unnamed: true},
	{name: "step by step, own content unnamed", unnamed: true, stepByStep: true},
	{name: "runs, own content unnamed", unnamed: true, silent: true},
	{name: "runs, all content named", silent: true},
	{name: "runs, ends by messages", unnamed: true, silent: true, mail: true},
	{name: "runs, paused every 700 µs", unnamed: true, silent: true, slice: 700},
}

// comparePD plays a scenario in every mode and returns the first difference.
func comparePD(sc *pdScenario, want map[string][]kvRow) error {
	var heard map[pdAbort]pdHearing
	for _, m := range pdModes {
		w, stuck, err := playPD(sc, m, true, heard)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if heard == nil {
			heard = w.heard
		}
		if ends := "stuck " + strings.Join(stuck, ","); (sc.Ends == nil) != (len(stuck) == 0) || sc.Ends != nil && *sc.Ends != ends {
			return fmt.Errorf("%s: it ends as %q", m.name, ends)
		}
		got := map[int64][]any{}
		for _, s := range w.sides {
			if err := compareKVRows(s.kvPlayer, m, want[s.name]); err != nil {
				return fmt.Errorf("%s: %s, %w", m.name, s.name, err)
			}
			for id, r := range s.results {
				if r[len(r)-1] == "dropped" {
					r = []any{nil, nil, int64(0), int64(0), "dropped"}
				}
				got[id] = append(got[id], slices.Insert(slices.Clone(r), 0, any(s.name)))
			}
		}
		if err := comparePDResults(sc, got); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

func comparePDResults(sc *pdScenario, got map[int64][]any) error {
	for _, w := range sc.Results {
		id := int64(w[0].(float64))
		var want []any
		for _, one := range w[1:] {
			one := slices.Clone(one.([]any))
			for k, x := range one {
				if f, ok := x.(float64); ok {
					one[k] = int64(f)
				}
			}
			want = append(want, one)
		}
		if d := cmp.Diff(want, got[id]); d != "" {
			return fmt.Errorf("result of request %d (-vLLM +engine):\n%s", id, d)
		}
	}
	return nil
}

// The engines of prefill and decode instances do what vLLM's scheduler, KV manager and NIXL
// connector did, pass by pass.
func TestKVLedgersOfPrefillAndDecode(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(kvLedgerDir(), "*", "ledger_D0.jsonl"))
	if len(files) == 0 {
		t.Skipf("no ledgers in %s", kvLedgerDir())
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var sc pdScenario
			if err := decodeScenario(dir, &sc); err != nil {
				t.Fatal(err)
			}
			want := map[string][]kvRow{}
			ledgers, _ := filepath.Glob(filepath.Join(dir, "ledger_*.jsonl"))
			for _, file := range ledgers {
				name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "ledger_"), ".jsonl")
				rows, err := readKVRows(file)
				if err != nil {
					t.Fatal(err)
				}
				want[name] = rows
			}
			if err := comparePD(&sc, want); err != nil {
				t.Error(strings.TrimSpace(err.Error()))
			}
		})
	}
}

// An idle decode instance takes in a request whose client aborts at the µs of its arrival: the pass of that µs begins
// the pull, and the request leaves at its end. The rows are those of a simulation of vLLM's loop that is not part of the
// project; a random scenario of CI had such an abort.
func TestAbortThatComesWithItsRequest(t *testing.T) {
	var sc pdScenario
	err := json.Unmarshal([]byte(`{"config": {"common": {"block_size": 2, "num_gpu_blocks": 1331, "max_num_batched_tokens": 512, "max_num_seqs": 64, "max_model_len": 64,
		"enable_prefix_caching": true, "enable_chunked_prefill": true, "policy": "fcfs", "scheduler_reserve_full_isl": true, "beta": [1000, 0.5, 20.25]},
		"prefill": {"num_gpu_blocks": 2661}, "decode": {"kv_load_failure_policy": "recompute"}, "num_prefill": 1, "num_decode": 1,
		"pd": [10, 0.5], "proxy_us": 1, "notify_us": 1, "abort_timeout_us": 20000},
		"requests": [{"id": 0, "arrival_us": 0, "prompt": [[10, 4]], "output_len": 2, "max_output": 9, "abort_us": 1003}],
		"results": [[0, ["P0", 1002, 1002, 0, 1, "completed"], ["D0", null, 1003, 0, 0, "aborted"]]]}`), &sc)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]kvRow{}
	for side, row := range map[string]string{ // any order: into a map
		"P0": `{"t_start": 0, "t_end": 1002, "scheduled": [[0, 4]], "new": [0], "finished": [0], "running": 1, "free_blocks": 2658, "fl": "9764a57c", "cached": [[0, 0]], "kv_events": [["S", "GPU", 2]]}`,
		"D0": `{"t_start": 1003, "t_end": 1003, "scheduled": [], "aborted": [0], "queue": [0], "remote": [0], "free_blocks": 1328, "fl": "275bf6af",
			"loads": [[0, [0, 1], [0, 1]]], "xfers": [["pd", 0, 2, 1003, 1014]]}`,
	} {
		var r kvRow
		if err := json.Unmarshal([]byte(row), &r); err != nil {
			t.Fatal(err)
		}
		want[side] = []kvRow{r}
	}
	if err := comparePD(&sc, want); err != nil {
		t.Error(err)
	}
}
