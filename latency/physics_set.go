package latency

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// PhysicsSchema marks a file of coefficients for Physics.
const PhysicsSchema = "blis.physics/v1"

// featureSpecification is the version of the list of features, its order and
// its formulas. Version 2 has all features of version 1 in the same places, so a set
// of version 1 is one of version 2 whose further coefficients are 0.
const featureSpecification = 2

// PhysicsSet is a set of coefficients for Physics, with a description of the data of
// the fit and errors on held-out data.
type PhysicsSet struct {
	Name      string
	TrainedOn Training
	Errors    []HeldOutError
	Notes     []string // a line each
	Alpha     AlphaVector
	Beta      BetaVector
}

// Training describes the data of a fit, and its method.
type Training struct {
	Models []string `yaml:"models" json:"models"` // Hugging Face ids
	Kinds  []string `yaml:"kinds" json:"kinds"`   // of these models: "dense", "moe"
	GPUs   []string `yaml:"gpus" json:"gpus"`

	// Precisions of the weights of these models, as ModelSpec.Precision has them; nil:
	// 16 bits.
	Precisions []string `yaml:"precisions" json:"precisions,omitempty"`

	TPMin int `yaml:"tp_min" json:"tp_min"`
	TPMax int `yaml:"tp_max" json:"tp_max"`

	// Range of max-num-batched-tokens; both 0: not known.
	BatchedTokensMin int64 `yaml:"batched_tokens_min" json:"batched_tokens_min"`
	BatchedTokensMax int64 `yaml:"batched_tokens_max" json:"batched_tokens_max"`

	// The range of the data: the maximum tokens of a prompt with its output, and the
	// maximum requests and tokens of a step. 0: not known.
	ContextMax    int64 `yaml:"context_max" json:"context_max"`
	SeatsMax      int64 `yaml:"seats_max" json:"seats_max"`
	StepTokensMax int64 `yaml:"step_tokens_max" json:"step_tokens_max"`

	Engine          string `yaml:"engine" json:"engine"` // with its version: "vLLM 0.15.1"
	AsyncScheduling bool   `yaml:"-" json:"-"`           // batches formed one step ahead
	ChunkedPrefill  bool   `yaml:"-" json:"-"`

	Dates   []string `yaml:"dates" json:"dates"`     // first and last day of measuring, 2006-01-02; empty: not known
	Data    string   `yaml:"data" json:"data"`       // where the data come from
	Samples int64    `yaml:"samples" json:"samples"` // steps or requests
	Lambda  float64  `yaml:"lambda" json:"lambda"`   // weight of the ridge penalty; 0: none
	Gamma   float64  `yaml:"gamma" json:"gamma"`     // of the preemption EMA, (0, 1]
	Method  string   `yaml:"method" json:"method"`   // "ridge", …
}

// setFile is a PhysicsSet in the form of a file. A nil pointer is a missing
// value.
type setFile struct {
	Schema        string `yaml:"schema"`
	Name          string `yaml:"name"`
	Specification int    `yaml:"specification"`
	TrainedOn     struct {
		Training        `yaml:",inline"`
		AsyncScheduling *bool `yaml:"async_scheduling"`
		ChunkedPrefill  *bool `yaml:"chunked_prefill"`
	} `yaml:"trained_on"`
	Errors []HeldOutError `yaml:"errors"`
	Notes  []string       `yaml:"notes"`
	Alpha  []*float64     `yaml:"alpha"`
	Beta   []*float64     `yaml:"beta"`
}

// ParsePhysicsSet reads a coefficient file; docs/latency.md has the format.
// Text that is not YAML, and a value of the wrong type or name, is an error
// with file and line. Missing and impossible values are named in one error.
func ParsePhysicsSet(data []byte, file string) (*PhysicsSet, error) {
	var doc setFile
	if err := decodeYAML(data, file, &doc); err != nil {
		return nil, err
	}
	var p problems
	set := doc.set(&p)
	set.check(&p)
	if err := p.err(file); err != nil {
		return nil, err
	}
	return set, nil
}

