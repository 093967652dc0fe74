package trace

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
)

// shape is what a synthetic trace is like.
type shape struct {
	requests, instances int
	counterfactual      bool
	detailed            bool
	scaling             bool
	cut                 bool // some requests have no outcome
}

// synthetic is a trace as a small cluster could give it: with classes and
// tenants, a burst, delays, rejections, redirects, forced routings, regret and
// late requests.
func synthetic(seed uint64, of shape) []Record {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), shape: of}
	header := &Header{
		Type: "header", Schema: Schema, Level: "decisions", Seed: seed, Instances: of.instances, Admission: "rate-limit", Priority: "slo-based",
		Routing: "weighted", Scheduler: "fcfs", Targets: []ClassTargets{
			{Class: "interactive", TTFT: pointer(300 * vtime.Millisecond), E2E: pointer(4 * vtime.Second)},
			{Class: "batch", E2E: pointer(6 * vtime.Second), TPOT: pointer(40 * vtime.Millisecond)},
		},
	}
	if of.requests%7 == 3 { // some traces have tenants with targets of their own
		header.Targets = append(header.Targets, ClassTargets{Tenant: "tenant-1", TTFT: pointer(200 * vtime.Millisecond), TPOT: pointer(30 * vtime.Millisecond)})
	}
	if of.counterfactual {
		header.Counterfactual = 3
	}
	if of.detailed {
		header.Level = "detailed"
	}
	at := vtime.Time(1_200_000)
	for i := range of.requests {
		gap := 40_000.0
		if i > of.requests/2 && i < of.requests*3/4 {
			gap = 8_000 // a burst
		}
		at += vtime.Time(g.ExpFloat64() * gap)
		g.request(int64(i), at)
	}
	for t := vtime.Time(2 * vtime.Second); of.scaling && t < at; t += vtime.Time(3 * vtime.Second) {
		from := int32(2 + g.IntN(3))
		s := &Scale{Type: "scale", At: t, Action: "hold", From: from, To: from, Wanted: from, Ready: from, Reason: "within tolerance"}
		if d := int32(g.IntN(3) - 1); d != 0 {
			s.Action, s.To, s.Wanted, s.Reason = map[int32]string{1: "up", -1: "down"}[d], from+d, from+d*int32(1+g.IntN(2)), "to target"
		}
		if of.requests%7 == 3 {
			s.Pool = []string{"prefill", "decode"}[t/vtime.Time(vtime.Second)%2]
		}
		g.put(t, s)
	}
	slices.SortStableFunc(g.records, func(a, b timedRecord) int { return cmp.Compare(a.at, b.at) })
	list := []Record{header}
	for _, r := range g.records {
		list = append(list, r.Record)
	}
	return list
}

type timedRecord struct {
	at vtime.Time
	Record
}

type generator struct {
	*rand.Rand
	shape
	records []timedRecord
}

func (g *generator) put(at vtime.Time, r Record) { g.records = append(g.records, timedRecord{at, r}) }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// request puts all records of one.
func (g *generator) request(id int64, arrival vtime.Time) {
	class := []string{"interactive", "interactive", "batch", "background"}[g.IntN(4)]
	tenant := fmt.Sprintf("tenant-%d", g.IntN(1+g.IntN(5)))
	input := int32(100 + g.IntN(2000))
	at := arrival
	a := Admission{Type: "admission", At: at, Request: id, Tenant: tenant, Class: class, Input: input, Verdict: "admit"}
	end := &Outcome{Type: "outcome", Request: id, Tenant: tenant, Class: class, Arrival: arrival, State: "completed"}
	for g.chance(4) {
		d := a
		d.At, d.Verdict, d.Reason, d.Delay = at, "delay", "over quota", pointer(vtime.Duration(1+g.IntN(400_000)))
		g.put(at, &d)
		at = at.Add(*d.Delay)
	}
	a.At = at
	if g.chance(5) {
		a.Verdict, a.Reason = "reject", []string{"rate limit", "over quota"}[g.IntN(2)]
		end.State, end.Reason, end.At = "rejected", a.Reason, at
		g.judge(end, false)
		g.put(at, &a)
		g.put(at, end)
		return
	}
	g.put(at, &a)
	p := &Priority{Type: "priority", At: at, Request: id, Class: class, Priority: map[string]float64{"interactive": 50, "batch": 10, "background": 1}[class]}
	g.put(at, p)
	r := g.route(id, at, end, input)
	if r.Target == nil {
		end.State, end.Reason, end.At = "rejected", "no instance", at
		g.judge(end, false)
		g.put(at, end)
		return
	}
	if g.chance(3) {
		at = at.Add(vtime.Duration(1 + g.IntN(300_000)))
		if again := g.route(id, at, end, input); again.Target != nil {
			r = again
		}
	}
	if g.cut && g.chance(8) {
		return
	}
	g.serve(end, r, at)
}

