package draw

import (
	"math"

	"blis/vtime"
)

// timeWarp maps operational time, in which arrivals have the rate 1, to virtual
// time: while virtual time goes from s to t, operational time goes by the
// integral of the rate from s to t (Çınlar, Introduction to Stochastic
// Processes, 4.7). So a gap that is drawn in operational time ends where the
// integral has grown by the gap.
//
// The other way to follow a rate is thinning: arrivals are drawn at the highest
// rate, and some are dropped. It is right for Poisson arrivals alone: the
// remaining gaps of other processes have another distribution (regular arrivals
// become nearly Poisson), and the cost grows with peak over mean. Here a
// process keeps its CV at every rate, and each arrival costs the same.
//
// Where the rate is 0, operational time stands still. An arrival at that
// operational time comes when the rate is above 0 again: at the start of the
// next window, not at the end of the last.
type timeWarp struct {
	curve *RateCurve
	cycle vtime.Duration // length of all pieces
	area  float64        // operational time of all pieces, with factor 1

	// Where it stands: in a piece and a window, inside the stretch that is of
	// both.
	whole    vtime.Time // µs
	fraction float64    // of the next µs
	piece    int        // len(Pieces): in what comes after them
	window   int        // −1 without windows

	start       vtime.Time // of the cycle of pieces
	begin       vtime.Time // of the piece
	until       vtime.Time // end of the stretch, > whole
	from, slope float64    // rate per µs at begin, and its growth per µs
	last        float64    // rate at until

	over bool // there are no more arrivals
}

// newTimeWarp expects a checked curve. It starts at the beginning of the first
// window that has arrivals.
func newTimeWarp(c *RateCurve) timeWarp {
	k := timeWarp{curve: c, cycle: c.length(), area: c.cycle(), window: -1}
	if len(c.Windows) > 0 {
		k.nextWindow()
	}
	if !k.over {
		k.enter()
	}
	return k
}

// advance moves by g of operational time. It returns false when virtual time
// ends before, or the rate is 0 for ever (over).
func (k *timeWarp) advance(g float64) bool {
	for !k.over && k.whole < end {
		x := float64(k.whole-k.begin) + k.fraction
		rate := max(0, k.from+float64(k.slope*x))
		rest := float64(k.until-k.whole) - k.fraction
		area := float64(rest * (rate/2 + k.last/2))
		if g < area {
			k.move(g, g/area, rate)
			return true
		}
		g = k.cross(g - area)
	}
	return false
}

// move goes to where the integral over the rest of the stretch has grown to g,
// the share w of what it is at the end. With rates a here and b at the end, it
// grows by a·t + m·t²/2 in t µs, m being the slope. Of the two forms of the
// root, 2g/(a + √(a² + 2mg)) has no difference of like numbers; and a² + 2mg,
// the square of the rate at t, is a²(1−w) + b²w, which has none either.
func (k *timeWarp) move(g, w, rate float64) {
	t := 0.0
	if g > 0 {
		square := float64(rate*rate*(1-w)) + float64(k.last*k.last*w)
		t = float64(2*g) / (rate + math.Sqrt(square))
	}
	sum := k.fraction + t
	if left := k.until - k.whole; sum >= float64(left) { // by rounding alone
		k.whole, k.fraction = k.until-1, 1-0x1p-53
		return
	}
	step := vtime.Time(sum)
	k.whole += step
	k.fraction = sum - float64(step)
}

// cross goes into the next stretch, with g left to go, and returns what is left
// there.
func (k *timeWarp) cross(g float64) float64 {
	k.whole, k.fraction = k.until, 0
	if k.whole == end {
		return g
	}
	if k.window >= 0 && k.whole >= k.curve.Windows[k.window].End {
		k.nextWindow()
	} else {
		if k.piece++; k.piece == len(k.curve.Pieces) && k.curve.Repeat {
			k.piece = 0
			g = k.skip(g)
			k.start = k.whole
		}
		k.begin = k.whole
	}
	if !k.over {
		k.enter()
	}
	return g
}

// skip passes over whole cycles, at the beginning of one: gaps may be longer
// than a million of them.
func (k *timeWarp) skip(g float64) float64 {
	room := (k.limit() - k.whole) / vtime.Time(k.cycle)
	area := float64(k.factor() * k.area)
	cycles := room
	if n := math.Floor(g / area); n < float64(room) { // NaN and Inf are not
		cycles = vtime.Time(n)
	}
	k.whole += cycles * vtime.Time(k.cycle)
	return max(0, g-float64(float64(cycles)*area))
}

// nextWindow goes to the beginning of the next window that has arrivals.
func (k *timeWarp) nextWindow() {
	windows := k.curve.Windows
	for k.window++; k.window < len(windows) && windows[k.window].Factor == 0; {
		k.window++
	}
	if k.window == len(windows) {
		k.over = true
		return
	}
	k.whole = windows[k.window].Start
	k.seek()
}

// seek finds the piece that contains whole, at or after the current piece.
func (k *timeWarp) seek() {
	if past := k.whole.Sub(k.start); k.curve.Repeat && past >= k.cycle {
		k.piece = 0
		k.start = k.whole - vtime.Time(past%k.cycle)
		k.begin = k.start
	}
	for k.piece < len(k.curve.Pieces) && k.whole >= k.begin.Add(k.curve.Pieces[k.piece].Length) {
		k.begin = k.begin.Add(k.curve.Pieces[k.piece].Length)
		k.piece++
	}
}

// enter begins the stretch in which whole is.
func (k *timeWarp) enter() {
	pieces, limit := k.curve.Pieces, k.limit()
	perMicrosecond := k.factor() / 1e6
	if k.piece == len(pieces) {
		rate := pieces[len(pieces)-1].To
		k.begin, k.until, k.over = k.whole, limit, rate == 0
		k.from, k.slope, k.last = float64(rate*perMicrosecond), 0, float64(rate*perMicrosecond)
		return
	}
	p := &pieces[k.piece]
	k.until = min(k.begin.Add(p.Length), limit)
	k.from = float64(p.From * perMicrosecond)
	k.slope = float64((p.To-p.From)*perMicrosecond) / float64(p.Length)
	k.last = float64(p.at(k.until.Sub(k.begin)) * perMicrosecond)
}

// limit is the end of the window, or of virtual time.
func (k *timeWarp) limit() vtime.Time {
	if k.window < 0 {
		return end
	}
	return min(k.curve.Windows[k.window].End, end)
}

// factor is the factor of the window.
func (k *timeWarp) factor() float64 {
	if k.window < 0 {
		return 1
	}
	return k.curve.Windows[k.window].Factor
}
