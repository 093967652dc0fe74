package policy

import (
	"math"
	"slices"

	"blis/internal/prefixtwin"
	"blis/vtime"
)

// The slow twins: policies that look at every instance in every decision and
// remember nothing of the view.

// twinDraws counts the draws that a twin makes.
type twinDraws struct {
	draws Draws
	made  int
}

func (d *twinDraws) IntN(req *Request, turn uint32, n int) int {
	d.made++
	return d.draws.IntN(req, turn, n)
}

// naiveBest is the instance with the largest score of those that have one (−1
// is none), and how the decision ends when several do.
func naiveBest(scores []float64, req *Request, draws *twinDraws) int {
	var best []int
	for i, score := range scores {
		switch {
		case score < 0 || len(best) > 0 && score < scores[best[0]]:
		case len(best) > 0 && score == scores[best[0]]:
			best = append(best, i)
		default:
			best = []int{i}
		}
	}
	switch {
	case len(best) == 0:
		return -1
	case len(best) > 1 && draws != nil:
		return best[draws.IntN(req, 0, len(best))]
	}
	return best[0]
}

// naiveLoad is the effective load.
func naiveLoad(s Slot) float64 { return float64(s.Queue) + float64(s.Batch) + float64(s.InFlight) }

// naiveLeastLoaded is least-loaded.
type naiveLeastLoaded struct{ draws *twinDraws }

func (p *naiveLeastLoaded) decide(req *Request, view *View) RoutingDecision {
	scores := make([]float64, len(view.slots))
	for i, s := range view.slots {
		scores[i] = -1
		if s.Routable {
			scores[i] = 1e12 - naiveLoad(s)
		}
	}
	if target := naiveBest(scores, req, p.draws); target >= 0 {
		return RoutingDecision{Target: target, Reason: LeastLoad}
	}
	return noTarget
}

// naiveBusiest is always-busiest.
type naiveBusiest struct{ draws *twinDraws }

func (p *naiveBusiest) decide(req *Request, view *View) RoutingDecision {
	scores := make([]float64, len(view.slots))
	for i, s := range view.slots {
		scores[i] = -1
		if s.Routable {
			scores[i] = naiveLoad(s)
		}
	}
	if target := naiveBest(scores, req, p.draws); target >= 0 {
		return RoutingDecision{Target: target, Reason: MostLoad}
	}
	return noTarget
}

// naiveTwo is power-of-two.
type naiveTwo struct{ draws *twinDraws }

func (p *naiveTwo) decide(req *Request, view *View) RoutingDecision {
	var routable []int
	for i, s := range view.slots {
		if s.Routable {
			routable = append(routable, i)
		}
	}
	if len(routable) == 0 {
		return noTarget
	}
	target := routable[0]
	if n := len(routable); n > 1 {
		first := p.draws.IntN(req, 0, n)
		target = routable[first]
		rest := slices.Delete(slices.Clone(routable), first, first+1)
		if second := rest[p.draws.IntN(req, 1, n-1)]; naiveLoad(view.slots[second]) < naiveLoad(view.slots[target]) {
			target = second
		}
	}
	return RoutingDecision{Target: target, Reason: LessOfTwo}
}

// naivePrefix is prefix-affinity over the plain LRU.
type naivePrefix struct {
	block     int32
	imbalance float64
	match     float64 // least share of the prompt
	cached    *prefixtwin.LRU
	draws     *twinDraws
}

func (p *naivePrefix) decide(req *Request, view *View) RoutingDecision {
	p.cached.Join(view.Len(), func(i int) int64 { return view.slots[i].Total })
	blocks := prefixtwin.Blocks(req.ID, req.Input, req.Spans, p.block)
	idle, foremost := make([]float64, len(view.slots)), make([]float64, len(view.slots))
	longest, least, load := 0, math.Inf(1), math.Inf(1)
	for i, s := range view.slots {
		if s.Routable {
			longest = max(longest, p.cached.Matched(blocks, i))
			least = math.Min(least, naiveLoad(s))
		}
	}
	for i, s := range view.slots {
		idle[i], foremost[i] = -1, -1
		if !s.Routable {
			continue
		}
		idle[i] = 1e12 - naiveLoad(s)
		if longest > 0 && p.cached.Matched(blocks, i) == longest {
			foremost[i] = idle[i]
			load = math.Min(load, naiveLoad(s))
		}
	}
	d := RoutingDecision{Reason: LeastLoad}
	if longest > 0 && float64(longest)/float64(len(blocks)) >= p.match && load-least <= p.imbalance {
		d = RoutingDecision{Target: naiveBest(foremost, req, p.draws), Reason: LongestPrefix}
	} else if d.Target = naiveBest(idle, req, p.draws); d.Target < 0 {
		return noTarget
	}
	p.cached.Record(blocks, d.Target)
	return d
}

// twinSessions is a plain list of the sessions used last, the newest first.
type twinSessions struct {
	capacity int
	ttl      vtime.Duration
	list     []twinVisit
}

