package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"blis/actors"
	"blis/trace"
	"blis/vtime"
)

// mostRegrets is how many decisions are told.
const mostRegrets = 3

// decision is a routing decision with regret: another instance would have been better.
type decision struct {
	request      int64
	at           vtime.Time
	input        int32
	class        string
	chosen, best trace.Candidate
	regret       float64
	ttft         *vtime.Duration
}

// decisions collects, of a run with candidates, the routing decisions with the largest regret:
// those by the policy's own scores, and those by load for policies that always follow their
// scores. It is a trace.Consumer.
type decisions struct {
	all, regretted  int64
	scores          bool       // the policy gives scores; else they are minus the requests of each instance
	byScore, byLoad []decision // the worst first
}

// Consume implements trace.Consumer.
func (d *decisions) Consume(r trace.Record) error {
	switch r := r.(type) {
	case *trace.Routing:
		if r.Target != nil && len(r.Candidates) > 0 {
			d.routing(r)
		}
	case *trace.Outcome:
		for _, list := range [][]decision{d.byScore, d.byLoad} {
			for i := range list {
				if list[i].request == r.Request && r.TTFT != nil {
					ttft := *r.TTFT
					list[i].ttft = &ttft
				}
			}
		}
	}
	return nil
}

// routing takes a decision.
func (d *decisions) routing(r *trace.Routing) {
	d.all++
	chosen := slices.IndexFunc(r.Candidates, func(c trace.Candidate) bool { return c.Instance == *r.Target })
	if chosen < 0 {
		return
	}
	one := decision{request: r.Request, at: r.At, input: r.Input, class: strings.Clone(r.Class), chosen: candidate(&r.Candidates[chosen])}
	c := &one.chosen
	if c.QueueDepth == nil || c.BatchSize == nil || c.InFlight == nil || c.Score != -float64(*c.QueueDepth+*c.BatchSize+*c.InFlight) {
		d.scores = true
	}
	if r.Regret != nil && *r.Regret > 0 {
		d.regretted++
		one.best, one.regret = candidate(&r.Candidates[0]), *r.Regret
		d.byScore = keepWorst(d.byScore, one)
	}
	least := 0
	for i := range r.Candidates {
		if load(&r.Candidates[i]) < load(&r.Candidates[least]) {
			least = i
		}
	}
	if excess := load(&r.Candidates[chosen]) - load(&r.Candidates[least]); excess > 0 {
		one.best, one.regret = candidate(&r.Candidates[least]), float64(excess)
		d.byLoad = keepWorst(d.byLoad, one)
	}
}

// candidate is a copy that outlives its record.
func candidate(c *trace.Candidate) trace.Candidate {
	copied := *c
	copied.Breakdown = nil
	for _, of := range []**int32{&copied.QueueDepth, &copied.BatchSize, &copied.InFlight} {
		if *of != nil {
			n := **of
			*of = &n
		}
	}
	if c.UsedBlocks != nil {
		n := *c.UsedBlocks
		copied.UsedBlocks = &n
	}
	return copied
}

// load is the requests that an instance has, as far as the router knows.
func load(c *trace.Candidate) int32 {
	n := int32(0)
	for _, of := range []*int32{c.QueueDepth, c.BatchSize} {
		if of != nil {
			n += *of
		}
	}
	return n
}

// keepWorst inserts a decision by its regret, then by its request.
func keepWorst(list []decision, d decision) []decision {
	at, _ := slices.BinarySearchFunc(list, d, func(a, b decision) int {
		return cmp.Or(cmp.Compare(b.regret, a.regret), cmp.Compare(a.request, b.request))
	})
	if at == mostRegrets {
		return list
	}
	list = slices.Insert(list, at, d)
	return list[:min(len(list), mostRegrets)]
}

// watch runs policies once more in a scenario, with its first seed, and looks at their decisions.
func watch(ctx context.Context, c *Scenario, p *policies, o Options) (*actors.Result, *decisions, error) {
	cfg, err := c.run(p.with(c), c.Seeds[0], o)
	if err != nil {
		return nil, nil, err
	}
	d := &decisions{}
	cfg.Tracing = actors.Tracing{Level: trace.Decisions, Consumer: d, Counterfactual: maxCandidates}
	r, err := actors.Run(ctx, cfg)
	return r, d, err
}

// maxCandidates is how many instances a decision lists; in larger clusters the best ones.
const maxCandidates = 1024

// lines are the decisions in words.
func (d *decisions) lines() (lines []string) {
	by := "the policy's own scores"
	if !d.scores {
		by = "load, as the policy gives no scores: minus the requests of an instance"
	}
	list, what := d.byScore, fmt.Sprintf("Regrets by %s (%d of %d decisions have one), the largest:", by, d.regretted, d.all)
	if len(list) == 0 {
		list, what = d.byLoad, fmt.Sprintf("All %d routing decisions took the instance with the best score of the policy. Decisions with the most load above the least loaded instance:", d.all)
	}
	if len(list) == 0 {
		return nil
	}
	lines = append(lines, what)
	for i := range list {
		lines = append(lines, list[i].text())
	}
	return lines
}

func (d *decision) text() string {
	text := fmt.Sprintf("- request %d at %.2f s (%d prompt tokens", d.request, d.at.Sub(0).Seconds(), d.input)
	if d.class != "" {
		text += ", class " + clip(d.class, maxName)
	}
	text += fmt.Sprintf("): sent to instance %d (%s), instance %d had %s", d.chosen.Instance, seen(&d.chosen), d.best.Instance, seen(&d.best))
	if d.ttft != nil {
		text += fmt.Sprintf("; its TTFT was %s ms", number(float64(*d.ttft)/1000))
	}
	return text + "."
}

// seen is the signals that a decision saw of an instance.
func seen(c *trace.Candidate) string {
	var parts []string
	for _, s := range []struct {
		name string
		of   *int32
	}{{"queue", c.QueueDepth}, {"running", c.BatchSize}, {"in flight", c.InFlight}} {
		if s.of != nil {
			parts = append(parts, fmt.Sprintf("%s %d", s.name, *s.of))
		}
	}
	if c.UsedBlocks != nil {
		parts = append(parts, fmt.Sprintf("KV blocks %d", *c.UsedBlocks))
	}
	return strings.Join(append(parts, "score "+number(c.Score)), ", ")
}
