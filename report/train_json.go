package report

import (
	"fmt"

	"blis/calibrate"
	"blis/latency"
)

// TrainingJSON is the JSON form of a fit to runs.
type TrainingJSON struct {
	Schema       string            `json:"schema"`
	LatencyModel string            `json:"latency_model"`
	Name         *string           `json:"name"`       // null: blackbox has no file
	Training     *trainingJSON     `json:"trained_on"` // likewise
	Replays      int               `json:"replays"`
	Converged    bool              `json:"converged"`
	Change       float64           `json:"change"` // of predicted times in the last replay, relative
	Prefills     int               `json:"prefills"`
	Freedom      float64           `json:"degrees_of_freedom"`
	Coefficients []coefficientJSON `json:"coefficients"`
	Overloaded   []string          `json:"overloaded"` // runs that were not fitted to
	Skipped      []string          `json:"skipped"`
	InSample     []judgementJSON   `json:"in_sample"`
	HeldOut      []heldOutJSON     `json:"held_out"`
	Loops        *closedLoopsJSON  `json:"closed_loops"`     // null: none were fitted to
	Set          *string           `json:"coefficient_file"` // null: blackbox
	Alpha        []float64         `json:"alpha_coeffs"`     // µs; null: physics
	Beta         []float64         `json:"beta_coeffs"`
}

// trainingJSON is latency.Training under the names that it has in files.
type trainingJSON struct {
	Models          []string `json:"models"`
	Kinds           []string `json:"kinds"`
	GPUs            []string `json:"gpus"`
	TPMin           int      `json:"tp_min"`
	TPMax           int      `json:"tp_max"`
	ContextMax      int64    `json:"context_max"` // tokens; 0: not known, as of the next two
	SeatsMax        int64    `json:"seats_max"`
	StepTokensMax   int64    `json:"step_tokens_max"`
	Engine          string   `json:"engine"`
	AsyncScheduling bool     `json:"async_scheduling"`
	ChunkedPrefill  bool     `json:"chunked_prefill"`
	Dates           []string `json:"dates"` // first and last; none: not known
	Data            string   `json:"data"`
	Samples         int64    `json:"samples"`
	Lambda          float64  `json:"lambda"`
	Gamma           float64  `json:"gamma"`
	Method          string   `json:"method"`
}

type coefficientJSON struct {
	Term          string   `json:"term"`
	Value         float64  `json:"value"`
	StandardError *float64 `json:"standard_error"` // null: at a bound, or without data
}

type heldOutJSON struct {
	By      calibrate.HoldOut   `json:"by"`
	Runs    []judgementJSON     `json:"runs"`
	Summary []calibrate.Summary `json:"summary"`
	Skipped []string            `json:"skipped"`
}

type judgementJSON struct {
	Run        string                       `json:"run"`
	Fold       string                       `json:"fold"`
	Requests   int                          `json:"requests"`
	Scores     []calibrate.Score            `json:"scores"`
	KS         map[calibrate.Metric]float64 `json:"ks"`
	PerRequest map[calibrate.Metric]float64 `json:"per_request_median_ape"`
}

func newTrainedJSON(all *Training) *TrainingJSON {
	t := all.Trained
	j := &TrainingJSON{
		Schema: "blis.train/v1", LatencyModel: t.Family.Name, Replays: t.Fit.Replays, Converged: t.Fit.Converged, Change: t.Fit.Change,
		Prefills: t.Prefills, Freedom: t.Fit.Spread.Freedom, Overloaded: listed(t.Overloaded), Skipped: listed(all.LeftOut), Loops: newClosedLoopsJSON(all.closedLoops()),
		InSample: judgementsJSON(t.InSample), HeldOut: []heldOutJSON{}, Coefficients: []coefficientJSON{},
	}
	if t.Set == nil {
		m := calibrate.BlackboxOf(&t.Fit.Coefficients)
		j.Alpha, j.Beta = m.Alpha[:], m.Beta[:]
	} else {
		j.Name, j.Training, j.Set = &t.Set.Name, newTrainingJSON(&t.Set.TrainedOn), new(string(t.Set.Format()))
		j.coefficients(t)
	}
	for _, h := range t.HeldOut {
		j.HeldOut = append(j.HeldOut, heldOutJSON{h.By, judgementsJSON(h.Evaluations), listed(calibrate.Summarise(h.Evaluations)), listed(h.Skipped)})
	}
	return j
}

func newTrainingJSON(t *latency.Training) *trainingJSON {
	return &trainingJSON{
		Models: t.Models, Kinds: t.Kinds, GPUs: t.GPUs, TPMin: t.TPMin, TPMax: t.TPMax,
		ContextMax: t.ContextMax, SeatsMax: t.SeatsMax, StepTokensMax: t.StepTokensMax,
		Engine: t.Engine, AsyncScheduling: t.AsyncScheduling, ChunkedPrefill: t.ChunkedPrefill,
		Dates: listed(t.Dates), Data: t.Data, Samples: t.Samples, Lambda: t.Lambda, Gamma: t.Gamma, Method: t.Method,
	}
}

// coefficients lists the terms of physics.
func (j *TrainingJSON) coefficients(t *calibrate.Trained) {
	values := append(append([]float64{}, t.Fit.Beta[:]...), t.Fit.Alpha[:]...)
	for i, name := range termNames() {
		c := coefficientJSON{Term: name, Value: values[i]}
		if e := t.Fit.Spread.Errors[i]; e > 0 {
			c.StandardError = &e
		}
		j.Coefficients = append(j.Coefficients, c)
	}
}

func judgementsJSON(list []calibrate.Evaluation) []judgementJSON {
	rows := []judgementJSON{}
	for i := range list {
		c := &list[i]
		rows = append(rows, judgementJSON{c.Sample.Run.ID, c.Fold, c.Requests, listed(c.Scores), c.KS, c.RequestError})
	}
	return rows
}

// listed is a list that is [] in JSON when it is empty.
func listed[T any](list []T) []T { return append([]T{}, list...) }

// termNames are the names of all columns of a fit, β first.
func termNames() []string {
	var list []string
	for i, n := range latency.BetaNames {
		list = append(list, fmt.Sprintf("β%d %s", i+1, n))
	}
	for i, n := range latency.AlphaNames {
		list = append(list, fmt.Sprintf("α%d %s", i+1, n))
	}
	return list
}
