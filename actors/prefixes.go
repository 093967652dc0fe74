package actors

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"blis/engine"
	"blis/lookahead"
	"blis/policy"
	"blis/prefixindex"
	"blis/setup"
	"blis/vtime"
)

// The router's expectation of prefix caches, and requests that the user routes.

// newPrefixes makes the prefix index of a pool.
func newPrefixes(p *setup.Pool) *prefixindex.Index {
	if p.Observability.IndexEvents {
		entry := int32(0)
		if p.CPUTier != nil {
			entry = p.CPUTier.EntryTokens
		}
		return prefixindex.NewMirror(p.BlockSize, entry)
	}
	return prefixindex.NewRouted(p.BlockSize, p.Observability.IndexedBlocks)
}

// sendsBlockEvents reports whether instances send the router the changes of their
// prefix caches, as vLLM publishes KV events.
func sendsBlockEvents(p *setup.Pool, o *setup.Observability, observed policy.Signals) bool {
	return observed&policy.Prefixes != 0 && o.IndexEvents && p.EnablePrefixCaching
}

// blockEvents sends the changes of the engine's cache to the router; nil when the
// router does not want them.
func (p *rank) blockEvents() func(vtime.Time, []engine.BlockChange) {
	if !p.instance.events {
		return nil
	}
	return func(now vtime.Time, changes []engine.BlockChange) {
		switch at := now.Add(p.instance.eventDelay); {
		case at == vtime.Never: // it is beyond all times
		case p.instance.tiered:
			sendTierBlocks(p.instance.out, at, p.incarnation(), changes)
		default:
			sendBlocks(p.instance.out, at, p.incarnation(), changes)
		}
	}
}

// expect looks the request up in the index, before its expected hits are read.
func (s *endpoints) expect(ask *policy.Request) {
	s.prefixes.Cover(&s.cluster.view)
	s.prefixes.Look(ask.Input, ask.Spans)
}

// expected is the number of prompt tokens of the request looked up that are expected
// in the cache at a seat: whole blocks, and at least one token is computed.
func (s *endpoints) expected(seat int, input int32) int32 {
	block := s.prefixes.BlockSize()
	return min(s.prefixes.Expected(seat), (input-1)/block*block)
}

// blocks applies the changes of an instance's cache and tiers, unless it has crashed since.
func (r *router) blocks(m *lookahead.Message) {
	r.last = m.Stamp.At // it may be the last event of the run
	read := readBlocks
	if m.Kind == kindTierBlocks {
		read = readTierBlocks
	}
	read(&m.Body, func(of incarnation, c engine.BlockChange) {
		at := r.fleet.ranks[of.instance]
		if r.failures.outlived(at.number, of.number) {
			return
		}
		s := at.pool.endpoints
		s.prefixes.Cover(&s.cluster.view)
		if c.Stored {
			s.prefixes.Store(at.seat, c.Medium, c.Key)
		} else {
			s.prefixes.Remove(at.seat, c.Medium, c.Key)
		}
	})
}

// checkForced refuses forced requests that never came.
func (r *router) checkForced() error {
	last := int64(-1)
	for request := range r.forced { // any order
		last = max(last, request)
	}
	if last >= r.arrivals.arrived {
		return inputErrorf("--force-routing: request %d never came: there were %d, numbered from 0", last, r.arrivals.arrived)
	}
	return nil
}

// noteUnusedForced notes forced requests without a routing decision: rejected or
// timed out before, or cut off by the end of the run.
func (r *router) noteUnusedForced(s *Setup) {
	if len(r.forced) == 0 {
		return
	}
	const most = 10 // in words
	var words []string
	for _, request := range slices.Sorted(maps.Keys(r.forced)) { // any order
		if len(words) == most {
			words = append(words, "…")
			break
		}
		words = append(words, strconv.FormatInt(request, 10))
	}
	s.Note("force-routing has no effect on what was never routed: request %s", strings.Join(words, ", "))
}

// force returns the instance to which the user routes a request, or target if the
// user does not. It takes the request off the list.
func (r *router) force(at *endpoints, request int64, target int, now vtime.Time) (instance int, forced bool) {
	instance, forced = r.forced[request]
	if !forced {
		return target, false
	}
	switch view := &at.cluster.view; {
	case instance >= view.Len():
		panic(&sourceError{fmt.Errorf("--force-routing: request %d cannot go to instance %d at %v: there are %d, numbered from 0", request, instance, now, view.Len())})
	case !view.Routable(instance):
		panic(&sourceError{fmt.Errorf("--force-routing: request %d cannot go to instance %d at %v: it takes no requests, it is %v", request, instance, now, view.Phase(instance))})
	}
	delete(r.forced, request)
	return instance, true
}
