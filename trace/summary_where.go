package trace

import (
	"cmp"
	"slices"
	"strconv"
)

// instanceFacts are the work of each instance. Instances that were there at the start
// and that no record names have got none of it.
func (s *Summary) instanceFacts() InstanceFacts {
	t := &s.instances
	order := sortedBy(len(t.keys), func(a, b int) int {
		return cmp.Or(cmp.Compare(t.values[b].routed, t.values[a].routed), cmp.Compare(t.keys[a], t.keys[b]))
	})
	f := InstanceFacts{N: s.header.Instances, List: []InstanceFact{}}
	routed, input, busy := int64(0), int64(0), 0
	for i, k := range t.keys {
		if k >= s.header.Instances {
			f.N++
		}
		if t.values[i].routed > 0 {
			busy++
		}
		routed += t.values[i].routed
		input += t.values[i].input
	}
	f.Unused = f.N - busy
	f.Routed = s.balance(f.N, routed, func(i *instance) int64 { return i.routed })
	f.Input = s.balance(f.N, input, func(i *instance) int64 { return i.input })
	f.Worst = s.worstBin(f.N)
	for n, i := range order {
		if n == mostListed {
			f.LeftOut = len(order) - n
			break
		}
		f.List = append(f.List, instanceFact(t.keys[i], &t.values[i], routed))
	}
	return f
}

// sortedBy are the indices below n in an order.
func sortedBy(n int, compare func(a, b int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, compare)
	return order
}

// balance compares the largest with the mean over n instances; null for a
// total of nothing.
func (s *Summary) balance(n int, total int64, of func(*instance) int64) *Balance {
	if total == 0 {
		return nil
	}
	most, at := int64(-1), 0
	for i, k := range s.instances.keys {
		if x := of(&s.instances.values[i]); x > most || x == most && k < at {
			most, at = x, k
		}
	}
	mean := float64(total) / float64(n)
	return &Balance{Instance: &at, Max: most, Total: total, Mean: mean, Ratio: float64(most) / mean}
}

// worstBin is the bin of an instance that got the most beyond the mean of the
// bin over all instances; of equal ones the earliest.
func (s *Summary) worstBin(n int) (worst *Balance) {
	excess := 0.0
	for b := range s.bins {
		if s.bins[b].routed == 0 {
			continue
		}
		x := s.balance(n, s.bins[b].routed, func(i *instance) int64 { return i.series[b] })
		if over := float64(x.Max) - x.Mean; over > excess {
			excess, worst = over, x
			from, to := s.time.bounds(b)
			x.From, x.To = pointer(int64(from)), pointer(int64(to))
		}
	}
	return worst
}

func instanceFact(index int, i *instance, routed int64) InstanceFact {
	f := InstanceFact{
		Instance: index, Routed: i.routed, Input: i.input, Ended: i.ended, Judged: i.judged, Met: i.met,
		HitRate: share(i.hit, i.hitInput), Preemptions: i.preemptions, Anomalies: i.anomalies, Steps: i.steps,
		MeanRunning: share(i.running, i.steps), MeanWaiting: share(i.waiting, i.steps),
	}
	if routed > 0 {
		f.Share = float64(i.routed) / float64(routed)
	}
	if i.steps > 0 {
		f.MaxWaiting, f.MaxBlocks = pointer(i.mostWaiting), pointer(i.blocks)
	}
	return f
}

// share is a part of something; null of nothing.
func share(part, of int64) *float64 {
	if of == 0 {
		return nil
	}
	return pointer(float64(part) / float64(of))
}

