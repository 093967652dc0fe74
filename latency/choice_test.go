package latency

import (
	"slices"
	"strings"
	"testing"
)

func TestChooseByStatedError(t *testing.T) {
	limits := EngineLimits{MaxBatchedTokens: 8192, MaxSeqs: 1024, BlockSize: 16, GPUBlocks: 20_000, ChunkedPrefill: true}
	unchunked := limits
	unchunked.ChunkedPrefill = false
	for name, c := range map[string]struct {
		model, gpu string
		tp         int
		limits     EngineLimits
		best, next string
	}{
		"a measured model":           {"Llama-2-7b-hf", "H100", 1, limits, "physics h100-llama-2-7b", "physics h100"},
		"its chat variant":           {"Llama-2-7b-chat-hf", "H100", 1, limits, "physics h100-llama-2-7b", "physics h100"},
		"another model of the kind":  {"Llama-3.1-8B-Instruct", "H100", 1, limits, "physics h100", "roofline"},
		"a measured model, other TP": {"Llama-2-70b-hf", "H100", 2, limits, "physics h100", "roofline"},
		"another GPU":                {"Llama-2-7b-hf", "A100", 1, limits, "roofline", ""},
		"more GPUs than measured":    {"Llama-3.1-70B-Instruct", "H100", 8, limits, "physics hgx", "roofline"},
		"an MoE model":               {"Qwen3-30B-A3B-Instruct-2507", "H100", 2, limits, "physics h100", "roofline"},
		"whole prompts":              {"Llama-2-7b-hf", "H100", 1, unchunked, "roofline", ""},
		"a small GPU":                {"Llama-3.1-8B-Instruct", "RTX4090", 1, limits, "physics rtx4090-llama-3.1-8b", "roofline"},
	} {
		best, next := Choose(deployment(t, c.model, c.gpu, c.tp), c.limits)
		got := ""
		if next != nil {
			got = next.Name()
		}
		if best.Name() != c.best || got != c.next {
			t.Errorf("%s: %s, then %q; want %s, then %q", name, best.Name(), got, c.best, c.next)
		}
		if next != nil && next.Stated.below(best.Stated) {
			t.Errorf("%s: %s is stated to be better than %s", name, next.Name(), best.Name())
		}
	}
}

func TestStatedErrorsSayWhatTheyAreOf(t *testing.T) {
	set, err := FindPhysicsSet("H100")
	if err != nil {
		t.Fatal(err)
	}
	d := deployment(t, "Llama-3.1-8B", "H100", 1)
	limits := EngineLimits{MaxBatchedTokens: 8192, MaxSeqs: 1024, BlockSize: 16, GPUBlocks: 20_000, ChunkedPrefill: true}
	if s := set.StatedError(d, set.Coverage(d, limits, true)); s == nil || s.HeldOut != HeldOutModel || s.Runs != 9 {
		t.Errorf("a model that was not measured: %+v", s)
	}
	// What is another schedule changes no step.
	if s := set.StatedError(d, set.Coverage(d, limits, false)); s == nil || s.HeldOut != HeldOutModel {
		t.Errorf("without async scheduling: %+v", s)
	}
	one, err := FindPhysicsSet("h100-llama-2-7b")
	if err != nil {
		t.Fatal(err)
	}
	if s := one.StatedError(d, one.Coverage(d, limits, true)); s != nil {
		t.Errorf("a set of one model says of another: %+v", s)
	}
	if s := one.StatedError(nil, nil); s == nil || s.HeldOut != HeldOutWorkload || !(s.E2E.Expected > 0 && s.E2E.Expected < 4) {
		t.Errorf("its own model: %+v", s)
	}
	if _, err := FindPhysicsSet("h100-llama-2-7"); err == nil || !strings.Contains(err.Error(), "nearest: h100-llama-2-7b") {
		t.Error(err)
	}
}

// bySet is a set of one dense model on H100 at TP 1 to 4 whose mean E2E is stated to be
// off by an expected error in percent, under one hold-out.
func bySet(name, model, heldOut string, expected float64) *PhysicsSet {
	s := &PhysicsSet{Name: name, TrainedOn: Training{Models: []string{model}, Kinds: []string{"dense"}, GPUs: []string{"H100"}, TPMin: 1, TPMax: 4, ChunkedPrefill: true}}
	return s.stating(heldOut, "", 0, 4, expected)
}

// stating adds an error of all metrics at one place, the same for all.
func (s *PhysicsSet) stating(heldOut, gpu string, tp, models int, expected float64) *PhysicsSet {
	for _, metric := range []string{"ttft", "tpot", "e2e"} {
		s.Errors = append(s.Errors, HeldOutError{HeldOut: heldOut, Metric: metric, Statistic: "mean", GPU: gpu, TP: tp, Runs: 9, Models: models,
			MedianAPEPercent: 1, MeanAPEPercent: expected, ModelMeanAPEPercent: expected, BiasPercent: -expected, WorstPercent: -3 * expected})
	}
	return s
}

