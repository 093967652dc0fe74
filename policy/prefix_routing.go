package policy

import (
	"math"

	"blis/prefixindex"
	"blis/vtime"
)

// maxImbalance bounds what a cached prefix may cost in load. The default is the
// first absolute balance threshold of SGLang's cache-aware router. That router
// compares the busiest worker with the idlest, in requests, and also wants a
// ratio. Here the chosen instance is compared with the least loaded one, in
// effective load, which counts a running request twice.
var maxImbalance = Parameter{Name: "max_imbalance", Type: Number, Default: "32", Min: 0, Max: math.MaxFloat64,
	Help: "how far the effective load of the chosen may be above the smallest, else that one is taken; 32 was the first absolute balance threshold of SGLang's cache-aware router"}

// minMatch is the least share of the prompt that makes a match count. Without it
// a system prompt that all requests share would send them all to one instance,
// until its load is too far above the others'. The default is the first cache
// threshold of SGLang's cache-aware router. There the share must be above the
// threshold; here it may be equal, so that 1 asks for the whole prompt.
var minMatch = Parameter{Name: "min_match", Type: Number, Default: "0.5", Min: 0, Max: 1,
	Help: "least share of the prompt's full blocks that the longest match must have, else the least loaded is taken; 0.5 was the first cache threshold of SGLang's cache-aware router"}

// longestPrefix takes the instance that is expected to have the most of the prompt
// in cache, in full blocks from the start, and among equals the least loaded. It
// takes the least loaded of all instances when no routable one has enough of the
// prompt, or when the load of the chosen one is too far above the smallest load.
//
// It looks only at instances that have some of the prompt. The smallest load comes
// from the ranking.
type longestPrefix struct {
	ranking   ranking
	index     *prefixindex.Index
	imbalance float64 // max_imbalance
	least     float64 // min_match
	best      []int32 // instances with the longest match and the smallest load among these, ascending
}

func (*longestPrefix) Observes() Signals { return effectiveLoad | Prefixes }

func (p *longestPrefix) Route(req *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	slots := p.ranking.sync(view)
	target, reason := p.choose(req, slots, p.index.Holders())
	if target < 0 {
		return noTarget
	}
	return RoutingDecision{Target: target, Reason: reason}
}

// choose returns the instance for the request, −1 when none is routable.
func (p *longestPrefix) choose(req *Request, slots []Slot, holders []prefixindex.Holder) (int, Reason) {
	longest := p.gather(slots, holders)
	if len(p.best) > 0 && p.index.Affinity(longest) >= p.least {
		load := slots[p.best[0]].load()
		if float64(load-countOf(p.ranking.loads.best())) <= p.imbalance {
			return int(p.best[p.ranking.tie.draw(req, len(p.best))]), LongestPrefix
		}
	}
	return p.ranking.choose(req), LeastLoad
}

// gather makes p.best and returns the blocks of the longest match.
func (p *longestPrefix) gather(slots []Slot, holders []prefixindex.Holder) (longest int32) {
	p.best = p.best[:0]
	least := int64(0)
	for _, h := range holders {
		i := int(h.Instance)
		if i >= len(slots) || !slots[i].Routable {
			continue
		}
		match, load := h.Blocks, slots[i].load()
		switch {
		case match < longest || match == longest && load > least:
			continue
		case match > longest || load < least:
			longest, least = match, load
			p.best = p.best[:0]
		}
		p.best = append(p.best, h.Instance)
	}
	return longest
}

// Gone reports whether instance i is gone, for the prefix index.
func (v *View) Gone(i int) bool { return v.slots[i].Phase == Gone }

// Cache returns the KV blocks of instance i and the tokens of each, 0 for what is not
// known, for the prefix index.
func (v *View) Cache(i int) (blocks int64, blockSize int32) { return v.slots[i].Total, v.BlockSize }
