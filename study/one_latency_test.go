package study

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"blis/actors"
	"blis/setup"
)

// llama70B are configurations of a model over TP degrees and token budgets.
func llama70B(tps ...int) (list []setup.Config) {
	for _, tp := range tps {
		for _, budget := range []int32{2048, 8192} {
			c := setup.DefaultConfig()
			c.Model, c.TP, c.MaxNumBatchedTokens = "Llama-3.1-70B", tp, budget
			list = append(list, c)
		}
	}
	return list
}

func named(configs []setup.Config) func(int) string {
	return func(i int) string {
		return fmt.Sprintf("TP %d with %d tokens", configs[i].TP, configs[i].MaxNumBatchedTokens)
	}
}

// TestOneLatencyModelCoversAll: configurations that would get several models by
// themselves get one, and it is the one whose largest stated error is the smallest.
func TestOneLatencyModelCoversAll(t *testing.T) {
	configs := llama70B(2, 4, 8)
	own := map[string]bool{}
	for _, c := range configs {
		_, s, err := setup.LatencyModel(c)
		if err != nil {
			t.Fatal(err)
		}
		own[s.LatencyModel+" "+s.CoefficientSet] = true
	}
	choice, err := ChooseLatency(configs, named(configs))
	if err != nil {
		t.Fatal(err)
	}
	if choice.Model == "" || len(choice.Unstated) > 0 || choice.Worst <= 0 {
		t.Fatalf("chosen: %+v", choice)
	}
	t.Logf("by themselves %v; for all %s, %s %.1f %% at %s", own, choice.name(), choice.Metric, choice.Worst, named(configs)(choice.At))
	for i := range configs {
		choice.Apply(&configs[i])
		_, s, err := setup.LatencyModel(configs[i])
		if err != nil {
			t.Fatal(err)
		}
		metric, d := s.Accuracy.Stated.Ranked()
		if s.LatencyModel != choice.Model || s.CoefficientSet != choice.Coefficients || d.Expected > choice.Worst || metric == "" {
			t.Errorf("%s: %s %s, %.1f %%: want %s with at most %.1f %%", named(configs)(i), s.LatencyModel, s.CoefficientSet, d.Expected, choice.name(), choice.Worst)
		}
	}
}

// TestLatencyModelOfTheUserStays: a study of configurations that name their latency model
// chooses none.
func TestLatencyModelOfTheUserStays(t *testing.T) {
	configs := llama70B(4, 8)
	for i := range configs {
		configs[i].LatencyModel = "roofline"
	}
	choice, err := ChooseLatency(configs, named(configs))
	if err != nil || choice.Model != "" {
		t.Errorf("%+v, %v: want none", choice, err)
	}
	c := setup.DefaultConfig()
	for _, s := range [][2]string{{"architecture", "pd"}, {"decode-hardware", "H200"}, {"prefill-coefficients", "h100"}} { // of one pool
		if err := c.Set(s[0], s[1]); err != nil {
			t.Fatal(err)
		}
	}
	configs = []setup.Config{c}
	if choice, err := ChooseLatency(configs, named(configs)); err != nil || choice.Model != "" {
		t.Errorf("%+v, %v: want none", choice, err)
	}
}

// TestNoLatencyModelCoversAll: the error says what each model leaves out.
func TestNoLatencyModelCoversAll(t *testing.T) {
	configs := llama70B(4, 8)
	configs[3].Hardware = "A100-80" // nobody measured it
	_, err := ChooseLatency(configs, named(configs))
	var input *actors.InputError
	for _, want := range []string{"physics h100 leaves out TP 8 with 2048 tokens, TP 8 with 8192 tokens;", "physics hgx leaves out TP 8 with 8192 tokens;", "roofline leaves out TP 8 with 8192 tokens;"} {
		if !errors.As(err, &input) || !strings.Contains(input.Text, want) {
			t.Errorf("error %v: want an input error with %q", err, want)
		}
	}
	for i := range configs {
		configs[i].Hardware = "A100-80"
	}
	if choice, err := ChooseLatency(configs, named(configs)); err != nil || choice.Model != "roofline" || len(choice.Unstated) != 4 {
		t.Errorf("%+v, %v: want roofline, which all get by themselves", choice, err)
	}
}

// TestConfigurationsThatDoNotFitDoNotChooseTheModel: they are skipped; if all are, the
// error says why.
func TestConfigurationsThatDoNotFitDoNotChooseTheModel(t *testing.T) {
	choice, err := ChooseLatency(llama70B(1, 4), func(int) string { return "" })
	if err != nil || choice.Model == "" {
		t.Errorf("%+v, %v: want the model for TP 4", choice, err)
	}
	if _, err := ChooseLatency(llama70B(1), func(int) string { return "" }); err == nil || !strings.Contains(err.Error(), "fit") {
		t.Errorf("error %v: want that it does not fit", err)
	}
}

// The pools of a deployment have one model too, where each by itself would have another.
func TestOneLatencyModelOfTwoPools(t *testing.T) {
	c := setup.DefaultConfig()
	for _, s := range [][2]string{{"architecture", "pd"}, {"decode-hardware", "H200"}} {
		if err := c.Set(s[0], s[1]); err != nil {
			t.Fatal(err)
		}
	}
	if _, s, err := setup.LatencyModel(c); err != nil || s.LatencyModel != "physics and roofline" {
		t.Fatalf("by themselves %s, %v", s.LatencyModel, err)
	}
	other := c
	if err := other.Set("prefill-tp", "2"); err != nil {
		t.Fatal(err)
	}
	configs := []setup.Config{c, other, c}
	choice, err := ChooseLatency(configs, func(i int) string { return fmt.Sprint(i) })
	if err != nil || choice.Model != "roofline" || len(choice.Unstated) > 0 {
		t.Fatalf("%+v, %v: want roofline, which is stated for both GPUs", choice, err)
	}
	choice.Apply(&c)
	if _, s, err := setup.LatencyModel(c); err != nil || s.LatencyModel != "roofline" {
		t.Errorf("%s, %v", s.LatencyModel, err)
	}
}
