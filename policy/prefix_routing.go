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

// longestPrefix takes the instance that is expected to have the most of the
// prompt cached, in full blocks and from the start; among equals the least
// loaded. It takes the least loaded of all when no routable one has any of it
// or when the load of the chosen is too far above the smallest.
//
// It looks at the instances that match and no others; the smallest load is
// known from the ranking.
type longestPrefix struct {
	ranking   ranking
	index     *PrefixIndex
	imbalance float64 // allowed
	foremost  []int32 // of the instances that match, in order
}

func (*longestPrefix) Observes() Signals { return effectiveLoad | Prefixes }

func (p *longestPrefix) Route(req *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	slots := p.ranking.follow(view)
	target, reason := p.choose(req, slots, p.index.holders())
	if target < 0 {
		return nowhere
	}
	return RoutingDecision{Target: target, Reason: reason}
}

// choose is the instance for the request in hand, −1 when none is routable.
func (p *longestPrefix) choose(req *Request, slots []Slot, holders []holder) (int, Reason) {
	p.gather(slots, holders)
	if len(p.foremost) > 0 {
		load := slots[p.foremost[0]].load()
		if float64(load-countOf(p.ranking.loads.best())) <= p.imbalance {
			return int(p.foremost[p.ranking.tie.draw(req, len(p.foremost))]), LongestPrefix
		}
	}
	return p.ranking.choose(req), LeastLoad
}

// gather finds the foremost: the least loaded of those with the longest match.
func (p *longestPrefix) gather(slots []Slot, holders []holder) {
	p.foremost = p.foremost[:0]
	longest, least := int32(0), int64(0)
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
			p.foremost = p.foremost[:0]
		}
		p.foremost = append(p.foremost, h.instance)
	}
}
