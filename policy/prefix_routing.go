package policy

import (
	"math"

	"blis/vtime"
)

// maxImbalance bounds what a cached prefix may cost in load. Its default is
// the number that SGLang's cache-aware router began with as its absolute
// balance threshold. That router compares the busiest worker with the idlest,
// in requests, and also asks for a ratio; here the instance that would be
// chosen is compared, in effective load, where a running request counts twice.
var maxImbalance = Parameter{Name: "max_imbalance", Type: Number, Default: "32", Min: 0, Max: math.MaxFloat64,
	Help: "how far the effective load of the chosen may be above the smallest, else that one is taken; 32 was the first absolute balance threshold of SGLang's cache-aware router"}

// minMatch is the share of the prompt that is worth going after. Without it a
// system prompt that all requests share herds them to one instance until its
// load is too far above the others'. Its default is the cache threshold that
// SGLang's cache-aware router began with; there the share must be above it, here
// it may be equal, so that 1 asks for the whole prompt.
var minMatch = Parameter{Name: "min_match", Type: Number, Default: "0.5", Min: 0, Max: 1,
	Help: "least share of the prompt's full blocks that the longest match must have, else the least loaded is taken; 0.5 was the first cache threshold of SGLang's cache-aware router"}

// longestPrefix takes the instance that is expected to have the most of the
// prompt cached, in full blocks and from the start; among equals the least
// loaded. It takes the least loaded of all when no routable one has enough of it
// or when the load of the chosen is too far above the smallest.
//
// It looks at the instances that match and no others; the smallest load is
// known from the ranking.
type longestPrefix struct {
	ranking   ranking
	index     *PrefixIndex
	imbalance float64 // allowed
	least     float64 // share of the prompt
	best      []int32 // of the instances that match, in order
}

func (*longestPrefix) Observes() Signals { return effectiveLoad | Prefixes }

func (p *longestPrefix) Route(req *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	slots := p.ranking.sync(view)
	target, reason := p.choose(req, slots, p.index.holders())
	if target < 0 {
		return noTarget
	}
	return RoutingDecision{Target: target, Reason: reason}
}

// choose is the instance for the request in hand, −1 when none is routable.
func (p *longestPrefix) choose(req *Request, slots []Slot, holders []holder) (int, Reason) {
	longest := p.gather(slots, holders)
	if len(p.best) > 0 && p.index.affinity(longest) >= p.least {
		load := slots[p.best[0]].load()
		if float64(load-countOf(p.ranking.loads.best())) <= p.imbalance {
			return int(p.best[p.ranking.tie.draw(req, len(p.best))]), LongestPrefix
		}
	}
	return p.ranking.choose(req), LeastLoad
}

// gather finds the foremost: the least loaded of those with the longest match,
// which it returns.
func (p *longestPrefix) gather(slots []Slot, holders []holder) (longest int32) {
	p.best = p.best[:0]
	least := int64(0)
	for _, h := range holders {
		i := int(h.instance)
		if i >= len(slots) || !slots[i].Routable {
			continue
		}
		match, load := h.blocks, slots[i].load()
		switch {
		case match < longest || match == longest && load > least:
			continue
		case match > longest || load < least:
			longest, least = match, load
			p.best = p.best[:0]
		}
		p.best = append(p.best, h.instance)
	}
	return longest
}
