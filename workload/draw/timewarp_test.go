package draw

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"blis/vtime"
	"blis/workload"
)

// exactly is the integral of a curve from 0 to t in arrivals, with 300 bits:
// cycle by cycle, piece by piece, window by window. It is the slow twin of the
// timeWarp and of RateCurve.Integral.
func exactly(c *RateCurve, t vtime.Time) *big.Float {
	if len(c.Windows) == 0 {
		return exactPieces(c, t)
	}
	sum := number(0)
	for _, w := range c.Windows {
		if from, to := min(t, w.Start), min(t, w.End); from < to {
			part := number(0).Sub(exactPieces(c, to), exactPieces(c, from))
			sum.Add(sum, part.Mul(part, number(w.Factor)))
		}
	}
	return sum
}

func number(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

func whole(t int64) *big.Float { return new(big.Float).SetPrec(300).SetInt64(t) }

func exactPieces(c *RateCurve, t vtime.Time) *big.Float {
	sum, rest := number(0), int64(t)
	cycle := int64(0)
	for _, p := range c.Pieces {
		cycle += int64(p.Length)
	}
	if c.Repeat && rest >= cycle {
		all := *c
		all.Repeat = false
		sum = exactPieces(&all, vtime.Time(cycle))
		sum.Mul(sum, whole(rest/cycle))
		rest %= cycle
	}
	add := func(us int64, from, to *big.Float) { // the area of a trapezium
		area := number(0).Add(from, to)
		area.Mul(area, whole(us))
		sum.Add(sum, area.Quo(area, number(2e6)))
	}
	for _, p := range c.Pieces {
		us := min(rest, int64(p.Length))
		end := number(0).Sub(number(p.To), number(p.From))
		end.Mul(end, whole(us))
		end.Quo(end, whole(int64(p.Length)))
		add(us, number(p.From), end.Add(end, number(p.From)))
		rest -= us
	}
	last := number(c.Pieces[len(c.Pieces)-1].To)
	add(rest, last, last)
	return sum
}

// randomCurve has pieces up to 2^bits µs.
func randomCurve(r *rand.Rand, bits float64) RateCurve {
	c := RateCurve{Repeat: r.IntN(2) == 0, Pieces: make([]Piece, 1+r.IntN(6))}
	length := func() vtime.Duration {
		return 1 + vtime.Duration(math.Exp2(bits*math.Sqrt(r.Float64()))/float64(len(c.Pieces)))
	}
	rate := func() float64 {
		if r.IntN(4) == 0 {
			return 0
		}
		return math.Exp(r.Float64()*math.Log(1e21)) * 1e-12 // 1e-12 to 1e9
	}
	if r.IntN(2) == 0 { // rates that are alike, as in practice
		common := rate()
		rate = func() float64 { return common * float64(r.IntN(4)) }
	}
	for i := range c.Pieces {
		c.Pieces[i] = Piece{Length: length(), From: rate(), To: rate()}
		if i > 0 && r.IntN(2) == 0 {
			c.Pieces[i].From = c.Pieces[i-1].To
		}
	}
	at := vtime.Time(0)
	for range r.IntN(5) * r.IntN(2) {
		at = at.Add(vtime.Duration(r.IntN(2)) * length())
		end := at.Add(length())
		if end > workload.Latest {
			break
		}
		c.Windows = append(c.Windows, Window{Start: at, End: end, Factor: float64(r.IntN(3)) * r.Float64()})
		at = end
	}
	return c
}

// The time warp is where the exact integral has grown by all gaps together, within
// the µs to which it is truncated, and 10⁻¹⁴ of the integral.
func TestClockGoesByTheExactIntegral(t *testing.T) {
	arrivals := 0
	for seed := range uint64(1600) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := randomCurve(r, []float64{10, 30, 40, 61}[seed%4])
		var bad workload.Faults
		if c.Check(&bad, ""); bad.Err("") != nil {
			continue
		}
		arrivals += follow(t, seed, r, &c)
	}
	if arrivals < 30_000 {
		t.Errorf("only %d arrivals were compared", arrivals)
	}
}

