package html

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"blis/internal/testsize"
)

// small is a result of a run with little in it; its model has the given name.
func small(model string) []byte {
	quotedModel, err := json.Marshal(model)
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, `{"schema": "blis.run/v1", "partial": false, "completed_requests": 2, "vllm_estimated_duration_s": 4,
		"overall": {"injected_requests": 2, "ttft_us": {"n": 2, "mean": 1500, "p50": 1500, "p90": 1900, "p95": 1950, "p99": 1990, "max": 2000}},
		"per_class": {%[1]s: {"injected_requests": 2}}, "per_instance": {%[1]s: {}}, "warnings": [%[1]s],
		"load": {"bin_us": 1000000, "arrivals": [1, 1, 0, 0], "departed": [0, 1, 1, 0], "backlog": [1, 1, 0, 0]},
		"setup": {"model": %[1]s, "hardware": "H100"}, "config": {"model": %[1]s}, "digest": "0123"}`, quotedModel)
}

func pageOf(t *testing.T, docs ...Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, docs); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPolicyNamesScriptAndStyleByTheirHashes(t *testing.T) {
	page := pageOf(t, Document{Name: "run.json", JSON: small("m")})
	head := "<head><meta http-equiv=\"Content-Security-Policy\" content=\""
	_, rest, found := strings.Cut(page, head)
	if !found {
		t.Fatal("the policy is not the first element of the head")
	}
	csp, rest, _ := strings.Cut(rest, `"`)
	_, style, _ := strings.Cut(rest, "<style>")
	style, rest, _ = strings.Cut(style, "</style>")
	_, code, _ := strings.Cut(rest, "</script>\n<script>") // the data stand before
	code, rest, _ = strings.Cut(code, "</script>")
	want := "default-src 'none'; script-src '" + hashOf(code) + "'; style-src '" + hashOf(style) + "'; img-src data:; base-uri 'none'; form-action 'none'"
	if csp != want {
		t.Errorf("policy %q, want %q", csp, want)
	}
	if strings.Contains(csp, "unsafe") {
		t.Error("the policy allows what is unsafe")
	}
	if rest != "\n</body>\n</html>\n" {
		t.Errorf("more after the script: %.100q", rest)
	}
	for _, part := range []string{"</script", "<!--"} {
		if strings.Contains(script(), part) {
			t.Errorf("the script holds %q, which ends it", part)
		}
	}
	if strings.Contains(style, "</style") || strings.Contains(style, "@import") || strings.Contains(style, "url(") {
		t.Error("the style ends or loads something")
	}
}

// What an attribute could run or style would be blocked, so that it must not be there.
var forbidden = regexp.MustCompile(`(?i)<[a-z][^>]*\s(on[a-z]+|style|src|srcset|action|formaction|ping|background)\s*=`)

func TestNoAttributeRunsOrStyles(t *testing.T) {
	for _, model := range []string{"m", `<img src=x onerror=alert(1)>`, `" onmouseover="alert(1)`, `' style='color:red`} {
		page := pageOf(t, Document{JSON: small(model)})
		body := strings.Replace(strings.Replace(page, script(), "", 1), style(), "", 1)
		if found := forbidden.FindString(body); found != "" {
			t.Errorf("model %q: %s", model, found)
		}
		if n := strings.Count(body, "<script"); n != 2 {
			t.Errorf("model %q: %d scripts, want 2", model, n)
		}
	}
}

