package report

import (
	"math"

	"blis/actors"
	"blis/setup"
	"blis/study"
)

// capacitySchema names the form of the JSON result of blis capacity;
// docs/capacity.schema.json describes it.
const capacitySchema = "blis.capacity/v1"

// capacityJSON is the JSON result of blis capacity, in its order. Latencies are in ms.
type capacityJSON struct {
	Schema  string `json:"schema"`
	Partial bool   `json:"partial"`

	Outcome string       `json:"outcome"`
	Exact   bool         `json:"exact"`
	Over    string       `json:"over"`
	Holds   *capacityEnd `json:"holds"` // null: none is known
	Fails   *capacityEnd `json:"fails"`

	SLOs       []capacitySLO    `json:"slos"`
	Share      float64          `json:"share"`
	Confidence float64          `json:"confidence"`
	Precision  float64          `json:"precision"`
	Window     *capacityWindow  `json:"window"` // null: the whole trace
	Longer     *capacityLonger  `json:"longer_windows"`
	Windows    int              `json:"windows"`
	Tried      []capacityTried  `json:"tried"`
	Refused    []capacityRefuse `json:"refused"`

	Contradictions [][2]float64 `json:"contradictions"`
	Notes          []string     `json:"notes"`
	Setup          derived      `json:"setup"`
}

type capacityEnd struct {
	Value          float64         `json:"value"`
	Certified      bool            `json:"certified"`
	Passes         int             `json:"passes"`
	Windows        int             `json:"windows"`
	Attempts       int             `json:"attempts"`
	Requests       int64           `json:"mean_requests"`
	Lost           int64           `json:"lost_requests"`
	Grew           int             `json:"windows_with_growing_backlog"`
	Measured       []capacityValue `json:"measured"`
	GPUs           int             `json:"gpus"`
	CostPerMillion *float64        `json:"cost_per_mtok_output"`
	Serve          []string        `json:"serve"`
	Repeat         []string        `json:"repeat"` // empty: no window was decisive
	Config         actors.Config   `json:"config"`
}

// capacityValue is the measure of an SLO over the windows; null: not measured, or infinite.
type capacityValue struct {
	Mean  *float64 `json:"mean"`
	Worst *float64 `json:"worst"`
}

type capacitySLO struct {
	Class    *string `json:"class"` // null: all requests
	Measure  string  `json:"measure"`
	Operator string  `json:"operator"`
	Bound    float64 `json:"bound"`
	Unit     string  `json:"unit"`
}

type capacityWindow struct {
	WarmupMs float64 `json:"warmup_ms"`
	LengthMs float64 `json:"length_ms"`
	Scale    int     `json:"scale"`
}

type capacityLonger struct {
	Passes    int  `json:"passes"`
	Windows   int  `json:"windows"`
	Certified bool `json:"certified"`
}

// capacityTried is what windows of a load gave in the search.
type capacityTried struct {
	Value   float64 `json:"value"`
	Scale   int     `json:"scale"`
	Passes  int     `json:"passes"`
	Windows int     `json:"windows"`
}

type capacityRefuse struct {
	Value  float64 `json:"value"`
	Reason string  `json:"reason"`
}

func newCapacityJSON(c *Capacity) *capacityJSON {
	j := &capacityJSON{
		Schema: capacitySchema, Partial: c.Partial, Outcome: string(c.Outcome), Exact: c.Exact, Over: c.Asked.Over.Name,
		Holds: newCapacityEnd(c, c.Holds), Fails: newCapacityEnd(c, c.Fails), SLOs: []capacitySLO{},
		Share: c.Asked.Share, Confidence: c.Asked.Confidence, Precision: c.Asked.Precision, Windows: c.Windows, Tried: []capacityTried{}, Refused: []capacityRefuse{},
		Contradictions: append([][2]float64{}, c.Contradictions...), Notes: append([]string{}, c.Notes...), Setup: newSetup(&c.Setup),
	}
	if c.Length > 0 {
		j.Window = &capacityWindow{c.Warmup.Milliseconds(), c.Length.Milliseconds(), c.Scale}
	}
	if l := c.Longer; l != nil {
		j.Longer = &capacityLonger{l.Passes, l.Windows, l.Certified}
	}
	for i := range c.Asked.SLOs {
		j.SLOs = append(j.SLOs, newCapacitySLO(&c.Asked.SLOs[i]))
	}
	for _, t := range c.Tried {
		j.Tried = append(j.Tried, capacityTried(t))
	}
	for _, r := range c.Refused {
		j.Refused = append(j.Refused, capacityRefuse{r.Value, ErrorLine(r.Err)})
	}
	return j
}

func newCapacitySLO(s *study.SLO) capacitySLO {
	j := capacitySLO{Measure: s.Measure.Name, Operator: s.Operator, Bound: *scaled(&s.Bound, s.Measure.Kind), Unit: unitOf(s.Measure.Kind)}
	if s.Class != "" {
		j.Class = &s.Class
	}
	return j
}

func newCapacityEnd(c *Capacity, e *study.CapacityEnd) *capacityEnd {
	if e == nil {
		return nil
	}
	j := &capacityEnd{
		Value: e.Value, Certified: e.Certified, Passes: e.Passes, Windows: e.Windows, Attempts: e.Attempts, Requests: e.Requests, Lost: e.Lost, Grew: e.Grew,
		Measured: []capacityValue{}, GPUs: e.GPUs, CostPerMillion: e.CostPerMillion, Serve: []string{}, Repeat: []string{}, Config: e.Config,
	}
	if !setup.SeveralPools(&e.Config.Config) {
		j.Serve = setup.ServeArguments(&e.Config.Config, e.Setup.Model)
	}
	if e.Decisive != nil {
		j.Repeat = c.repeat(e)
	}
	for i := range c.Asked.SLOs {
		kind := c.Asked.SLOs[i].Measure.Kind
		number := func(x float64) *float64 {
			if math.IsNaN(x) || math.IsInf(x, 0) || e.Windows == 0 {
				return nil
			}
			return scaled(&x, kind)
		}
		j.Measured = append(j.Measured, capacityValue{number(e.Measured[i]), number(e.Worst[i])})
	}
	return j
}
