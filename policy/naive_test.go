package policy

import (
	"math"

	"blis/vtime"
)

// The slow twins: policies that look at every instance in every decision and
// remember nothing of the view.

// naiveBest is the instance with the largest score of those that have one (−1
// is none), and how the decision ends when several do.
func naiveBest(scores []float64, stream *vtime.Stream) int {
	var best []int
	for i, score := range scores {
		switch {
		case score < 0 || len(best) > 0 && score < scores[best[0]]:
		case len(best) > 0 && score == scores[best[0]]:
			best = append(best, i)
		default:
			best = []int{i}
		}
	}
	switch {
	case len(best) == 0:
		return -1
	case len(best) > 1 && stream != nil:
		return best[stream.IntN(len(best))]
	}
	return best[0]
}

// naiveLeastLoaded is least-loaded.
type naiveLeastLoaded struct{ stream *vtime.Stream }

func (p *naiveLeastLoaded) decide(_ *Request, view *View) RoutingDecision {
	scores := make([]float64, len(view.slots))
	for i, s := range view.slots {
		scores[i] = -1
		if s.Routable {
			scores[i] = 1e12 - (float64(s.Queue) + float64(s.Batch) + float64(s.InFlight))
		}
	}
	if target := naiveBest(scores, p.stream); target >= 0 {
		return RoutingDecision{Target: target, Reason: LeastLoad}
	}
	return nowhere
}

// naiveWeighted is weighted: the sum as policies.md words it, over the plain
// LRU.
type naiveWeighted struct {
	names   []string // of the scorers, in order
	weights []float64
	block   int32
	cached  *twinLRU
	stream  *vtime.Stream
}

func (p *naiveWeighted) decide(req *Request, view *View) RoutingDecision {
	sum := 0.0
	for _, weight := range p.weights {
		sum += weight
	}
	blocks := twinBlocks(req, p.block)
	scores := make([]float64, len(view.slots))
	for k, name := range p.names {
		for i, score := range p.score(name, view, blocks) {
			scores[i] += float64(p.weights[k] / sum * math.Min(1, math.Max(0, score)))
		}
	}
	for i := range scores {
		if !view.slots[i].Routable {
			scores[i] = -1
		}
	}
	target := naiveBest(scores, p.stream)
	if target < 0 {
		return nowhere
	}
	p.cached.record(blocks, target)
	return RoutingDecision{Target: target, Reason: BestScore, Scores: scores}
}

// score is one score of policies.md for every instance.
func (p *naiveWeighted) score(name string, view *View, blocks []twinBlock) []float64 {
	scores := make([]float64, len(view.slots))
	loads := make([]float64, len(view.slots))
	least, most := math.Inf(1), math.Inf(-1)
	for i, s := range view.slots {
		loads[i] = float64(s.Queue)
		if name != "waiting-queue" {
			loads[i] += float64(s.Batch) + float64(s.InFlight)
		}
		if s.Routable {
			least, most = math.Min(least, loads[i]), math.Max(most, loads[i])
		}
	}
	for i, s := range view.slots {
		switch name {
		case "prefix-affinity":
			if len(blocks) > 0 {
				scores[i] = float64(p.cached.matched(blocks, i)) / float64(len(blocks))
			}
		case "queue-depth", "waiting-queue":
			scores[i] = 1
			if most != least {
				scores[i] = (most - loads[i]) / (most - least)
			}
		case "kv-utilization":
			scores[i] = 1 - float64(s.Used)/float64(s.Total)
		case "load-balance":
			scores[i] = 1 / (1 + loads[i])
		default:
			panic(name)
		}
	}
	return scores
}
