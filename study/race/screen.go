package race

import "math"

// hSquared is h² = 2cη(n₀ − 1), where η solves g(η) = α/(k − 1): with c = 1
// that is ½(1 + 2η)^(−(n₀−1)/2). The share α/(k − 1) holds for dependent systems;
// the larger one for independent systems, 1 − (1 − α)^(1/(k−1)), does not.
func hSquared(systems int, o Options) float64 {
	if systems == 1 {
		return 0
	}
	freedom := float64(o.FirstStage - 1)
	eta := (math.Pow(2*o.Alpha/float64(systems-1), -2/freedom) - 1) / 2
	return float64(2 * eta * freedom)
}

// variance is S²ᵢₗ: the sample variance of the differences of two systems in the
// first stage. Later replicates do not change it: the proof needs it independent of
// the means.
func (r *Race) variance(i, l int) float64 {
	a, b := r.systems[i].first, r.systems[l].first
	n := float64(r.options.FirstStage)
	mean := 0.0
	for j := range a {
		mean += (a[j] - b[j]) / n
	}
	sum := 0.0
	for j := range a {
		d := a[j] - b[j] - mean
		sum += float64(d * d)
	}
	return sum / (n - 1)
}

// zone is Wᵢₗ(r) = max{0, δ/(2cr) (h²S²ᵢₗ/δ² − r)}: a system whose mean is lower by
// more is out. It shrinks to nothing, and with it the time of the race is bounded.
func (r *Race) zone(i, l int) float64 {
	delta, rounds := r.options.Delta, float64(r.rounds)
	return max(0, float64(delta/(2*rounds)*(r.h2*r.variance(i, l)/(delta*delta)-rounds)))
}

// screen eliminates systems, each against all that were in before.
func (r *Race) screen() {
	var in []int
	for _, i := range r.in {
		if by := r.beaten(i); by >= 0 {
			r.systems[i].out, r.systems[i].by = r.rounds, by
		} else {
			in = append(in, i)
		}
	}
	r.in = in
}

// beaten is the system that eliminates system i, the best one of them, or −1.
func (r *Race) beaten(i int) int {
	by, mean := -1, r.systems[i].mean()
	for _, l := range r.in {
		other := r.systems[l].mean()
		if other > mean && (by < 0 || other > r.systems[by].mean()) && mean < other-r.zone(i, l) {
			by = l
		}
	}
	return by
}

// settled reports whether the systems that are in have equal means and no zones
// left.
func (r *Race) settled() bool {
	for _, i := range r.in {
		if r.systems[i].mean() != r.systems[r.in[0]].mean() {
			return false
		}
	}
	for n, i := range r.in {
		for _, l := range r.in[:n] {
			if r.zone(i, l) > 0 {
				return false
			}
		}
	}
	return true
}

// bound is the number of replicates after which no zone is left: one more than
// the largest Nᵢₗ = ⌊h²S²ᵢₗ/δ²⌋ of the paper.
func (r *Race) bound() int {
	most := 0.0
	for n, i := range r.in {
		for _, l := range r.in[:n] {
			most = max(most, r.variance(i, l))
		}
	}
	most = math.Floor(r.h2*most/(r.options.Delta*r.options.Delta)) + 1
	if !(most < math.MaxInt32) {
		return math.MaxInt32
	}
	return max(r.options.FirstStage, int(most))
}
