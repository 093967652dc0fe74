package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"blis/latency"
)

// StepOptions are options of a fit to steps. With the zero value coefficients are 0
// or more, and the penalty draws them toward 0.
type StepOptions struct {
	// Signed lets coefficients be below 0. No physics asks for it; noise or columns
	// that are much alike may.
	Signed bool
	// Toward holds the values to which the penalty draws coefficients; those that the
	// data do not determine get these values. Without Signed none may be below 0.
	Toward latency.BetaVector
}

// StepFit holds coefficients of the step time and what is known of the fit. Errors
// of predictions are relative: 0.15 is 15 %.
type StepFit struct {
	Beta latency.BetaVector `json:"beta"`
	// Errors are standard errors in the unit of the coefficient, 0 where it is not
	// fitted. The noise may differ from step to step, but is assumed to be
	// independent: where several slow steps follow each other, true errors are
	// larger. The bias by the penalty is not in them, see Shares.
	Errors latency.BetaVector `json:"errors"`
	// Shares say for each coefficient what determines it, from the penalty alone, 0,
	// to the data alone, 1. Like Errors they are of a fit without bounds.
	Shares  latency.BetaVector `json:"shares"`
	Freedom float64            `json:"freedom"` // effective degrees of freedom, within bounds, with the constant

	Lambda float64     `json:"lambda"` // penalty, by cross-validation
	Gamma  float64     `json:"gamma"`  // of the preemption average, by cross-validation
	Trials []StepTrial `json:"trials"` // in the order of trying

	// Names of features whose coefficients the data do not determine, in the order of
	// latency.BetaNames. Unmoved ones are the same in all rows: they are not fitted
	// and have the value of Toward. Entangled ones vary, but so much like others that
	// the penalty decided how they share the effect.
	Unmoved   []string `json:"unmoved"`
	Entangled []string `json:"entangled"`
	// Negative names features with a coefficient below 0, of the three that cannot
	// be: computing, reading weights, and the constant of every step.
	Negative []string `json:"negative"`

	Steps   int            `json:"steps"`    // of all configurations; == Rows + HeldOut + sum of Dropped
	Rows    int            `json:"rows"`     // from which the fit learned
	HeldOut int            `json:"held_out"` // rows in the last fifth of each configuration, which test the fit
	Halved  int            `json:"halved"`   // of Rows: near preemptions, with half the weight
	Dropped []DroppedSteps `json:"dropped"`  // by reason

	Configurations []StepErrors `json:"configurations"` // in the order of the data
	Residuals      []StepBin    `json:"residuals"`      // by size of the batch, of predictions by cross-validation
	Targets        []StepTarget `json:"targets"`
}

// StepTrial is one pair of γ and λ in cross-validation.
type StepTrial struct {
	Gamma  float64 `json:"gamma"`
	Lambda float64 `json:"lambda"`
	// Loss is the mean square error of the held-out rows, relative to a rough
	// estimate of the step (see roughBeta).
	Loss float64 `json:"loss"`
}

// DroppedSteps is the number of steps that were left out for one reason.
type DroppedSteps struct {
	Reason string `json:"reason"`
	Steps  int    `json:"steps"`
}

// StepDeviation holds the errors of predictions of some steps.
type StepDeviation struct {
	Steps int     `json:"steps"` // 0: nothing is known
	MAPE  float64 `json:"mape"`  // mean of |predicted/measured − 1|
	Bias  float64 `json:"bias"`  // mean of predicted/measured − 1
}

// StepErrors are the errors of one configuration.
type StepErrors struct {
	Name           string        `json:"name"`
	Training       StepDeviation `json:"training"`        // of rows from which the fit learned
	CrossValidated StepDeviation `json:"cross_validated"` // of the same rows, by fits that did not learn from them
	HeldOut        StepDeviation `json:"held_out"`        // of the last fifth
	LeftOut        StepDeviation `json:"left_out"`        // of all rows, by a fit to the other configurations; Steps 0 if there is none
}

// StepBin holds the bias of predictions for batches of one size class.
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

// lambdas and gammas are the candidates of cross-validation. Among equally good ones
// the first wins: the γ of the simulation (docs/latency.md 3), then the larger
// penalty.
var (
	gammas  = [...]float64{0.3, 0.1, 0.5}
	lambdas = [...]float64{1e2, 1e1, 1, 1e-1, 1e-2, 1e-3}
)

// FitSteps fits the coefficients of the step time to measured periods by ridge
// regression (docs/latency.md 4). It minimises
//
//	Σ w(y − x·β)² + λ·Σ (βⱼ − towardⱼ)²·sdⱼ²   with Σ w = number of rows
//
// where w are the weights of rows, x their features, y their periods in seconds and
// sdⱼ the standard deviation of column j. The constant has no penalty. That is ridge
// on standardised columns. Standardising y as well would divide all by one number,
// so λ has the same meaning in all data.
//
// The weight of a row is 1/u² with u a rough estimate of its time, so that relative
// errors count; else the longest steps of the largest model would decide alone.
// Near preemptions the weight is half of that.
//
// An error is one line for the user: what is wrong with which configuration. When
// ctx ends, the fit ends before its next solution with the error of ctx. Equal
// arguments give equal bits on one machine.
func FitSteps(ctx context.Context, data []StepData, o StepOptions) (*StepFit, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	// Sums are in the order of names, so that no bit depends on the order of data.
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

// unbounded is larger than any coefficient.
const unbounded = 1e9
