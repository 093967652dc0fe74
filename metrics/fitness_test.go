package metrics

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// judged is a run with these measures and no others.
func judged(values map[string]float64) *RunFigures {
	j := &RunFigures{Report: &Report{}}
	of := func(name string) *float64 {
		if v, ok := values[name]; ok {
			return &v
		}
		return nil
	}
	j.Overall.RequestsPerSecond, j.Overall.TokensPerSecond = of("throughput"), of("tokens_per_second")
	j.Overall.Goodput, j.Overall.SLOAttainment, j.JainIndex = of("goodput"), of("slo_attainment"), of("jain")
	j.Overall.TailBlowUp.TTFT, j.Cost = of("tail_blowup_ttft"), of("cost")
	if v := of("p99_ttft"); v != nil {
		j.Overall.TTFT = &Summary{P99: *v}
	}
	return j
}

// Scores worked out by hand, of every kind of measure with and without target.
func TestScores(t *testing.T) {
	for _, c := range []struct {
		term  string
		value float64
		want  float64
	}{
		{"throughput:1", 0, 0}, {"throughput:1", 100, 0.5}, {"throughput:1", 300, 0.75}, {"throughput@300:1", 300, 0.5}, {"throughput@100:1", 300, 0.75},
		{"goodput:1", 25, 0.2}, {"goodput@75:1", 25, 0.25},
		{"tokens_per_second:1", 10_000, 0.5}, {"tokens_per_second:1", 40_000, 0.8}, {"tokens_per_second@10000:1", 40_000, 0.8}, {"tokens_per_second@40000:1", 40_000, 0.5},
		{"p99_ttft:1", 0, 1}, {"p99_ttft:1", 1000, 0.5}, {"p99_ttft:1", 3000, 0.25}, {"p99_ttft@200ms:1", 200_000, 0.5}, {"p99_ttft@200ms:1", 50_000, 0.8}, {"p99_ttft@3000:1", 1000, 0.75},
		{"slo_attainment:1", 0.9, 0.9}, {"slo_attainment@0.5:1", 0.25, 0.5}, {"slo_attainment@0.5:1", 0.9, 1}, {"slo_attainment@1:1", 0.9, 0.9},
		{"jain:1", 0.25, 0.25}, {"jain@0.75:1", 0.75, 1},
		{"cost:1", 0, 1}, {"cost:1", 1, 0.5}, {"cost:1", 3, 0.25}, {"cost@9:1", 3, 0.75},
		{"tail_blowup_ttft:1", 1, 0.5}, {"tail_blowup_ttft@4:1", 4, 0.5}, {"tail_blowup_ttft@4:1", 12, 0.25},
		{"p99_ttft:3", 1000, 1.5}, {"p99_ttft:0", 1000, 0},
	} {
		spec := c.term
		if strings.HasSuffix(spec, ":0") {
			spec += ",cost:1" // not all may be 0
		}
		f, err := ParseFitness(spec)
		if err != nil {
			t.Fatal(err)
		}
		got := f.Of(judged(map[string]float64{f.Terms[0].Measure.Name: c.value}))
		if math.Abs(got.Score-c.want) > 1e-12 || *got.Terms[0].Value != c.value {
			t.Errorf("%s at %v: %v, want %v; value %v", c.term, c.value, got.Score, c.want, *got.Terms[0].Value)
		}
	}
}

