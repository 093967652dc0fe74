package stability

import (
	"cmp"
	"slices"

	"blis/vtime"
)

// Verdict says whether a run was stable. It looks at the window from a tenth of the span of the arrivals to the last
// one, so that neither the start nor the time in which the system drains counts, and in it at N(t), the requests
// anywhere in the system.
type Verdict struct {
	Level Level `json:"verdict"`

	From     vtime.Time `json:"from_us"` // the window
	To       vtime.Time `json:"to_us"`
	Arrivals int64      `json:"arrivals"` // in it

	// Lost is the share of these arrivals that left without an answer. Growth is the slope of N as a share of the
	// arrival rate: the least-squares line through its means in 20 equal bins. Null without arrivals.
	Lost   *float64 `json:"lost_share"`
	Growth *float64 `json:"growth_share"`

	First  float64 `json:"first_quarter_mean"` // of N, in the first and the last five bins
	Last   float64 `json:"last_quarter_mean"`
	Peak   int64   `json:"peak"`   // of N
	Median int64   `json:"median"` // of N over time
}

// What a verdict is made by.
const (
	bins         = 20
	fewArrivals  = 200
	fewLatencies = 5    // N rises for one until requests leave: so many must fit the window. It is that of the first ones, which no backlog makes longer
	lostMany     = 0.05 // of the arrivals
	lostSome     = 0.01
	growing      = 0.05 // of the arrival rate
)

// Judge returns the verdict on a run of requests in the order of their arrivals.
func Judge(list []Request) Verdict {
	if len(list) == 0 {
		return Verdict{Level: Undecided}
	}
	first, last := list[0].Arrival, list[len(list)-1].Arrival
	v := Verdict{From: first.Add(last.Sub(first) / 10), To: last}
	begin, _ := slices.BinarySearchFunc(list, v.From, func(r Request, t vtime.Time) int { return cmp.Compare(r.Arrival, t) })
	lost := int64(0)
	for i := range list[begin:] {
		if v.Arrivals++; list[begin+i].Lost {
			lost++
		}
	}
	share := float64(lost) / float64(v.Arrivals) // the last one is in the window
	v.Lost = &share
	if v.To == v.From {
		v.Level = Undecided
		return v
	}
	v.overTime(list)
	switch {
	case v.Arrivals < fewArrivals || share < lostMany && float64(v.To.Sub(v.From)) < fewLatencies*meanE2E(list[:begin]):
		v.Level = Undecided
	case share >= lostMany || *v.Growth >= growing && v.Last > float64(1.5*v.First)+1:
		v.Level = Overloaded
	case share >= lostSome || v.Peak > 3*v.Median+5:
		v.Level = Backlogged
	}
	return v
}

// meanE2E is that of the requests that completed, in µs; 0 without any.
func meanE2E(list []Request) float64 {
	sum, n := int64(0), int64(0)
	for i := range list {
		if e := list[i].E2E; e >= 0 {
			sum += int64(e)
			n++
		}
	}
	return float64(sum) / float64(max(n, 1))
}

// overTime looks at N over the window, which takes time.
func (v *Verdict) overTime(list []Request) {
	means := v.means(list)
	for i, m := range means {
		switch {
		case i < bins/4:
			v.First += m / (bins / 4)
		case i >= bins-bins/4:
			v.Last += m / (bins / 4)
		}
	}
	span := float64(v.To.Sub(v.From))
	perBin := slope(bins, func(i int) float64 { return means[i] })
	growth := float64(perBin*bins) / span / (float64(v.Arrivals) / span)
	v.Growth = &growth
	v.levels(list)
}

// means returns the mean of N in each bin, from its exact integral.
func (v *Verdict) means(list []Request) (means [bins]float64) {
	span := int64(v.To.Sub(v.From))
	edge := func(k int64) int64 { return span/bins*k + span%bins*k/bins }
	var area, whole [bins + 1]int64 // whole: the difference to the bin before of requests that are there all the time
	binOf := func(t int64) int64 {
		k := min(t/max(1, span/bins), bins-1)
		for ; edge(k) > t; k-- {
		}
		for ; k < bins-1 && edge(k+1) <= t; k++ {
		}
		return k
	}
	for i := range list {
		a := max(int64(list[i].Arrival.Sub(v.From)), 0)
		b := min(max(int64(list[i].End.Sub(v.From)), 0), span) // of vtime.Never it is more than the span
		if a >= b {
			continue
		}
		j, k := binOf(a), binOf(b)
		if j == k {
			area[j] += b - a
			continue
		}
		area[j] += edge(j+1) - a
		area[k] += b - edge(k)
		whole[j+1]++
		whole[k]--
	}
	there := int64(0)
	for k := range int64(bins) {
		there += whole[k]
		width := edge(k+1) - edge(k)
		if width > 0 {
			means[k] = (float64(area[k]) + float64(float64(there)*float64(width))) / float64(width)
		}
	}
	return means
}

// levels finds the peak of N and its median over time. At one instant requests leave before others arrive; one that
// leaves at its arrival was never there.
func (v *Verdict) levels(list []Request) {
	var ends []vtime.Time
	for i := range list {
		if r := &list[i]; r.End <= v.To && r.End > r.Arrival {
			ends = append(ends, r.End)
		}
	}
	slices.Sort(ends)
	var held []int64 // time for which N was so large
	now, n, gone := v.From, int64(0), 0
	hold := func(until vtime.Time) {
		for int64(len(held)) <= n {
			held = append(held, 0)
		}
		held[n] += int64(until.Sub(now))
		now = until
	}
	depart := func(until vtime.Time) {
		for ; gone < len(ends) && ends[gone] <= until; gone++ {
			if ends[gone] > now {
				hold(ends[gone])
			}
			n--
		}
	}
	for i := range list {
		at := list[i].Arrival
		if list[i].End <= at {
			continue
		}
		if at >= v.From {
			depart(at)
			hold(at)
			v.Peak = max(v.Peak, n+1)
		}
		n++
	}
	depart(v.To)
	hold(v.To)
	total, half := int64(v.To.Sub(v.From)), int64(0)
	for level, t := range held {
		if half += t; 2*half >= total {
			v.Median = int64(level)
			return
		}
	}
}

// slope returns the slope of the least-squares line through (0, y(0)) … (n−1, y(n−1)), n from 2 on.
func slope(n int, y func(i int) float64) float64 {
	center, sum := float64(n-1)/2, 0.0
	for i := range n {
		sum += float64((float64(i) - center) * y(i))
	}
	return sum / (float64(n) * (float64(n)*float64(n) - 1) / 12)
}
