package spec

import (
	"math"
	"slices"
)

// media is the length of multimodal prompts: text, and for images, audio and
// video a random number of items, each of random length. The parts are
// independent, so the distribution of their sum is computed, not sampled. That
// wants parts that take few values: constant or empirical ones.

// outcomes is a distribution over whole numbers, values rising.
type outcomes struct{ values, chances []float64 }

// maxOutcomes is how many values a sum may take, maxItems how many items of a
// kind a prompt has, and maxSums how many sums are formed for all clients.
const (
	maxOutcomes = 100_000
	maxItems    = 1000
	maxSums     = 20_000_000
)

var (
	mediaTokens = measure{"tokens", 0, 0, maxTokens, false}
	mediaItems  = measure{"items", 0, 0, maxItems, false}
)

// sums adds parts up.
type sums struct {
	*faults
	formed int // of two values each, for all clients
}

// media is the distribution of prompt lengths of a multimodal client, nil for
// any other.
func (r *reader) media(o *object) *distribution {
	v, at := o.get("multimodal")
	if v == nil {
		return nil
	}
	kinds := []string{"image", "audio", "video"}
	known := []string{"text_distribution"}
	for _, k := range kinds {
		known = append(known, k+"_distribution", k+"_count_distribution")
	}
	in := r.object(v, at, known)
	total := outcomes{[]float64{0}, []float64{1}}
	if text := in.distribution("text_distribution", mediaTokens); text != nil {
		total = r.sums.plus(total, r.sums.outcomes(text), at)
	}
	for _, k := range kinds {
		items, count := in.distribution(k+"_distribution", mediaTokens), in.distribution(k+"_count_distribution", mediaItems)
		switch {
		case items == nil && count == nil:
		case items == nil || count == nil:
			r.fail(at, "want both %s_distribution and %s_count_distribution, or none", k, k)
		default:
			total = r.sums.plus(total, r.sums.repeated(r.sums.outcomes(items), r.sums.outcomes(count), at), at)
		}
	}
	if !r.ok() {
		return nil
	}
	d := &distribution{place: at, family: "empirical", measure: inputTokens}
	for i, v := range total.values {
		if v > maxTokens {
			r.fail(at, "a prompt could have %v tokens, want at most %d", v, maxTokens)
		}
		d.add(max(v, 1), total.chances[i]) // a prompt has a token at least
	}
	d.finish(r.faults, at)
	return d
}

// outcomes are the values of a part, rounded to whole numbers.
func (s *sums) outcomes(d *distribution) outcomes {
	values, weights := d.values, d.weights
	switch {
	case !s.ok():
		return outcomes{}
	case d.family == "constant":
		values, weights = d.params, []float64{1}
	case d.family != "empirical" || d.file.set:
		s.fail(d.place, "%s: the sum of the parts is computed for constant and empirical ones without a file only; want one of these, or input_distribution instead of multimodal", d.family)
		return outcomes{}
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	var out outcomes
	for i, v := range values {
		out.add(math.Floor(v+0.5), weights[i]/sum)
	}
	return out.sorted()
}

func (o *outcomes) add(value, chance float64) {
	if chance > 0 {
		o.values, o.chances = append(o.values, value), append(o.chances, chance)
	}
}

// sorted is o in order of values, with equal ones as one.
func (o *outcomes) sorted() outcomes {
	order := make([]int, len(o.values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(o.values[i] - o.values[j]) })
	var out outcomes
	for _, i := range order {
		if n := len(out.values) - 1; n >= 0 && out.values[n] == o.values[i] {
			out.chances[n] += o.chances[i]
			continue
		}
		out.add(o.values[i], o.chances[i])
	}
	return out
}

// plus is the sum of two independent parts.
func (s *sums) plus(a, b outcomes, at place) outcomes {
	s.formed += len(a.values) * len(b.values)
	if s.formed > maxSums || len(a.values) > maxOutcomes {
		s.fail(at, "the parts take too many values to add up, want less or an input_distribution")
	}
	if !s.ok() {
		return outcomes{}
	}
	var out outcomes
	for i, v := range a.values {
		for k, w := range b.values {
			out.add(v+w, float64(a.chances[i]*b.chances[k]))
		}
	}
	return out.sorted()
}

// repeated is the sum of a random number of items.
func (s *sums) repeated(item, count outcomes, at place) outcomes {
	var out outcomes
	sum, n := outcomes{[]float64{0}, []float64{1}}, 0.0
	for i, c := range count.values {
		for ; n < c && s.ok(); n++ {
			sum = s.plus(sum, item, at)
		}
		for k, v := range sum.values {
			out.add(v, float64(count.chances[i]*sum.chances[k]))
		}
	}
	return out.sorted()
}