const (
	ours   = "meta-llama/Llama-2-7b-hf"
	theirs = "meta-llama/Llama-2-70b-hf"
)

// Each rule of the choice, by sets that were made up.
func TestRulesOfTheChoice(t *testing.T) {
	roofline, rival := bySet("roofline", theirs, NothingFitted, 20), bySet("b", ours, HeldOutWorkload, 20)
	two := func(s *PhysicsSet) *PhysicsSet { // fitted to both models
		s.TrainedOn.Models = []string{ours, theirs}
		return s
	}
	old := func(median float64) *PhysicsSet { // of a file with medians alone
		s := bySet("old", ours, HeldOutWorkload, 0)
		for i := range s.Errors {
			e := &s.Errors[i]
			*e = HeldOutError{HeldOut: e.HeldOut, Metric: e.Metric, Statistic: e.Statistic, Runs: e.Runs, MedianAPEPercent: median}
		}
		return s
	}
	onlyTPOT := func(expected float64) *PhysicsSet { // as users in a closed loop show it
		s := bySet("tpot", ours, HeldOutWorkload, expected)
		s.Errors = slices.DeleteFunc(s.Errors, func(e HeldOutError) bool { return e.Metric != "tpot" })
		return s
	}
	for name, c := range map[string]struct {
		sets       []*PhysicsSet
		gpu        string
		tp         int
		best, next string
	}{
		"the lower expected error, though its median is no lower": {[]*PhysicsSet{bySet("a", ours, HeldOutWorkload, 7), bySet("b", ours, HeldOutWorkload, 5)}, "H100", 1, "physics b", "physics a"},
		"roofline if no set is better":                            {[]*PhysicsSet{bySet("a", theirs, HeldOutModel, 21)}, "H100", 1, "roofline", "physics a"},
		"roofline in a tie":                                       {[]*PhysicsSet{bySet("a", theirs, HeldOutModel, 20)}, "H100", 1, "roofline", "physics a"},
		"another model by leave-one-model-out":                    {[]*PhysicsSet{bySet("a", theirs, HeldOutModel, 19)}, "H100", 1, "physics a", "roofline"},
		"no set by other loads of another model":                  {[]*PhysicsSet{bySet("a", theirs, HeldOutWorkload, 1)}, "H100", 1, "roofline", ""},
		"no set outside its TP degrees":                           {[]*PhysicsSet{bySet("a", ours, HeldOutWorkload, 1)}, "H100", 8, "roofline", ""},
		"no set outside its GPUs":                                 {[]*PhysicsSet{bySet("a", ours, HeldOutWorkload, 1)}, "H200", 1, "roofline", ""},
		"a set where roofline was not measured":                   {[]*PhysicsSet{func() *PhysicsSet { s := bySet("a", ours, HeldOutWorkload, 90); s.TrainedOn.TPMax = 8; return s }()}, "H100", 8, "physics a", "roofline"},
		"the error at this GPU and TP before that of all runs":    {[]*PhysicsSet{bySet("a", ours, HeldOutWorkload, 90).stating(HeldOutWorkload, "H100", 2, 3, 2)}, "H100", 2, "physics a", "roofline"},
		"an error here before one on another load elsewhere":      {[]*PhysicsSet{bySet("a", ours, HeldOutWorkload, 1).stating(HeldOutGroup, "H100", 2, 3, 30), rival}, "H100", 2, "physics b", "physics a"},
		"no group held out for another model":                     {[]*PhysicsSet{bySet("a", theirs, HeldOutGroup, 1)}, "H100", 2, "roofline", ""},
		"none of them at another TP":                              {[]*PhysicsSet{bySet("a", ours, HeldOutWorkload, 90).stating(HeldOutWorkload, "H100", 2, 3, 2), rival}, "H100", 1, "physics b", "physics a"},
		"the error on this GPU at any TP":                         {[]*PhysicsSet{bySet("a", ours, HeldOutWorkload, 1).stating(HeldOutWorkload, "H100-SXM", 0, 3, 30), rival}, "H100", 1, "physics b", "physics a"},
		"none of too few models":                                  {[]*PhysicsSet{bySet("a", ours, HeldOutWorkload, 90).stating(HeldOutWorkload, "H100", 2, 2, 2), rival}, "H100", 2, "physics b", "physics a"},
		"a median where nothing else is known":                    {[]*PhysicsSet{old(19)}, "H100", 1, "physics old", "roofline"},
		"TPOT where E2E was not measured":                         {[]*PhysicsSet{onlyTPOT(19)}, "H100", 1, "physics tpot", "roofline"},
		"TPOT against TPOT, whatever E2E is":                      {[]*PhysicsSet{onlyTPOT(19), bySet("a", ours, HeldOutWorkload, 18)}, "H100", 1, "physics a", "physics tpot"},
		"a high TPOT":                                             {[]*PhysicsSet{two(onlyTPOT(21))}, "H100", 1, "roofline", "physics tpot"},
		"a high median":                                           {[]*PhysicsSet{two(old(21))}, "H100", 1, "roofline", "physics old"},
		"the set of the model before roofline":                    {[]*PhysicsSet{bySet("a", ours, HeldOutWorkload, 90)}, "H100", 1, "physics a", "roofline"},
		"and before sets of other models":                         {[]*PhysicsSet{bySet("c", theirs, HeldOutModel, 5), bySet("a", ours, HeldOutGroup, 90)}, "H100", 1, "physics a", "physics c"},
		"but not before a set that was fitted to it too":          {[]*PhysicsSet{two(bySet("c", ours, HeldOutWorkload, 80)), bySet("a", ours, HeldOutGroup, 90)}, "H100", 1, "physics c", "physics a"},
		"a set of two models goes by its error":                   {[]*PhysicsSet{two(bySet("a", ours, HeldOutWorkload, 90))}, "H100", 1, "roofline", "physics a"},
	} {
		best, next := ChooseFrom(c.sets, func(*Deployment) *PhysicsSet { return roofline }, deployment(t, "Llama-2-7b-hf", c.gpu, c.tp), typicalLimits)
		got := ""
		if next != nil {
			got = next.Name()
		}
		if best.Name() != c.best || got != c.next {
			t.Errorf("%s: %s, then %q; want %s, then %q", name, best.Name(), got, c.best, c.next)
		}
	}
}