// The sum against adding up by hand, over random weights, targets and values,
// some of which are missing.
func TestFitnessIsTheWeightedSum(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	classic := map[string]func(v float64) float64{
		"throughput": func(v float64) float64 { return v / (v + 100) }, "goodput": func(v float64) float64 { return v / (v + 100) },
		"tokens_per_second": func(v float64) float64 { return v / (v + 10000) }, "p99_ttft": func(v float64) float64 { return 1 / (1 + v/1000) },
		"cost": func(v float64) float64 { return 1 / (1 + v) }, "tail_blowup_ttft": func(v float64) float64 { return 1 / (1 + v) },
		"slo_attainment": func(v float64) float64 { return v }, "jain": func(v float64) float64 { return v },
	}
	names := []string{"throughput", "goodput", "tokens_per_second", "p99_ttft", "cost", "tail_blowup_ttft", "slo_attainment", "jain"}
	for range 2000 {
		var f Fitness
		values, want := map[string]float64{}, 0.0
		for _, i := range r.Perm(len(names))[:1+r.IntN(len(names))] {
			m, err := FindMeasure(names[i])
			if err != nil {
				t.Fatal(err)
			}
			term := FitnessTerm{Measure: m, Weight: 3 * r.Float64()}
			f.Terms = append(f.Terms, term)
			v := r.Float64()
			if m.Kind != Share {
				v = math.Exp(20*v - 5)
			}
			if r.IntN(5) > 0 {
				values[m.Name] = v
				want += term.Weight * classic[m.Name](v)
			}
		}
		got := f.Of(judged(values))
		if math.Abs(got.Score-want) > 1e-9 || len(got.Terms) != len(f.Terms) {
			t.Fatalf("seed %d: %v with %v: %v, want %v", seed, f, values, got.Score, want)
		}
		for i, term := range got.Terms {
			v, measured := values[term.Measure]
			if measured != (term.Value != nil) || measured && *term.Value != v || !measured && term.Score != 0 || term.Measure != f.Terms[i].Measure.Name {
				t.Fatalf("seed %d: term %+v of %v", seed, term, values)
			}
		}
	}
}

func TestFitnessRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"p99_tft:1", `unknown measure "p99_tft", the nearest is "p99_ttft"`},
		{"through:1", `the nearest is "throughput"`},
		{":1", `unknown measure ""`},
		{" ", `"" has no weight`},
		{"throughput", `"throughput" has no weight, want measure:weight`},
		{"throughput:1,", `"" has no weight`},
		{"throughput:1,,jain:1", `"" has no weight`},
		{"throughput:", `throughput: weight "", want a finite number from 0`},
		{"throughput:x", `throughput: weight "x"`},
		{"throughput:NaN", `throughput: weight "NaN"`},
		{"throughput:Inf", `throughput: weight "Inf"`},
		{"throughput:1e999", `throughput: weight "1e999"`},
		{"throughput:-1", `throughput: weight "-1"`},
		{"throughput:-0", `throughput: weight "-0"`},
		{"p99_ttft:1@200ms", `p99_ttft: weight "1@200ms", want a finite number from 0; a target stands before the colon`},
		{"throughput:0", "all weights are 0"},
		{"throughput:0,jain:0", "all weights are 0"},
		{"throughput:1.7e308,jain:1.7e308", "the sum of the weights is no finite number"},
		{"throughput:1,throughput:2", "throughput is given twice"},
		{"tokens_per_second:1,tokens_per_sec:2", "tokens_per_second is given twice"},
		{"p99_ttft:1,p99_ttft@1ms:1", "p99_ttft is given twice"},
		{"p99_ttft@:1", `p99_ttft: target "", want a duration like 200ms`},
		{"p99_ttft@0:1", `p99_ttft: target "0", want a duration`},
		{"p99_ttft@0.2us:1", `p99_ttft: target "0.2us", want a duration`},
		{"p99_ttft@-5ms:1", `p99_ttft: target "-5ms"`},
		{"p99_ttft@NaN:1", `p99_ttft: target "NaN"`},
		{"p99_ttft@1@2:1", `p99_ttft: target "1@2"`},
		{"throughput@5ms:1", `throughput: target "5ms", want a finite number above 0`},
		{"throughput@0:1", `throughput: target "0"`},
		{"throughput@-3:1", `throughput: target "-3"`},
		{"throughput@Inf:1", `throughput: target "Inf"`},
		{"throughput@NaN:1", `throughput: target "NaN"`},
		{"jain@0:1", `jain: target "0", want a share above 0, at most 1`},
		{"jain@1.01:1", `jain: target "1.01", want a share`},
		{"jain@90%:1", `jain: target "90%"`},
	} {
		f, err := ParseFitness(c.text)
		if err == nil {
			t.Errorf("%q is taken as %v", c.text, f)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

func TestFitnessReads(t *testing.T) {
	f, err := ParseFitness(" tokens_per_sec : 0.5 , p99_ttft @ 0.2s :3,mean_e2e@1500:0,jain_index@.9:1,responses_per_sec@7:1e-3")
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		name           string
		weight, target float64
	}{{"tokens_per_second", 0.5, 0}, {"p99_ttft", 3, 200_000}, {"mean_e2e", 0, 1500}, {"jain", 1, 0.9}, {"throughput", 1e-3, 7}}
	for i, w := range want {
		if g := f.Terms[i]; g.Measure.Name != w.name || g.Weight != w.weight || g.Target != w.target {
			t.Errorf("term %d: %s %v at %v, want %+v", i, g.Measure.Name, g.Weight, g.Target, w)
		}
	}
	if f, err := ParseFitness(""); err != nil || f.Of(judged(nil)) != nil {
		t.Errorf("no text is %v, %v", f, err)
	}
}

// Weighted measures are the objectives, whatever they weigh; without weights
// there is a list of its own.
func TestObjectives(t *testing.T) {
	run := judged(map[string]float64{"throughput": 7, "p99_ttft": 5})
	f, err := ParseFitness("p99_ttft:0,cost:1,throughput:1")
	if err != nil {
		t.Fatal(err)
	}
	list := f.Objectives(run)
	if len(list) != 3 || list[0].Name != "p99_ttft" || *list[0].Value != 5 || list[0].Better != "lower" || list[0].Unit != "us" ||
		list[1].Name != "cost" || list[1].Value != nil || list[2].Better != "higher" || list[2].Unit != "requests/s" {
		t.Errorf("objectives %+v", list)
	}
	usual := new(Fitness).Objectives(run)
	if len(usual) != len(usualObjectives) || usual[0].Name != "throughput" || *usual[0].Value != 7 {
		t.Errorf("usual objectives %+v", usual)
	}
}

// What normalisation takes for granted of the list.
func TestMeasuresAreSound(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Measures() {
		if seen[m.Name] || measureAliases[m.Name] != "" {
			t.Errorf("%s: the name is taken", m.Name)
		}
		seen[m.Name] = true
		if m.Kind == Share && (m.Better != Higher || m.Half != 0 || m.Unit != shareUnit) || m.Kind != Share && !(m.Half > 0) ||
			m.Kind == Latency && (m.Better != Lower || m.Half != 1000 || m.Unit != "us") || m.Unit == "" || m.Help == "" || m.Better != Higher && m.Better != Lower {
			t.Errorf("%+v", m)
		}
	}
	for alias, name := range measureAliases { // any order
		if m, err := FindMeasure(alias); err != nil || m.Name != name {
			t.Errorf("%s: %v, %v", alias, m.Name, err)
		}
	}
}

// Whatever is read has a finite score.
func FuzzParseFitness(f *testing.F) {
	for _, text := range []string{"throughput:0.5,p99_ttft@200ms:0.3", "jain@.5:1", "cost@1e-320:1", "throughput@1.7e308:1e308", "a:b:c@d", "p99_ttft@9e18:1,:"} {
		f.Add(text, 0.5)
	}
	f.Fuzz(func(t *testing.T, text string, x float64) {
		spec, err := ParseFitness(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("more than one line: %q", err)
			}
			return
		}
		if x = math.Abs(x); !(x <= 1e300) {
			x = 0
		}
		values := map[string]float64{"slo_attainment": math.Mod(x, 1), "jain": math.Mod(x, 1)}
		for _, name := range []string{"throughput", "tokens_per_second", "goodput", "cost", "tail_blowup_ttft", "p99_ttft"} {
			values[name] = x
		}
		s := spec.Of(judged(values))
		if s == nil {
			return
		}
		for _, term := range s.Terms {
			if !(term.Score >= 0 && term.Score <= 1) {
				t.Fatalf("%q at %v: %+v", text, x, term)
			}
		}
		if math.IsNaN(s.Score) || math.IsInf(s.Score, 0) {
			t.Fatalf("%q at %v: %v", text, x, s.Score)
		}
	})
}
