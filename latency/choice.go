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

// Choice is a latency model with its stated error.
type Choice struct {
	Set    *PhysicsSet // of physics; nil: roofline
	Stated *Stated     // for the run; nil: none applies, which is roofline alone
}

// Name is "physics h100" or "roofline".
func (c *Choice) Name() string {
	if c.Set == nil {
		return "roofline"
	}
	return "physics " + c.Set.Name
}

// Choose returns the latency model with the lowest expected error of E2E for the run,
// and the next best, nil if there is none. A set is a candidate if one of its stated
// errors applies to the run. Roofline always is; where it was not measured it comes
// last. Where a set was fitted to the model of the run alone, what was not fitted to this
// model comes after what was. Async scheduling is assumed to be as in the data of the set.
//
// The expected error is a mean over models, not a median over runs: a median says
// nothing of a model that is far off, and a model with many runs would dominate it. A
// high quantile over models was the alternative; with four models that is their
// maximum, and the mean is near it when one model is far off.
//
// Errors of what has not seen the model of the run are of other models, and of other
// servers. So they can be lower than that of the set of this model, which is still the
// closer one: a set of Qwen3-32B on H100 is off by 5 %, and one of four other models there,
// stated to be off by 2 %, by 10 to 17 % where it meets Qwen3-32B.
func Choose(d *Deployment, e EngineLimits) (best Choice, next *Choice) {
	return ChooseFrom(PhysicsSets(), RooflineRecord, d, e)
}

// recordOf returns what is known of roofline's error for a deployment, as RooflineRecord.
type recordOf func(*Deployment) *PhysicsSet

// ChooseFrom is Choose with other sets and another record of roofline than those that come
// with the program.
func ChooseFrom(sets []*PhysicsSet, roofline func(*Deployment) *PhysicsSet, d *Deployment, e EngineLimits) (best Choice, next *Choice) {
	var list []Choice
	own := false
	for _, set := range sets {
		if c := (Choice{set, set.statedFor(d, e)}); c.Stated != nil {
			list, own = append(list, c), own || c.Stated.FittedTo == 1
		}
	}
	best = Choice{Stated: roofline(d).statedFor(d, e)}
	for _, c := range list {
		if c.before(&best, own) {
			best, c = c, best
		}
		if next == nil || c.before(next, own) {
			next = &c
		}
	}
	return best, next
}

// before reports whether c is chosen rather than other. own: one of the sets was fitted to
// the model of the run alone.
func (c *Choice) before(other *Choice, own bool) bool {
	if own && c.Stated.seen() != other.Stated.seen() {
		return c.Stated.seen()
	}
	return c.Stated.below(other.Stated)
}

// statedFor is StatedError for a run with async scheduling as in the data.
func (s *PhysicsSet) statedFor(d *Deployment, e EngineLimits) *Stated {
	return s.StatedError(d, s.Coverage(d, e, s.TrainedOn.AsyncScheduling))
}

// NearMiss names the sets that Choose would have taken if one setting of the run were
// different: their expected errors are lower than the error of its choice.
type NearMiss struct {
	Setting string   // setting of a run: tp, hardware, …
	Value   string   // of the run, and what was measured: "TP 8 (measured: 1 to 4)"
	At      string   // with which the sets are chosen, "TP 2"; empty: any value that was measured
	Sets    []string // names
}

// NearMisses returns the sets that cover all settings of a run but one, by setting: a
// change of this setting changes the latency model. If the error of best is known, sets
// of other kinds of models and of other GPUs do not count: each has its own.
func NearMisses(d *Deployment, e EngineLimits, best Choice) []NearMiss {
	return nearMisses(PhysicsSets(), RooflineRecord, d, e, best)
}

func nearMisses(sets []*PhysicsSet, roofline recordOf, d *Deployment, e EngineLimits, best Choice) []NearMiss {
	var list []NearMiss
	for _, set := range sets {
		gap, stated := set.onlyGap(d, e)
		if stated == nil || best.Stated != nil && (gap.setting == "model" || gap.setting == "hardware") {
			continue
		}
		if !set.wouldWin(sets, roofline, d, e, best, gap, stated) {
			continue
		}
		i := slices.IndexFunc(list, func(m NearMiss) bool { return m.Setting == gap.setting && m.Value == gap.value })
		if i < 0 {
			i = len(list)
			list = append(list, NearMiss{Setting: gap.setting, Value: gap.value})
		}
		list[i].Sets = append(list[i].Sets, set.Name)
	}
	if best.Set != nil { // a run at another TP says it, where it gets another set
		return list
	}
	return append(list, atOtherTPs(sets, roofline, d, e, best)...)
}

// wouldWin reports whether the set, of which stated is the error without its one gap, is
// chosen with a measured value of that setting.
func (s *PhysicsSet) wouldWin(sets []*PhysicsSet, roofline recordOf, d *Deployment, e EngineLimits, best Choice, gap coverageGap, stated *Stated) bool {
	if gap.setting == "tp" {
		other := *d
		other.TP = min(max(d.TP, s.TrainedOn.TPMin), s.TrainedOn.TPMax)
		there, _ := ChooseFrom(sets, roofline, &other, e)
		return there.Set == s
	}
	rival := best.Stated
	if rival == nil { // roofline, which may have been measured with the other value too
		if same, known := roofline(d).onlyGap(d, e); same.setting == gap.setting {
			rival = known
		}
	}
	c := Choice{s, stated}
	return c.before(&Choice{best.Set, rival}, stated.FittedTo == 1)
}

// atOtherTPs returns the sets that cover the run and are chosen at another TP alone, as
// their errors there are other than here.
func atOtherTPs(sets []*PhysicsSet, roofline recordOf, d *Deployment, e EngineLimits, best Choice) (list []NearMiss) {
	if !slices.ContainsFunc(sets, (*PhysicsSet).variesWithTP) {
		return nil
	}
	for tp := 1; tp <= 8; tp *= 2 {
		other := *d
		other.TP = tp
		if tp == d.TP || other.Validate() != nil {
			continue
		}
		there, _ := ChooseFrom(sets, roofline, &other, e)
		if there.Set == nil || there.Set == best.Set || there.Set.statedFor(d, e) == nil {
			continue
		}
		list = append(list, NearMiss{"tp", fmt.Sprintf("TP %d", d.TP), fmt.Sprintf("TP %d", tp), []string{there.Set.Name}})
	}
	return list
}

// variesWithTP reports whether the set states errors of single TP degrees.
func (s *PhysicsSet) variesWithTP() bool {
	return slices.ContainsFunc(s.Errors, func(e HeldOutError) bool { return e.TP != 0 })
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
	return gap, s.StatedError(nil, mild)
}