type twinVisit struct {
	session  uint64
	instance int
	at       vtime.Time
}

// find returns where a session stands that is known at now, −1 for none.
func (m *twinSessions) find(session uint64, now vtime.Time) int {
	return slices.IndexFunc(m.list, func(v twinVisit) bool {
		return v.session == session && (m.ttl == 0 || now < v.at+vtime.Time(m.ttl))
	})
}

func (m *twinSessions) record(session uint64, instance int, now vtime.Time) {
	m.list = slices.DeleteFunc(m.list, func(v twinVisit) bool { return v.session == session })
	m.list = slices.Insert(m.list, 0, twinVisit{session, instance, now})
	m.list = m.list[:min(len(m.list), m.capacity)]
}

// naiveWeighted is weighted: the sum as policies.md words it, over the plain
// LRU.
type naiveWeighted struct {
	names    []string // of the scorers, in order
	weights  []float64
	block    int32
	cached   *prefixtwin.LRU
	sessions *twinSessions
	draws    *twinDraws
	cold     []int // instances by the last request without a hit that went there; others have had none
}

func (p *naiveWeighted) decide(req *Request, view *View) RoutingDecision {
	sum := 0.0
	for _, weight := range p.weights {
		sum += weight
	}
	p.cached.Join(view.Len(), func(i int) int64 { return view.slots[i].Total })
	blocks := prefixtwin.Blocks(req.ID, req.Input, req.Spans, p.block)
	scores := make([]float64, len(view.slots))
	for k, name := range p.names {
		for i, score := range p.score(name, view, req, blocks) {
			scores[i] += float64(p.weights[k] / sum * math.Min(1, math.Max(0, score)))
		}
	}
	for i := range scores {
		if !view.slots[i].Routable {
			scores[i] = -1
		}
	}
	target := naiveBest(scores, req, p.draws)
	if target < 0 {
		return noTarget
	}
	if !p.hits(view, blocks) {
		p.cold = append(slices.DeleteFunc(p.cold, func(i int) bool { return i == target }), target)
	}
	p.cached.Record(blocks, target)
	if req.Session != 0 {
		p.sessions.record(req.Session, target, 0)
	}
	return RoutingDecision{Target: target, Reason: BestScore, Scores: scores}
}

// score is one score of policies.md for every instance.
func (p *naiveWeighted) score(name string, view *View, req *Request, blocks []prefixtwin.Block) []float64 {
	scores := make([]float64, len(view.slots))
	loads := make([]float64, len(view.slots))
	least, most := math.Inf(1), math.Inf(-1)
	for i, s := range view.slots {
		switch name {
		case "waiting-queue":
			loads[i] = float64(s.Queue)
		case "active-requests":
			loads[i] = float64(s.InFlight)
		default:
			loads[i] = naiveLoad(s)
		}
		if s.Routable {
			least, most = math.Min(least, loads[i]), math.Max(most, loads[i])
		}
	}
	for i, s := range view.slots {
		switch name {
		case "prefix-affinity":
			if len(blocks) > 0 {
				scores[i] = float64(p.cached.Matched(blocks, i)) / float64(len(blocks))
			}
		case "prefix-match":
			if p.cached.Matched(blocks, i) > 0 {
				scores[i] = 1
			}
		case "queue-depth", "waiting-queue":
			scores[i] = 1
			if most != least {
				scores[i] = (most - loads[i]) / (most - least)
			}
		case "kv-utilization":
			scores[i] = 1 - float64(s.Used)/float64(s.Total)
		case "active-requests":
			scores[i] = 1
			if most != 0 {
				scores[i] = (most - loads[i]) / most
			}
		case "session-affinity":
			if at := p.sessions.find(req.Session, 0); req.Session != 0 && at >= 0 && p.sessions.list[at].instance == i {
				scores[i] = 1
			}
		case "cache-hit-rate":
			if v := view.services[i]; v.LookedUpTokens > 0 {
				scores[i] = float64(v.CachedTokens) / float64(v.LookedUpTokens)
			}
		case "load-balance":
			scores[i] = 1 / (1 + loads[i])
		}
	}
	if name == "no-hit-lru" {
		return p.noHit(view, blocks)
	}
	if of, ok := naiveScorers[name]; ok {
		return of(view)
	}
	return scores
}

// naiveScorers are the scorers with files of their own: the score of every instance, of which
// those that are not routable do not matter. Each test file adds its own.
var naiveScorers = map[string]func(view *View) []float64{}

// naiveShares are (max − x)/(max − min) over the routable instances, 1 if all are equal.
func naiveShares(view *View, count func(Slot) float64) []float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, s := range view.slots {
		if s.Routable {
			least, most = math.Min(least, count(s)), math.Max(most, count(s))
		}
	}
	shares := make([]float64, len(view.slots))
	for i, s := range view.slots {
		shares[i] = 1
		if most != least {
			shares[i] = (most - count(s)) / (most - least)
		}
	}
	return shares
}
