package trace

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"blis/metrics"
	"blis/vtime"
)

// SummarySchema names the form of a summary.
const SummarySchema = "blis.trace-summary/v1"

// Strategy is the name of what a summary's text says first.
type Strategy string

// The strategies. Each begins with the outcomes against their targets.
const (
	SummaryIssues         Strategy = "issue-focused"  // then what went wrong, with counts and examples
	SummaryAudit          Strategy = "decision-audit" // then decisions by kind and reason, and the work of each instance
	SummaryCounterfactual Strategy = "counterfactual" // then regret: the worst decisions, and where it sits
	SummaryPattern        Strategy = "pattern"        // then the course of time: bursts, hot instances, streaks
)

// Strategies are all of them, in the order of the documentation.
func Strategies() []Strategy {
	return []Strategy{SummaryIssues, SummaryAudit, SummaryCounterfactual, SummaryPattern}
}

// ParseStrategy returns the strategy of that name. The error lists all names.
func ParseStrategy(name string) (Strategy, error) {
	var names []string
	for _, s := range Strategies() {
		if string(s) == name {
			return s, nil
		}
		names = append(names, string(s))
	}
	return "", fmt.Errorf("%q is no strategy of a trace summary: want %s", name, strings.Join(names, ", "))
}

// Token limits of a summary's text. A token is taken to be four characters.
const (
	DefaultSummaryTokens = 1000
	LeastSummaryTokens   = 100
)

// SummaryOptions say how much a summary keeps. Values below 1 are the defaults.
type SummaryOptions struct {
	Worst    int // decisions with the largest regret, 10
	Examples int // of each issue, 3
}

// Limits on the number of names. Names that come when a table is full are counted
// together, so that memory is bounded for any number of names.
const (
	mostClasses = 64
	mostTenants = 1024
	mostNames   = 256 // reasons, anomalies
)

// Summary takes the records of a run as they come and keeps what its reports
// need: requests that are in flight, and tables and lists of limited size. Of
// instances it keeps sums for each. What it reports depends on the records
// and their order alone. It is not safe for concurrent use.
type Summary struct {
	options  SummaryOptions
	header   *Header
	targets  map[string]ClassTargets
	records  RecordCounts
	position int64 // number of the record at hand, from 1
	started  bool
	from, to vtime.Time // of the first and the last record
	time     timeBins

	flights    map[int64]*flight // admitted, delayed or routed, and without outcome
	admissions table[verdict, counted]
	delays     span
	priorities table[string, average]
	routings   table[string, counted]
	routed     routedSums
	scalings   table[verdict, counted]
	scaled     scaledSums
	ends       table[verdict, counted]
	anomalies  table[string, anomalous]
	preempted  preemptedSums
	steps      stepSums
	hits       hitSums
	missed     traits
	met        traits
	classes    table[string, group]
	tenants    table[string, group]
	instances  table[int, instance]
	bins       [maxBins]bin
	regrets    regrets
	streaks    [2]streak // of routings to one instance, of rejections
}

// verdict is a decision or an end with its reason.
type verdict struct{ what, reason string }

// NewSummary returns a summary of no records.
func NewSummary(options SummaryOptions) *Summary {
	if options.Worst < 1 {
		options.Worst = 10
	}
	if options.Examples < 1 {
		options.Examples = 3
	}
	s := &Summary{
		options: options, time: newTimeBins(), flights: map[int64]*flight{}, targets: map[string]ClassTargets{},
		admissions: newTable[verdict, counted](mostNames), priorities: newTable[string, average](mostClasses),
		routings: newTable[string, counted](mostNames), scalings: newTable[verdict, counted](mostNames),
		ends: newTable[verdict, counted](mostNames), anomalies: newTable[string, anomalous](mostNames),
		classes: newTable[string, group](mostClasses), tenants: newTable[string, group](mostTenants),
		instances: newTable[int, instance](unlimited),
	}
	s.regrets = newRegrets(options.Worst)
	return s
}

