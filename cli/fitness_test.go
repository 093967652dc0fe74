package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/metrics"
)

// weights are of every kind of measure; one cannot be measured without
// targets.
const weights = "throughput:0.5,p99_ttft@20ms:2,jain@0.5:1,slo_attainment:1,replica_hours:0,tail_blowup_e2e@4:1"

func TestFitnessLine(t *testing.T) {
	args := small("--fitness-weights", weights, "--alpha-coeffs", "1000,0,0", "--beta-coeffs", "10000,0,0",
		"--arrival", "constant", "--rate", "1", "--output-tokens", "3", "--output-tokens-stdev", "0")
	out := done(t, args...).out
	i := strings.Index(out, "\nfitness ")
	if i < 0 || strings.Contains(done(t, small()...).out, "\nfitness ") {
		t.Fatalf("no such line, or one without weights:\n%s", out)
	}
	rest := out[i+1:]
	line := strings.Join(strings.Fields(rest[:strings.Index(rest, "\ndigest")]), " ")
	line, _, _ = strings.Cut(line, " warning ")
	// 60 requests, the last at 60 s, each with a TTFT of 11 and an E2E of 31 ms.
	rate := 60 / (59 + 0.031)
	p99, tail := 1/(1+11.0/20), 1/(1+1.0/4)
	want := fmt.Sprintf("fitness %.4f = 0.5 × %.4f (throughput %.2f requests/s) + 2 × %.4f (p99_ttft 11.00 ms, target 20.00 ms)"+
		" + 1 × 1.0000 (jain 100.0 %%, target 50.0 %%) + 1 × 0.0000 (slo_attainment –) + 0 × %.4f (replica_hours 0.03 hours)"+
		" + 1 × 0.8000 (tail_blowup_e2e 1.00, target 4.00)",
		0.5*rate/(rate+100)+2*p99+1+tail, rate/(rate+100), rate, p99, 1/(1+2*(59+0.031)/3600))
	if line != want {
		t.Errorf("\n got %s\nwant %s", line, want)
	}
}

func TestFitnessInJSON(t *testing.T) {
	r := resultOf(t, done(t, small("--format", "json", "--fitness-weights", weights)...).out)
	sum := 0.0
	var names []string
	for _, x := range r["fitness"].(map[string]any)["terms"].([]any) {
		term := x.(map[string]any)
		sum += term["weight"].(float64) * term["score"].(float64)
		names = append(names, term["measure"].(string))
	}
	if got := r["fitness"].(map[string]any)["score"].(float64); got != sum {
		t.Errorf("score %v, the terms make %v", got, sum)
	}
	var objectives []string
	for _, x := range r["objectives"].([]any) {
		objectives = append(objectives, x.(map[string]any)["name"].(string))
	}
	if d := cmp.Diff(names, objectives); d != "" {
		t.Error(d)
	}
	config, err := json.Marshal(r["config"])
	if err != nil {
		t.Fatal(err)
	}
	again := resultOf(t, done(t, "run", "--format", "json", "--config", file(t, "run.yaml", string(config))).out)
	for _, key := range []string{"fitness", "objectives", "replicas", "kv_use", "config", "digest"} {
		if d := cmp.Diff(r[key], again[key]); d != "" {
			t.Errorf("fed back: %s: %s", key, d)
		}
	}
	plain := resultOf(t, done(t, small("--format", "json")...).out)
	if plain["fitness"] != nil || len(plain["objectives"].([]any)) != 7 || plain["digest"] != r["digest"] {
		t.Errorf("without weights: fitness %v, objectives %v, digest %v and %v", plain["fitness"], plain["objectives"], plain["digest"], r["digest"])
	}
}

// Each measure has its line in the documentation, with unit and direction, and
// no line is of one that does not exist.
func TestMeasuresAreDocumented(t *testing.T) {
	text := read(t, "../docs/metrics.md")
	_, table, _ := strings.Cut(text, "\n## Measures\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := map[string][2]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if len(cells) != 4 || !strings.HasPrefix(line, "| `") {
			continue
		}
		for _, name := range strings.Split(cells[0], ",") {
			rows[strings.Trim(name, " `")] = [2]string{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])}
		}
	}
	for _, m := range metrics.Measures() {
		row, ok := rows[m.Name]
		if want := [2]string{m.Unit, m.Better.String()}; !ok || row != want {
			t.Errorf("%s: documented %v with %v, want %v", m.Name, ok, row, want)
		}
		delete(rows, m.Name)
	}
	if len(rows) > 0 {
		t.Errorf("documented, but no measures: %v", rows)
	}
}
