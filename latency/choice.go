package latency

import (
	_ "embed" // for the sets
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// physicsSets are the files of data/physics as one JSON text, which is read in a
// tenth of the time. A test writes it.
//
//go:embed data/physics.json
var physicsSets []byte

// shippedSet is a PhysicsSet with two fields of Training that have no JSON name.
type shippedSet struct {
	PhysicsSet
	Async   bool `json:"async_scheduling"`
	Chunked bool `json:"chunked_prefill"`
}

// PhysicsSets returns the coefficient sets that come with the program, in order of
// name. They are shared and must not be changed.
var PhysicsSets = sync.OnceValue(func() []*PhysicsSet {
	var shipped []shippedSet
	if err := json.Unmarshal(physicsSets, &shipped); err != nil {
		panic("latency: embedded physics.json: " + err.Error())
	}
	list := make([]*PhysicsSet, len(shipped))
	for i := range shipped {
		list[i] = &shipped[i].PhysicsSet
		list[i].TrainedOn.AsyncScheduling, list[i].TrainedOn.ChunkedPrefill = shipped[i].Async, shipped[i].Chunked
	}
	return list
})

// FindPhysicsSet returns the shipped set with this name. The error for an
// unknown name lists the known ones.
func FindPhysicsSet(name string) (*PhysicsSet, error) {
	var known []string
	for _, s := range PhysicsSets() {
		if strings.EqualFold(s.Name, name) {
			return s, nil
		}
		known = append(known, s.Name)
	}
	return nil, &Unknown{Kind: "coefficient set", Name: name, Nearest: nearest(name, known, 3), Remedy: "or give a file that blis train wrote"}
}

// Stated is the stated error of a latency model: medians over runs of the absolute
// errors of means, in percent.
type Stated struct {
	HeldOut         string
	TTFT, TPOT, E2E float64
	Runs            int
}

// String is "E2E 2.3 %, TPOT 2.4 %, TTFT 2.2 % (median of 9 runs, …)".
func (s *Stated) String() string {
	return fmt.Sprintf("E2E %.1f %%, TPOT %.1f %%, TTFT %.1f %% (median of %d runs, %s)", s.E2E, s.TPOT, s.TTFT, s.Runs, s.HeldOut)
}

// RooflineStated returns the error of roofline on the runs to which the shipped sets
// of H100 were fitted (vLLM 0.15.1, four models). Roofline itself was not fitted.
// blis validate computes the figures; docs/latency.md has the table.
func RooflineStated() Stated {
	return Stated{HeldOut: "on H100, not fitted", TTFT: 3.07, TPOT: 14.22, E2E: 14.05, Runs: 9}
}

// StatedError returns the stated error for a run with these reasons of Coverage: on a
// held-out load for a measured model, on a held-out model for another model of the
// kind. It is nil if no stated error applies.
func (s *PhysicsSet) StatedError(reasons []string) *Stated {
	labels := []string{HeldOutWorkload, HeldOutModel, HeldOutTail}
	for _, r := range reasons {
		switch {
		case strings.HasPrefix(r, ModelNotMeasured):
			labels = []string{HeldOutModel}
		case !strings.HasPrefix(r, asyncDiffers):
			return nil
		}
	}
	for _, label := range labels {
		if stated := s.stated(label); stated != nil {
			return stated
		}
	}
	return nil
}

// stated returns the errors under one hold-out, nil if TTFT, TPOT or E2E is missing:
// a set that was fitted to steps has no errors of requests.
func (s *PhysicsSet) stated(label string) *Stated {
	stated := Stated{HeldOut: label}
	known := 0
	for _, m := range []struct {
		metric string
		into   *float64
	}{{"ttft", &stated.TTFT}, {"tpot", &stated.TPOT}, {"e2e", &stated.E2E}} {
		for _, e := range s.Errors {
			if e.HeldOut == label && e.Statistic == "mean" && e.Metric == m.metric {
				*m.into, stated.Runs = e.MedianAPEPercent, e.Runs
				known++
				break
			}
		}
	}
	if known < 3 {
		return nil
	}
	return &stated
}

// Choice is a latency model with its stated error.
type Choice struct {
	Set    *PhysicsSet // of physics; nil: roofline
	Stated Stated
}

// Name is "physics h100" or "roofline".
func (c *Choice) Name() string {
	if c.Set == nil {
		return "roofline"
	}
	return "physics " + c.Set.Name
}

// Choose returns the latency model with the lowest stated error of E2E whose
// coverage includes the run, and the next best, nil if there is none. Roofline covers
// everything. Async scheduling is assumed to be as in the data of the set; Coverage
// warns if it is not.
func Choose(d *Deployment, e EngineLimits) (best Choice, next *Choice) {
	best = Choice{Stated: RooflineStated()}
	for _, set := range PhysicsSets() {
		stated := set.StatedError(set.Coverage(d, e, set.TrainedOn.AsyncScheduling))
		if stated == nil {
			continue
		}
		c := Choice{set, *stated}
		if c.Stated.E2E < best.Stated.E2E {
			best, c = c, best
		}
		if next == nil || c.Stated.E2E < next.Stated.E2E {
			next = &c
		}
	}
	return best, next
}

// NearMiss names the sets that Choose would have taken if one setting of the run were
// different: their stated errors are lower than the error of its choice.
type NearMiss struct {
	Setting string   // setting of a run: tp, hardware, …
	Value   string   // of the run, and what was measured: "TP 8 (fitted to 1 to 4)"
	Sets    []string // names
}

// NearMisses returns the sets that cover all settings of a run but one, by setting: a
// change of this setting changes the latency model. If best is a set, sets of other
// models and GPUs do not count: each has its own.
func NearMisses(d *Deployment, e EngineLimits, best Choice) []NearMiss {
	var list []NearMiss
	for _, set := range PhysicsSets() {
		gap, stated := set.onlyGap(d, e)
		if stated == nil || stated.E2E >= best.Stated.E2E || best.Set != nil && (gap.setting == "model" || gap.setting == "hardware") {
			continue
		}
		i := slices.IndexFunc(list, func(m NearMiss) bool { return m.Setting == gap.setting && m.Value == gap.value })
		if i < 0 {
			i = len(list)
			list = append(list, NearMiss{Setting: gap.setting, Value: gap.value})
		}
		list[i].Sets = append(list[i].Sets, set.Name)
	}
	return list
}

// onlyGap returns the one setting that the set does not cover, and the stated error
// if it did; nil if it covers all settings or two are not covered.
func (s *PhysicsSet) onlyGap(d *Deployment, e EngineLimits) (gap coverageGap, stated *Stated) {
	var mild []string
	for _, g := range s.gaps(d, e, s.TrainedOn.AsyncScheduling) {
		switch {
		case strings.HasPrefix(g.reason, ModelNotMeasured):
			mild = append(mild, g.reason)
		case gap.setting == "":
			gap = g
		case gap.setting != g.setting:
			return gap, nil
		}
	}
	if gap.setting == "" {
		return gap, nil
	}
	return gap, s.StatedError(mild)
}
