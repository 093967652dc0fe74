package setup

import (
	"fmt"
	"strconv"

	"blis/policy"
	"blis/vtime"
	"blis/workload/draw"
)

// scales reports whether the number of instances can change.
func scales(c *Config) bool {
	return (c.AutoscalePolicy != "none" || c.Custom.Autoscale != nil) && c.AutoscaleInterval > 0
}

// derivedMaxReplicas returns the default of max-replicas.
func derivedMaxReplicas(instances int) int { return min(2*instances, 1<<20) }

// resolveScaling derives and checks the bounds on the number of instances.
func (p *resolver) resolveScaling() error {
	c := &p.Config
	if c.MaxReplicas == 0 {
		c.MaxReplicas = derivedMaxReplicas(c.NumInstances)
		if err := c.Policies.Set("autoscale.max", strconv.Itoa(c.MaxReplicas)); err != nil {
			return err
		}
	}
	if c.AutoscalePolicy != "none" && c.AutoscaleInterval == 0 {
		return &InputError{wrong(c, "autoscale-interval", 0, "more with --autoscale-policy "+c.AutoscalePolicy)}
	}
	if !scales(c) {
		return nil
	}
	if c.Policies.Get("autoscale.params.signal") == "attainment" && c.SLOTargets == "" {
		p.note("the autoscaler looks at the attainment of targets, and there are none: it holds; see --slo-targets")
	}
	if t, err := policy.ParseTrigger(c.AutoscaleTrigger); err == nil && t.Judges() && c.SLOTargets == "" {
		p.note("the trigger of the autoscaler looks at the attainment of targets, and there are none: that condition never holds; see --slo-targets")
	}
	if get := c.Policies.Get; get("autoscale.params.signal") == "rate" && get("autoscale.params.target") == "0.7" {
		p.note("target-utilization aims at 0.7 requests per second per replica: that is its default, meant for shares; see autoscale.params.target")
	}
	switch {
	case c.MinReplicas == 0 && !wakesFromGateway(c):
		return &InputError{wrong(c, "min-replicas", c.MinReplicas, "1 or more, or --flow-control and an autoscaler that counts who waits there: queue-depth, or a program")}
	case c.MinReplicas == 0 && c.KVStorage.String() != "":
		return &InputError{wrong(c, "min-replicas", c.MinReplicas, "1 or more with --kv-storage, whose work goes on when all instances are gone")}
	case c.MinReplicas < 0 || c.MinReplicas > c.MaxReplicas:
		return &InputError{wrong(c, "min-replicas", c.MinReplicas, fmt.Sprintf("from 1 to --max-replicas %d", c.MaxReplicas))}
	case c.NumInstances < c.MinReplicas || c.NumInstances > c.MaxReplicas:
		return inputErrorf("--num-instances is %d: want from --min-replicas %d to --max-replicas %d", c.NumInstances, c.MinReplicas, c.MaxReplicas)
	}
	return nil
}

// wakesFromGateway reports whether the autoscaler can ask for an instance while there is none: it sees who waits at
// the gateway.
func wakesFromGateway(c *Config) bool {
	if !c.FlowControl || c.SaturationDetector == DetectNever {
		return false
	}
	switch c.AutoscalePolicy {
	case "queue-depth":
		return c.Policies.Get("autoscale.params.source") != "instances"
	case "starlark", "tree":
		return true
	}
	return c.Custom.Autoscale != nil
}

// RandomDuration is the distribution of the time that something takes: lognormal
// with the given mean and coefficient of variation, constant when that is 0.
type RandomDuration struct {
	Mean vtime.Duration
	CV   float64
}

// String returns the form that UnmarshalText reads.
func (l RandomDuration) String() string {
	if l.CV == 0 {
		return l.Mean.String()
	}
	return fmt.Sprintf("%v,cv=%g", l.Mean, l.CV)
}

// MarshalText implements encoding.TextMarshaler.
func (l RandomDuration) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads "40s", or "40s,cv=0.2" for a lognormal of that mean and
// coefficient of variation.
func (l *RandomDuration) UnmarshalText(text []byte) error {
	mean, cv, err := policy.ParseRandomDuration(string(text))
	if err == nil {
		*l = RandomDuration{mean, cv}
	}
	return err
}

// Draw returns a time from the distribution.
func (l RandomDuration) Draw(s *vtime.Stream) vtime.Duration {
	if l.CV == 0 || l.Mean == 0 {
		return l.Mean
	}
	d, err := vtime.Truncate(draw.Lognormal(s, float64(l.Mean), l.CV))
	if err != nil {
		panic("setup: " + err.Error())
	}
	return d
}
