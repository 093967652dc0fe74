package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"blis/vtime"
	"blis/workload"
)

// step is a request that gets its priority, and the request that it is put before;
// −1: none.
type step struct {
	class    string
	arrival  vtime.Time
	priority float64
	before   int64
	by       float64
}

func TestClassInversions(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"the urgent one first and higher", []step{{"critical", 0, 2, -1, 0}, {"batch", 1, 1, -1, 0}}},
		{"the same for both", []step{{"critical", 0, 2, -1, 0}, {"batch", 1, 2, -1, 0}}},
		{"the other higher", []step{{"critical", 0, 1, -1, 0}, {"batch", 1, 3, 0, 2}}},
		{"nobody before it", []step{{"batch", 0, 9, -1, 0}, {"critical", 1, 1, -1, 0}}},
		{"at the same time", []step{{"critical", 5, 1, -1, 0}, {"batch", 5, 3, 0, 2}}},
		{"the urgent one arrived later", []step{{"critical", 8, -10, -1, 0}, {"batch", 3, -5, -1, 0}}},
		{"in one class", []step{{"standard", 0, 1, -1, 0}, {"standard", 1, 3, -1, 0}, {"interactive", 2, 5, -1, 0}}},
		{"the last one counts", []step{{"critical", 0, 1, -1, 0}, {"critical", 1, 5, -1, 0}, {"batch", 2, 3, -1, 0}}},
		{"of two classes the farthest below", []step{{"realtime", 0, 2, -1, 0}, {"interactive", 1, 1, -1, 0}, {"sheddable", 2, 3, 1, 2}}},
		{"of equal ones the most urgent", []step{{"realtime", 0, 1, -1, 0}, {"batch", 1, 1, -1, 0}, {"background", 2, 3, 0, 2}}},
		{"other classes and none take no part", []step{{"critical", 0, 1, -1, 0}, {"gold", 1, 9, -1, 0}, {"", 2, 9, -1, 0}, {"batch", 3, 1, -1, 0}}},
		{"farther than numbers reach", []step{{"critical", 0, -math.MaxFloat64, -1, 0}, {"batch", 1, math.MaxFloat64, 0, math.MaxFloat64}}},
	} {
		var labels workload.Labels
		found := NewClassInversions(&labels)
		for i, s := range c.steps {
			x, inverted := found.Give(&Request{Identity: workload.Identity{Tags: workload.Tags{Class: labels.Classes.Label(s.class)}, ID: int64(i), Arrival: s.arrival}}, s.priority)
			if inverted != (s.before >= 0) || inverted && (x.Urgent != s.before || x.By != s.by) {
				t.Errorf("%s: request %d: before %+v: %v, want before %d by %v", c.name, i, x, inverted, s.before, s.by)
			}
		}
	}
}

func TestNoClassInversionWithoutNames(t *testing.T) {
	found := NewClassInversions(nil)
	for i := range int64(10) {
		if x, inverted := found.Give(&Request{Identity: workload.Identity{Tags: workload.Tags{Class: workload.Label(i % 3)}, ID: i}}, float64(i)); inverted {
			t.Errorf("request %d: %+v", i, x)
		}
	}
}

// TestUrgencyIsTheOrderOfScores: what counts as more urgent has the higher score
// with slo-based, so that it never raises an inversion, and all the names of a
// place have the same.
func TestUrgencyIsTheOrderOfScores(t *testing.T) {
	labels := workload.Labels{}
	last := math.Inf(1)
	p := mustPrioritise(t, "slo-based", Env{Labels: &labels})
	for place, names := range urgency {
		score := p.Score(&Request{Identity: workload.Identity{Tags: workload.Tags{Class: labels.Classes.Label(names[0])}}}, &state, 0)
		if score >= last {
			t.Errorf("%s scores %v, the class before it %v", names[0], score, last)
		}
		last = score
		for _, name := range names {
			if s := p.Score(&Request{Identity: workload.Identity{Tags: workload.Tags{Class: labels.Classes.Label(name)}}}, &state, 0); s != score || urgencyOf(name) != place {
				t.Errorf("%s scores %v at place %d, %s %v at %d", name, s, urgencyOf(name), names[0], score, place)
			}
		}
	}
	for _, class := range workload.Classes() {
		if urgencyOf(class) == len(urgency) {
			t.Errorf("%s has no place", class)
		}
	}
}

// TestClassInversionsTwin compares with a search through all that came before.
func TestClassInversionsTwin(t *testing.T) {
	for seed := range uint64(200) {
		d := rand.New(rand.NewPCG(seed, 21))
		var labels workload.Labels
		classes := []string{"sheddable", "critical", "batch", "", "interactive", "background", "standard", "gold", "realtime"}
		found := NewClassInversions(&labels)
		type given struct {
			Request
			place    int
			priority float64
		}
		var all []given
		inversions := 0
		for id := range int64(200) {
			class := classes[d.IntN(1+d.IntN(len(classes)))]
			g := given{Request{Identity: workload.Identity{Tags: workload.Tags{Class: labels.Classes.Label(class)}, ID: id, Arrival: vtime.Time(id/2 + d.Int64N(4))}}, urgencyOf(class), float64(d.IntN(6))}
			want, by := int64(-1), 0.0
			for place := range min(g.place, len(urgency)) {
				for k := len(all) - 1; k >= 0 && g.place < len(urgency); k-- {
					if all[k].place != place {
						continue
					}
					if gap := g.priority - all[k].priority; all[k].Arrival <= g.Arrival && gap > by {
						want, by = all[k].ID, gap
					}
					break
				}
			}
			all = append(all, g)
			x, inverted := found.Give(&g.Request, g.priority)
			if inverted != (want >= 0) || inverted && (x != ClassInversion{want, by}) {
				t.Fatalf("seed %d, request %d: %+v: %v, want before %d by %v", seed, id, x, inverted, want, by)
			}
			if inverted {
				inversions++
			}
		}
		if inversions == 0 {
			t.Errorf("seed %d: no inversion", seed)
		}
	}
}

func TestClassInversionsDoNotAllocate(t *testing.T) {
	labels := named("critical", "batch")
	found := NewClassInversions(labels)
	id := int64(0)
	if n := testing.AllocsPerRun(100, func() {
		found.Give(&Request{Identity: workload.Identity{Tags: workload.Tags{Class: workload.Label(id % 2)}, ID: id, Arrival: vtime.Time(id)}}, float64(id))
		id++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
