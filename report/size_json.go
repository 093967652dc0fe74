package report

import (
	"io"
	"math"

	"blis/setup"
	"blis/study"
)

// sizeSchema names the form of the JSON result of blis size; docs/size.schema.json describes it.
const sizeSchema = "blis.size/v1"

// sizeJSON is the JSON result of blis size, in its order. Latencies are in ms.
type sizeJSON struct {
	Schema  string `json:"schema"`
	Partial bool   `json:"partial"`

	SLOs       []capacitySLO   `json:"slos"`
	MaxGPUs    int             `json:"max_gpus"`
	Candidates []sizeCandidate `json:"candidates"` // the best first
	Refused    []sizeRefused   `json:"refused"`
	Latency    sizeLatency     `json:"latency"`
	Winner     *capacityJSON   `json:"winner"` // over the number of instances; null: no candidate keeps the SLOs
}

type sizeCandidate struct {
	Hardware       string            `json:"hardware"`
	TP             int               `json:"tp"`
	Budget         *int32            `json:"max_num_batched_tokens"` // null: as the server chooses
	Ratio          *string           `json:"pd_ratio"`               // null: instances serve requests alone
	Instances      *int              `json:"num_instances"`          // null: not even max_gpus keep the SLOs
	Prefill        *int              `json:"prefill_replicas"`       // of num_instances; null: not with a ratio
	Decode         *int              `json:"decode_replicas"`
	GPUs           int               `json:"gpus"`
	Certified      bool              `json:"certified"`
	Measured       []sizeMeasurement `json:"measured"`
	CostPerHour    *float64          `json:"cost_per_hour"`
	CostPerMillion *float64          `json:"cost_per_mtok_output"`
}

type sizeMeasurement struct {
	Value  *float64 `json:"value"`
	Margin *float64 `json:"margin"` // share of the bound
	Edge   bool     `json:"knife_edge"`
}

type sizeRefused struct {
	Candidate string `json:"candidate"`
	Reason    string `json:"reason"`
}

type sizeLatency struct {
	Model       *string  `json:"model"` // null: as the user gave it
	Coefficient *string  `json:"coefficient_set"`
	Metric      *string  `json:"metric"`
	Worst       *float64 `json:"worst_expected_percent"`
}

// JSON implements Document: docs/size.schema.json describes it.
func (s *Size) JSON(w io.Writer) error {
	j := &sizeJSON{Schema: sizeSchema, Partial: s.Partial, SLOs: []capacitySLO{}, MaxGPUs: s.Asked.MaxGPUs, Candidates: []sizeCandidate{}, Refused: []sizeRefused{}, Latency: newSizeLatency(&s.SizeResult.Latency)}
	slos := s.Asked.Search.SLOs
	for i := range slos {
		j.SLOs = append(j.SLOs, newCapacitySLO(&slos[i]))
	}
	for i := range s.Candidates {
		j.Candidates = append(j.Candidates, newSizeCandidate(slos, &s.Candidates[i]))
	}
	for _, r := range s.Refused {
		j.Refused = append(j.Refused, sizeRefused{r.Name, ErrorLine(r.Err)})
	}
	if winner := s.winner(); winner != nil {
		j.Winner = newCapacityJSON(winner)
	}
	return writeObject(w, j)
}

func newSizeCandidate(slos []study.SLO, c *study.SizeCandidate) sizeCandidate {
	j := sizeCandidate{Hardware: c.Hardware, TP: c.TP, GPUs: c.GPUs, Certified: c.Certified, Measured: []sizeMeasurement{}, CostPerHour: c.CostPerHour, CostPerMillion: c.CostPerMillion}
	if c.Budget > 0 {
		j.Budget = &c.Budget
	}
	if c.Instances > 0 {
		j.Instances = &c.Instances
	}
	if c.Ratio != (setup.PDRatio{}) {
		ratio := c.Ratio.String()
		j.Ratio = &ratio
		if c.Instances > 0 {
			prefill, decode := c.Ratio.Share(c.Instances)
			j.Prefill, j.Decode = &prefill, &decode
		}
	}
	for i, x := range c.Measured {
		m := sizeMeasurement{Edge: c.Edge[i]}
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			m.Value, m.Margin = scaled(&x, slos[i].Measure.Kind), &c.Margins[i]
		}
		j.Measured = append(j.Measured, m)
	}
	return j
}

func newSizeLatency(l *study.LatencyChoice) (j sizeLatency) {
	if l.Model != "" {
		j.Model = &l.Model
	}
	if l.Coefficients != "" {
		j.Coefficient = &l.Coefficients
	}
	if l.Metric != "" {
		j.Metric, j.Worst = &l.Metric, &l.Worst
	}
	return j
}
