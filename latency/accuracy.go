package latency

import (
	"fmt"
	"strings"
)

// Unmeasured is a setting of a run, or a range that it may use, outside the data behind
// the error of its latency model.
type Unmeasured struct {
	Setting string `json:"setting"` // as flags call it: tp, hardware, max-num-seqs, …
	Text    string `json:"text"`    // of the run, and what was measured: "TP 8 (measured: 1 to 4)"
}

// NotMeasured lists what of a run is outside the data of the set: each gap of Coverage,
// and each limit of the engine that lets steps or requests grow beyond the data. context
// is the maximum tokens of a request, max_model_len; 0: not known. What the run really
// does shows when it is over.
func (s *PhysicsSet) NotMeasured(d *Deployment, e EngineLimits, async bool, context int64) []Unmeasured {
	var list []Unmeasured
	for _, g := range s.gaps(d, e, async) {
		text := g.value
		if strings.HasPrefix(g.reason, ModelNotMeasured) {
			text = "this model"
		}
		list = append(list, Unmeasured{g.setting, text})
	}
	t := &s.TrainedOn
	if t.ContextMax > 0 && (context == 0 || context > t.ContextMax) {
		list = append(list, Unmeasured{"max-model-len", fmt.Sprintf("contexts above %s tokens", grouped(t.ContextMax))})
	}
	for _, r := range []struct {
		setting, name string
		limit, most   int64
	}{
		{"max-num-seqs", "max_num_seqs", e.MaxSeqs, t.SeatsMax},
		{"max-num-batched-tokens", "max_num_batched_tokens", e.MaxBatchedTokens, t.StepTokensMax},
	} {
		if r.most > 0 && r.limit > r.most {
			list = append(list, Unmeasured{r.setting, fmt.Sprintf("%s %s (measured: %s)", r.name, grouped(r.limit), grouped(r.most))})
		}
	}
	return list
}

// Beyond says where a run left the range of the data that the set was fitted to: by its longest context, and by the
// most requests and tokens in a step. Empty: nowhere, as far as is known.
func (s *PhysicsSet) Beyond(context, requests, tokens int64) string {
	t := &s.TrainedOn
	var list []string
	for _, r := range []struct {
		most, known int64
		text        string
	}{
		{context, t.ContextMax, "contexts of up to %s tokens (fitted to %s)"},
		{requests, t.SeatsMax, "up to %s requests in a step (%s)"},
		{tokens, t.StepTokensMax, "up to %s tokens in a step (%s)"},
	} {
		if r.known > 0 && r.most > r.known {
			list = append(list, fmt.Sprintf(r.text, grouped(r.most), grouped(r.known)))
		}
	}
	if list == nil {
		return ""
	}
	return fmt.Sprintf("beyond what physics %s was fitted to: %s; its stated error does not hold there", s.Name, strings.Join(list, ", "))
}

// Accuracy is what a run is told of the accuracy of its latency model.
type Accuracy struct {
	Stated      *Stated       // nil: no stated error applies
	Step        *HeldOutError // of the time of a step, where that is all that is stated; nil: it is not, or does not apply
	NotMeasured []Unmeasured  // outside the data that Stated is of
}

// Accuracy returns the stated error for a run and what of the run it does not know.
// context is as NotMeasured has it.
func (s *PhysicsSet) Accuracy(d *Deployment, e EngineLimits, async bool, context int64) *Accuracy {
	reasons := s.Coverage(d, e, async)
	a := &Accuracy{Stated: s.StatedError(d, reasons), NotMeasured: s.NotMeasured(d, e, async, context)}
	if a.Stated == nil {
		a.Step = s.stepError(reasons)
	}
	return a
}

// stepError returns the error of the time of a step on another configuration of a model
// that was measured, nil if none applies to a run with these reasons of Coverage. It does
// not say how far off requests are: no model is chosen by it.
func (s *PhysicsSet) stepError(reasons []string) *HeldOutError {
	for _, r := range reasons {
		if !strings.HasPrefix(r, asyncDiffers) {
			return nil
		}
	}
	return s.errorOf(HeldOutConfiguration, "step", place{})
}

// grouped writes a number with commas between thousands.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
