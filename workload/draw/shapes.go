package draw

import "blis/vtime"

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
