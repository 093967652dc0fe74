package cli

import (
	"strings"
	"testing"
)

// A program that asked for JSON gets JSON, also when there is no result: row 16
// of what new users ran into.
func TestErrorsAreJSONWhereResultsAre(t *testing.T) {
	s := loadSchemaOf(t, "error")
	for _, c := range []struct {
		args, kind, field string
		code              int
	}{
		{"run --format json --rate=-1", "input", "rate", 2},
		{"run --rate -1 --format=json", "input", "rate", 2},
		{"run --format json --num-instanses 3", "input", "num-instanses", 2},
		{"run --format json --num-instances four", "input", "num-instances", 2},
		{"run --format json --routing-policy least-load", "input", "routing.type", 2},
		{"run --format json --set routing.params.queue-depht=3 --routing-policy weighted", "input", "routing.params.queue-depht", 2},
		{"run --format json --in-flight never", "input", "in-flight", 2},
		{"run --format json --trace no/such.csv", "input", "trace", 2},
		{"run --format json --fitness-weights p99_tft:1", "input", "fitness-weights", 2},
		{"run --format json --check p99_ttft", "input", "check", 2},
		{"run --format json --config FILE", "input", "routing-polcy", 2},
		{"run --format json --model Llama-3.1-70B", "does_not_fit", "", 3},
		{"compare --format json round-robin nope", "input", "", 2},
		{"compare --format json", "input", "", 2},
		{"workload show --format json no/such.csv", "input", "trace", 2},
		{"policies nope --format json", "input", "", 2},
		{"models show nope --format json", "input", "", 2},
		{"validate no/such --format json", "input", "", 2},
	} {
		args := strings.Fields(strings.ReplaceAll(c.args, "FILE", file(t, "c.yaml", "seed: 1\nrouting-polcy: x\n")))
		got := blis(t, nil, args...)
		if bad := s.check(got.out); bad != nil {
			t.Errorf("%s: %v in %q", c.args, bad, got.out)
			continue
		}
		e := resultOf(t, got.out)
		field, _ := e["field"].(string)
		if e["kind"] != c.kind || field != c.field || got.code != c.code || e["exit_code"] != float64(c.code) || got.err != "blis: "+e["message"].(string)+"\n" {
			t.Errorf("%s: exit %d: %s%s", c.args, got.code, got.out, got.err)
		}
	}
	if e := resultOf(t, blis(t, nil, "run", "--format", "json", "--model", "Llama-3.1-70B").out); e["smallest_tp"] != 2.0 {
		t.Errorf("smallest_tp %v", e["smallest_tp"])
	}
	if s := blis(t, map[string]string{"BLIS_FORMAT": "json"}, "run", "--rate=-1"); !strings.Contains(s.out, errorSchema) {
		t.Errorf("by a variable: %q", s.out)
	}
	for _, args := range []string{"run --rate=-1", "run --format text --rate=-1"} {
		if s := blis(t, nil, strings.Fields(args)...); s.out != "" {
			t.Errorf("%s: %q", args, s.out)
		}
	}
}

// A result with a check that failed stays the only thing on standard output.
func TestChecksDecideTheExitCode(t *testing.T) {
	for bound, code := range map[string]int{"p99_ttft<10s": 0, "p99_ttft<1us": 1, "slo_attainment>0.5": 1, "p99_ttft<10s,p50_e2e>1us": 0} {
		s := blis(t, nil, small("--format", "json", "--check", bound)...)
		list := resultOf(t, s.out)["checks"].([]any)
		if s.code != code || len(list) != strings.Count(bound, ",")+1 {
			t.Errorf("%s: exit %d, want %d: %v", bound, s.code, code, list)
		}
		if bad := loadSchema(t).check(s.out); bad != nil {
			t.Errorf("%s: %v", bound, bad)
		}
		text := blis(t, nil, small("--check", bound)...)
		if text.code != code || strings.Contains(text.out, "check      FAIL ") != (code == 1) || !strings.Contains(text.out, "\ncheck      ") {
			t.Errorf("%s: exit %d, %s", bound, text.code, text.out)
		}
	}
	if s := done(t, small("--check", "p99_ttft<10s", "--check", "p99_tpot<1s")...); strings.Count(s.out, "\ncheck      PASS ") != 2 {
		t.Errorf("given twice: %s", s.out)
	}
}
