package report

import (
	"bytes"

	"blis/actors"
	"blis/bundle"
	"blis/metrics"
	"blis/study"
)

// comparisonSchema names the form of the JSON result of blis compare;
// docs/compare.schema.json describes it.
const comparisonSchema = "blis.compare/v1"

// comparisonJSON is the JSON result of blis compare, in its order. Latencies are in
// ms.
type comparisonJSON struct {
	Schema  string `json:"schema"`
	Partial bool   `json:"partial"`

	Baseline   string      `json:"baseline"`
	Confidence float64     `json:"confidence"`
	Margin     float64     `json:"margin"`
	Planned    int         `json:"seeds_planned"`
	Replicates []replicate `json:"replicates"`
	Intervals  intervals   `json:"intervals"`

	Objectives []string        `json:"objectives"`
	Measures   []measureHeader `json:"measures"`
	Bundles    []comparedItem  `json:"bundles"`
	Ranking    []string        `json:"ranking"` // names, the best first

	Notes  []string      `json:"notes"`
	Setup  derived       `json:"setup"`  // of the baseline
	Config actors.Config `json:"config"` // of its first run
}

// replicate is the seeds of one run of each bundle.
type replicate struct {
	Seed     uint64 `json:"seed"`
	Workload uint64 `json:"workload_seed"`
}

// intervals is where the half-widths come from. What is null belongs to the
// bootstrap.
type intervals struct {
	Method  string   `json:"method"`
	Windows *int     `json:"windows"`
	Width   *float64 `json:"window_ms"`
	Block   *int     `json:"block_windows"`
	Needed  *int     `json:"block_windows_needed"`
	Series  *int     `json:"series"`
}

func newIntervals(i *study.Intervals) intervals {
	item := intervals{Method: string(i.Method)}
	if i.Method == study.Bootstrap && i.Windows > 0 {
		width := float64(i.Width) / 1e3
		item.Windows, item.Width, item.Block, item.Needed, item.Series = &i.Windows, &width, &i.Block, &i.Needed, &i.Series
	}
	return item
}

type measureHeader struct {
	Name   string `json:"name"`
	Help   string `json:"help"`
	Unit   string `json:"unit"`
	Better string `json:"better"`
}

type comparedItem struct {
	Name     string          `json:"name"`
	Error    *string         `json:"error"`
	Key      *string         `json:"key"` // hash of the policies
	Runs     int             `json:"runs"`
	Same     *string         `json:"same_as"`
	Rank     *int            `json:"pareto_rank"`
	Verdicts *verdictCounts  `json:"verdicts"` // null for the baseline
	Measures estimatesByName `json:"measures"`
	Policies *bundle.Bundle  `json:"policies"`
	Notes    []string        `json:"notes"`
}

type verdictCounts struct {
	Better       int `json:"better"`
	Worse        int `json:"worse"`
	NoDifference int `json:"no_significant_difference"`
	NotMeasured  int `json:"not_measured"`
	Undecided    int `json:"undecided"`
}

type estimateItem struct {
	Mean       *float64        `json:"mean"`
	HalfWidth  *float64        `json:"half_width"`
	Missing    int             `json:"missing"`
	Difference *differenceItem `json:"difference"`
	Verdict    string          `json:"verdict"`
	Values     []*float64      `json:"values"`
}

type differenceItem struct {
	Mean      float64  `json:"mean"`
	HalfWidth *float64 `json:"half_width"`
	Relative  *float64 `json:"relative"`
}

// estimatesByName is an object with a key per measure, in their order.
type estimatesByName []namedEstimate

type namedEstimate struct {
	name string
	estimateItem
}

// MarshalJSON implements json.Marshaler.
func (list estimatesByName) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	open := "{"
	for _, e := range list {
		text, err := marshal(e.estimateItem)
		if err != nil {
			return nil, err
		}
		b.WriteString(open + `"` + e.name + `":`)
		b.Write(text)
		open = ","
	}
	if open == "{" {
		b.WriteString(open)
	}
	b.WriteString("}")
	return b.Bytes(), nil
}

func newComparisonJSON(r *study.Result) *comparisonJSON {
	base := &r.Bundles[0]
	j := &comparisonJSON{
		Schema: comparisonSchema, Partial: r.Partial, Baseline: base.Name, Confidence: r.Confidence, Margin: r.Margin, Planned: r.Planned, Intervals: newIntervals(&r.Intervals), Ranking: []string{},
		Replicates: []replicate{}, Objectives: []string{}, Notes: append([]string{}, r.Notes...), Setup: newSetup(&base.Setup), Config: base.Config,
	}
	for _, s := range r.Replicates {
		j.Replicates = append(j.Replicates, replicate(s))
	}
	for _, o := range r.Objectives {
		j.Objectives = append(j.Objectives, o.Name)
	}
	for _, m := range r.Measures {
		j.Measures = append(j.Measures, measureHeader{m.Name, m.Help, unitOf(m.Kind), m.Better.String()})
	}
	for i := range r.Bundles {
		j.Bundles = append(j.Bundles, newComparedItem(r, i))
	}
	for _, b := range r.Ranking {
		j.Ranking = append(j.Ranking, r.Bundles[b].Name)
	}
	return j
}

func newComparedItem(r *study.Result, i int) comparedItem {
	b := &r.Bundles[i]
	item := comparedItem{Name: b.Name, Runs: b.Runs, Notes: append([]string{}, b.Setup.Notes...)}
	if b.BeyondFit != "" {
		item.Notes = append(item.Notes, b.BeyondFit)
	}
	if b.Err != nil {
		text := errorOf(b)
		item.Error = &text
		return item
	}
	key := policiesKey(&b.Config)
	item.Key, item.Policies = &key, &b.Config.Policies
	if b.Same != "" {
		item.Same = &b.Same
	}
	if b.Rank > 0 {
		item.Rank = &b.Rank
	}
	if i > 0 {
		n := countVerdicts(b.Estimates)
		item.Verdicts = &verdictCounts{n[study.Better], n[study.Worse], n[study.NoDifference], n[study.NotMeasured], n[study.Undecided]}
	}
	for m := range b.Estimates {
		item.Measures = append(item.Measures, namedEstimate{r.Measures[m].Name, newEstimateItem(&b.Estimates[m], r.Measures[m].Kind)})
	}
	return item
}

func newEstimateItem(e *study.Estimate, kind metrics.MeasureKind) estimateItem {
	item := estimateItem{Mean: scaled(e.Mean, kind), HalfWidth: scaled(e.HalfWidth, kind), Missing: e.Missing, Verdict: string(e.Verdict), Values: []*float64{}}
	for _, v := range e.Values {
		item.Values = append(item.Values, scaled(v, kind))
	}
	if d := e.Difference; d != nil {
		item.Difference = &differenceItem{*scaled(&d.Mean, kind), scaled(d.HalfWidth, kind), d.Relative}
	}
	return item
}

func countVerdicts(list []study.Estimate) map[study.Verdict]int {
	counts := map[study.Verdict]int{}
	for _, e := range list {
		counts[e.Verdict]++
	}
	return counts
}

// scaled is a value in the unit in which it prints: latencies in ms.
func scaled(x *float64, kind metrics.MeasureKind) *float64 {
	if x == nil || kind != metrics.Latency {
		return x
	}
	ms := *x / 1e3
	return &ms
}