// Consume implements Consumer. The error names the record that is wrong, and the
// field: before the header, earlier than the record before, of an unknown kind, or
// with a value out of range. The summary must not be used after an error.
func (s *Summary) Consume(r Record) error {
	s.position++
	if err := s.add(r); err != nil {
		return fmt.Errorf("trace: record %d: %w", s.position, err)
	}
	return nil
}

// Summarize reads a stored trace to its end and summarizes it: the result is the
// Summary of the run that wrote it. It calls progress, unless that is nil, with
// the number of records read every thousand records, and returns its error. Other
// errors are those of Reader.Next and Consume; they name file, line and field.
func Summarize(from *Reader, options SummaryOptions, progress func(records int64) error) (*Summary, error) {
	s := NewSummary(options)
	for {
		r, err := from.Next()
		if err == io.EOF {
			return s, nil
		}
		if err == nil {
			if err = s.add(r); err != nil {
				err = from.located(err)
			}
		}
		if err == nil && from.count%1000 == 0 && progress != nil {
			err = progress(from.count)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (s *Summary) add(r Record) error {
	if h, ok := r.(*Header); ok {
		return s.addHeader(h)
	}
	if s.header == nil {
		return errors.New("a header was to come first")
	}
	if r == nil {
		return errors.New("nil is no record")
	}
	if err := s.advance(r.when()); err != nil {
		return err
	}
	switch r := r.(type) {
	case *Admission:
		s.records.Admission++
		return s.addAdmission(r)
	case *Priority:
		s.records.Priority++
		return s.addPriority(r)
	case *Routing:
		s.records.Routing++
		return s.addRouting(r)
	case *Scale:
		s.records.Scale++
		return s.addScale(r)
	case *Batch:
		s.records.Batch++
		return s.addBatch(r)
	case *Preemption:
		s.records.Preemption++
		return s.addPreemption(r)
	case *Anomaly:
		s.records.Anomaly++
		return s.addAnomaly(r)
	case *Outcome:
		s.records.Outcome++
		return s.addOutcome(r)
	}
	panic("trace: a record of a kind that a summary does not know: " + r.Kind())
}

// advance moves time to that of the next record.
func (s *Summary) advance(t vtime.Time) error {
	switch {
	case t < 0 || t == vtime.Never:
		return wrong("at_us", "%d, want a time of the run", t)
	case s.started && t < s.to:
		return wrong("at_us", "%d is before %d, the time of the record before", t, s.to)
	}
	if !s.started {
		s.started, s.from = true, t
		s.time.start(t)
	}
	s.to = t
	for !s.time.covers(t) {
		s.halve()
	}
	return nil
}

// halve makes bins twice as wide.
func (s *Summary) halve() {
	s.time.double()
	fold(&s.bins, bin.plus)
	fold(&s.regrets.bins, average.plus)
	for i := range s.classes.values {
		fold(&s.classes.values[i].series, add)
	}
	for i := range s.tenants.values {
		fold(&s.tenants.values[i].series, add)
	}
	for i := range s.instances.values {
		fold(&s.instances.values[i].series, add)
	}
	fold(&s.classes.others.series, add)
	fold(&s.tenants.others.series, add)
}

func (s *Summary) addHeader(h *Header) error {
	switch {
	case s.header != nil:
		return errors.New("a second header")
	case h.Schema != Schema:
		return wrong("schema", "%q, want %s", h.Schema, Schema)
	case h.Instances < 0:
		return wrong("instances", "%d, want a number from 0", h.Instances)
	}
	own := *h
	own.Targets = nil
	for _, t := range h.Targets {
		s.targets[t.Class] = ClassTargets{Class: t.Class, TTFT: copied(t.TTFT), TPOT: copied(t.TPOT), E2E: copied(t.E2E)}
		s.classes.at(t.Class) // classes with targets are listed in the order of the header
	}
	s.header = &own
	return nil
}

// copied is a pointer to a value of its own: records are valid during a call.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// completed is the state of a request that got all of its output.
var completed = metrics.Completed.String()
