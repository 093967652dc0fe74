package spec

import (
	"cmp"
	"math"

	"blis/vtime"
	"blis/workload/draw"
)

// times is d with its file read and its values scaled, once for each factor.
func (w *draws) times(d *distribution, factor float64) *distribution {
	d = w.loaded(d)
	key := built{d, factor}
	if w.scaled[key] == nil {
		w.scaled[key] = d.times(factor)
	}
	return w.scaled[key]
}

// times is the distribution whose values are factor times the values of d, within
// the bounds of its measure.
func (d *distribution) times(factor float64) *distribution {
	if factor == 1 {
		return d
	}
	s := *d
	s.origin, s.factor = cmp.Or(d.origin, d), factor
	s.min.value, s.max.value = d.inside(float64(d.min.value*factor)), d.inside(float64(d.max.value*factor))
	s.params = append([]float64(nil), d.params...)
	for i, p := range d.parameters() {
		switch {
		case p.scaled:
			s.params[i] = float64(s.params[i] * factor)
		case p.name == "mu":
			s.params[i] += draw.Log(factor)
		}
	}
	if d.family == "constant" {
		s.params[0] = d.inside(s.params[0])
	}
	s.values = append([]float64(nil), d.values...)
	if d.family == "zipf" {
		s.family, s.params = "empirical", nil
		s.values, s.weights = zipfTable(d.params[0], int(d.params[1]))
	}
	for i := range s.values {
		s.values[i] = d.inside(float64(s.values[i] * factor))
	}
	return &s
}

// parameters are the parameters of the alternative that d uses.
func (d *distribution) parameters() []parameter {
	for i := range families {
		if families[i].name == d.family {
			return families[i].params[d.form]
		}
	}
	return nil
}

func (d *distribution) inside(x float64) float64 {
	return min(max(x, d.measure.least), d.measure.most)
}

// zipfTable are the values 1 … n with the weights k^−s.
func zipfTable(s float64, n int) (values, weights []float64) {
	values, weights = make([]float64, n), make([]float64, n)
	for i := range values {
		k := float64(i + 1)
		values[i], weights[i] = k, draw.Exp(-float64(s*draw.Log(k)))
	}
	return values, weights
}

// bounds are the smallest and largest value drawn.
func (d *distribution) bounds() (least, most float64) {
	least, most = d.min.or(d.measure.usual), d.max.or(d.measure.most)
	if d.family == "constant" {
		least, most = min(least, d.params[0]), max(most, d.params[0])
	}
	if len(d.values) > 0 && !d.min.set {
		least = min(least, d.values[0])
	}
	return min(least, most), most
}

// length is d as a number of tokens, rounds or calls.
func (w *draws) length(d *distribution) draw.Length {
	d = w.loaded(d)
	least, most := d.bounds()
	l := draw.Length{Dist: w.distribution(d), Min: int32(math.Ceil(least)), Max: int32(math.Floor(most))}
	if l.Max < l.Min {
		w.fail(d.place, "no whole number lies from %v to %v, want a wider range", least, most)
		return l
	}
	return tight(l)
}

// tight is l with the bounds that what it draws has anyway.
func tight(l draw.Length) draw.Length {
	least, most := l.Dist.Bounds()
	inside := func(x float64) int32 {
		return int32(min(max(math.Floor(x+0.5), float64(l.Min)), float64(l.Max)))
	}
	l.Min, l.Max = inside(least), inside(most)
	return l
}

// delay is d as a duration.
func (w *draws) delay(d *distribution) draw.Delay {
	if d == nil {
		return draw.Delay{}
	}
	d = w.loaded(d)
	least, most := d.bounds()
	dist := w.distribution(d)
	if _, highest := dist.Bounds(); highest < most {
		most = max(highest, least)
	}
	out, err := draw.NewDelay(dist, vtime.Duration(least), vtime.Duration(most))
	if err != nil {
		w.fail(d.place, "%v", err)
	}
	return out
}

// lengthOf is a length that may be left to another: nil for nil.
func (w *draws) lengthOf(d *distribution) *draw.Length {
	if d == nil {
		return nil
	}
	l := w.length(d)
	return &l
}

// meanLength is the mean of a length, as if its bounds cut nothing off but
// held the mean.
func meanLength(l *draw.Length) float64 {
	return min(max(l.Dist.Mean(), float64(l.Min)), float64(l.Max))
}
