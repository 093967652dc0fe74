package main

import (
	"blis/policy"
	"blis/vtime"
)

var preempted = policy.RegisterSignal("preempted", func(s *policy.InstanceState) float64 { return float64(s.Preemptions) })

func init() {
	policy.RegisterScorer(policy.Scorer{Name: "calm", Help: "1/(1 + preemptions)", Observes: preempted,
		Score: func(view *policy.View, i int) float64 { return 1 / (1 + view.Value(preempted, i)) }})
	policy.Register(policy.Template{Name: "stride", Help: "every step-th instance in turn",
		Parameters: []policy.Parameter{{Name: "step", Type: policy.Count, Default: "3", Min: 1, Max: 9, Help: "instances to go on"}}},
		func(v policy.Values, _ policy.Env) (policy.Routing, error) {
			return &stride{step: int(v.Number("step"))}, nil
		})
}

// stride takes every step-th instance in turn.
type stride struct{ step, next int }

func (*stride) Observes() policy.Signals { return policy.NoSignals }

func (s *stride) Route(_ *policy.Request, _ float64, _ *policy.RouterState, view *policy.View, _ vtime.Time) policy.RoutingDecision {
	for k := range view.Len() {
		if i := (s.next + k) % view.Len(); view.Routable(i) {
			s.next = i + s.step
			return policy.RoutingDecision{Target: i}
		}
	}
	return policy.RoutingDecision{Target: -1, Reason: policy.NoInstance}
}
