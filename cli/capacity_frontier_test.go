package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A trace is the same every time, so a frontier of it is exact and soon there.
func TestFrontierOfASweep(t *testing.T) {
	trace, err := filepath.Abs("../examples/replay/requests.csv")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sweep.yaml")
	text := "schema: blis.sweep/v1\nbase: {trace: " + trace + ", gpu-hour-price: 2}\naxes:\n  num-instances: [1, 3]\n  tp: [1, 3]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	slo := []string{"--slo", "p99_ttft=120ms", "--over", "rate=1..64"}
	s := blis(t, nil, append([]string{"capacity", file, "--frontier", "cost", "--format", "json"}, slo...)...)
	var result struct {
		Items []struct {
			Axes   map[string]int `json:"axes"`
			Holds  *float64       `json:"holds"`
			Cost   *float64       `json:"cost_per_hour"`
			Pareto bool           `json:"pareto"`
			Error  *string        `json:"error"`
		} `json:"configurations"`
	}
	if err := json.Unmarshal([]byte(s.out), &result); err != nil || len(result.Items) != 4 || s.code != 0 {
		t.Fatalf("%v, %d: %s%s", err, s.code, s.out, s.err)
	}
	one, three := result.Items[0], result.Items[2]
	if one.Holds == nil || three.Holds == nil || !(*three.Holds > *one.Holds) || *one.Cost != 2 || *three.Cost != 6 || !one.Pareto || !three.Pareto {
		t.Errorf("%s", s.out)
	}
	if refused := result.Items[1]; refused.Error == nil || refused.Pareto || refused.Axes["tp"] != 3 {
		t.Errorf("TP 3 is not refused: %s", s.out)
	}
	if s := blis(t, nil, append([]string{"capacity", file, "--frontier", "cost"}, slo...)...); !strings.Contains(s.out, "●") || s.code != 0 {
		t.Errorf("%d: %s%s", s.code, s.out, s.err)
	}
	for want, args := range map[string][]string{
		"--tp: with --frontier settings are those of the sweep file": append([]string{"capacity", file, "--frontier", "cost", "--tp", "2"}, slo...),
		"is on the axis num-instances of the sweep too":              {"capacity", file, "--frontier", "cost", "--slo", "p99_ttft=120ms", "--over", "num-instances=1..4"},
		"a sweep file is for --frontier cost":                        append([]string{"capacity", file}, slo...),
		"want the sweep file with the configurations":                append([]string{"capacity", "--frontier", "cost"}, slo...),
	} {
		if s := blis(t, nil, args...); s.code != exitInput || !strings.Contains(s.err, want) {
			t.Errorf("%d: %s, want %s", s.code, s.err, want)
		}
	}
}
