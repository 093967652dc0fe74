package setup

import (
	"fmt"

	"blis/policy"
	"blis/vtime"
	"blis/workload/draw"
)

// RandomDuration is the distribution of the time that something takes: lognormal
// with the given mean and coefficient of variation, constant when that is 0.
type RandomDuration struct {
	Mean vtime.Duration
	CV   float64
}

// String is the form that UnmarshalText reads.
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

// Draw is a time from the distribution.
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
