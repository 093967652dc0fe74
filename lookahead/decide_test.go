package lookahead

import "testing"

// Each row is a situation between turns and what must be decided in it.
func TestDecide(t *testing.T) {
	quiet := Observation{At: NeverKey}
	leaves := func(due, promise Key) summary { return summary{due, promise, due} }
	router := func(due, promise Key) station {
		return station{due: due, periodic: NeverKey, promise: promise, observed: quiet}
	}
	observing := func(s station, o Observation) station { s.observed = o; return s }
	periodic := func(s station, k Key) station { s.periodic, s.due = k, earliest(s.due, k); return s }
	stopped := func(s station) station { s.stopped = true; return s }
	live := Observation{At: at(50, 2), Through: at(50, 3), Need: at(50, 2), Limit: at(50, 2)}
	for name, c := range map[string]struct {
		v    view
		want move
	}{
		"control runs to the first notice": {
			view{leaves: leaves(at(10, 0), at(70, 8)), control: []station{router(at(50, 0), at(60, 3))}},
			move{runControl, 0, at(70, 8), Key{}, Key{}}},
		"a notice at its next event holds control": {
			view{leaves: leaves(at(10, 0), at(50, 0)), control: []station{router(at(50, 0), at(60, 3))}},
			move{runLeaves, 0, at(60, 3), Key{}, at(50, 1)}},
		"what a notice causes bounds leaves": {
			view{leaves: leaves(at(10, 0), at(50, 0)), control: []station{router(at(50, 0), at(60, 3))}, react: func(k Key) Key { return Key{At: k.At + 4} }},
			move{runLeaves, 0, at(54, 0), Key{}, at(50, 1)}},
		"an observation waits for leaves behind": {
			view{leaves: leaves(at(10, 0), at(70, 8)), control: []station{observing(router(at(50, 2), at(50, 3)), live)}},
			move{runLeaves, 0, at(50, 2), at(50, 2), at(50, 3)}},
		"an observation of leaves that stand": {
			view{leaves: leaves(at(50, 2), at(70, 8)), control: []station{observing(router(at(50, 2), at(50, 3)), live)}},
			move{runControl, 0, at(50, 3), Key{}, Key{}}},
		"an observation of leaves that are steady": {
			view{leaves: summary{at(10, 0), at(70, 8), at(50, 2)}, control: []station{observing(router(at(50, 2), at(50, 3)), live)}},
			move{runControl, 0, at(50, 3), Key{}, Key{}}},
		"control runs up to an observation": {
			view{leaves: leaves(at(10, 0), at(70, 8)), control: []station{observing(router(at(40, 0), at(50, 3)), live)}},
			move{runControl, 0, at(50, 2), Key{}, Key{}}},
		"the earlier control process first": {
			view{leaves: leaves(at(99, 0), NeverKey), control: []station{router(at(50, 0), NeverKey), router(at(40, 0), at(40, 1))}},
			move{runControl, 1, at(50, 0), Key{}, Key{}}},
		"at one key the smaller id first": {
			view{leaves: leaves(at(99, 0), NeverKey), control: []station{router(at(50, 0), NeverKey), router(at(50, 0), at(50, 1))}},
			move{runControl, 0, at(50, 1), Key{}, Key{}}},
		"a periodic event holds everybody": {
			view{leaves: leaves(at(10, 0), NeverKey), control: []station{periodic(router(NeverKey, at(90, 0)), at(30, 9))}},
			move{runLeaves, 0, at(30, 9), NeverKey, NeverKey}},
		"a periodic event is settled": {
			view{leaves: leaves(at(30, 9), NeverKey), control: []station{periodic(router(NeverKey, at(90, 0)), at(30, 9))}},
			move{settle, 0, Key{}, Key{}, Key{}}},
		"who stopped waits": {
			view{leaves: leaves(at(60, 0), NeverKey), control: []station{stopped(router(at(50, 0), at(70, 0)))}},
			move{runLeaves, 0, at(70, 0), NeverKey, NeverKey}},
		"the end": {
			view{leaves: leaves(at(60, 0), NeverKey), control: []station{router(at(60, 0), at(70, 0))}, end: at(60, 0)},
			move{settle, 0, Key{}, Key{}, Key{}}},
		"windows of limited length": {
			view{leaves: leaves(at(10, 0), at(50, 0)), control: []station{router(at(50, 0), at(60, 3))}, window: 5},
			move{runLeaves, 0, at(15, 0), Key{}, at(50, 1)}},
		"nobody but leaves": {
			view{leaves: leaves(at(10, 0), at(50, 0))},
			move{runLeaves, 0, NeverKey, NeverKey, NeverKey}},
	} {
		if c.v.end == (Key{}) {
			c.v.end = NeverKey
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