// follow compares up to 60 arrivals, and returns how many.
func follow(t *testing.T, seed uint64, r *rand.Rand, c *RateCurve) int {
	k, sum, last := newTimeWarp(c), number(0), vtime.Time(-1)
	scale := []float64{1e-3, 1, 1, 1e6}[r.IntN(4)]
	for i := range 60 {
		g := []float64{0, 1, scale * r.ExpFloat64(), scale * r.ExpFloat64()}[r.IntN(4)]
		sum.Add(sum, number(g))
		more := k.advance(g)
		due, _ := sum.Float64()
		slack := number(1e-14*due + 1e-15)
		if !more {
			if exactly(c, end).Cmp(number(0).Add(sum, slack)) > 0 {
				t.Fatalf("seed %d: %+v: no arrival %d, at %v of operational time", seed, c, i, due)
			}
			if rate := c.At(workload.Latest); k.over && rate != 0 || !k.over && k.whole != end {
				t.Fatalf("seed %d: %+v: over = %v at %v with rate %v at the end of time", seed, c, k.over, k.whole, rate)
			}
			return i
		}
		before, after := exactly(c, k.whole), exactly(c, k.whole+1)
		if before.Sub(before, slack).Cmp(sum) > 0 || after.Add(after, slack).Cmp(sum) < 0 {
			b, _ := before.Float64()
			a, _ := after.Float64()
			t.Fatalf("seed %d: %+v: arrival %d at %v, from %v to %v of operational time, want at %v", seed, c, i, k.whole, b, a, due)
		}
		if k.whole < last || k.fraction < 0 || k.fraction >= 1 || k.window >= 0 && (k.whole < c.Windows[k.window].Start || k.whole >= c.Windows[k.window].End) {
			t.Fatalf("seed %d: %+v: arrival %d at %v + %v after %v in window %d", seed, c, i, k.whole, k.fraction, last, k.window)
		}
		last = k.whole
	}
	return 60
}

func TestIntegralIsExact(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := randomCurve(r, []float64{10, 30, 40, 61}[seed%4])
		total, times := vtime.Time(c.length()), []vtime.Time{0, 1, end}
		for range 4 {
			times = append(times, vtime.Time(r.Int64N(int64(total)+1)), vtime.Time(math.Exp2(62*r.Float64())))
		}
		for range 10 {
			from, to := times[r.IntN(len(times))], times[r.IntN(len(times))]
			if from > to {
				from, to = to, from
			}
			got := c.Integral(from, to)
			want, _ := number(0).Sub(exactly(&c, to), exactly(&c, from)).Float64()
			if math.Abs(got-want) > 1e-9*want {
				t.Fatalf("seed %d: %+v: integral from %v to %v is %v, want %v", seed, c, from, to, got, want)
			}
		}
	}
}

// The rate is the growth of the integral.
func TestRateIsTheGrowthOfTheIntegral(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 3))
		c := randomCurve(r, 30)
		steepest := 0.0 // change of a rate within a µs
		for _, p := range c.Pieces {
			steepest = max(steepest, math.Abs(p.To-p.From)/float64(p.Length))
		}
		for range 20 {
			at := vtime.Time(r.Int64N(2 * int64(c.length())))
			growth, _ := number(0).Sub(exactly(&c, at+1), exactly(&c, at)).Float64()
			if got := c.At(at); math.Abs(growth*1e6-got) > steepest+1e-9*got {
				t.Fatalf("seed %d: %+v: rate %v at %v, but the integral grows by %v a second", seed, c, got, at, growth*1e6)
			}
		}
	}
}

func TestTinyRatesUnderShortCyclesDoNotTakeLong(t *testing.T) {
	c := Spikes(vtime.Second, 10*vtime.Millisecond, 0, 10)
	c = c.Scale(1e-9)
	c.Windows = []Window{{Start: 1, End: 500_000 * vtime.Time(vtime.Hour), Factor: 1}, {Start: 500_001 * vtime.Time(vtime.Hour), End: vtime.Never, Factor: 0.1}}
	a := NewArrivals(ArrivalProcess{Kind: Constant}, &c, vtime.NewStream(1, "x"))
	at, _, err := a.Next() // 1.09e9 cycles of a second on
	if mean := 1.09e-9; err != nil || math.Abs(at.Seconds()*mean-1) > 1e-6 || a.Window() != 0 {
		t.Errorf("arrival at %v in window %d, error %v, want one gap of 1/%v s", at, a.Window(), err, mean)
	}
}
