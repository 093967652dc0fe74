package latency

import (
	"cmp"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestBlackboxSumsFromLeftToRight(t *testing.T) {
	// The coefficients of Llama-3.1-8B on two H100, as published.
	f, err := FindFit("meta-llama/Llama-3.1-8B-Instruct", "h100", 2)
	if err != nil {
		t.Fatal(err)
	}
	if f.Alpha != [3]float64{1601.350510688092, 3.512476196805965, 1805.5430360826988} || f.Beta != [3]float64{6910.420479880494, 17.67057489844186, 2.8377471109943855} {
		t.Fatalf("coefficients %v %v", f.Alpha, f.Beta)
	}
	var m Model = f.Blackbox
	// Computed in another language, one IEEE operation at a time.
	for _, c := range []struct {
		prefill, decode int64
		want            float64
	}{{512, 0, 15957.754827882727}, {0, 17, 6958.662180767398}, {512, 17, 16005.996528769632}, {0, 1, 6913.258226991488}, {4, 5, 6995.291515029233} /* other orders give other bits */} {
		if got := m.Step(&Batch{PrefillTokens: c.prefill, DecodeTokens: c.decode}); got != c.want {
			t.Errorf("step of %d + %d = %v, want %v", c.prefill, c.decode, got, c.want)
		}
	}
	if got := m.Queueing(QueueInput{Input: 100, Running: 7, Waiting: 9}); got != 1952.5981303686885 {
		t.Errorf("queueing %v", got)
	}
	if m.TokenOverhead() != 1805.5430360826988 || m.RequestOverhead() != 0 {
		t.Errorf("overheads %v, %v", m.TokenOverhead(), m.RequestOverhead())
	}
}

func TestBlackboxCoefficientsMustBeFiniteAndNotNegative(t *testing.T) {
	err := Blackbox{Alpha: [3]float64{math.NaN(), -1, 0}, Beta: [3]float64{1, math.Inf(1), 0}}.Validate()
	want := "blackbox coefficients: alpha[0] is NaN, want a finite number, 0 or more; alpha[1] is -1, want a finite number, 0 or more; beta[1] is +Inf, want a finite number, 0 or more"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := (Blackbox{Beta: [3]float64{1, 0, 0}}).Validate(); err != nil {
		t.Errorf("a constant step: %v", err)
	}
}

func TestFindFit(t *testing.T) {
	for _, c := range []struct {
		model, gpu string
		tp         int
		want       string
	}{
		{"META-LLAMA/LLAMA-3.1-8B-INSTRUCT", "A100", 4, "meta-llama/llama-3.1-8b-instruct on A100-80, TP 4 (fitted to vLLM 0.8.4, fit loss 242.9)"},
		{"qwen3-14b", "H100-SXM", 1, "qwen/qwen3-14b on H100, TP 1 (fitted to vLLM 0.11.0, fit loss not published)"},
		{"Qwen2.5-7B-Instruct", "H100", 1, "qwen/qwen2.5-7b-instruct on H100, TP 1 (fitted to vLLM 0.11.0, fit loss 489.9)"},
	} {
		f, err := FindFit(c.model, c.gpu, c.tp)
		if err != nil || f.String() != c.want {
			t.Errorf("got  %s, %v\nwant %s", f.String(), err, c.want)
		}
	}
	for _, c := range []struct {
		model, gpu string
		tp         int
		want       string
	}{
		{"mistralai/Mixtral-8x7B-Instruct-v0.1", "H100", 1, `unknown blackbox coefficients "mistralai/Mixtral-8x7B-Instruct-v0.1 on H100 at TP 1"; nearest: mistralai/mixtral-8x7b-instruct-v0.1 on H100 at TP 2, mistralai/mixtral-8x7b-instruct-v0.1 on H100 at TP 4; use --latency-model roofline, which knows every model and GPU, or give --alpha-coeffs and --beta-coeffs`},
		{"llama-3.2-8b-instruct", "H100", 1, `unknown blackbox coefficients "llama-3.2-8b-instruct on H100 at TP 1"; nearest: meta-llama/llama-3.1-8b-instruct, `},
		{"", "", 0, `unknown blackbox coefficients " on  at TP 0"; use --latency-model roofline`},
	} {
		if _, err := FindFit(c.model, c.gpu, c.tp); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestAllFitsAreSortedAndUnique(t *testing.T) {
	list := AllFits()
	if len(list) != 87 {
		t.Errorf("%d fits, want 87", len(list))
	}
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if cmp.Or(strings.Compare(a.Model, b.Model), strings.Compare(a.GPU, b.GPU), a.TP-b.TP) >= 0 {
			t.Errorf("%s before %s", list[i-1].String(), list[i].String())
		}
	}
}

// The shipped file holds the published figures to the last bit, the first row
// of each key, and nothing else.
func TestFitsEqualThePublishedTable(t *testing.T) {
	file, err := os.Open("../../shared/reference/coefficients_blackbox.csv")
	if err != nil {
		t.Skip("reference table absent")
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		key := strings.Join(row[:3], " ")
		if seen[key] {
			continue
		}
		seen[key] = true
		f, err := FindFit(row[0], row[1], int(number(row[2])))
		if err != nil {
			t.Error(err)
			continue
		}
		got := append(append([]float64{}, f.Alpha[:]...), f.Beta[:]...)
		for i, text := range row[4:10] {
			if got[i] != number(text) {
				t.Errorf("%s: coefficient %d is %v, published %s", key, i, got[i], text)
			}
		}
		if f.Engine != "vLLM "+strings.TrimPrefix(row[3], "vllm/vllm-openai:v") {
			t.Errorf("%s: engine %q, published %q", key, f.Engine, row[3])
		}
		if (f.Loss == nil) != (row[11] == "") || f.Loss != nil && *f.Loss != number(row[11]) {
			t.Errorf("%s: loss %v, published %q", key, f.Loss, row[11])
		}
	}
	if len(seen) != len(AllFits()) {
		t.Errorf("%d published keys, %d shipped", len(seen), len(AllFits()))
	}
}

func TestModelNames(t *testing.T) {
	for name, want := range map[string]string{
		"meta-llama/llama-3.1-8b-instruct":       "meta-llama/Llama-3.1-8B-Instruct",
		"Llama-3.1-8B":                           "meta-llama/Llama-3.1-8B",
		"meta-llama/Meta-Llama-3.1-70B-Instruct": "meta-llama/Llama-3.1-70B-Instruct",
		"llama-2-7b":                             "meta-llama/Llama-2-7b-hf",
		"Llama-2-70B":                            "meta-llama/Llama-2-70b-hf",
		"CodeLlama-34B":                          "codellama/CodeLlama-34b-Instruct-hf",
		"Qwen2.5-7B":                             "Qwen/Qwen2.5-7B",
		"mixtral-8x7B":                           "mistralai/Mixtral-8x7B-v0.1",
	} {
		if s, err := FindModel(name); err != nil || s.Name != want {
			t.Errorf("%q is %q, %v; want %q", name, s.Name, err, want)
		}
	}
	_, err := FindModel("Llama-3.1-8B-Instrct")
	if err == nil || !strings.HasPrefix(err.Error(), `unknown model "Llama-3.1-8B-Instrct"; nearest: meta-llama/Llama-3.1-8B-Instruct, `) {
		t.Error(err)
	}
	// No name or alias may stand for two models.
	owner := map[string]string{}
	for _, s := range AllModels() {
		for _, name := range append([]string{s.Name, baseName(s.Name)}, s.Aliases...) {
			name = strings.ToLower(name)
			if other, taken := owner[name]; taken && other != s.Name {
				t.Errorf("%q is %s and %s", name, other, s.Name)
			}
			owner[name] = s.Name
		}
	}
}

func TestNearestRanksByEditDistance(t *testing.T) {
	got := nearest("org/kitten", []string{"org/sitting", "org/mitten", "org/kitte", "zzz"}, 3)
	if strings.Join(got, " ") != "org/kitte org/mitten org/sitting" {
		t.Error(got)
	}
}
