package stability

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"blis/internal/testsize"
	"blis/vtime"
)

// drawRequests are a few requests in the order of their arrivals.
func drawRequests(r *rand.Rand) (list []Request) {
	span := 1 + r.IntN(400)
	for range 1 + r.IntN(120) {
		x := Request{Arrival: vtime.Time(r.IntN(span)), E2E: -1, End: vtime.Never}
		switch r.IntN(5) {
		case 0:
		case 1:
			x.End, x.Lost = x.Arrival.Add(vtime.Duration(r.IntN(100))), true
		default:
			x.E2E = vtime.Duration(1 + r.IntN(1+r.IntN(300)))
			x.End = x.Arrival.Add(x.E2E)
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b Request) int { return int(a.Arrival - b.Arrival) })
	return list
}

// TestVerdictOverTime: means, peak and median of the requests in the system are those of a walk over every µs.
func TestVerdictOverTime(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for n := range testsize.Of(500, 1000, 5000) {
		list := drawRequests(rand.New(rand.NewPCG(seed, uint64(n))))
		v := Judge(list)
		if v.Growth == nil {
			continue
		}
		there := func(at vtime.Time) (n int64) {
			for i := range list {
				if list[i].Arrival <= at && at < list[i].End {
					n++
				}
			}
			return n
		}
		var levels []int64
		var sum, width [bins]float64
		for at := v.From; at < v.To; at++ {
			level := there(at)
			levels = append(levels, level)
			k := 0
			for k+1 < bins && int64(at-v.From) >= int64(v.To-v.From)*int64(k+1)/bins {
				k++
			}
			sum[k] += float64(level)
			width[k]++
		}
		first, last := 0.0, 0.0
		var means []float64
		for k := range bins {
			m := 0.0
			if width[k] > 0 {
				m = sum[k] / width[k]
			}
			means = append(means, m)
			if k < 5 {
				first += m / 5
			} else if k >= 15 {
				last += m / 5
			}
		}
		slices.Sort(levels)
		if math.Abs(first-v.First) > 1e-9 || math.Abs(last-v.Last) > 1e-9 || v.Median != levels[(len(levels)-1)/2] {
			t.Fatalf("trial %d: %+v: want quarters %v and %v, median %d", n, v, first, last, levels[(len(levels)-1)/2])
		}
		peak := int64(0)
		for i := range list { // just after each arrival of the window, those who arrive later at the same time not yet there
			at := list[i].Arrival
			if at < v.From || list[i].End <= at {
				continue
			}
			here := int64(1)
			for k := range list {
				if k != i && list[k].Arrival <= at && (list[k].Arrival < at || k < i) && at < list[k].End {
					here++
				}
			}
			peak = max(peak, here)
		}
		if v.Peak != peak {
			t.Fatalf("trial %d: peak %d, want %d", n, v.Peak, peak)
		}
		x, xy, xx, y := 0.0, 0.0, 0.0, 0.0
		for k, m := range means {
			x += float64(k)
			y += m
			xy += float64(k) * m
			xx += float64(k) * float64(k)
		}
		perBin := (bins*xy - x*y) / (bins*xx - x*x)
		want := perBin * bins / float64(v.Arrivals)
		if math.Abs(*v.Growth-want) > 1e-9 {
			t.Fatalf("trial %d: growth %v, want %v", n, *v.Growth, want)
		}
	}
}

// TestDetectorsTwin: after each event detectors say what their definitions say of all that has happened so far.
func TestDetectorsTwin(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var seen [3][levels]int
	for n := range testsize.Of(300, 600, 3000) {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		list := drawRequests(r)
		s := Settings{Names: Detectors, Input: []Input{Completed, All}[r.IntN(2)], Threshold: vtime.Duration(1 + r.IntN(100)), Window: vtime.Duration(1 + r.IntN(60)), Final: vtime.Duration(r.IntN(200))}
		events := eventsOf(list, s.Input)
		for k, name := range Detectors {
			d := newDetector(name, &s)
			tally := tally{latency: []int64{0}}
			for i := range events {
				tally.take(&events[i])
				level, score := d.says(&tally)
				wantLevel, want := plainly(name, &s, events[:i+1])
				if level != wantLevel || math.Abs(score-want) > 1e-9 {
					t.Fatalf("trial %d: %s after %d events: %v %v, want %v %v", n, name, i+1, level, score, wantLevel, want)
				}
				seen[k][level]++
			}
		}
	}
	for k, counts := range seen {
		for level, n := range counts {
			if n < 50 && !(Detectors[k] == Threshold && Level(level) == Backlogged) {
				t.Errorf("%s said %v %d times: want at least 50", Detectors[k], Level(level), n)
			}
		}
	}
}

// plainly is what a detector says after events, computed from the first one on.
func plainly(name string, s *Settings, events []event) (Level, float64) {
	arrivals, completions := 0.0, 0.0
	var latencies, system []float64
	buckets := map[int64]float64{}
	first, last := int64(events[0].at)/int64(s.Window), int64(events[len(events)-1].at)/int64(s.Window)
	for _, e := range events {
		if e.ends {
			completions++
			if e.e2e >= 0 {
				latencies = append(latencies, float64(e.e2e))
			}
		} else {
			arrivals++
		}
		buckets[int64(e.at)/int64(s.Window)] = arrivals - completions
	}
	mean := func(list []float64) float64 {
		sum := 0.0
		for _, x := range list {
			sum += x
		}
		return sum / max(1, float64(len(list))) / 1000
	}
	noise, n := 1/math.Sqrt(arrivals), len(latencies)
	switch name {
	case Threshold:
		limit, m := float64(s.Threshold)/1000, mean(latencies)
		if m < limit {
			return Stable, m / limit / 2
		}
		return Overloaded, 0.75 + min(0.25, (m-limit)/limit/4)
	case Composite:
		deficit, trend := max(0, 1-completions/arrivals), 0.0
		if q := n / 4; n >= 20 {
			a, b, c, d := mean(latencies[:q]), mean(latencies[q:2*q]), mean(latencies[2*q:3*q]), mean(latencies[3*q:])
			if a < b && b < c && c < d {
				early := mean(latencies[:n/2])
				trend = min(1, max(0, (mean(latencies[n/2:])-early)/early))
			}
		}
		score := max(deficit, trend)
		switch {
		case score < noise:
			return Stable, score
		case trend > noise:
			return Overloaded, score
		}
		return Backlogged, score
	}
	for b := first; b <= last; b++ {
		level, ok := buckets[b]
		if !ok {
			level = system[len(system)-1]
		}
		system = append(system, level)
	}
	slope := 0.0
	if m := float64(len(system)); m > 1 {
		x, y, xy, xx := 0.0, 0.0, 0.0, 0.0
		for i, v := range system {
			x += float64(i)
			y += v
			xy += float64(i) * v
			xx += float64(i) * float64(i)
		}
		slope = (m*xy - x*y) / (m*xx - x*x)
	}
	score := min(1, max(0, slope)/(3*noise))
	switch {
	case math.Abs(slope-noise) < 1e-12 || slope <= noise:
		return Stable, score
	case slope <= 3*noise:
		return Backlogged, score
	}
	return Overloaded, score
}
