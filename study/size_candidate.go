package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"blis/actors"
	"blis/latency"
	"blis/setup"
)

// sized is a candidate with its search.
type sized struct {
	SizeCandidate
	search  Capacity
	exact   *CapacityResult
	setup   actors.Setup
	refused error
}

// Name is "H100 TP 4, 8192 tokens".
func (c *SizeCandidate) Name() string {
	text := c.Hardware + " TP " + strconv.Itoa(c.TP)
	if c.Budget > 0 {
		text += fmt.Sprintf(", %d tokens", c.Budget)
	}
	if c.Ratio != (setup.PDRatio{}) {
		text += ", P:D " + c.Ratio.String()
	}
	return text
}

// cluster returns what is equal for candidates with the same cluster: ratios may share so many
// instances alike.
func (c *sized) cluster() string {
	if c.Ratio == (setup.PDRatio{}) || c.Instances == 0 {
		return c.Name()
	}
	alike := c.SizeCandidate
	alike.Ratio.Prefill, alike.Ratio.Decode = c.Ratio.Share(c.Instances)
	return alike.Name()
}

// gpus is the number of GPUs of so many instances.
func (c *sized) gpus(instances int) int {
	cfg := c.search.Base.Config
	cfg.NumInstances = instances
	return setup.GPUs(&cfg)
}

// tryFind is find for which a fault of this candidate alone is no error.
func (c *sized) tryFind(ctx context.Context) error {
	err := c.find(ctx)
	var input *actors.InputError
	if errors.As(err, &input) {
		c.refused, err = err, nil
	}
	return err
}

// find finds the fewest instances: exactly, or by one window for each number.
func (c *sized) find(ctx context.Context) error {
	s, err := newCapacitySearch(&c.search)
	if err != nil {
		return err
	}
	if err := s.settleExact(ctx); err != nil {
		return err
	}
	if s.result.Exact {
		c.exact, err = s.exact(ctx)
		if err != nil {
			return err
		}
		c.Certified = true
		return c.takeEnds(c.exact)
	}
	w, holds, err := s.onePerRung(ctx)
	if err != nil {
		return err
	}
	c.take(int(s.Over.Values[s.usable[s.start]]), holds, w.Values, w.OutputTokens, w.Seconds)
	return nil
}

// takeEnds takes the figures of an answer: of the end that holds, or of the one that does not.
func (c *sized) takeEnds(r *CapacityResult) error {
	end, holds := r.Holds, true
	if end == nil {
		end, holds = r.Fails, false
	}
	if end == nil {
		return fmt.Errorf("study: %s has no end", c.Name())
	}
	c.take(int(end.Value), holds, end.Measured, 0, 0)
	c.CostPerMillion = end.CostPerMillion
	return nil
}

// take takes the figures of a number of instances.
func (c *sized) take(instances int, holds bool, values []float64, tokens int64, seconds float64) {
	c.Instances, c.GPUs, c.Measured = instances, c.gpus(instances), values
	if !holds {
		c.Instances = 0
	}
	c.Margins, c.Edge = nil, nil
	for i, x := range values {
		slo := &c.search.SLOs[i]
		margin := (slo.Bound - x) / slo.Bound
		if slo.Operator == ">" || slo.Operator == ">=" {
			margin = (x - slo.Bound) / slo.Bound
		}
		c.Margins = append(c.Margins, margin)
		stated, known := statedError(c.setup.Accuracy, slo.Measure.Name)
		c.Edge = append(c.Edge, holds && known && margin < stated)
	}
	c.CostPerHour = c.perHour(instances)
	if c.CostPerHour != nil && tokens > 0 {
		cost := float64(*c.CostPerHour * seconds / 3600 / float64(tokens) * 1e6)
		c.CostPerMillion = &cost
	}
}

// perHour is the price of so many instances per hour, nil if none is known.
func (c *sized) perHour(instances int) *float64 {
	cfg := c.search.Base.Config
	cfg.NumInstances = instances
	price := setup.HourlyPrice(&cfg)
	if !(price > 0) {
		return nil
	}
	return &price
}

// statedError is the expected error of a measure, as a share, by the latency that it is of; of
// E2E or TPOT for others.
func statedError(a *latency.Accuracy, measure string) (float64, bool) {
	if a == nil || a.Stated == nil {
		return 0, false
	}
	_, d := a.Stated.Ranked()
	switch {
	case strings.HasSuffix(measure, "_ttft") && a.Stated.TTFT != nil:
		d = a.Stated.TTFT
	case strings.HasSuffix(measure, "_tpot") && a.Stated.TPOT != nil:
		d = a.Stated.TPOT
	}
	return d.Expected / 100, true
}

// least is the smallest margin.
func (c *SizeCandidate) least() float64 {
	least := math.Inf(1)
	for _, m := range c.Margins {
		least = min(least, m)
	}
	return least
}
