package policy

import (
	"fmt"
	"math"
	"strings"

	"blis/vtime"
)

// scorerKind is a way to rate an instance for a request, from 0 to 1.
type scorerKind uint8

const (
	prefixAffinity scorerKind = iota // matched / full blocks of the prompt in the router's index; 0 without a full block
	queueDepth                       // (max − load)/(max − min) of effective load over the candidates; 1 when all are equal
	waitingQueue                     // the same over queue depth alone
	kvUtilization                    // 1 − used/total KV blocks
	loadBalance                      // 1/(1 + effective load)
)

// scorerTable is indexed by scorerKind.
var scorerTable = [...]struct {
	name, weight, help string
	observes           Signals
}{
	prefixAffinity: {"prefix-affinity", "3", "share of the prompt's full blocks that the instance is expected to have cached", NoSignals},
	queueDepth:     {"queue-depth", "2", "1 at the smallest effective load, 0 at the largest, linear between", effectiveLoad},
	waitingQueue:   {"waiting-queue", "0", "the same over the wait queue alone", QueueDepth},
	kvUtilization:  {"kv-utilization", "2", "share of KV blocks that are free", KVUse},
	loadBalance:    {"load-balance", "0", "1/(1 + effective load)", effectiveLoad},
}

// weightedParameters is a weight for each scorer, and tie.
func weightedParameters() []Parameter {
	var list []Parameter
	for _, s := range scorerTable {
		list = append(list, Parameter{Name: s.name, Type: Weight, Default: s.weight, Min: 0, Max: 1e9,
			Help: s.help + "; the defaults hold when no weight is given, else those not given are 0"})
	}
	return append(list, tie)
}

// ParseScorers reads "prefix-affinity:3,queue-depth:2" as settings for
// weighted, in that order. Names and weights are checked by NewRouting.
func ParseScorers(text string) ([]Setting, error) {
	var settings []Setting
	for i, entry := range strings.Split(text, ",") {
		name, weight, found := strings.Cut(strings.TrimSpace(entry), ":")
		name, weight = strings.TrimSpace(name), strings.TrimSpace(weight)
		if !found || name == "" || weight == "" {
			return nil, &Error{Field: "routing.params", Problem: fmt.Sprintf("scorer %d of %q is %q, want name:weight", i+1, text, strings.TrimSpace(entry))}
		}
		settings = append(settings, Setting{Name: name, Value: weight})
	}
	return settings, nil
}

type scorer struct {
	kind   scorerKind
	weight float64 // share of the sum of weights
}

// weighted takes the largest Σ weight·score, summed in the order in
// which the scorers were given.
type weighted struct {
	scorers  []scorer
	observes Signals
	tie      tieBreak
	index    *prefixIndex // nil without the scorer prefix-affinity
	scores   []float64    // by instance, of the decision in hand
	counts   []int64      // by instance, what a scorer compares
}

func newWeighted(v values, env Env) (Routing, error) {
	w := &weighted{tie: newTieBreak(v, env), scores: make([]float64, env.Instances), counts: make([]int64, env.Instances)}
	sum := 0.0
	for _, i := range chosen(v) {
		weight := v.list[i].number
		if weight == 0 {
			continue // adds nothing and need not be read
		}
		sum += weight
		w.scorers = append(w.scorers, scorer{scorerKind(i), weight})
		w.observes |= scorerTable[i].observes
		if scorerKind(i) == prefixAffinity {
			w.index = newPrefixIndex(env, indexCapacity)
		}
	}
	if len(w.scorers) == 0 {
		return nil, &Error{Field: "routing.params", Problem: "the weight of every scorer is 0, want at least one above"}
	}
	for i := range w.scorers {
		w.scorers[i].weight /= sum
	}
	return w, nil
}

// chosen lists the parameters that are weights, in the order given; all of
// them with their defaults when none is given.
func chosen(v values) []int {
	var weights []int
	for _, i := range v.given {
		if v.parameters[i].Type == Weight {
			weights = append(weights, i)
		}
	}
	if weights == nil {
		for i := range v.parameters {
			if v.parameters[i].Type == Weight {
				weights = append(weights, i)
			}
		}
	}
	return weights
}

func (w *weighted) Observes() Signals { return w.observes }

func (w *weighted) Route(req *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	if view.Len() > len(w.scores) {
		panic(fmt.Sprintf("policy: %d instances, the run was said to have at most %d", view.Len(), len(w.scores)))
	}
	if w.index != nil {
		w.index.look(req)
	}
	scores := w.scores[:view.Len()]
	clear(scores)
	for _, s := range w.scorers {
		w.add(scores, s, view)
	}
	target := w.best(scores, view)
	if target < 0 {
		return nowhere
	}
	if w.index != nil {
		w.index.record(target)
	}
	return RoutingDecision{Target: target, Reason: BestScore, Scores: scores}
}

// add adds one scorer's share to the score of every instance. Each score of a
// candidate lies in [0, 1] as it is, what it is for others does not matter.
func (w *weighted) add(scores []float64, s scorer, view *View) {
	slots := view.read(scorerTable[s.kind].observes)[:len(scores)]
	switch s.kind {
	case prefixAffinity:
		w.index.add(scores, s.weight)
	case queueDepth:
		counts := w.counts[:len(slots)]
		for i := range slots {
			counts[i] = slots[i].load()
		}
		addSpread(scores, s.weight, slots, counts)
	case waitingQueue:
		counts := w.counts[:len(slots)]
		for i := range slots {
			counts[i] = int64(slots[i].Queue)
		}
		addSpread(scores, s.weight, slots, counts)
	case kvUtilization:
		for i := range scores {
			scores[i] += float64(s.weight * freeShare(slots[i].Used, slots[i].Total))
		}
	case loadBalance:
		for i := range scores {
			scores[i] += float64(s.weight * (1 / float64(1+slots[i].load())))
		}
	}
}

// best is the index of the largest score among the routable instances, −1 for
// none. Scores of the others become −1.
func (w *weighted) best(scores []float64, view *View) int {
	target, equal := -1, 0
	top := -1.0
	for i, score := range scores {
		if !view.Routable(i) {
			scores[i] = -1
			continue
		}
		if score > top {
			target, top, equal = i, score, 1
		} else if score == top {
			equal++
		}
	}
	if equal > 1 && w.tie.stream != nil {
		for skip := w.tie.stream.IntN(equal); skip > 0; skip-- {
			target++
			for scores[target] != top {
				target++
			}
		}
	}
	return target
}

// addSpread adds weight · (max − x)/(max − min), x being a count of each
// instance and the extremes those of the candidates; weight when all are equal.
func addSpread(scores []float64, weight float64, slots []Slot, counts []int64) {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i, x := range counts {
		if x >= low && x <= high || !slots[i].Routable {
			continue
		}
		low, high = min(low, x), max(high, x)
	}
	if low >= high {
		for i := range scores {
			scores[i] += weight
		}
		return
	}
	span := float64(high - low)
	for i := range scores {
		scores[i] += float64(weight * (float64(high-counts[i]) / span))
	}
}

// freeShare is 1 − used/total, 0 for an instance without blocks.
func freeShare(used, total int64) float64 {
	if used >= total {
		return 0
	}
	return 1 - float64(used)/float64(total)
}
