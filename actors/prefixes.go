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
	"blis/vtime"
)

// What the router expects to be in the prefix caches of the instances, and
// requests whose instance the user chose.

// Ways to keep the router's prefix index.
const (
	indexRouted = "routed" // by where it sent prompts
	indexEvents = "events" // by what instances say that they store and remove
)

// newPrefixes is the prefix index of a run.
func (p *plan) newPrefixes() *policy.PrefixIndex {
	if p.config.PrefixIndex == indexEvents {
		return policy.NewPrefixMirror(p.config.BlockSizeInTokens)
	}
	return policy.NewPrefixIndex(p.config.BlockSizeInTokens, p.prefixBlocks())
}

// prefixBlocks is the number in prefix-index-blocks, 0 for auto. The bundle has
// checked it.
func (p *plan) prefixBlocks() int32 {
	if p.config.PrefixIndexBlocks == policy.Auto {
		return 0
	}
	n, _ := strconv.ParseFloat(p.config.PrefixIndexBlocks, 64) // 1e5 is a whole number too
	return int32(n)
}

// tellsBlocks reports whether instances tell the router what they cache.
func (p *plan) tellsBlocks(observed policy.Signals) bool {
	return observed&policy.Prefixes != 0 && p.config.PrefixIndex == indexEvents && p.config.EnablePrefixCaching
}

// blockEvents is what an instance does when its engine says what it caches; nil
// when the router does not want to know.
func (p *instance) blockEvents() func(vtime.Time, []engine.BlockChange) {
	if !p.events {
		return nil
	}
	return func(now vtime.Time, changes []engine.BlockChange) {
		if at := now.Add(p.eventDelay); at != vtime.Never { // else it is beyond all times
			sendBlocks(p.out, at, p.index, changes)
		}
	}
}

// expect takes a request in hand of which expected hits are about to be read.
func (r *router) expect(ask *policy.Request) {
	r.prefixes.Cover(&r.cluster.view)
	r.prefixes.Look(ask)
}

// expected is how many prompt tokens of the request in hand the instance is
// expected to find: whole blocks, and one token is always computed.
func (r *router) expected(target int, input int32) int32 {
	block := r.prefixes.BlockSize()
	return min(r.prefixes.Expected(target), (input-1)/block*block)
}

// blocks takes in what an instance says of its cache.
func (r *router) blocks(m *lookahead.Message) {
	r.last = m.Stamp.At // it may come when all else is done
	r.prefixes.Cover(&r.cluster.view)
	readBlocks(&m.Body, func(instance int, c engine.BlockChange) {
		if c.Stored {
			r.prefixes.Store(instance, c.Key)
		} else {
			r.prefixes.Remove(instance, c.Key)
		}
	})
}

// parseForced reads requests with their instances, "17=3,40=0".
func parseForced(text string) (map[int64]int, error) {
	if text == "" {
		return nil, nil
	}
	forced := map[int64]int{}
	for i, entry := range strings.Split(text, ",") {
		left, right, found := strings.Cut(entry, "=")
		request, err := strconv.ParseInt(strings.TrimSpace(left), 10, 64)
		instance, err2 := strconv.ParseInt(strings.TrimSpace(right), 10, 32)
		if !found || err != nil || err2 != nil || request < 0 || instance < 0 {
			return nil, inputErrorf("--force-routing: entry %d is %q: want request=instance, two numbers from 0, like 17=3", i+1, strings.TrimSpace(entry))
		}
		if _, twice := forced[request]; twice {
			return nil, inputErrorf("--force-routing: request %d is given twice", request)
		}
		forced[request] = int(instance)
	}
	return forced, nil
}

// checkForced refuses requests to force that never came.
func (r *router) checkForced() error {
	last := int64(-1)
	for request := range r.forced { // any order
		last = max(last, request)
	}
	if last >= r.arrived {
		return inputErrorf("--force-routing: request %d never came: there were %d, numbered from 0", last, r.arrived)
	}
	return nil
}

// idleForced notes the requests to force that came to no routing decision: they
// were rejected or timed out before, or the run ended.
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
	s.note("force-routing has no effect on what was never routed: request %s", strings.Join(words, ", "))
}

// force is the instance that a request must go to, or the target if it may go
// there. What is forced is taken off the list: each request once.
func (r *router) force(request int64, target int, now vtime.Time) (instance int, forced bool) {
	instance, forced = r.forced[request]
	if !forced {
		return target, false
	}
	switch view := &r.cluster.view; {
	case instance >= view.Len():
		panic(&sourceError{fmt.Errorf("--force-routing: request %d cannot go to instance %d at %v: there are %d, numbered from 0", request, instance, now, view.Len())})
	case !view.Routable(instance):
		panic(&sourceError{fmt.Errorf("--force-routing: request %d cannot go to instance %d at %v: it takes no requests, it is %v", request, instance, now, view.Phase(instance))})
	}
	delete(r.forced, request)
	return instance, true
}