func TestHostileNamesAreText(t *testing.T) {
	hostile := `</script><script>alert(1)</script><!--"'&` + "\x00\u202e\u2028\u2029\u0085\ufeff" + strings.Repeat("A", 10000)
	page := pageOf(t, Document{Name: hostile, JSON: small(hostile)}, Document{Name: "b", JSON: small("m")})
	body := strings.Replace(strings.Replace(page, script(), "", 1), style(), "", 1)
	for _, bad := range []string{"<script>alert", "<!--", "\x00", "\u202e", "\u2028", "\u2029", "\u0085", "\ufeff"} {
		if strings.Contains(body, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(body, "<bdi>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--&#34;&#39;&amp;␀[U+202E]") {
		t.Error("the name is not shown as text")
	}
	shown, _, _ := strings.Cut(body, `id="d0-provenance"`) // where the whole configuration is
	if longest := longestRun(shown, 'A'); longest > mostWritten {
		t.Errorf("%d characters of the name are shown", longest)
	}
}

func longestRun(s string, c byte) (longest int) {
	n := 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

func TestEqualDocumentsMakeEqualPages(t *testing.T) {
	docs := []Document{{Name: "a.json", JSON: small("m")}, {Name: "b.json", JSON: small("n"), Command: []string{"blis", "run"}}}
	first, second := pageOf(t, docs...), pageOf(t, docs...)
	if first != second {
		t.Error("two pages of the same documents differ")
	}
}

func TestBadDocumentsAreNamed(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{"", "r.json: the file is empty: want a JSON result"},
		{" \n", "r.json: the file is empty: want a JSON result"},
		{"{\"schema\": \"blis.run/v1\",\n \"a\": [1, 2", "r.json:2:12: the JSON document ends here, before it is complete"},
		{"{\"schema\": \"blis.run/v1\",\n \"a\": tru", "r.json:2:10: the JSON document ends here, before it is complete"},
		{"{\"schema\": \"blis.run/v1\",}", `r.json:1:26: want a key in quotes`},
		{"{\"schema\": \"blis.run/v1\", \"a\": 01}", `r.json:1:33: want ','`},
		{"{\"schema\": \"blis.run/v1\"} x", `r.json:1:27: more after the end of the JSON document`},
		{"[]", "r.json: want a JSON object, a result of blis"},
		{"{}", "r.json: has no schema, so it is no result of blis: want one of blis.run/v1, blis.compare/v1, blis.sweep-result/v1, blis.capacity/v1, blis.frontier/v1, blis.validate/v1"},
		{"{\"schema\": \"blis.run/v2\"}", `r.json: its schema is "blis.run/v2": want one of blis.run/v1, blis.compare/v1, blis.sweep-result/v1, blis.capacity/v1, blis.frontier/v1, blis.validate/v1`},
		{strings.Repeat("[", 1000), "r.json:1:102: more than 100 lists and objects within each other"},
		{"{\"schema\": \"blis.run/v1\", \"a\": 1e999}", "r.json:1:32: a number that is too large"},
		{"{\"schema\": \"blis.run/v1\", \"a\": \"\\x\"}", "r.json:1:32: a text with an unknown escape"},
	} {
		var b bytes.Buffer
		err := Write(&b, []Document{{Name: "r.json", JSON: []byte(c.json)}})
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.json, err, c.want)
		}
		if b.Len() > 0 {
			t.Errorf("%q: %d bytes were written", c.json, b.Len())
		}
	}
	if err := Write(new(bytes.Buffer), make([]Document, MostDocuments+1)); err == nil || !strings.Contains(err.Error(), "want at most 50") {
		t.Errorf("too many documents: %v", err)
	}
}

// A document of a known schema with anything else in it is shown as far as it goes.
func TestAnyValuesAreShown(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range testsize.Cases(t, 5, 30, 300) {
		for _, schema := range Schemas() {
			doc := sample(schema)
			for _, k := range sortedKeys(doc) {
				if k != "schema" {
					doc[k] = mutated(r, doc[k])
				}
			}
			content, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if err := Write(new(bytes.Buffer), []Document{{JSON: content}}); err != nil {
				t.Fatalf("seed %d: %v in %s", seed, err, content)
			}
		}
	}
}

