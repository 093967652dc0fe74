package metrics

import (
	"fmt"

	"blis/vtime"
	"blis/workload"
)

// GatewayPlace is where a request waits at a gateway.
type GatewayPlace struct {
	Band          int // its priority
	Class, Tenant workload.Label
}

// GatewayCounts counts requests at a gateway, or those of a band, a class or a tenant there.
type GatewayCounts struct {
	Entered    int64 `json:"entered"`
	Dispatched int64 `json:"dispatched"`
	Rejected   int64 `json:"rejected"` // for want of room
	Shed       int64 `json:"shed"`
	Expired    int64 `json:"expired"`
	TimedOut   int64 `json:"timed_out"`      // while they waited
	Waiting    int64 `json:"waiting"`        // at the end
	Evicted    int64 `json:"evicted"`        // of the dispatched: taken from their instances
	Wasted     int64 `json:"evicted_tokens"` // that these had generated

	atOnce int64        // were dispatched when they entered
	wait   Distribution // of the others that were dispatched, µs
}

// GatewayUse is what a gateway did in a run. It is kept as the run goes on: entries and departures in
// order of time.
type GatewayUse struct {
	Overall  GatewayCounts
	bands    []bandCounts
	classes  []*GatewayCounts // by label; nil: none of its requests came
	tenants  []*GatewayCounts
	here     []gatewayStay // by slot
	last     vtime.Time    // until when the integrals are
	length   int64         // ∫ waiting, µs
	closed   int64         // µs in which requests waited at a closed gate
	isClosed bool
	waits    int64 // of all that left, µs
	peak     int64

	cycled      bool       // there was a cycle
	first       vtime.Time // cycle
	level, most float64    // saturation of the last cycle, and the largest
	since       vtime.Time // of level
	weighted    float64    // ∫ saturation from the first cycle to the last, µs
}

// gatewayStay is a request that waits.
type gatewayStay struct {
	GatewayPlace
	entered vtime.Time
	waits   bool
}

// pass brings the integrals up to now.
func (u *GatewayUse) pass(now vtime.Time) {
	d := int64(now.Sub(u.last))
	u.length += d * u.Overall.Waiting
	if u.isClosed && u.Overall.Waiting > 0 {
		u.closed += d
	}
	u.last = now
}

// each calls f with the counts that a request at p is in.
func (u *GatewayUse) each(p GatewayPlace, f func(*GatewayCounts)) {
	f(&u.Overall)
	f(u.band(p.Band))
	f(countsOf(&u.classes, p.Class))
	f(countsOf(&u.tenants, p.Tenant))
}

// bandCounts counts the requests of a band.
type bandCounts struct {
	priority int
	counts   *GatewayCounts
}

// band returns the counts of a band. There are few, and they stand in the order in which they came.
func (u *GatewayUse) band(priority int) *GatewayCounts {
	for i := range u.bands {
		if u.bands[i].priority == priority {
			return u.bands[i].counts
		}
	}
	u.bands = append(u.bands, bandCounts{priority, new(GatewayCounts)})
	return u.bands[len(u.bands)-1].counts
}

func countsOf(list *[]*GatewayCounts, k workload.Label) *GatewayCounts {
	for int(k) >= len(*list) {
		*list = append(*list, nil)
	}
	c := (*list)[k]
	if c == nil {
		c = new(GatewayCounts)
		(*list)[k] = c
	}
	return c
}

// Refuse counts a request for which there was no room.
func (u *GatewayUse) Refuse(p GatewayPlace) { u.each(p, func(c *GatewayCounts) { c.Rejected++ }) }

// Enter counts a request that waits from now on. Slots are numbers from 0 on, used again.
func (u *GatewayUse) Enter(p GatewayPlace, slot int32, now vtime.Time) {
	u.pass(now)
	for int(slot) >= len(u.here) {
		u.here = append(u.here, gatewayStay{})
	}
	u.here[slot] = gatewayStay{p, now, true}
	u.each(p, func(c *GatewayCounts) { c.Entered++; c.Waiting++ })
	u.peak = max(u.peak, u.Overall.Waiting)
}

// gone takes out a request that waits no more.
func (u *GatewayUse) gone(slot int32, now vtime.Time) (p GatewayPlace, wait int64) {
	u.pass(now)
	s := &u.here[slot]
	s.waits = false
	wait = int64(now.Sub(s.entered))
	u.waits += wait
	return s.GatewayPlace, wait
}

// Dispatch counts a request that is dispatched. It returns where it waited.
func (u *GatewayUse) Dispatch(slot int32, now vtime.Time) GatewayPlace {
	p, wait := u.gone(slot, now)
	u.each(p, func(c *GatewayCounts) {
		c.Dispatched++
		if c.Waiting--; wait == 0 {
			c.atOnce++
		} else {
			c.wait.Add(wait)
		}
	})
	return p
}

// Evict counts a request that was dispatched from p and taken from its instance, with so many tokens generated.
func (u *GatewayUse) Evict(p GatewayPlace, tokens int32) {
	u.each(p, func(c *GatewayCounts) { c.Evicted++; c.Wasted += int64(tokens) })
}

// Leave counts a request that leaves without dispatch: in state Shed, Expired or TimedOut.
func (u *GatewayUse) Leave(slot int32, state State, now vtime.Time) {
	p, _ := u.gone(slot, now)
	u.each(p, func(c *GatewayCounts) {
		c.Waiting--
		switch state {
		case Shed:
			c.Shed++
		case Expired:
			c.Expired++
		default:
			c.TimedOut++
		}
	})
}

// Saturated notes the saturation that a cycle saw, and whether it ended at a ceiling.
func (u *GatewayUse) Saturated(s float64, closed bool, now vtime.Time) {
	u.pass(now)
	if !u.cycled {
		u.cycled, u.first = true, now
	} else {
		u.weighted += float64(u.level * float64(now.Sub(u.since)))
	}
	u.level, u.since, u.isClosed = s, now, closed
	u.most = max(u.most, s)
}

// Check verifies at the end of a run that nothing was lost: entered = dispatched + shed + expired + timed
// out + waiting, of all and of each band, that nobody of a band from 0 on was shed or evicted, and Little's law, that the integral of the length is the sum of
// the waits, in µs.
func (u *GatewayUse) Check(end vtime.Time) error {
	u.pass(max(end, u.last))
	waits, waiting := u.waits, int64(0)
	for _, s := range u.here {
		if s.waits {
			waits += int64(u.last.Sub(s.entered))
			waiting++
		}
	}
	if waits != u.length {
		return fmt.Errorf("requests waited %d µs at the gateway, and its length adds up to %d", waits, u.length)
	}
	bad := func(c *GatewayCounts) bool {
		return c.Entered != c.Dispatched+c.Shed+c.Expired+c.TimedOut+c.Waiting
	}
	if bad(&u.Overall) || waiting != u.Overall.Waiting {
		return fmt.Errorf("requests at the gateway: %+v", u.Overall)
	}
	for _, b := range u.bands {
		if c := b.counts; bad(c) || b.priority >= 0 && c.Shed+c.Evicted > 0 || c.Evicted > c.Dispatched {
			return fmt.Errorf("requests at the gateway in band %d: %+v", b.priority, b.counts)
		}
	}
	return nil
}
