package lookahead

import "testing"

// Each row is a situation between turns and what must be decided in it.
func TestDecide(t *testing.T) {
	blind := Observation{At: NeverKey}
	leaves := func(due, promise Key) summary {
		return summary{due: due, stableUntil: due, promise: [NoticeKinds]Key{promise}}
	}
	router := func(due, promise Key) controlState {
		return controlState{due: due, periodic: NeverKey, promise: promise, observed: blind}
	}
	standing := func(l summary, k Key) summary { l.stableUntil = k; return l }
	observing := func(s controlState, o Observation) controlState { s.observed = o; return s }
	periodic := func(s controlState, k Key) controlState { s.periodic, s.due = k, Earliest(s.due, k); return s }
	kinds := func(l summary, promises ...Key) summary {
		for k, p := range promises {
			l.kinds |= 1 << k
			l.promise[k] = p
		}
		return l
	}
	receiving := func(s controlState, set kindSet) controlState { s.receives = set; return s }
	reacting := func(list ...int64) (n notices) {
		for k, d := range list {
			n[k].React = func(at Key) Key { return Key{At: at.At + vtimeOf(d)} }
		}
		return n
	}
	stopped := func(s controlState) controlState { s.stopped = true; return s }
	streaming := func(s controlState) controlState { s.stopped, s.streaming = true, true; return s }
	live := Observation{At: at(50, 2), Until: at(50, 3), StateBefore: at(50, 2), LeafLimit: at(50, 2)}
	for name, c := range map[string]struct {
		v    view
		want move
	}{
		"control runs to the first notice": {
			view{leaves: leaves(at(10, 0), at(70, 8)), control: []controlState{router(at(50, 0), at(60, 3))}},
			move{action: runControl, horizon: at(70, 8)}},
		"a notice at its next event holds control": {
			view{leaves: leaves(at(10, 0), at(50, 0)), control: []controlState{router(at(50, 0), at(60, 3))}},
			move{action: runLeaves, horizon: at(60, 3), notifyBefore: at(50, 1)}},
		"what a notice causes bounds leaves": {
			view{leaves: leaves(at(10, 0), at(50, 0)), control: []controlState{router(at(50, 0), at(60, 3))}, notices: notices{{React: func(k Key) Key { return Key{At: k.At + 4} }}}},
			move{action: runLeaves, horizon: at(54, 0), notifyBefore: at(50, 1)}},
		"a notice for another control process does not hold control": {
			view{leaves: kinds(leaves(at(10, 0), NeverKey), at(70, 8), at(20, 8)), control: []controlState{receiving(router(at(50, 0), at(60, 3)), 1)}, notices: reacting(99, 99)},
			move{action: runControl, horizon: at(70, 8)}},
		"but the answer to it does, which the leaf may tell of": {
			view{leaves: kinds(leaves(at(10, 0), NeverKey), at(70, 8), at(20, 8)), control: []controlState{receiving(router(at(50, 0), at(60, 3)), 1)}, notices: reacting(99, 29)},
			move{action: runLeaves, horizon: at(49, 0), notifyBefore: at(50, 1), notifyKinds: 3}},
		"leaves that show what the answer may change": {
			view{leaves: kinds(standing(leaves(at(10, 0), NeverKey), NeverKey), NeverKey, at(20, 8)), control: []controlState{receiving(observing(router(at(50, 2), at(50, 3)), live), 1)}, notices: notices{unanswered()[0], reacting(0, 29)[1]}},
			move{action: runLeaves, horizon: at(49, 0), stateBefore: at(50, 2), notifyBefore: at(50, 3), notifyKinds: 3}},
		"each kind of notice bounds leaves by what it causes": {
			view{leaves: kinds(leaves(at(10, 0), NeverKey), at(40, 8), at(20, 8), at(15, 8)), control: []controlState{receiving(router(at(50, 0), at(90, 3)), 1)}, notices: reacting(5, 30, 40)},
			move{action: runLeaves, horizon: at(45, 0), notifyBefore: at(50, 1), notifyKinds: 1}},
		"an observation waits for leaves behind": {
			view{leaves: leaves(at(10, 0), at(70, 8)), control: []controlState{observing(router(at(50, 2), at(50, 3)), live)}},
			move{action: runLeaves, horizon: at(50, 2), stateBefore: at(50, 2), notifyBefore: at(50, 3)}},
		"an observation of leaves that stand": {
			view{leaves: leaves(at(50, 2), at(70, 8)), control: []controlState{observing(router(at(50, 2), at(50, 3)), live)}},
			move{action: runControl, horizon: at(50, 3)}},
		"an observation of leaves that are stable": {
			view{leaves: standing(leaves(at(10, 0), at(70, 8)), at(50, 2)), control: []controlState{observing(router(at(50, 2), at(50, 3)), live)}},
			move{action: runControl, horizon: at(50, 3)}},
		"control runs up to an observation": {
			view{leaves: leaves(at(10, 0), at(70, 8)), control: []controlState{observing(router(at(40, 0), at(50, 3)), live)}},
			move{action: runControl, horizon: at(50, 2)}},
		"the earlier control process first": {
			view{leaves: leaves(at(99, 0), NeverKey), control: []controlState{router(at(50, 0), NeverKey), router(at(40, 0), at(40, 1))}},
			move{action: runControl, control: 1, horizon: at(50, 0)}},
		"at one key the smaller id first": {
			view{leaves: leaves(at(99, 0), NeverKey), control: []controlState{router(at(50, 0), NeverKey), router(at(50, 0), at(50, 1))}},
			move{action: runControl, horizon: at(50, 1)}},
		"at one key the smaller id first, even when it waits": {
			view{leaves: leaves(at(10, 0), NeverKey), control: []controlState{observing(router(at(50, 2), at(50, 3)), live), router(at(50, 2), at(60, 0))}},
			move{action: runLeaves, horizon: at(50, 2), stateBefore: at(50, 2), notifyBefore: at(50, 3)}},
		"every observation bounds the leaves": {
			view{leaves: leaves(at(10, 0), NeverKey), control: []controlState{router(at(50, 2), at(90, 0)), router(at(60, 0), at(90, 0)), observing(router(at(55, 2), at(90, 0)), live)}, end: at(90, 0)},
			move{action: runControl, horizon: at(55, 3)}},
		"a periodic event bounds the leaves": {
			view{leaves: leaves(at(10, 0), NeverKey), control: []controlState{periodic(router(NeverKey, at(90, 0)), at(30, 9))}},
			move{action: runLeaves, horizon: at(30, 9), stateBefore: NeverKey, notifyBefore: NeverKey}},
		"a periodic event with nothing before it": {
			view{leaves: leaves(at(30, 9), NeverKey), control: []controlState{periodic(router(NeverKey, at(90, 0)), at(30, 9))}},
			move{action: quiesce}},
		"a control process that stopped waits": {
			view{leaves: leaves(at(60, 0), NeverKey), control: []controlState{stopped(router(at(50, 0), at(70, 0)))}},
			move{action: runLeaves, horizon: at(70, 0), stateBefore: NeverKey, notifyBefore: NeverKey}},
		"a control process that streams overlaps the window": {
			view{leaves: leaves(at(60, 0), NeverKey), control: []controlState{streaming(router(at(50, 0), at(70, 0))), router(NeverKey, NeverKey)}, end: at(90, 0)},
			move{action: runLeaves, horizon: at(70, 0), stateBefore: NeverKey, notifyBefore: NeverKey, overlappedHorizon: at(90, 0)}},
		"but not when leaves may send it notices": {
			view{leaves: leaves(at(60, 0), at(80, 8)), control: []controlState{streaming(router(at(50, 0), at(70, 0)))}},
			move{action: runLeaves, horizon: at(70, 0), stateBefore: NeverKey, notifyBefore: NeverKey}},
		"nor when it observes": {
			view{leaves: leaves(at(10, 0), NeverKey), control: []controlState{observing(streaming(router(at(40, 0), at(50, 3))), live)}},
			move{action: runLeaves, horizon: at(50, 2), stateBefore: NeverKey, notifyBefore: NeverKey}},
		"nor when another control process comes first": {
			view{leaves: leaves(at(10, 0), NeverKey), control: []controlState{streaming(router(at(50, 0), at(70, 0))), stopped(router(at(40, 0), NeverKey))}},
			move{action: runLeaves, horizon: at(70, 0), stateBefore: NeverKey, notifyBefore: NeverKey}},
		"the end": {
			view{leaves: leaves(at(60, 0), NeverKey), control: []controlState{router(at(60, 0), at(70, 0))}, end: at(60, 0)},
			move{action: quiesce}},
		"windows of limited length": {
			view{leaves: leaves(at(10, 0), at(50, 0)), control: []controlState{router(at(50, 0), at(60, 3))}, window: 5},
			move{action: runLeaves, horizon: at(15, 0), notifyBefore: at(50, 1)}},
		"no control process": {
			view{leaves: leaves(at(10, 0), at(50, 0))},
			move{action: runLeaves, horizon: NeverKey, stateBefore: NeverKey, notifyBefore: NeverKey}},
	} {
		if c.v.end == (Key{}) {
			c.v.end = NeverKey
		}
		if c.v.leaves.kinds == 0 { // one kind, which all receive
			c.v.leaves.kinds = 1
			for i := range c.v.control {
				c.v.control[i].receives = 1
			}
			if n := c.want.notifyBefore; n != (Key{}) && !n.IsNever() {
				c.want.notifyKinds = 1
			}
		}
		if got := decide(&c.v); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestNextKeyHasNothingBefore(t *testing.T) {
	for _, c := range [][2]Key{{at(5, 3), at(5, 4)}, {at(5, 255), at(6, 0)}, {NeverKey, NeverKey}, {{NeverKey.At, 9}, NeverKey}, {{NeverKey.At - 1, 255}, NeverKey}} {
		if got := c[0].Next(); got != c[1] {
			t.Errorf("after %v comes %v, want %v", c[0], got, c[1])
		}
	}
}