// set converts a file to a PhysicsSet and adds to p what is wrong in the file.
func (doc *setFile) set(p *problems) *PhysicsSet {
	if doc.Schema != PhysicsSchema {
		p.add("schema", "is %q, want %s", doc.Schema, PhysicsSchema)
	}
	if v := doc.Specification; v < 1 || v > featureSpecification {
		p.add("specification", "is %d, want 1 or %d, the versions of the features that this program computes", v, featureSpecification)
	}
	flag := func(field string, v *bool) bool {
		if v == nil {
			p.add(field, "is missing, want true or false")
		}
		return v != nil && *v
	}
	vector := func(field string, names []string, from []*float64, into []float64) {
		if len(from) != len(into) {
			p.add(field, "has %d numbers, want %d", len(from), len(into))
			return
		}
		for i, v := range from {
			if v == nil {
				p.add(field+" "+names[i], "is missing")
				continue
			}
			into[i] = *v
		}
	}
	s := &PhysicsSet{Name: doc.Name, TrainedOn: doc.TrainedOn.Training, Errors: doc.Errors, Notes: doc.Notes}
	s.TrainedOn.AsyncScheduling = flag("trained_on.async_scheduling", doc.TrainedOn.AsyncScheduling)
	s.TrainedOn.ChunkedPrefill = flag("trained_on.chunked_prefill", doc.TrainedOn.ChunkedPrefill)
	vector("alpha", AlphaNames[:], doc.Alpha, s.Alpha[:])
	beta := s.Beta[:]
	if doc.Specification == 1 {
		beta = s.Beta[:BetasOfVersion1]
	}
	vector("beta", BetaNames[:], doc.Beta, beta)
	return s
}

// Validate returns one error that names everything that is missing or
// impossible in the set.
func (s *PhysicsSet) Validate() error {
	var p problems
	s.check(&p)
	return p.err("physics set " + s.Name)
}

func (s *PhysicsSet) check(p *problems) {
	p.line("name", s.Name)
	s.TrainedOn.check(p)
	for i := range s.Errors {
		s.Errors[i].check(p, fmt.Sprintf("errors[%d].", i))
	}
	for i, note := range s.Notes {
		p.line(fmt.Sprintf("notes[%d]", i), note)
	}
	checkCoefficients(p, s.Alpha[:], s.Beta[:])
}

func (t *Training) check(p *problems) {
	p.lines("trained_on.models", t.Models)
	p.lines("trained_on.kinds", t.Kinds)
	for i, kind := range t.Kinds {
		p.oneOf(fmt.Sprintf("trained_on.kinds[%d]", i), kind, []string{"dense", "moe"})
	}
	p.lines("trained_on.gpus", t.GPUs)
	p.between("trained_on.tp_min", int64(t.TPMin), 1, 1024)
	p.between("trained_on.tp_max", int64(t.TPMax), int64(max(1, t.TPMin)), 1024)
	if t.BatchedTokensMin != 0 || t.BatchedTokensMax != 0 {
		p.between("trained_on.batched_tokens_min", t.BatchedTokensMin, 1, 1<<40)
		p.between("trained_on.batched_tokens_max", t.BatchedTokensMax, max(1, t.BatchedTokensMin), 1<<40)
	}
	p.between("trained_on.context_max", t.ContextMax, 0, 1<<40)
	p.between("trained_on.seats_max", t.SeatsMax, 0, 1<<40)
	p.between("trained_on.step_tokens_max", t.StepTokensMax, 0, 1<<40)
	p.line("trained_on.engine", t.Engine)
	t.checkDates(p)
	p.line("trained_on.data", t.Data)
	p.between("trained_on.samples", t.Samples, 1, math.MaxInt64)
	p.notNegative("trained_on.lambda", t.Lambda)
	p.share("trained_on.gamma", t.Gamma)
	p.line("trained_on.method", t.Method)
}

func (t *Training) checkDates(p *problems) {
	if n := len(t.Dates); n != 0 && n != 2 {
		p.add("trained_on.dates", "has %d days, want the first and the last", n)
	}
	for i, day := range t.Dates {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			p.add(fmt.Sprintf("trained_on.dates[%d]", i), "is %q, want a day such as 2026-01-31", day)
		}
	}
	if len(t.Dates) == 2 && t.Dates[0] > t.Dates[1] {
		p.add("trained_on.dates", "end before they begin")
	}
}

// maxLine is far beyond what a line of a report can show.
const maxLine = 1000

// line records a text that is empty or not one line that can be printed.
func (p *problems) line(field, text string) {
	switch {
	case strings.TrimSpace(text) == "":
		p.add(field, "is missing")
	case len(text) > maxLine:
		p.add(field, "has %d bytes, want at most %d", len(text), maxLine)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		p.add(field, "is %q, want one line without control characters", text)
	}
}

// lines records a list that is empty, and entries that are no lines.
func (p *problems) lines(field string, list []string) {
	if len(list) == 0 {
		p.add(field, "is missing, want a list")
	}
	for i, text := range list {
		p.line(fmt.Sprintf("%s[%d]", field, i), text)
	}
}

// oneOf records a text that is in no list of words.
func (p *problems) oneOf(field, text string, words []string) {
	if !slices.Contains(words, text) {
		p.add(field, "is %q, want %s", text, strings.Join(words, ", "))
	}
}
