package actors

import (
	"fmt"

	"blis/engine"
	"blis/policy"
	"blis/vtime"
	"blis/workload/draw"
)

// actuation is how a scale decision is carried out.
type actuation struct {
	Provisioning   vtime.Duration // until there is a machine
	Load           LoadTime       // until the model is loaded there
	Warmup         engine.Warmup  // after that steps take longer; From is set for each instance
	WarmupRoutable bool           // requests go to instances that are warming
	Drain          string         // wait, immediate or redirect
	DrainTimeout   vtime.Duration // after it what still drains is aborted; 0: never

	blocks int64 // KV blocks of an instance
}

// LoadTime is the distribution of the time to load a model: lognormal with the
// given mean and coefficient of variation, constant when that is 0.
type LoadTime struct {
	Mean vtime.Duration
	CV   float64
}

// String is the form that UnmarshalText reads.
func (l LoadTime) String() string {
	if l.CV == 0 {
		return l.Mean.String()
	}
	return fmt.Sprintf("%v,cv=%g", l.Mean, l.CV)
}

// MarshalText implements encoding.TextMarshaler.
func (l LoadTime) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads "40s", or "40s,cv=0.2" for a lognormal of that mean and
// coefficient of variation.
func (l *LoadTime) UnmarshalText(text []byte) error {
	mean, cv, err := policy.ParseRandomDuration(string(text))
	if err == nil {
		*l = LoadTime{mean, cv}
	}
	return err
}

// draw is a time from the distribution.
func (l LoadTime) draw(s *vtime.Stream) vtime.Duration {
	if l.CV == 0 || l.Mean == 0 {
		return l.Mean
	}
	d, err := vtime.Truncate(draw.Lognormal(s, float64(l.Mean), l.CV))
	if err != nil {
		panic("actors: " + err.Error())
	}
	return d
}