// regretFacts are null for a trace without scores.
func (s *Summary) regretFacts(g *regrets) *RegretFacts {
	if g.all.n+g.forced == 0 {
		return nil
	}
	h := &g.histogram
	f := &RegretFacts{
		Decisions: g.all.n, Forced: g.forced, Unscored: g.unscored, Superseded: s.routed.redirects.n, None: h.zeros,
		Mean: g.all.mean, P50: h.percentile(50), P90: h.percentile(90), P99: h.percentile(99), Max: g.all.most,
		ByInstance: []Where{}, ByClass: []Where{}, ByTime: []WhereTime{}, Worst: []Decision{}, WithOutcome: s.regrets.all.n,
	}
	for i, k := range g.byInstance.keys {
		f.ByInstance = append(f.ByInstance, where(strconv.Itoa(k), g.byInstance.values[i], g.all))
	}
	slices.SortFunc(f.ByInstance, func(a, b Where) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	if n := len(f.ByInstance); n > mostListed {
		f.LeftOut = n - mostListed
		f.ByInstance = f.ByInstance[:mostListed]
	}
	for i, k := range g.byClass.keys {
		f.ByClass = append(f.ByClass, where(k, g.byClass.values[i], g.all))
	}
	slices.SortStableFunc(f.ByClass, func(a, b Where) int { return cmp.Compare(b.Share, a.Share) })
	if g.byClass.full {
		w := where("", g.byClass.others, g.all)
		w.Others = true
		f.ByClass = append(f.ByClass, w)
	}
	for i, a := range g.bins {
		if a.n > 0 {
			from, to := s.time.bounds(i)
			f.ByTime = append(f.ByTime, WhereTime{int64(from), int64(to), a.n, a.mean, a.most, a.shareOf(g.all)})
		}
	}
	for i := range g.worst {
		f.Worst = append(f.Worst, g.worst[i].exported())
	}
	return f
}

func where(name string, a, all average) Where {
	return Where{Name: name, N: a.n, Mean: a.mean, Max: a.most, Share: a.shareOf(all)}
}

func (d *decision) exported() Decision {
	return Decision{
		At: int64(d.at), Request: d.request, Tenant: d.tenant, Class: d.class, Input: d.input, Target: d.target, Reason: d.reason,
		Score: d.score, Best: d.best, Regret: *d.regret, ExpectedHit: d.expected,
		Candidates: append([]Candidate{}, d.candidates...), Outcome: d.ending,
	}
}

func (s *Summary) patternFacts() PatternFacts {
	f := PatternFacts{Bins: []Bin{}, Streaks: []Streak{}}
	if !s.started {
		f.Classes, f.Tenants = []GroupFact{}, []GroupFact{}
		return f
	}
	f.BinWidth = pointer(int64(s.time.width))
	n, asked := s.time.bin(s.to)+1, int64(0)
	for i := range n {
		asked += s.bins[i].asked
	}
	for i := range n {
		from, to := s.time.bounds(i)
		b := &s.bins[i]
		f.Bins = append(f.Bins, Bin{
			From: int64(from), To: int64(to), Asked: b.asked, Burst: b.asked*int64(n) > 2*asked, Rejected: b.rejected,
			Routed: b.routed, Redirected: b.moved, Ended: b.ended, Judged: b.judged, Met: b.met,
			Preemptions: b.preemptions, Anomalies: b.anomalies, ScaledUp: b.scaledUp, ScaledDown: b.scaledDown,
		})
	}
	f.Classes, f.ClassesLeftOut = s.groups(&s.classes, n)
	f.Tenants, f.TenantsLeftOut = s.groups(&s.tenants, n)
	if x := s.streaks[sameInstance].longest; x.n > 1 {
		f.Streaks = append(f.Streaks, Streak{"routed", pointer(x.key), x.n, int64(x.from), int64(x.to)})
	}
	if x := s.streaks[allRejected].longest; x.n > 1 {
		f.Streaks = append(f.Streaks, Streak{"rejected", nil, x.n, int64(x.from), int64(x.to)})
	}
	return f
}

// groups lists the largest groups of a table, with their course of time.
func (s *Summary) groups(t *table[string, group], bins int) (list []GroupFact, leftOut int) {
	order := sortedBy(len(t.keys), func(a, b int) int {
		x, y := &t.values[a], &t.values[b]
		return cmp.Or(cmp.Compare(y.asked, x.asked), cmp.Compare(y.ended, x.ended), cmp.Compare(t.keys[a], t.keys[b]))
	})
	leftOut = max(0, len(order)-mostListed)
	if t.full {
		leftOut++
	}
	list = make([]GroupFact, 0, len(order)-max(0, len(order)-mostListed))
	for _, i := range order[:len(order)-max(0, len(order)-mostListed)] {
		g := &t.values[i]
		list = append(list, GroupFact{
			Name: t.keys[i], Asked: g.asked, Rejected: g.rejected, Ended: g.ended, Judged: g.judged, Met: g.met,
			LateTTFT: g.late[0].n, LateTPOT: g.late[1].n, LateE2E: g.late[2].n, TTFT: g.ttft.mean(), Peak: s.peak(g, bins),
		})
	}
	return list, leftOut
}

func (s *Summary) peak(g *group, bins int) *Peak {
	if g.asked == 0 {
		return nil
	}
	at := 0
	for i, n := range g.series {
		if n > g.series[at] {
			at = i
		}
	}
	from, to := s.time.bounds(at)
	mean := float64(g.asked) / float64(bins)
	return &Peak{int64(from), int64(to), g.series[at], mean, float64(g.series[at]) / mean}
}
