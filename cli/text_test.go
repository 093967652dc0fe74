package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"blis/actors"
	"blis/report/plaintext"
)

// The order of a text result is what a person looks for first.
func TestTextOrder(t *testing.T) {
	s := done(t, small("--slo-targets", "standard:ttft=1s", "--total-kv-blocks", "700")...)
	at := 0
	for _, label := range []string{"model", "cluster", "latency", "instance", "policies", "workload", "note", "\nrequests", "tokens", "rates", "\nms ", "TTFT", "TPOT", "ITL", "E2E",
		"\ntargets", "cache", "KV", "busy", "E2E", "load", "backlog", "limit", "digest"} {
		i := strings.Index(s.out[at:], label)
		if i < 0 {
			t.Fatalf("%q is missing or out of order in\n%s", label, s.out)
		}
		at += i + len(label)
	}
}

func TestTextFitsEightyColumns(t *testing.T) {
	for name, args := range kinds {
		for line := range strings.Lines(done(t, args...).out) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > plaintext.Narrowest {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
			if strings.Contains(line, "NaN") || strings.Contains(line, "Inf") || strings.Contains(line, "\x1b") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}

func TestColourOnATerminalOnly(t *testing.T) {
	for _, c := range []struct {
		terminal, refused, want bool
	}{{true, false, true}, {true, true, false}, {false, false, false}} {
		console := &console{outTerminal: c.terminal, lookup: func(string) (string, bool) { return "", c.refused }}
		if console.colour() != c.want {
			t.Errorf("%+v: colour %v", c, !c.want)
		}
	}
}

func smallConfig() actors.Config {
	cfg := actors.DefaultConfig()
	cfg.NumRequests, cfg.NumInstances = 60, 2
	return cfg
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"steady", "", []string{"--num-requests", "2000", "--rate", "110"}},
		{"the default", "", nil},
		{"overload", "not steady: queue +", []string{"--rate", "300", "--num-requests", "3000", "--max-num-seqs", "16"}},
		{"low load", "load too low for policies to differ", []string{"--rate", "5", "--num-requests", "300"}},
		{"conversations that keep it busy", "", []string{"--workload-spec", "../examples/workloads/chat.yaml"}},
		{"low load on one instance", "", []string{"--rate", "1", "--num-instances", "1", "--num-requests", "200"}},
		{"targets of nobody", `slo-targets: no request is of the class "standrad", the nearest is "standard"`, []string{"--slo-targets", "standrad:ttft=1s;standard:ttft=2s"}},
		{"a full KV cache", "KV cache of an instance up to 9", []string{"--latency-model", "physics", "--num-instances", "1", "--num-requests", "200", "--rate", "20", "--total-kv-blocks", "2900"}},
		{"room in the KV cache", "", []string{"--latency-model", "physics", "--num-instances", "1", "--num-requests", "200", "--rate", "20", "--total-kv-blocks", "3300"}},
		{"nothing completed", "no request completed: 1,000 rejected (1,000 reject-all)", []string{"--admission-policy", "reject-all"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := done(t, append([]string{"run", "--format", "json"}, c.args...)...).out
			all := resultOf(t, out)["warnings"].([]any)
			var list []any
			for _, w := range all { // how far coefficients reach is another matter
				if !strings.HasPrefix(w.(string), "beyond what physics") {
					list = append(list, w)
				}
			}
			switch {
			case c.want == "" && len(list) > 0:
				t.Errorf("warns: %v", list)
			case c.want != "" && (len(list) != 1 || !strings.HasPrefix(list[0].(string), c.want)):
				t.Errorf("warnings %v, want %q", list, c.want)
			}
			text := done(t, append([]string{"run"}, c.args...)...).out
			if got := strings.Contains(text, "\nwarning "); got != (len(all) > 0) {
				t.Errorf("text has a warning: %v", got)
			}
		})
	}
}

