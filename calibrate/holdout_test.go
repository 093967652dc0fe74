package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"blis/calibrate/measured"
)

// named is a sample of n requests of a run that is only a name and a model.
func named(id, model string, n int) *Sample {
	return &Sample{Run: &measured.Run{ID: id, Model: model, Requests: make([]measured.Request, n)}, To: n}
}

// text is a fold as "name: what it learns from | what judges it".
func (f *sampleFold) text() string {
	list := func(samples []*Sample) string {
		var names []string
		for _, s := range samples {
			names = append(names, fmt.Sprintf("%s[%d,%d)", s.Run.ID, s.From, s.To))
		}
		return strings.Join(names, " ")
	}
	return f.name + ": " + list(f.train) + " | " + list(f.test)
}

func TestFolds(t *testing.T) {
	chat, code, agents := named("chat", "A", 10), named("code", "A", 20), named("agents", "B", 30)
	for _, c := range []struct {
		name    string
		samples []*Sample
		h       HoldOut
		share   float64
		want    []string
		skipped []string
	}{
		{"a run, by the others of its model", []*Sample{chat, code, agents}, ByWorkload, 0,
			[]string{"chat: code[0,20) | chat[0,10)", "code: chat[0,10) | code[0,20)"}, []string{"agents"}},
		{"a model, by the others", []*Sample{chat, code, agents}, ByModel, 0,
			[]string{"A: agents[0,30) | chat[0,10) code[0,20)", "B: chat[0,10) code[0,20) | agents[0,30)"}, nil},
		{"the only model", []*Sample{chat, code}, ByModel, 0, nil, []string{"A"}},
		{"the only run", []*Sample{chat}, ByWorkload, 0, nil, []string{"chat"}},
		{"the end, by the beginning", []*Sample{chat, agents.slice(10, 20)}, ByTail, 0.8,
			[]string{"chat: chat[0,8) | chat[8,10)", "agents: agents[10,18) | agents[18,20)"}, nil},
		{"a run too short to be divided", []*Sample{named("one", "A", 1), chat.slice(3, 5)}, ByTail, 0.8,
			[]string{"chat: chat[3,4) | chat[4,5)"}, []string{"one"}},
		{"a run measured in two parts is one", []*Sample{chat.slice(0, 5), chat.slice(5, 10), code}, ByWorkload, 0,
			[]string{"chat: code[0,20) | chat[0,5) chat[5,10)", "code: chat[0,5) chat[5,10) | code[0,20)"}, nil},
		{"nothing", nil, ByTail, 0.5, nil, nil},
	} {
		folds, skipped := makeFolds(c.samples, c.h, c.share)
		var got []string
		for i := range folds {
			got = append(got, folds[i].text())
			if err := folds[i].check(); err != nil {
				t.Error(c.name, err)
			}
		}
		if !slices.Equal(got, c.want) || !slices.Equal(skipped, c.skipped) {
			t.Errorf("%s: %q, skipped %q, want %q, %q", c.name, got, skipped, c.want, c.skipped)
		}
	}
	if chat.From != 0 || chat.To != 10 {
		t.Error("folds change their samples")
	}
}

func TestHoldOutLabels(t *testing.T) {
	for h, want := range map[HoldOut]string{ByWorkload: "leave-one-workload-out", ByModel: "leave-one-model-out", ByTail: "last part of each run"} {
		if h.Label() != want {
			t.Errorf("%s is labelled %q, want %q", h, h.Label(), want)
		}
	}
}

