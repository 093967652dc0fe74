package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"blis/calibrate/measured"
	"blis/latency"
)

// StepData is the steps of one configuration: one engine under one workload.
type StepData struct {
	Name     string            // model, GPU, TP, limits, workload: for reports, not twice in a fit
	Features *latency.Features // of the deployment under the engine's limits
	// Async: batches were formed one step ahead, so that the period of a step is
	// the time of the batch before it.
	Async          bool
	ChunkedPrefill bool
	Steps          []measured.Step // in order of time
}

// StepOptions say what coefficients of steps are wanted. The zero value is the
// usual: none below 0, drawn toward 0.
type StepOptions struct {
	// Signed lets coefficients be below 0, where noise or columns that look
	// alike may push them and no physics does.
	Signed bool
	// Toward is what coefficients are drawn to, and what those get that the data
	// say nothing about. Without Signed none may be below 0.
	Toward latency.BetaVector
}

// StepFit is coefficients of the step time and how they came about. Errors of
// predictions are relative: 0.15 is 15 %.
type StepFit struct {
	Beta latency.BetaVector `json:"beta"`
	// Errors are standard errors in the unit of the coefficient, 0 where it is not
	// fitted. They hold whatever the noise of a step depends on, but suppose that
	// steps err independently: where slow steps come in rows the truth is farther
	// away. What the penalty bends is not in them, see Shares.
	Errors latency.BetaVector `json:"errors"`
	// Shares tell for each coefficient how far data decide, 1, or the penalty, 0.
	// Like Errors they are of a fit without bounds.
	Shares  latency.BetaVector `json:"shares"`
	Freedom float64            `json:"freedom"` // effective degrees of freedom, within bounds, with the constant

	Lambda float64     `json:"lambda"` // of the ridge and of the preemption average, by cross-validation
	Gamma  float64     `json:"gamma"`
	Trials []StepTrial `json:"trials"` // all that were tried, in the order of trying

	// Names of terms whose coefficients the data do not determine, in their order.
	// Unmoved ones were the same in all rows: they are not fitted and have the
	// value of Toward. Entangled ones moved, but so much like others that the
	// penalty decided how they share the effect.
	Unmoved   []string `json:"unmoved"`
	Entangled []string `json:"entangled"`
	// Negative are terms whose coefficient is below 0 though it is the time of
	// computing, of reading weights, or of every step.
	Negative []string `json:"negative"`

	Steps   int            `json:"steps"`    // of all configurations: Rows + HeldOut + dropped steps
	Rows    int            `json:"rows"`     // the fit has seen
	HeldOut int            `json:"held_out"` // the last fifth of each configuration, which it has not
	Halved  int            `json:"halved"`   // of Rows: near preemptions, with half the weight
	Dropped []DroppedSteps `json:"dropped"`  // what is in neither, by reason

	Configurations []StepErrors `json:"configurations"` // in the order of the data
	Residuals      []StepBin    `json:"residuals"`      // by size of the batch, of predictions by cross-validation
	Targets        []StepTarget `json:"targets"`
}

// StepTrial is one choice that cross-validation looked at.
type StepTrial struct {
	Gamma  float64 `json:"gamma"`
	Lambda float64 `json:"lambda"`
	// Loss is the mean square error of the rows held out, relative to a rough
	// estimate of the step (see rough).
	Loss float64 `json:"loss"`
}

// DroppedSteps is how many steps were left out for a reason.
type DroppedSteps struct {
	Reason string `json:"reason"`
	Steps  int    `json:"steps"`
}

// StepDeviation is how far predictions of some steps are off.
type StepDeviation struct {
	Steps int     `json:"steps"` // 0: nothing is known
	MAPE  float64 `json:"mape"`  // mean of |predicted/measured − 1|
	Bias  float64 `json:"bias"`  // mean of predicted/measured − 1
}

// StepErrors are the errors of one configuration.
type StepErrors struct {
	Name           string        `json:"name"`
	Training       StepDeviation `json:"training"`        // of rows that the fit saw
	CrossValidated StepDeviation `json:"cross_validated"` // of the same rows, by fits to four fifths of all data
	HeldOut        StepDeviation `json:"held_out"`        // of the last fifth
	LeftOut        StepDeviation `json:"left_out"`        // of all rows, by a fit to the other configurations alone; Steps 0 if there is none
}

// StepBin is what is left unexplained of batches of one size.
type StepBin struct {
	From  int64   `json:"from"` // scheduled tokens, both included; To 0: no end
	To    int64   `json:"to"`
	Steps int     `json:"steps"` // may be 0
	Bias  float64 `json:"bias"`  // mean of predicted/measured − 1
}

// StepTarget is a bound on the mean absolute percentage error of a step fit, and
// the configuration with the largest error.
type StepTarget struct {
	Name  string  `json:"name"`  // "within configurations": the last fifth; "across configurations": left out
	Limit float64 `json:"limit"` // at most, 0.15 or 0.25
	Worst float64 `json:"worst"`
	Of    string  `json:"of"` // the configuration that has Worst
	Met   bool    `json:"met"`
}

// The limits of the two targets that a report compares errors with.
const (
	withinLimit = 0.15
	acrossLimit = 0.25
)

// lambdas and gammas are the candidates of cross-validation, in the order of
// preference where they are equally good: the average as the simulation has it
// (latency.md 3), then the larger penalty.
var (
	gammas  = [...]float64{0.3, 0.1, 0.5}
	lambdas = [...]float64{1e2, 1e1, 1, 1e-1, 1e-2, 1e-3}
)

// FitSteps fits the coefficients of the step time to measured periods by ridge
// regression (latency.md 4). With w the weights of rows, x their features, y
// their periods in seconds and sdⱼ the deviation of column j it makes
//
//	Σ w(y − x·β)² + λ·Σ (βⱼ − towardⱼ)²·sdⱼ²   with Σ w = number of rows
//
// smallest, the constant free of penalty. That is ridge on standardised
// columns; standardising y as well would divide all of it by one number, so λ
// means the same in all data.
//
// A row weighs 1/u², u being a rough estimate of its time: what counts is
// relative errors, or else the longest steps of the largest model would decide
// alone. Near preemptions it weighs half.
//
// Errors are one line each, for the user: what is wrong with which
// configuration. When ctx ends so does the fit, between two solutions, with the
// error of ctx. Equal arguments give equal bits on one machine.
func FitSteps(ctx context.Context, data []StepData, o StepOptions) (*StepFit, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	// Sums are taken in the order of names, so that no bit depends on the order of data.
	sorted := slices.SortedFunc(slices.Values(data), func(a, b StepData) int { return cmp.Compare(a.Name, b.Name) })
	t, err := prepare(sorted)
	if err != nil {
		return nil, err
	}
	fit, err := newStepFitter(t, o).fit(ctx)
	if err != nil {
		return nil, err
	}
	place := func(e StepErrors) int {
		return slices.IndexFunc(data, func(d StepData) bool { return d.Name == e.Name })
	}
	slices.SortFunc(fit.Configurations, func(a, b StepErrors) int { return cmp.Compare(place(a), place(b)) })
	return fit, nil
}

func (o *StepOptions) check() error {
	for i, v := range o.Toward {
		if !(math.Abs(v) <= unbounded) || v < 0 && !o.Signed {
			return fmt.Errorf("steps: toward %s: %v: want a number from 0, or below with signed coefficients", latency.BetaNames[i], v)
		}
	}
	return nil
}

// unbounded is beyond any coefficient.
const unbounded = 1e9
