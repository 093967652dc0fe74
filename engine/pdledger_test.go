package engine

import (
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
