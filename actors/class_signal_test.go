package actors

import (
	"math"
	"testing"

	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// classWatch is an autoscaler that writes down what it is told of each class,
// and how long ago the number of replicas changed. It asks for a second one at
// the second check.
type classWatch struct{ seen *[]classSeen }

type classSeen struct {
	at      vtime.Time
	classes []policy.ClassService
	ago     vtime.Duration
	ever    bool
}

func (classWatch) Observes() policy.Signals { return policy.ClassLatency }

func (w classWatch) Evaluate(c *policy.AutoscaleContext) policy.ScaleDecision {
	s := classSeen{at: c.Now}
	s.ago, s.ever = c.SinceLastScale()
	for class := range c.State.Classes() {
		s.classes = append(s.classes, c.State.Class(workload.Label(class)))
	}
	*w.seen = append(*w.seen, s)
	if len(*w.seen) == 2 {
		return policy.ScaleDecision{Action: policy.ScaleUp, Target: 2, Reason: policy.ByPolicy}
	}
	return policy.ScaleDecision{Target: c.Replicas}
}

// What a policy is told of a class at the end is what the report says of it,
// p99 and attainment, when no more than a hundred requests of it ended.
func TestAutoscalersSeeEachClass(t *testing.T) {
	c := scaled(1)
	c.MaxReplicas, c.SLOTargets = 2, "gold:ttft=1100us;silver:e2e=5ms"
	var labels workload.Labels
	gold, silver := labels.Classes.Label("gold"), labels.Classes.Label("silver")
	var requests []workload.Request
	for i := range 60 {
		r := request(vtime.Time(1500*i), 10+int32(i%7), 1+int32(i%9))
		r.Class = []workload.Label{gold, silver}[i%2]
		requests = append(requests, r)
	}
	last := request(400_000, 10, 30)
	last.Class = gold
	source, err := workload.NewSlice(append(requests, last), labels)
	if err != nil {
		t.Fatal(err)
	}
	c.Custom.Source = source
	c.MeasureTo = 300_000 // without the last
	var seen []classSeen
	c.Custom.Autoscale = func(policy.Env) policy.Autoscale {
		seen = nil
		return classWatch{&seen}
	}
	s, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	final := seen[len(seen)-1]
	if len(final.classes) != 2 || final.classes[0].Ended != 30 || final.classes[1].Ended != 30 {
		t.Fatalf("at %v: %+v", final.at, final.classes)
	}
	for i, of := range final.classes {
		scope := s.Report.PerClass[i].Scope
		share, _ := of.Attainment()
		for what, pair := range map[string][2]float64{
			"TTFT": {of.TTFT, scope.TTFT.P99}, "TPOT": {of.TPOT, scope.TPOT.P99}, "E2E": {of.E2E, scope.E2E.P99}, "attainment": {share, *scope.SLOAttainment},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-6 {
				t.Errorf("class %d: %s %v, the report says %v", i, what, pair[0], pair[1])
			}
		}
		if int64(of.TPOTs) != scope.TPOT.N || share == 0 || share == 1 {
			t.Errorf("class %d: %+v", i, of)
		}
	}
	if seen[1].ever || !seen[2].ever || seen[2].ago != seen[2].at.Sub(seen[1].at) || final.ago != final.at.Sub(seen[1].at) {
		t.Errorf("time since the last change: %+v", seen[:3])
	}
}