// A near miss is a set that would be chosen if one setting were another one: so its
// error counts against the error of roofline with that other setting.
func TestNearMissesCompareWithTheChoiceAtTheOtherSetting(t *testing.T) {
	roofline := bySet("roofline", theirs, NothingFitted, 20)
	good, bad := bySet("good", ours, HeldOutWorkload, 5), bySet("bad", theirs, HeldOutModel, 25)
	uneven := bySet("uneven", theirs, HeldOutModel, 25).stating(HeldOutModel, "H100", 2, 3, 5)
	own := bySet("own", ours, HeldOutWorkload, 25)
	for name, c := range map[string]struct {
		sets []*PhysicsSet
		gpu  string
		tp   int
		want string
	}{
		"the model's own":   {[]*PhysicsSet{own, bad}, "H200", 1, "hardware: GPU H200: own"},
		"TP 8":              {[]*PhysicsSet{good, bad}, "H100", 8, "tp: TP 8 (measured: 1 to 4): good"},
		"a GPU":             {[]*PhysicsSet{good, bad}, "H200", 1, "hardware: GPU H200: good"},
		"GPU and TP":        {[]*PhysicsSet{good, bad}, "H200", 8, ""},
		"covered":           {[]*PhysicsSet{good, bad}, "H100", 1, ""},
		"only worse at TP8": {[]*PhysicsSet{bad}, "H100", 8, ""},
		"better at TP 2":    {[]*PhysicsSet{uneven}, "H100", 1, "tp: TP 1: uneven at TP 2"},
		"best at this TP":   {[]*PhysicsSet{uneven}, "H100", 2, ""},
	} {
		d := deployment(t, "Llama-2-7b-hf", c.gpu, c.tp)
		best, _ := ChooseFrom(c.sets, func(*Deployment) *PhysicsSet { return roofline }, d, typicalLimits)
		got := "" // one near miss at most
		for _, m := range nearMisses(c.sets, func(*Deployment) *PhysicsSet { return roofline }, d, typicalLimits, best) {
			got += m.Setting + ": " + m.Value + ": " + strings.Join(m.Sets, ", ")
			if m.At != "" {
				got += " at " + m.At
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A set that states errors of steps alone, or of TTFT alone, states nothing of a run: what
// is not said is not 0 %.
func TestErrorsThatAreNotStatedAreNot0(t *testing.T) {
	set := *PhysicsSets()[0]
	label := set.Errors[0].HeldOut
	set.Errors = []HeldOutError{{HeldOut: label, Metric: "step", Statistic: "mean", MedianAPEPercent: 25, Runs: 3}, {HeldOut: label, Metric: "ttft", Statistic: "mean", MedianAPEPercent: 12.5, Runs: 3}}
	if s := set.StatedError(nil, nil); s != nil {
		t.Errorf("%+v", s)
	}
}

// Shipped sets are in order, have names of their own, and cannot give steps that
// take no time.
func TestShippedSets(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range PhysicsSets() {
		if seen[s.Name] || s.Validate() != nil || s.StatedError(nil, nil) == nil {
			t.Errorf("%s: repeated, impossible or without an error", s.Name)
		}
		seen[s.Name] = true
		for i, v := range s.Beta {
			if v < 0 {
				t.Errorf("%s: %s is %v", s.Name, BetaNames[i], v)
			}
		}
		// Lengths of closed loops are around the nominal ones, so a tenth less may be read.
		if s.Beta[2] < 1 || s.Beta[4] < 0.9 || s.Beta[4] > 1.3 {
			t.Errorf("%s reads memory faster than its bandwidth, or far more slowly", s.Name)
		}
	}
	if len(seen) != 14 {
		t.Errorf("%d sets, want 14", len(seen))
	}
}