// sample has keys of all kinds of documents.
func sample(schema string) map[string]any {
	var doc map[string]any
	if err := json.Unmarshal(small("m"), &doc); err != nil {
		panic(err)
	}
	estimate := map[string]any{"mean": 1.5, "half_width": 0.5, "verdict": "better", "difference": map[string]any{"mean": 1.0, "relative": 0.1}}
	bundle := map[string]any{"name": "a", "runs": 2, "pareto_rank": 1, "verdicts": map[string]any{"better": 1}, "measures": map[string]any{"p99_ttft": estimate}}
	header := map[string]any{"name": "p99_ttft", "unit": "ms", "better": "lower", "help": "h"}
	group := map[string]any{"axes": map[string]any{"rate": 3, "policies": "x"}, "pareto": true, "measures": bundle["measures"], "holds": 3.0, "fails": 4.0, "cost_per_hour": 2.0}
	end := map[string]any{"value": 3.0, "passes": 3, "windows": 4, "certified": true, "measured": []any{map[string]any{"mean": 1, "worst": 2}}, "repeat": []any{"blis", "run"}}
	for k, v := range map[string]any{
		"schema": schema, "baseline": "a", "objectives": []any{"p99_ttft", "p99_ttft"}, "measures": []any{header, header}, "bundles": []any{bundle, bundle},
		"axes": []any{"rate", "policies"}, "combinations": []any{group, group}, "configurations": []any{group}, "holds": end, "fails": end, "over": "rate", "share": 0.9, "confidence": 0.95,
		"slos": []any{map[string]any{"measure": "p99_ttft", "operator": "<=", "bound": 100, "unit": "ms"}}, "effects": []any{group},
		"latency_models": []any{map[string]any{"name": "auto", "summary": []any{map[string]any{"metric": "e2e", "statistic": "mean", "bias": 0.1, "worst_error": 0.2}}, "runs": []any{map[string]any{"run": "r"}}}},
		"trace_summary":  map[string]any{"regret": map[string]any{"worst": []any{map[string]any{"request": 1, "candidates": []any{map[string]any{"instance": 1}}}}}},
		"timeseries":     series(3, 5), "pd": map[string]any{"overall": map[string]any{}}, "kv_tiers": map[string]any{"cpu": map[string]any{"overall": map[string]any{}}},
		"scaling": map[string]any{"events": []any{map[string]any{"at_us": 1, "from": 1, "to": 2}}}, "failures": map[string]any{"per_instance": map[string]any{"i": map[string]any{"crashes": 1}}},
	} {
		doc[k] = v
	}
	return doc
}

// mutated replaces some values of a document by others.
func mutated(r *rand.Rand, v any) any {
	if r.IntN(12) == 0 {
		return []any{nil, true, -1, 1e300, 0, "", "x\x00<y", []any{}, []any{nil, 1}, map[string]any{}, 0.5}[r.IntN(11)]
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			v[k] = mutated(r, v[k])
		}
	case []any:
		for i := range v {
			v[i] = mutated(r, v[i])
		}
	}
	return v
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(1234567), "1 234 567"}, {count(-1234), "−1 234"}, {count(math.NaN()), "–"}, {count(999), "999"},
		{figure(0.01234), "0.0123"}, {figure(1234.5), "1 234"}, {figure(12.345), "12.3"}, {figure(0), "0"}, {figure(1e-7), "1.00e−07"}, {figure(100), "100"},
		{percent(0.1234), "12.3 %"}, {attained(0.99934), "99.934 %"}, {attained(1), "100.0 %"}, {about(0.9), "90 %"}, {signedPercent(0.17), "+17 %"}, {signedPercent(-0.0171), "−1.7 %"},
		{duration(80561), "80.6 ms"}, {duration(7267376), "7.27 s"}, {duration(500), "500 µs"}, {duration(7200e6), "120 min"}, {milliseconds(3543.05), "3 543"}, {milliseconds(47.439), "47.44"},
		{dataSize(66932703232), "66.9 GB"}, {fixed(-0.001, 0), "0"},
	} {
		if want := strings.ReplaceAll(c.want, " ", thin); c.got != want {
			t.Errorf("%q, want %q", c.got, want)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		a    axis
		want string
	}{
		{axis{0, 10, false}, "[0 2 4 6 8 10]"}, {axis{129.8, 133.2, false}, "[130 131 132 133]"}, {axis{1, 100, true}, "[1 2 5 10 20 50 100]"}, {axis{1, 1e6, true}, "[1 10 100 1000 10000 100000 1e+06]"},
	} {
		if got := fmt.Sprint(c.a.ticks(6)); got != c.want {
			t.Errorf("%v: %s, want %s", c.a, got, c.want)
		}
	}
}

// The exact interval of a share: tables of Clopper and Pearson have 4 of 9.
func TestClopperPearson(t *testing.T) {
	for _, c := range []struct{ k, n, low, high float64 }{{4, 9, 0.1370, 0.7880}, {0, 10, 0, 0.3085}, {10, 10, 0.6915, 1}, {52, 52, 0.9315, 1}} {
		low, high := clopperPearson(c.k, c.n, 0.95)
		if math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%v of %v: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, low, high, c.low, c.high)
		}
	}
}