// Requests that judge a fit and that it learned from are found before anything
// is fitted.
func TestLeaksAreFound(t *testing.T) {
	list := plantable(t)[:2]
	for _, s := range list {
		measure(t, s, truth(), 0, 0)
	}
	other := list[1]
	for _, c := range []struct {
		name       string
		train      []*Sample
		test       *Sample
		from, last int // −1: no leak
	}{
		{"the whole run", []*Sample{other, list[0]}, list[0], 0, 199},
		{"the last that it learns from", []*Sample{other, list[0].slice(0, 101)}, list[0].slice(100, 200), 100, 100},
		{"the first that it learns from", []*Sample{other, list[0].slice(99, 200)}, list[0].slice(0, 100), 99, 99},
		{"one from the middle", []*Sample{list[0].slice(0, 200), other}, list[0].slice(70, 71), 70, 70},
		{"apart", []*Sample{other, list[0].slice(0, 100)}, list[0].slice(100, 200), -1, 0},
		{"apart the other way", []*Sample{other, list[0].slice(100, 200)}, list[0].slice(0, 100), -1, 0},
	} {
		fits := 0
		folds := []sampleFold{{c.name, c.train, []*Sample{c.test}}}
		_, err := evaluateFolds(t.Context(), folds, nil, DefaultFit(), func(done, of int, name string) {
			if fits++; done != 0 || of != 1 || name != c.name {
				t.Errorf("%s: progress %d of %d, %s", c.name, done, of, name)
			}
		})
		want := ""
		if c.from >= 0 {
			want = fmt.Sprintf("calibrate: fold %s learns from requests %d to %d of %s, which judge it", c.name, c.from, c.last, list[0].Run.ID)
		}
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && got != want || fits != 1 {
			t.Errorf("%s: %v, want %q", c.name, err, want)
		}
	}
}

// A fit that is the truth, judged by what it has not seen, has next to no
// errors; one from another server's data has them.
func TestJudgementsTellTruthFromError(t *testing.T) {
	list := plantable(t)[:3]
	for _, s := range list {
		measure(t, s, truth(), 0, 0)
	}
	for _, s := range list {
		c, err := s.evaluate(truth())
		if err != nil {
			t.Fatal(err)
		}
		if c.Requests != len(s.Run.Requests) || len(c.Scores) != len(Metrics)*len(Statistics) {
			t.Fatalf("%s: %d of %d requests, %d scores", s.Run.ID, c.Requests, len(s.Run.Requests), len(c.Scores))
		}
		for _, x := range c.Scores {
			if math.Abs(x.Error()) > 1e-4 { // measured times are whole µs
				t.Errorf("%s: %+v", s.Run.ID, x)
			}
		}
		for _, m := range Metrics {
			if c.RequestError[m] > 1e-4 || c.KS[m] > 0.02 {
				t.Errorf("%s: %s is off by %v, distance %v", s.Run.ID, m, c.RequestError[m], c.KS[m])
			}
		}
	}
	wrong := truth()
	wrong.Beta[2] *= 1.5
	c, err := list[0].evaluate(wrong)
	if err != nil {
		t.Fatal(err)
	}
	if s := c.score(TPOT, "mean"); s.Error() < 0.3 || c.KS[TPOT] < 0.9 || c.RequestError[TPOT] < 0.3 {
		t.Errorf("weights read 1.5 times as slowly: %+v, %v, %v", s, c.KS, c.RequestError)
	}
	folds, skipped := makeFolds(list, ByWorkload, 0)
	evaluations, err := evaluateFolds(t.Context(), folds, nil, DefaultFit(), func(int, int, string) {})
	if err != nil || len(evaluations) != 3 || len(skipped) > 0 {
		t.Fatalf("%d evaluations, %v, %v", len(evaluations), skipped, err)
	}
	for i, j := range evaluations {
		if j.Sample != list[i] || j.Fold != list[i].Run.ID {
			t.Errorf("judgement %d is of %s by fold %s", i, j.Sample.Run.ID, j.Fold)
		}
		if s := j.score(E2E, "mean"); math.Abs(s.Error()) > 0.02 {
			t.Errorf("%s held out: %+v", j.Fold, s)
		}
	}
}

// Points of a model that judges a fold are kept from its fit, unless the fit has
// another run of the model.
func TestPointsOfWhatIsHeldOut(t *testing.T) {
	chat, code, agents := named("chat", "A", 10), named("code", "A", 10), named("agents", "B", 10)
	points := []point{{model: "A"}, {model: "B"}, {model: "C"}}
	for _, c := range []struct {
		name        string
		train, test []*Sample
		want        string
	}{
		{"a model", []*Sample{agents}, []*Sample{chat, code}, "BC"},
		{"the other", []*Sample{chat, code}, []*Sample{agents}, "AC"},
		{"a run", []*Sample{chat}, []*Sample{code}, "ABC"},
		{"all", []*Sample{}, []*Sample{chat, agents}, "C"},
	} {
		f := sampleFold{c.name, c.train, c.test}
		got := ""
		for _, p := range f.points(points) {
			got += p.model
		}
		if got != c.want {
			t.Errorf("%s held out: points of %q, want %q", c.name, got, c.want)
		}
	}
}
