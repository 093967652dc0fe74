package calibrate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"blis/latency"
)

// Each group of closed loops in turn is one that nobody measured: sets learned from the
// others, and state what they were off there. What auto takes is compared with roofline;
// roofline, where it is taken, with the set of the model.
func TestChoiceForGroupsHeldOut(t *testing.T) {
	fit, loops, o := publicLoopFit(t)
	held, byWeight := map[string]*LoopValidation{}, map[float64]*LoopValidation{} // by set: the group held out of the fit to its data
	for _, set := range latency.PhysicsSets() {
		if !strings.HasPrefix(set.Name, "hgx") {
			continue
		}
		if o.Own = 0; len(set.TrainedOn.Models) == 1 {
			o.Own = ownWeight(t, set)
		}
		if byWeight[o.Own] == nil {
			v, err := fit.HoldOutLoops(t.Context(), nil, nil, loops, ByGroup, o)
			if err != nil {
				t.Fatal(err)
			}
			byWeight[o.Own] = v
		}
		held[set.Name] = byWeight[o.Own]
	}
	h100, err := latency.FindPhysicsSet("h100")
	if err != nil {
		t.Fatal(err)
	}
	others, err := ValidateClosedLoops(t.Context(), loops, []Subject{NewSubject("roofline", nil), NewSubject("physics", h100)}, 2, func(int, int, string) {})
	if err != nil {
		t.Fatal(err)
	}
	roofline := &others[0]
	held["h100"] = &others[1] // it has seen no closed loop
	groups, better, near := 0, 0, 0
	for _, g := range roofline.Groups {
		if g.Points < 5 {
			continue
		}
		g.LoopErrors = LoopErrors{}
		d, limits := ofGroup(loops, g)
		var sets []*latency.PhysicsSet
		own := ""
		for _, set := range latency.PhysicsSets() {
			if v := held[set.Name]; v != nil && v != &others[1] {
				c := *set
				c.Errors = statedErrors(latency.HeldOutGroup, v.withoutGroup(g, set))
				set = &c
			}
			sets = append(sets, set)
			if len(set.TrainedOn.Models) == 1 && slices.ContainsFunc(set.TrainedOn.Models, d.Model.Is) && held[set.Name] != nil {
				own = set.Name
			}
		}
		best, _ := latency.ChooseFrom(sets, latency.RooflineRecord, d, limits)
		taken, other := roofline.meanError(g), held[own].meanError(g)
		if best.Set != nil {
			other, taken = taken, held[best.Set.Name].meanError(g)
		}
		t.Logf("%s on %s, %s, TP %d: %s %.1f %%, the other %.1f %%", g.Model, g.GPU, g.Precision, g.TP, best.Name(), 100*taken, 100*other)
		groups++
		if taken <= other {
			better++
		}
		if taken <= other+0.02 {
			near++
		}
	}
	t.Logf("%d groups: the better one is taken in %d, one within 2 points of it in %d", groups, better, near)
	if groups != 40 || better < 29 || near < 34 {
		t.Error("want 29 and 34 of 40")
	}
}

// ofGroup is the server of a group.
func ofGroup(loops []*ClosedLoopSample, g LoopGroup) (*latency.Deployment, latency.EngineLimits) {
	i := slices.IndexFunc(loops, func(l *ClosedLoopSample) bool { return l.Group() == g })
	return loops[i].Server.Deployment, loops[i].Server.Limits
}

// withoutGroup returns the benchmarks that a set was fitted to, without those of a group.
func (v *LoopValidation) withoutGroup(g LoopGroup, set *latency.PhysicsSet) []placedRun {
	var rest LoopValidation
	for i := range v.Results {
		if s := v.Results[i].Sample; s.Group() != g && slices.Contains(set.TrainedOn.Models, s.Server.Deployment.Model.Name) {
			rest.Results = append(rest.Results, v.Results[i])
		}
	}
	return rest.placed()
}

// meanError is the mean absolute error of the benchmarks of a group.
func (v *LoopValidation) meanError(g LoopGroup) float64 {
	sum, n := 0.0, 0
	for i := range v.Results {
		if r := &v.Results[i]; r.Missing == "" && r.Sample.Group() == g {
			sum, n = sum+math.Abs(r.Error()), n+1
		}
	}
	return sum / float64(n)
}