// A run that goes beyond the data of its coefficients warns, and names the ranges.
func TestWarningBeyondTheFittedRanges(t *testing.T) {
	const want = "beyond what physics h100 was fitted to: contexts of up to 1,611 tokens (fitted to 1,059), up to 149 requests in a step (128), up to 2,188 tokens in a step (2,048); its stated error does not hold there"
	list := resultOf(t, done(t, "run", "--format", "json", "--latency-model", "physics").out)["warnings"].([]any)
	if len(list) != 1 || list[0] != want {
		t.Errorf("%q, want %q", list, want)
	}
	if list := resultOf(t, done(t, "run", "--format", "json", "--latency-model", "roofline").out)["warnings"].([]any); len(list) != 0 {
		t.Errorf("roofline, which nothing was fitted to: %q", list)
	}
}

// So does a comparison, in the notes of each bundle and above the text; and it
// names what measured it.
func TestComparisonSaysWhatMeasuredIt(t *testing.T) {
	args := []string{"compare", "round-robin", "least-loaded", "--num-requests", "60", "--num-instances", "2", "--seeds", "2", "--latency-model", "physics"}
	r := resultOf(t, done(t, append(args, "--format", "json")...).out)
	if setup := r["setup"].(map[string]any); setup["latency_model"] != "physics" || setup["coefficient_set"] != "h100" {
		t.Errorf("%v", setup)
	}
	for _, b := range r["bundles"].([]any) {
		notes := b.(map[string]any)["notes"].([]any)
		if len(notes) == 0 || !strings.HasPrefix(notes[len(notes)-1].(string), "beyond what physics h100 was fitted to: contexts of") {
			t.Errorf("%v: notes %q", b.(map[string]any)["name"], notes)
		}
	}
	if text := done(t, args...).out; strings.Count(text, "warning    beyond what physics h100") != 1 {
		t.Error(text)
	}
}

// The names of the first specification stand for today's.
func TestOlderNamesOfTheAutoscaler(t *testing.T) {
	old := done(t, "run", "--print-config", "--autoscaler-policy", "threshold", "--autoscaler-interval", "3s", "--autoscaler-min-replicas", "2", "--autoscaler-max", "7").out
	now := done(t, "run", "--print-config", "--autoscale-policy", "threshold", "--autoscale-interval", "3s", "--min-replicas", "2", "--max-replicas", "7").out
	if old != now || !strings.Contains(now, `"max": 7`) && !strings.Contains(now, `"max":7`) {
		t.Errorf("%s\nis not\n%s", old, now)
	}
}

// What instances cost is said whether or not their number changes, and who of
// them was busy only where they differ.
func TestLinesOfInstances(t *testing.T) {
	for _, c := range []struct {
		has, hasNot string
		args        []string
	}{
		{"\ncost       0.00991 for 0.00397 replica-hours; per million tokens ", "scaling ", []string{"--num-requests", "50", "--cost-per-replica-hour", "2.5"}},
		{"\ncost       0.00991 for 0.00397 GPU-hours; per million tokens ", "scaling ", []string{"--num-requests", "50", "--gpu-hour-price", "2.5"}},
		{"\ncost       0.00991 for 0.00397 replica-hours; per million tokens ", "\nlimit: ", []string{"--num-requests", "50", "--cost-per-replica-hour", "2.5", "--autoscale-policy", "oscillator"}},
		{"\nbusy       busiest instance-", "\ncost ", []string{"--num-requests", "50"}},
		{"\nKV         mean use 0.0 %", "\nbusy ", []string{"--num-requests", "50", "--admission-policy", "reject-all"}},
	} {
		text := done(t, append([]string{"run", "--latency-model", "physics"}, c.args...)...).out
		if joined := strings.ReplaceAll(text, "\n           ", " "); !strings.Contains(joined, c.has) || strings.Contains(joined, c.hasNot) {
			t.Errorf("%v: want %q and no %q in\n%s", c.args, c.has, c.hasNot, text)
		}
	}
}
