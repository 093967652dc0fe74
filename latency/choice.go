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

// shippedSet is a PhysicsSet with what its own JSON leaves out.
type shippedSet struct {
	PhysicsSet
	Async   bool `json:"async_scheduling"`
	Chunked bool `json:"chunked_prefill"`
}

// PhysicsSets are the coefficient sets that come with the program, in order of
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

// Hold-outs that say something of a run: of another load of a measured model,
// of a model that was not measured, of the same load a little later. blis train
// writes them.
const (
	HeldOutWorkload = "leave-one-workload-out"
	HeldOutModel    = "leave-one-model-out"
	HeldOutTail     = "last part of each run"
)

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

// RooflineStated is roofline's error on the runs that the shipped sets of H100
// were fitted to (vLLM 0.15.1, four models). Nothing of it was fitted to them.
// blis validate makes the figures; docs/latency.md has the table.
func RooflineStated() Stated {
	return Stated{HeldOut: "on H100, not fitted", TTFT: 3.07, TPOT: 14.22, E2E: 14.05, Runs: 9}
}

// StatedError is the error that applies to a run with the given reasons of
// Coverage: for a measured model the error on a held-out load, for another model of
// the kind the error on a held-out model. It is nil if no stated error applies.
func (s *PhysicsSet) StatedError(reasons []string) *Stated {
	labels := []string{HeldOutWorkload, HeldOutModel, HeldOutTail}
	for _, r := range reasons {
		switch {
		case strings.HasPrefix(r, ModelNotMeasured):
			labels = []string{HeldOutModel}
		case !strings.HasPrefix(r, AsyncDiffers):
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

// stated is what the set states under one hold-out, nil unless that is all of
// TTFT, TPOT and E2E: a set that was fitted to steps says nothing of requests.
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

// Choice is a latency model and what is stated of its error.
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
// coverage includes the run, and the next, nil if there is none. Roofline covers
// everything. Whether batches are formed ahead is left to the set: a run that
// wants it otherwise is warned by Coverage.
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

// NearMiss is the sets that Choose would have taken if one setting of the run were
// different: their stated errors are lower than the error of its choice.
type NearMiss struct {
	Setting string   // setting of a run: tp, hardware, …
	Value   string   // as it is: "TP 8 (fitted to 1 to 4)"
	Sets    []string // names
}

// NearMisses is what separates a run from sets that cover all of it but one
// setting. Runs on the two sides of it get different latency models. If best is a
// set, sets of other models and GPUs do not count: each has its own.
func NearMisses(d *Deployment, e EngineLimits, best Choice) []NearMiss {
	var list []NearMiss
	for _, set := range PhysicsSets() {
		gap, stated := set.onlyGap(d, e)
		if stated == nil || stated.E2E >= best.Stated.E2E || best.Set != nil && (gap.Setting == "model" || gap.Setting == "hardware") {
			continue
		}
		i := slices.IndexFunc(list, func(m NearMiss) bool { return m.Setting == gap.Setting && m.Value == gap.Value })
		if i < 0 {
			i = len(list)
			list = append(list, NearMiss{Setting: gap.Setting, Value: gap.Value})
		}
		list[i].Sets = append(list[i].Sets, set.Name)
	}
	return list
}

// onlyGap is the one setting that is against the set, and what the set would
// state for the run without it; nil where nothing or more is.
func (s *PhysicsSet) onlyGap(d *Deployment, e EngineLimits) (gap Gap, stated *Stated) {
	var mild []string
	for _, g := range s.Gaps(d, e, s.TrainedOn.AsyncScheduling) {
		switch {
		case strings.HasPrefix(g.Reason, ModelNotMeasured):
			mild = append(mild, g.Reason)
		case gap.Setting == "":
			gap = g
		case gap.Setting != g.Setting:
			return gap, nil
		}
	}
	if gap.Setting == "" {
		return gap, nil
	}
	return gap, s.StatedError(mild)
}
