package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"blis/suggest"
	"blis/vtime"
)

// Triggers without conditions.
const (
	PeriodicTrigger = "periodic" // evaluations at every multiple of the interval
	EventTrigger    = "event"    // evaluations when a request arrives or ends
)

// Trigger is a list of conditions, of which one must hold for an autoscaler to be
// asked. They are checked when requests arrive or end. The zero Trigger has no
// condition and never fires.
type Trigger struct {
	conditions []condition
	baseline   float64 // arrivals per second at the last evaluation; 0 before the first
}

// condition says that a signal is above or below a value, at every check during a
// time.
type condition struct {
	signal scaleSignal
	change bool // instead of signal: the relative change of the rate since the last evaluation
	above  bool
	value  float64
	lasts  vtime.Duration

	holds bool       // at the last check
	since vtime.Time // first check of those, up to the last, at which it held
}

// rateChange names the condition on the change of the rate.
const rateChange = "rate-change"

// triggerForms describes a trigger in messages.
const triggerForms = "periodic, event, or conditions like queue>5, attainment<0.9, load>0.8 for 30s, rate-change>0.5"

// triggerSignals are those that a condition can name.
var triggerSignals = []scaleSignal{loadSignal, batchSignal, kvSignal, queueSignal, attainmentSignal, rateSignal}

// ParseTrigger reads conditions like "queue>5, load<0.3 for 60s". The error says
// which one is wrong and what would be right. PeriodicTrigger, EventTrigger and the
// empty text have no conditions.
func ParseTrigger(text string) (*Trigger, error) {
	t := new(Trigger)
	if text == "" || text == PeriodicTrigger || text == EventTrigger {
		return t, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		c, err := parseCondition(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		t.conditions = append(t.conditions, c)
	}
	return t, nil
}

// parseCondition reads "load>0.8 for 30s".
func parseCondition(item string) (c condition, err error) {
	at := strings.IndexAny(item, "<>")
	if at < 0 {
		return c, fmt.Errorf("%q is no trigger, want %s", item, triggerForms)
	}
	c.above = item[at] == '>'
	if err := c.name(strings.TrimSpace(item[:at])); err != nil {
		return c, err
	}
	number, lasts, long := strings.Cut(item[at+1:], " for ")
	number = strings.TrimSpace(number)
	if c.value, err = strconv.ParseFloat(number, 64); err != nil || !(c.value >= 0) || math.IsInf(c.value, 0) {
		return c, fmt.Errorf("%q: %q is not a number from 0, want for example queue>5", item, number)
	}
	if share := c.signal != queueSignal && c.signal != rateSignal; share && !c.change && c.value > 1 {
		return c, fmt.Errorf("%q: want a share of at most 1", item)
	}
	if c.change && !c.above {
		return c, fmt.Errorf("%q: want %s>, a change is never too small", item, rateChange)
	}
	if long {
		if c.lasts, err = vtime.ParseDuration(strings.TrimSpace(lasts)); err != nil {
			return c, fmt.Errorf("%q: %q is not a duration, want for example load>0.8 for 30s", item, strings.TrimSpace(lasts))
		}
	}
	return c, nil
}

// name reads the name of a condition.
func (c *condition) name(name string) error {
	if c.change = name == rateChange; c.change {
		c.signal = rateSignal
		return nil
	}
	names := []string{rateChange}
	for _, s := range triggerSignals {
		if scaleSignals[s].name == name {
			c.signal = s
			return nil
		}
		names = append(names, scaleSignals[s].name)
	}
	return fmt.Errorf("unknown signal %q of a trigger%s (there are: %s)", name, suggest.Hint(name, names), strings.Join(names, ", "))
}

// Conditional reports whether there are conditions.
func (t *Trigger) Conditional() bool { return len(t.conditions) > 0 }

// Judges reports whether a condition needs SLO targets.
func (t *Trigger) Judges() bool {
	for i := range t.conditions {
		if t.conditions[i].signal == attainmentSignal {
			return true
		}
	}
	return false
}

// Observes returns the signals that the conditions read.
func (t *Trigger) Observes() Signals {
	s := NoSignals
	for i := range t.conditions {
		s |= scaleSignals[t.conditions[i].signal].observes
	}
	return s
}

// Fires checks all conditions and reports whether one of them holds and has held at
// every check for as long as it must.
func (t *Trigger) Fires(ctx *AutoscaleContext) bool {
	fires := false
	for i := range t.conditions {
		c := &t.conditions[i]
		held := c.holds
		if c.holds = c.now(ctx, t.baseline); !c.holds {
			continue
		}
		if !held {
			c.since = ctx.Now
		}
		fires = fires || ctx.Now.Sub(c.since) >= c.lasts
	}
	return fires
}

// Asked notes that the autoscaler is asked. Changes of the rate count from here.
func (t *Trigger) Asked(ctx *AutoscaleContext) {
	if t.Observes()&Rates != 0 {
		t.baseline = ctx.State.Rate(ctx.Now)
	}
}

// now reports whether the condition holds. A signal that cannot be measured is
// neither above nor below a value. load is below a value only if all its parts are.
func (c *condition) now(ctx *AutoscaleContext, baseline float64) bool {
	switch {
	case c.change:
		return math.Abs(ctx.State.Rate(ctx.Now)-baseline) > float64(c.value*baseline)
	case c.signal == rateSignal:
		rate := ctx.State.Rate(ctx.Now)
		bound := float64(c.value * float64(ctx.Replicas))
		return c.above && rate > bound || !c.above && rate < bound
	}
	x, _, known, complete := c.signal.highest(ctx)
	if c.above {
		return known && x > c.value
	}
	return complete && x < c.value
}
