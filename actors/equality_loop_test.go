package actors

import (
	"fmt"

	"blis/policy"
	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// drawTalk makes the traffic of a trial one in which requests follow from
// answers, and returns about how long it takes.
func (d dice) drawTalk(x *trial) vtime.Duration {
	x.ClosedLoop = d.Uint64()>>1 | 1
	x.Config.NumRequests = int64(d.between(10, 90))
	if d.chance(0.45) {
		x.Config.Timeout = vtime.Duration(pick(d, 1, 500, 5_000, 20_000, 60_000))
	}
	x.SometimesNoInstance = d.chance(0.2)
	return vtime.Duration(pick(d, 2_000, 20_000, 200_000))
}

// sometimesNoInstance is a round robin for which some requests have no instance: they end at
// their routing, and what follows from them comes right after.
type sometimesNoInstance struct{ policy.Routing }

func newSometimesNoInstance(env policy.Env) policy.Routing {
	r, err := policy.NewRouting("round-robin", nil, env)
	if err != nil {
		panic(err)
	}
	return sometimesNoInstance{r}
}

func (p sometimesNoInstance) Route(r *policy.Request, priority float64, s *policy.RouterState, v *policy.View, now vtime.Time) policy.RoutingDecision {
	if r.ID%4 == 1 {
		return policy.RoutingDecision{Target: -1}
	}
	return p.Routing.Route(r, priority, s, v, now)
}

// setTalk puts that traffic into a configuration: conversations, graphs and
// users, side by side, whose lengths and times are few and small, so that much
// happens at one instant.
func (x *trial) setTalk(cfg *Config) error {
	if x.ClosedLoop == 0 {
		return nil
	}
	d := newDice(x.ClosedLoop, 0x74616c6b)
	c := traffic.Config{Seed: x.ClosedLoop, Requests: max(1, cfg.NumRequests)} // a reduced trial has no number
	if d.chance(0.2) {                                                         // what was to come later is never sent
		c.Horizon = pick[vtime.Time](d, 1, 3000, 20_000)
	}
	for i := range d.between(1, 3) {
		k := traffic.Client{
			ID: fmt.Sprint("client-", i), Tenant: pick(d, "red", "blue"), Class: pick(d, "standard", "critical", "sheddable"),
			Input: d.length(1, 40), Output: d.length(0, 30), Timeout: cfg.Timeout,
		}
		if d.chance(0.5) {
			k.Prefix = traffic.Prefix{Group: pick(d, "a", "b"), Length: d.tokens(1, 40), Share: pick(d, 1.0, 0.5), Count: pick[int32](d, 1, 3), Pick: d.length(0, 2)}
		}
		if d.chance(0.4) {
			k.Users, k.Requests, k.Think, k.Pause = d.tokens(1, 6), max(1, cfg.NumRequests/2), d.delay(), d.pause()
		} else {
			k.Process, k.Rate = draw.ArrivalProcess{Kind: draw.Poisson}, draw.Flat(pick[float64](d, 100, 2000, 30000))
			switch {
			case d.chance(0.3): // several at an instant
				k.Process = draw.ArrivalProcess{Kind: draw.Burst, Size: 5}
			case d.chance(0.2): // so many in a time
				k.Process, k.Rate = draw.ArrivalProcess{}, draw.RateCurve{}
				k.Stages = []draw.Stage{{Start: 0, End: pick[vtime.Time](d, 1, 50, 10_000), Count: int64(d.between(0, 20))}, {Start: 20_000, End: 40_000, Count: int64(d.between(0, 20))}}
			}
		}
		if d.chance(0.2) {
			k.MaxOutput = d.tokens(1, 30)
		}
		if len(k.Rate.Pieces) > 0 && d.chance(0.3) {
			k.BurstSize = pick(d, 0.5, 1.0)
		}
		k.Kinds = []traffic.Kind{{Share: 0.25}, {Share: 0.75, Session: d.session(k.Users > 0)}}
		c.Clients = append(c.Clients, k)
	}
	source, err := traffic.New(c)
	cfg.Custom.Source = source
	return err
}

func (d dice) length(low, high int32) draw.Length {
	if d.chance(0.3) {
		return draw.Exactly(d.tokens(int(low), int(high)))
	}
	return draw.Length{Dist: draw.Gaussian(float64(low+high)/2, float64(high)/3), Min: low, Max: high}
}

// delay is a time that is often nothing at all, or as long as a step.
func (d dice) delay() draw.Delay {
	if d.chance(0.6) {
		return draw.Always(pick[vtime.Duration](d, 0, 0, 1, 100, 300, 5_000))
	}
	low := pick[vtime.Duration](d, 0, 100, 1000)
	return draw.Delay{Dist: draw.Gaussian(float64(low)+500, 1000), Min: low, Max: low + 20_000}
}

// pause is how long users wait after a refusal: mostly as short as can be, and
// like a step or a deadline.
func (d dice) pause() draw.Delay {
	if d.chance(0.7) {
		return draw.Always(pick[vtime.Duration](d, 1000, 1000, 1001, 2500, 20_000))
	}
	return draw.Delay{Dist: draw.Gaussian(1500, 2000), Min: 1000, Max: 30_000}
}

// session is one of rounds, with or without tools, or a graph.
func (d dice) session(users bool) *traffic.Session {
	s := &traffic.Session{Rounds: d.length(1, 5), Think: d.delay(), Context: pick(d, traffic.Accumulate, traffic.Accumulate, traffic.NoContext)}
	if d.chance(0.3) {
		s.Rounds = draw.Length{}
		for i := range d.between(1, 6) {
			n := traffic.Node{Wait: d.delay()}
			for a := range i {
				if d.chance(0.4) {
					n.After = append(n.After, a)
				}
			}
			s.Graph = append(s.Graph, n)
		}
		return s
	}
	s.Open = !users && d.chance(0.15)
	s.Persists = d.chance(0.2)
	s.Growth = pick(d, traffic.Linear, traffic.Linear, traffic.Sublinear, traffic.Bounded)
	s.Limit = 60
	if d.chance(0.3) {
		s.Tools = &traffic.Tools{Probability: 0.6, Calls: d.length(0, 3), Latency: d.delay(), Result: d.length(1, 30)}
	}
	if d.chance(0.3) {
		s.Reasoning = &traffic.Reasoning{Steps: d.length(0, 3), Tokens: d.length(0, 9), Kept: d.chance(0.5)}
	}
	return s
}