func (g *generator) route(id int64, at vtime.Time, end *Outcome, input int32) *Routing {
	r := &Routing{Type: "routing", At: at, Request: id, Tenant: end.Tenant, Class: end.Class, Input: input, Priority: 1, Reason: "best score"}
	defer g.put(at, r)
	if g.chance(1) {
		r.Reason = "no instance"
		return r
	}
	target := min(g.IntN(g.instances), g.IntN(g.instances)) // the first ones get more
	r.Target, r.Forced = &target, g.chance(1)
	if g.chance(80) {
		r.ExpectedHit = pointer(int32(16 * g.IntN(int(input)/16)))
	}
	g.hold(r, input)
	if !g.counterfactual {
		return r
	}
	best := float64(g.IntN(1000)) / 1000
	rank := 0 // of the target
	if g.chance(30) {
		rank = g.IntN(g.instances)
	}
	score := best - best*float64(rank)/8
	r.Score, r.Best, r.Regret = &score, &best, pointer(max(0, best-score))
	for i := range min(3, g.instances) {
		instance := (target + i - rank + g.instances) % g.instances
		x := best - best*float64(i)/8
		r.Candidates = append(r.Candidates, Candidate{
			Instance: instance, Score: x, Breakdown: []Breakdown{{"prefix-affinity", x / 2}, {"queue-depth", x / 2}},
			QueueDepth: pointer(int32(g.IntN(20))), InFlight: pointer(int32(g.IntN(60))),
		})
	}
	return r
}

// serve puts what became of a request that reached an instance.
func (g *generator) serve(end *Outcome, r *Routing, at vtime.Time) {
	target := *r.Target
	wait := vtime.Duration(g.ExpFloat64() * 60_000 * float64(1+g.instances-target))
	ttft := at.Sub(end.Arrival) + wait + vtime.Duration(20_000+g.IntN(100_000))
	tpot := vtime.Duration(15_000 + g.IntN(30_000))
	end.Instance, end.Generated = &target, int32(2+g.IntN(200))
	end.QueueWait, end.TTFT = &wait, &ttft
	e2e := ttft + vtime.Duration(end.Generated-1)*tpot
	end.At = end.Arrival.Add(max(e2e, at.Sub(end.Arrival)))
	if end.Expected = copied(r.ExpectedHit); r.ExpectedHit != nil {
		end.ActualHit = pointer(*r.ExpectedHit)
		if g.chance(20) {
			*end.ActualHit = int32(16 * g.IntN(int(*r.ExpectedHit)/16+2))
		}
	}
	if g.chance(6) {
		end.State, end.At = "timed_out", at.Add(vtime.Duration(g.IntN(1_000_000)))
	} else {
		end.TPOT, end.E2E = &tpot, &e2e
	}
	for g.chance(8) {
		end.Preempted++
		if g.detailed {
			g.put(at.Add(wait), &Preemption{Type: "preemption", At: at.Add(wait), Instance: target, Request: end.Request, For: end.Request + 1, Computed: int32(g.IntN(2000))})
		}
	}
	if g.detailed {
		b := &Batch{Type: "batch", At: at, Instance: target, Running: int32(g.IntN(30)), Waiting: int32(g.IntN(10 * (1 + g.instances - target))), PrefillTokens: r.Input, DecodeTokens: 9, UsedBlocks: int64(g.IntN(5000))}
		g.put(at, b)
		if g.chance(10) {
			x := &Anomaly{Type: "anomaly", At: at, Name: []string{"priority_inversion", "blocked_head", "slo_violation"}[g.IntN(3)], Severity: float64(g.IntN(50)) / 4}
			if x.Instance = pointer(target); x.Name != "blocked_head" {
				x.Requests = []int64{end.Request, end.Request + 1}
			}
			g.put(at, x)
		}
	}
	met := end.E2E != nil
	switch end.Class {
	case "interactive":
		met = met && ttft <= 300*vtime.Millisecond && e2e <= 4*vtime.Second
	case "batch":
		met = met && tpot <= 40*vtime.Millisecond && e2e <= 6*vtime.Second
	}
	g.judge(end, met)
	g.put(end.At, end)
}

func (g *generator) judge(end *Outcome, met bool) {
	if end.Class != "background" {
		end.SLOMet = &met
	}
}

// summarized takes a trace.
func summarized(t testing.TB, records []Record, options SummaryOptions) *Summary {
	t.Helper()
	s := NewSummary(options)
	for _, r := range records {
		if err := s.Consume(r); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func reported(t testing.TB, s *Summary, strategy Strategy, tokens int) *Report {
	t.Helper()
	r, err := s.Report(strategy, tokens)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
