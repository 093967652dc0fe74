package script

import (
	"math"

	"go.starlark.net/starlark"

	"blis/policy"
	"blis/vtime"
)

// decider is what policies about requests have in common.
type decider struct {
	*machine
	function *starlark.Function
	req      request
	all      *instances
	args     [2]starlark.Value
	given    int // arguments that the function takes
}

// turns tell the draws of policies about the same request apart; 0 is taken.
const (
	routingDraws = iota
	admissionDraws
	priorityDraws
	orderDraws
	scaleDraws
	tags
)

// newDecider makes a policy that calls a function of a program.
func newDecider(kind policy.Kind, name string, turn uint32, p *program, env policy.Env, maxSteps uint64) (decider, error) {
	m, err := newMachine(p, env, maxSteps)
	if err != nil {
		return decider{}, err
	}
	m.draws.kind = turn
	d := decider{machine: m, req: request{of: m, kind: kind}, all: newInstances(m)}
	if d.function, err = m.function(name, 1, 2); err != nil {
		return decider{}, err
	}
	if d.function == nil {
		return decider{}, m.missing(name)
	}
	d.given = arity(d.function, 2)
	return d, nil
}

// Observes implements the policies: what the program may read.
func (d *decider) Observes() policy.Signals { return d.program.signals }

// decide calls the function about a request.
func (d *decider) decide(req *policy.Request, st *policy.RouterState, view *policy.View, now vtime.Time) starlark.Value {
	d.prepare(req, st, view, now)
	d.args = [2]starlark.Value{&d.req, d.all}
	return d.call(d.function, d.args[:d.given])
}

// prepare shows the program a decision.
func (d *decider) prepare(req *policy.Request, st *policy.RouterState, view *policy.View, at vtime.Time) {
	d.begin()
	d.now = now{at: at, view: view, router: st}
	d.draws.about(req)
	d.req.identity, d.req.full = &req.Identity, req
	d.all.begin(routable)
}

// routing is a program's route.
type routing struct {
	decider
	filter *starlark.Function // nil: it has none
	lowest bool               // of equals the lowest index, else a draw
	scores []float64          // by instance
	out    []int32            // instances that the filter left out, ascending
}

func newRouting(p *program, env policy.Env, maxSteps uint64, lowest bool) (policy.Routing, error) {
	d, err := newDecider(policy.RoutingKind, "route", routingDraws, p, env, maxSteps)
	if err != nil {
		return nil, err
	}
	filter, err := d.machine.function("filter", 1, 2)
	if err != nil {
		return nil, err
	}
	return &routing{decider: d, filter: filter, lowest: lowest}, d.findHints()
}

// Route implements policy.Routing.
func (r *routing) Route(req *policy.Request, priority float64, st *policy.RouterState, view *policy.View, now vtime.Time) policy.RoutingDecision {
	r.prepare(req, st, view, now)
	r.req.priority, r.req.scored = priority, true
	if len(r.all.rows) == 0 {
		return policy.RoutingDecision{Target: -1, Reason: policy.NoInstance}
	}
	r.args = [2]starlark.Value{&r.req, r.all}
	r.leaveOut()
	d := r.choose(req, view)
	d.FilteredOut = r.out
	return d
}

// choose asks the program about the instances that it is shown.
func (r *routing) choose(req *policy.Request, view *policy.View) policy.RoutingDecision {
	switch answer := r.call(r.function, r.args[:r.given]).(type) {
	case starlark.Int:
		k, ok := answer.Int64()
		if !ok || k < 0 || k >= int64(len(r.all.rows)) {
			r.fail(ValueError, "returns %s: want the index of an instance, 0 to %d, or a score for each", clip(answer.String(), mostName), len(r.all.rows)-1)
		}
		return policy.RoutingDecision{Target: int(r.all.rows[k]), Reason: policy.ByPolicy}
	case *vec:
		return r.best(req, answer.data, view)
	case *starlark.List:
		scores, err := numbersOf(r.machine, "route", answer)
		if err != nil {
			r.fail(TypeError, "returns a list that is no list of numbers")
		}
		return r.best(req, scores, view)
	default:
		r.fail(TypeError, "returns a %s: want the index of an instance, like argmax(…), or a score for each", answer.Type())
	}
	return policy.RoutingDecision{}
}

// fail ends the run because of what the function answers.
func (d *decider) fail(kind ErrorKind, format string, args ...any) {
	d.answer(kind, d.function, format, args...)
}

// best chooses the instance with the largest score.
func (r *routing) best(req *policy.Request, scores []float64, view *policy.View) policy.RoutingDecision {
	if len(scores) != len(r.all.rows) {
		r.fail(ValueError, "returns %d scores: want one for each of %d instances", len(scores), len(r.all.rows))
	}
	top, equals := math.Inf(-1), 0
	for k, x := range scores {
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			r.fail(ValueError, "returns the score %v for entry %d: want finite numbers", x, k)
		case x > top:
			top, equals = x, 1
		case x == top:
			equals++
		}
	}
	skip := 0
	if equals > 1 && !r.lowest {
		skip = r.env.Draws.IntN(req, 0, equals)
	}
	target := -1
	for k, x := range scores {
		if x == top {
			if skip == 0 {
				target = int(r.all.rows[k])
				break
			}
			skip--
		}
	}
	return policy.RoutingDecision{Target: target, Reason: policy.BestScore, Scores: r.published(scores, view.Len())}
}

// published returns the scores by instance, −1 for those that are not routable.
func (r *routing) published(scores []float64, n int) []float64 {
	if cap(r.scores) < n {
		r.scores = make([]float64, n)
	}
	r.scores = r.scores[:n]
	if len(scores) < n {
		for i := range r.scores {
			r.scores[i] = -1
		}
	}
	for k, i := range r.all.rows {
		r.scores[i] = scores[k]
	}
	return r.scores
}
