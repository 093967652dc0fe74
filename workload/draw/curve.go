package draw

import (
	"fmt"

	"blis/vtime"
	"blis/workload"
)

// RateCurve is a rate over time, in arrivals per second: piecewise linear,
// times the factors of windows.
type RateCurve struct {
	Pieces []Piece // one after the other from time 0
	Repeat bool    // they begin again after the last; else its last value holds on

	// Windows are when there are arrivals at all, in order and without overlap;
	// none: always. They are not repeated.
	Windows []Window
}

// Piece is a stretch of a rate curve.
type Piece struct {
	Length   vtime.Duration // above 0
	From, To float64        // rate at its beginning and at its end, linear in between; 0 or more
}

// Window is a time [Start, End) in which the rate is Factor times the rate of
// the pieces, and gaps that begin in it follow Process (nil: the process of the
// arrivals).
type Window struct {
	Start, End vtime.Time
	Factor     float64
	Process    *ArrivalProcess
}

// maxRate is the highest rate of a piece, per second, and the highest factor of
// a window.
const maxRate = 1e12

// end is where virtual time ends for arrivals.
const end = workload.Latest + 1

// Check adds to bad what is wrong with the curve: the first bad piece, the
// first bad window, and a rate that is 0 always. Its fields are named pieces
// and windows, with their index, behind prefix.
func (c *RateCurve) Check(bad *workload.Faults, prefix string) {
	if len(c.Pieces) == 0 {
		bad.Add(prefix+"pieces", "none", "want at least one")
		return
	}
	if c.checkPieces(bad, prefix) && c.checkWindows(bad, prefix) && !c.positive() {
		bad.Add(prefix+"rate", 0, "want a rate above 0 at some time")
	}
}

// checkPieces reports whether all are good.
func (c *RateCurve) checkPieces(bad *workload.Faults, prefix string) bool {
	room := vtime.Duration(end)
	for i, p := range c.Pieces { // many, so that only a bad one is given its name
		field := func(name string) string { return fmt.Sprintf("%spieces[%d].%s", prefix, i, name) }
		switch {
		case p.Length < 1:
			bad.Add(field("length"), p.Length, "want above 0")
		case p.Length > room:
			bad.Add(field("length"), p.Length, "want at most 2⁶² µs for all pieces together")
		case !(p.From >= 0 && p.From <= maxRate):
			bad.Add(field("from"), p.From, "want a rate per second from 0 to %v", maxRate)
		case !(p.To >= 0 && p.To <= maxRate):
			bad.Add(field("to"), p.To, "want a rate per second from 0 to %v", maxRate)
		default:
			room -= p.Length
			continue
		}
		return false
	}
	return true
}

// checkWindows reports whether all are good.
func (c *RateCurve) checkWindows(bad *workload.Faults, prefix string) bool {
	free := vtime.Time(0)         // where a window may begin
	for i, w := range c.Windows { // as with pieces
		field := func(name string) string { return fmt.Sprintf("%swindows[%d].%s", prefix, i, name) }
		switch {
		case w.Start < 0 || w.Start > workload.Latest:
			bad.Add(field("start"), w.Start, "want from 0 to 2⁶² µs")
		case w.Start < free:
			bad.Add(field("start"), w.Start, "want at least %v, the end of the window before", free)
		case w.End <= w.Start:
			bad.Add(field("end"), w.End, "want after its start %v", w.Start)
		case !(w.Factor >= 0 && w.Factor <= maxRate):
			bad.Add(field("factor"), w.Factor, "want from 0 to %v", maxRate)
		case !w.Process.legal():
			w.Process.Check(bad, field(""))
		default:
			free = w.End
			continue
		}
		return false
	}
	return true
}

// legal reports whether a window may have the process.
func (l *ArrivalProcess) legal() bool {
	if l == nil {
		return true
	}
	var bad workload.Faults
	l.Check(&bad, "")
	return bad.Err("") == nil
}

// positive reports whether there is a rate above 0 in the pieces, and in the
// factors if there are windows.
func (c *RateCurve) positive() bool {
	rate, factor := 0.0, 0.0
	for _, p := range c.Pieces {
		rate = max(rate, p.From, p.To)
	}
	for _, w := range c.Windows {
		factor = max(factor, w.Factor)
	}
	return rate > 0 && (factor > 0 || len(c.Windows) == 0)
}

// Ends reports whether the rate is 0 for ever from some time on: after the last
// window, or after pieces that end at 0.
func (c *RateCurve) Ends() bool {
	if n := len(c.Windows); n > 0 && c.Windows[n-1].End <= workload.Latest {
		return true
	}
	return !c.Repeat && c.Pieces[len(c.Pieces)-1].To == 0
}

// Scale returns the curve with all rates times f.
func (c *RateCurve) Scale(f float64) RateCurve {
	scaled := *c
	scaled.Pieces = make([]Piece, len(c.Pieces))
	for i, p := range c.Pieces {
		scaled.Pieces[i] = Piece{p.Length, float64(p.From * f), float64(p.To * f)}
	}
	return scaled
}

// At is the rate at a time, per second. Where it jumps, it is that after the
// jump.
func (c *RateCurve) At(t vtime.Time) float64 {
	if len(c.Windows) == 0 {
		return c.rate(t)
	}
	for _, w := range c.Windows {
		if w.Start <= t && t < w.End {
			return float64(w.Factor * c.rate(t))
		}
	}
	return 0
}

