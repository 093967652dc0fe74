package draw

import (
	"blis/vtime"
	"blis/workload"
)

// Curve is a rate over time, in arrivals per second: piecewise linear, times a
// factor that windows give.
type Curve struct {
	Pieces []Piece // one after the other from time 0
	Repeat bool    // they begin again after the last; else its last value holds on

	// Windows are when there are arrivals at all, in order and without overlap;
	// none: always.
	Windows []Window
}

// Piece is a stretch of a curve.
type Piece struct {
	Length   vtime.Duration // above 0
	From, To float64        // rate at its beginning and at its end, linear in between; 0 or more
}

// Window is a time [Start, End) in which the rate is Factor times that of the
// pieces, and gaps follow Law (nil: that of the arrivals).
type Window struct {
	Start, End vtime.Time
	Factor     float64
	Law        *Law
}

// Flat is the same rate for ever.
func Flat(rate float64) Curve {
	return Curve{Pieces: []Piece{{Length: 1, From: rate, To: rate}}}
}

// Check is to come.
func (c *Curve) Check(bad *workload.Faults, name string) {}

// Check is to come.
func (l *Law) Check(bad *workload.Faults, name string) {}
