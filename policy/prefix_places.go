package policy

import (
	"math/bits"
	"slices"
)

// placedIndex is a prefix index over the instances of a view, which come and
// go: each has a place in the index, and leaves it to another once it is gone.
// While nobody goes places are instances.
type placedIndex struct {
	index    *prefixIndex
	known    int     // instances of the view that were given places
	places   []int32 // by instance, −1: none any more
	instance []int32 // by place, −1: vacant
	vacant   []int32 // places
	found    []holder
}

// holder is an instance that is expected to have blocks of a prompt cached.
type holder struct{ instance, blocks int32 }

func newPlacedIndex(env Env) *placedIndex {
	return &placedIndex{index: newPrefixIndex(env, indexCapacity)}
}

// cover gives places to the instances that were added to the view since, after
// it has taken those of the ones that are gone.
func (p *placedIndex) cover(view *View) {
	if view.Len() <= p.known {
		return
	}
	for place, i := range p.instance {
		if i >= 0 && view.slots[i].Phase == Gone {
			p.index.empty(place)
			p.places[i], p.instance[place] = -1, -1
			p.vacant = append(p.vacant, int32(place))
		}
	}
	for ; p.known < view.Len(); p.known++ {
		place := int32(-1)
		if view.slots[p.known].Phase != Gone {
			place = p.give(int32(p.known))
		}
		p.places = append(p.places, place)
	}
	p.index.cover(len(p.instance))
}

// give finds a place for an instance.
func (p *placedIndex) give(instance int32) (place int32) {
	if last := len(p.vacant) - 1; last >= 0 {
		place, p.vacant = p.vacant[last], p.vacant[:last]
		p.instance[place] = instance
		return place
	}
	p.instance = append(p.instance, instance)
	return int32(len(p.instance) - 1)
}

// look takes a request in hand and lists who is expected to have blocks of its
// prompt, from the start without a gap, in the order of instances. The list is
// valid until the next call.
func (p *placedIndex) look(req *Request) []holder {
	p.index.look(req)
	found, ordered := p.found[:0], true
	for word, set := range p.index.holders() {
		for ; set != 0; set &= set - 1 {
			place := 64*word + bits.TrailingZeros64(set)
			h := holder{p.instance[place], p.index.matched[place]}
			ordered = ordered && (len(found) == 0 || found[len(found)-1].instance < h.instance)
			found = append(found, h)
		}
	}
	if !ordered {
		slices.SortFunc(found, func(a, b holder) int { return int(a.instance - b.instance) })
	}
	p.found = found
	return found
}

// affinity is the share of the full blocks of the request in hand that a holder
// has.
func (p *placedIndex) affinity(h holder) float64 { return float64(h.blocks) / float64(p.index.blocks) }

// record touches the blocks of the request in hand on the instance that gets
// it.
func (p *placedIndex) record(instance int) { p.index.record(int(p.places[instance])) }
