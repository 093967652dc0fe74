package actors

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"blis/metrics"
	"blis/vtime"
)

// conformanceDir is where the scenarios are: BLIS_CONFORMANCE, or the
// reference set. Per folder: flags.txt, requests.csv and expected.csv.
func conformanceDir() string {
	if dir := os.Getenv("BLIS_CONFORMANCE"); dir != "" {
		return dir
	}
	return "../../shared/reference/conformance"
}

// TestConformance replays fixed traces that the public simulator has served:
// every completed request must have its TTFT, E2E, scheduling delay and
// instance to the microsecond, every other its state. That simulator has no async
// scheduling.
func TestConformance(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(conformanceDir(), "*", "flags.txt"))
	if len(files) == 0 {
		t.Skipf("no scenarios in %s", conformanceDir())
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) { conform(t, dir) })
	}
}

func conform(t *testing.T, dir string) {
	flags, err := os.ReadFile(filepath.Join(dir, "flags.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := readTable(t, filepath.Join(dir, "expected.csv"))
	cfg := DefaultConfig()
	cfg.NumInstances, cfg.AsyncScheduling = 1, new(false)
	setFlags(t, &cfg, strings.Fields(string(flags)))
	cfg.Trace = filepath.Join(dir, "requests.csv")
	for _, x := range Executors(3) {
		var got []string
		run := cfg
		run.Execution = x.Execution
		run.Row = func(r *Row) { got = append(got, conformanceRow(&cfg, r.Outcome)) }
		if _, err := Run(context.Background(), run); err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		if len(got) != len(want)-1 {
			t.Fatalf("%s: %d requests, want %d", x.Name, len(got), len(want)-1)
		}
		for i, row := range got {
			if w := strings.Join(want[i+1], ","); row != w {
				t.Fatalf("%s: request %d\n got %s\nwant %s", x.Name, i, row, w)
			}
		}
	}
}

// conformanceRow is an outcome as expected.csv writes it: a request that did
// not complete keeps the TTFT it had.
func conformanceRow(cfg *Config, o *metrics.Outcome) string {
	row := fmt.Sprintf("%d,%s,", o.ID, o.State)
	if o.Instance >= 0 {
		row += strconv.Itoa(int(o.Instance))
	}
	token := vtime.Duration(cfg.AlphaCoeffs[2])
	row += ","
	if ttft, ok := o.TTFT(token); ok {
		row += strconv.FormatInt(int64(ttft), 10)
	}
	if o.State != metrics.Completed {
		return row + ",,"
	}
	e2e, _ := o.E2E(token, 0)
	return fmt.Sprintf("%s,%d,%d", row, e2e, o.Scheduled.Sub(o.Arrival))
}

func readTable(t *testing.T, file string) [][]string {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// setFlags sets the fields whose json tags the flags name: "--name value" or
// "--name=value".
func setFlags(t *testing.T, cfg *Config, words []string) {
	for i := 0; i < len(words); i++ {
		name, value, ok := strings.Cut(strings.TrimPrefix(words[i], "--"), "=")
		if !ok {
			i++
			value = words[i]
		}
		if err := cfg.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}
