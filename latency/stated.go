package latency

import "strings"

// Stated is what is known of the error of a latency model for a run: errors of the
// means of TTFT, TPOT and E2E in measured runs that the fit had not seen. A nil metric is
// not known; E2E or TPOT is.
type Stated struct {
	HeldOut string // what was held out, as HeldOutError has it
	GPU     string // that the runs were on, empty: any; TP likewise, 0: any
	TP      int
	Runs    int // behind Ranked
	Models  int // that the runs were of; 0: not known, then medians over runs are all that is

	// FittedTo is the number of models that the latency model was fitted to, that of the run
	// among them; 0: it is not among them.
	FittedTo int

	TTFT *Deviation
	TPOT *Deviation
	E2E  *Deviation
}

// Deviation is how far the predictions of one metric are off, in percent of the
// measured value.
type Deviation struct {
	Expected float64 // mean over models of the mean absolute error of a model; the median over runs without Models
	Median   float64 // over runs, of absolute errors
	Bias     float64 // mean over models of the signed errors; above 0: too high
	Worst    float64 // of a run, with its sign

	// GroupP90 is what nine of ten groups of model, GPU, precision and TP were within, in
	// the mean over a group. 0: not known.
	GroupP90 float64
}

// Ranked returns the error by which latency models are compared, and the name of its
// metric: that of E2E, or of TPOT where E2E was not measured, as an answer is mostly
// decode.
func (s *Stated) Ranked() (metric string, d *Deviation) {
	if s.E2E != nil {
		return "E2E", s.E2E
	}
	return "TPOT", s.TPOT
}

// seen reports whether the latency model was fitted to the model of the run.
func (s *Stated) seen() bool { return s != nil && s.FittedTo > 0 }

// below reports whether the expected error is lower than that of other: of E2E, or of TPOT
// if only TPOT is known of both. An error that is known is lower than one that is not.
func (s *Stated) below(other *Stated) bool {
	if s == nil || other == nil {
		return s != nil
	}
	_, a := s.Ranked()
	_, b := other.Ranked()
	if (s.E2E == nil) != (other.E2E == nil) && s.TPOT != nil && other.TPOT != nil {
		a, b = s.TPOT, other.TPOT
	}
	return a.Expected < b.Expected
}

// StatedError returns the stated error for a run with these reasons of Coverage: on a
// held-out load or group for a measured model, on a held-out model for another model of
// the kind. It is nil if no stated error applies: outside the GPUs and TP degrees of the
// data none does. If the set states errors on the GPU of the run at its TP, or on this
// GPU, they count rather than those over all runs. A nil deployment stands for all runs.
func (s *PhysicsSet) StatedError(d *Deployment, reasons []string) *Stated {
	labels := []string{HeldOutWorkload, HeldOutGroup, HeldOutModel, HeldOutTail, NothingFitted}
	fittedTo := len(s.TrainedOn.Models)
	for _, r := range reasons {
		switch {
		case strings.HasPrefix(r, ModelNotMeasured):
			labels, fittedTo = []string{HeldOutModel, NothingFitted}, 0
		case !strings.HasPrefix(r, asyncDiffers):
			return nil
		}
	}
	for _, at := range places(d) {
		for _, label := range labels {
			if stated := s.stated(label, at); stated != nil {
				if label != NothingFitted {
					stated.FittedTo = fittedTo
				}
				return stated
			}
		}
	}
	return nil
}

// place is the GPU and the TP degree that errors are of; nil and 0: any.
type place struct {
	gpu *Hardware
	tp  int
}

// places returns the places whose errors speak for a deployment, the nearest first.
func places(d *Deployment) []place {
	if d == nil {
		return []place{{}}
	}
	return []place{{d.GPU, d.TP}, {d.GPU, 0}, {}}
}

// has reports whether the error is of this place. An error of one place counts only with
// MinModels.
func (p place) has(e *HeldOutError) bool {
	if p.gpu == nil {
		return e.GPU == ""
	}
	return e.GPU != "" && p.gpu.is(e.GPU) && e.TP == p.tp && e.Models >= MinModels
}

// stated returns the errors under one hold-out at one place, nil if neither E2E nor TPOT
// is among them: a set that was fitted to steps has no errors of requests.
func (s *PhysicsSet) stated(label string, at place) *Stated {
	stated := Stated{HeldOut: label}
	for _, m := range []struct {
		metric string
		into   **Deviation
	}{{"ttft", &stated.TTFT}, {"tpot", &stated.TPOT}, {"e2e", &stated.E2E}} { // the last known one is Ranked
		if e := s.errorOf(label, m.metric, at); e != nil {
			*m.into = e.Deviation()
			stated.GPU, stated.TP, stated.Runs, stated.Models = e.GPU, e.TP, e.Runs, e.Models
		}
	}
	if stated.TPOT == nil && stated.E2E == nil {
		return nil
	}
	return &stated
}

// errorOf returns the error of the mean of a metric, nil if there is none.
func (s *PhysicsSet) errorOf(label, metric string, at place) *HeldOutError {
	for i := range s.Errors {
		if e := &s.Errors[i]; e.HeldOut == label && e.Statistic == "mean" && e.Metric == metric && at.has(e) {
			return e
		}
	}
	return nil
}

// Deviation returns the error without what it is of.
func (e *HeldOutError) Deviation() *Deviation {
	if e.Models == 0 {
		return &Deviation{Expected: e.MedianAPEPercent, Median: e.MedianAPEPercent}
	}
	return &Deviation{e.ModelMeanAPEPercent, e.MedianAPEPercent, e.BiasPercent, e.WorstPercent, e.GroupP90APEPercent}
}
