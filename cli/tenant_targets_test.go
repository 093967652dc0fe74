package cli

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// promises is traffic of two tenants that share a class, and of a class without targets.
const promises = `version: "2"
seed: 7
aggregate_rate: 22
clients:
  - {id: a, tenant_id: gold, slo_class: standard, rate_fraction: 0.4, arrival: {process: poisson}, input_distribution: {type: constant, params: {value: 600}}, output_distribution: {type: constant, params: {value: 60}}}
  - {id: b, tenant_id: free, slo_class: standard, rate_fraction: 0.4, arrival: {process: poisson}, input_distribution: {type: constant, params: {value: 600}}, output_distribution: {type: constant, params: {value: 60}}}
  - {id: c, tenant_id: free, slo_class: batch, rate_fraction: 0.2, arrival: {process: poisson}, input_distribution: {type: constant, params: {value: 2000}}, output_distribution: {type: constant, params: {value: 200}}}
`

// TestPromiseToATenant holds in place of the targets of its classes, in every number that
// counts targets.
func TestPromiseToATenant(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "t.jsonl")
	const goldTTFT, usualTTFT, usualTPOT = 45_000.0, 70_000.0, 14_000.0 // µs
	s := done(t, "run", "--workload-spec", file(t, "w.yaml", promises), "--num-requests", "400", "--num-instances", "1", "--priority-policy", "deadline-aware",
		"--slo-targets", "tenant/gold:ttft=45ms;standard:ttft=70ms,tpot=14ms", "--trace-level", "detailed", "--trace-out", trace, "--format", "json")
	result := resultOf(t, s.out)

	judged, met, beyond := map[string]float64{}, map[string]float64{}, map[string]float64{}
	arrival := map[float64]float64{}
	priority := map[float64]map[string]any{}
	for line := range strings.Lines(read(t, trace)) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		switch r["type"] {
		case "priority":
			priority[r["request"].(float64)] = r
		case "outcome":
			tenant, class := r["tenant"].(string), r["slo_class"].(string)
			arrival[r["request"].(float64)] = r["arrival_us"].(float64)
			ttft, tpot := r["ttft_us"].(float64), r["tpot_us"].(float64)
			late, of := []bool{ttft > usualTTFT, tpot > usualTPOT}, usualTTFT
			switch {
			case tenant == "gold":
				late, of = []bool{ttft > goldTTFT, false}, goldTTFT
			case class == "batch":
				late, of = nil, 10_000_000 // default_target
			}
			if want := -(r["arrival_us"].(float64) + of); priority[r["request"].(float64)]["priority"] != want {
				t.Fatalf("request %v of %s has priority %v, want %v", r["request"], tenant, priority[r["request"].(float64)]["priority"], want)
			}
			if late == nil {
				if r["slo_met"] != nil {
					t.Fatalf("%v is judged", r)
				}
				continue
			}
			kept := !late[0] && !late[1]
			if r["slo_met"] != kept {
				t.Fatalf("%v: slo_met is %v, want %v", r, r["slo_met"], kept)
			}
			for _, scope := range []string{"overall", "tenant " + tenant, "class " + class} {
				judged[scope]++
				if kept {
					met[scope]++
				}
			}
			for i, name := range []string{"ttft", "tpot"} {
				if late[i] {
					beyond[name]++
				}
			}
		}
	}
	if met["tenant gold"] == 0 || met["tenant gold"] == judged["tenant gold"] || met["tenant free"] == 0 || met["tenant free"] == judged["tenant free"] {
		t.Fatalf("the test proves nothing: %v of %v", met, judged)
	}
	seconds := 0.0
	for scope, n := range judged { // any order
		kind, name, _ := strings.Cut(scope, " ")
		of := result["overall"].(map[string]any)
		switch kind {
		case "tenant":
			of = result["per_tenant"].(map[string]any)[name].(map[string]any)
		case "class":
			of = result["per_class"].(map[string]any)[name].(map[string]any)
		}
		if got := of["slo_attainment"].(float64); math.Abs(got-met[scope]/n) > 1e-12 {
			t.Errorf("%s: attainment %v, want %v of %v", scope, got, met[scope], n)
		}
		if now := met[scope] / of["goodput_per_second"].(float64); seconds == 0 {
			seconds = now
		} else if math.Abs(now-seconds) > 1e-9 {
			t.Errorf("%s: goodput %v", scope, of["goodput_per_second"])
		}
	}
	summary := resultOf(t, done(t, "trace", "summarize", trace, "--format", "json").out)
	facts := summary["outcomes"].(map[string]any)["classes"].([]any)
	for _, f := range facts {
		f := f.(map[string]any)
		if f["slo_class"] != "standard" {
			continue
		}
		if f["met"] != met["class standard"] || f["judged"] != judged["class standard"] || f["ttft"].(map[string]any)["beyond"] != beyond["ttft"] || f["tpot"].(map[string]any)["beyond"] != beyond["tpot"] {
			t.Errorf("%v, want %v of %v met, %v beyond", f, met["class standard"], judged["class standard"], beyond)
		}
	}
	violations := 0.0
	for line := range strings.Lines(read(t, trace)) {
		if strings.Contains(line, `"name":"slo_violation"`) {
			violations++
		}
	}
	if violations != beyond["ttft"]+beyond["tpot"] {
		t.Errorf("%v violations, want %v", violations, beyond)
	}
}

// TestPromiseToATenantIsSaid in the text, and a name without requests is a warning.
func TestPromiseToATenantIsSaid(t *testing.T) {
	s := done(t, "run", "--workload-spec", file(t, "w.yaml", promises), "--num-requests", "60", "--num-instances", "1", "--slo-targets", "tenant/gold:ttft=45ms;tenant/golden:ttft=1s")
	text := strings.Join(strings.Fields(s.out), " ")
	if !strings.Contains(text, "targets standard: ") || !strings.Contains(text, "tenant gold: ") || strings.Contains(text, "tenant free: ") {
		t.Error(s.out)
	}
	if want := `slo-targets: no request is of the tenant "golden", the nearest is "gold"`; !strings.Contains(text, want) {
		t.Errorf("want %s\n%s", want, s.out)
	}
}

// TestPromiseToATenantOfAnotherName changes nothing but what that name is asked for.
func TestPromiseToATenantOfAnotherName(t *testing.T) {
	run := func(targets string) map[string]any {
		return resultOf(t, done(t, "run", "--workload-spec", file(t, "w.yaml", promises), "--num-requests", "200", "--num-instances", "2", "--routing-policy", "least-loaded",
			"--format", "json", "--slo-targets", targets).out)
	}
	one, other := run("standard:ttft=70ms"), run("standard:ttft=70ms;tenant/nobody:ttft=1us")
	delete(other["per_tenant"].(map[string]any), "nobody") // it has a place, without requests
	for _, key := range []string{"overall", "per_tenant", "per_class", "digest"} {
		a, _ := json.Marshal(one[key])
		b, _ := json.Marshal(other[key])
		if string(a) != string(b) {
			t.Errorf("%s: %s and %s", key, a, b)
		}
	}
}