// rate is the rate of the pieces, without windows.
func (c *RateCurve) rate(t vtime.Time) float64 {
	begin := vtime.Time(0)
	if c.Repeat {
		t %= vtime.Time(c.length())
	}
	for _, p := range c.Pieces {
		if t-begin < vtime.Time(p.Length) {
			return p.at(t.Sub(begin))
		}
		begin = begin.Add(p.Length)
	}
	return c.Pieces[len(c.Pieces)-1].To
}

// at is the rate x after the beginning of the piece.
func (p *Piece) at(x vtime.Duration) float64 {
	return p.From + float64((p.To-p.From)*(float64(x)/float64(p.Length)))
}

// Integral is the mean number of arrivals from one time to another, not
// negative, up to the end of virtual time at 2⁶² µs. Counts of a Poisson
// process have that mean exactly. Counts of other processes begin with an arrival
// that is one gap late or early: up to a time far from 0 there are (CV² − 1)/2
// more, in a stretch that begins far from 0 just as many.
func (c *RateCurve) Integral(from, to vtime.Time) float64 {
	to = min(to, end)
	if len(c.Windows) == 0 {
		return c.integral(from, to)
	}
	sum := 0.0
	for _, w := range c.Windows {
		sum += float64(w.Factor * c.integral(max(from, w.Start), min(to, w.End)))
	}
	return sum
}

// integral is the integral of the pieces, without windows.
func (c *RateCurve) integral(from, to vtime.Time) float64 {
	begin, cycle := vtime.Time(0), vtime.Time(c.length())
	if c.Repeat {
		begin = from - from%cycle
	}
	sum := 0.0
	for begin < to {
		if k := (to - begin) / cycle; c.Repeat && begin >= from && k > 0 {
			sum += float64(float64(k) * c.cycle())
			begin += k * cycle
		}
		for i := range c.Pieces {
			p := &c.Pieces[i]
			low, high := max(from, begin), min(to, begin.Add(p.Length))
			if low < high {
				sum += float64(high.Sub(low).Seconds() * (p.at(low.Sub(begin))/2 + p.at(high.Sub(begin))/2))
			}
			begin = begin.Add(p.Length)
		}
		if !c.Repeat {
			if low := max(from, begin); low < to {
				sum += float64(to.Sub(low).Seconds() * c.Pieces[len(c.Pieces)-1].To)
			}
			return sum
		}
	}
	return sum
}

// length is the sum of the lengths of all pieces.
func (c *RateCurve) length() vtime.Duration {
	sum := vtime.Duration(0)
	for _, p := range c.Pieces {
		sum += p.Length
	}
	return sum
}

// cycle is the integral over all pieces.
func (c *RateCurve) cycle() float64 {
	sum := 0.0
	for _, p := range c.Pieces {
		sum += float64(p.Length.Seconds() * (p.From/2 + p.To/2))
	}
	return sum
}

// flat reports whether the rate is the same always.
func (c *RateCurve) flat() bool {
	return len(c.Windows) == 0 && len(c.Pieces) == 1 && c.Pieces[0].From == c.Pieces[0].To
}

// Flat is the same rate for ever.
func Flat(rate float64) RateCurve {
	return RateCurve{Pieces: []Piece{{Length: 1, From: rate, To: rate}}}
}

// Spikes is 1, and factor for the time length from first, first + every,
// first + 2·every and so on: length is above 0, first 0 or more, and both together at most every.
// (Beyond that a piece has a negative length, which RateCurve.Check refuses.)
func Spikes(every, length, first vtime.Duration, factor float64) RateCurve {
	c := RateCurve{Repeat: true}
	for _, p := range []Piece{{first, 1, 1}, {length, factor, factor}, {every - first - length, 1, 1}} {
		if p.Length != 0 {
			c.Pieces = append(c.Pieces, p)
		}
	}
	return c
}

// sinusoidPieces is a minute per piece for a day. Straight lines between so
// many points of a cosine are off by at most 2.4·10⁻⁶ of its amplitude.
const sinusoidPieces = 1440

// Sinusoid is 1 + a·cos(2π(t − peak)/period), with a = (r − 1)/(r + 1) for r =
// peakToTrough, the highest rate over the lowest, from 1: mean 1, highest at
// peak and every period from there. It is drawn by 1,440 straight lines (as
// many as period has µs, if that is less), and repeats.
func Sinusoid(period vtime.Duration, peakToTrough float64, peak vtime.Duration) RateCurve {
	n := min(sinusoidPieces, period)
	amplitude := (peakToTrough - 1) / (peakToTrough + 1)
	c := RateCurve{Repeat: true, Pieces: make([]Piece, n)}
	at := func(x vtime.Duration) float64 {
		return 1 + float64(amplitude*cosine(float64((x-peak)%period)/float64(period)))
	}
	begin, rate := vtime.Duration(0), at(0)
	for i := range c.Pieces {
		k := vtime.Duration(i) + 1
		next := period/n*k + period%n*k/n // period·k/n, without overflow
		c.Pieces[i] = Piece{Length: next - begin, From: rate, To: at(next)}
		begin, rate = next, c.Pieces[i].To
	}
	return c
}
