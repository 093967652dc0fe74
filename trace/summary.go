package trace

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"blis/vtime"
)

// SummarySchema names the form of a summary.
const SummarySchema = "blis.trace-summary/v1"

// Strategy names the part of a summary with which its text begins.
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

// SummaryOptions limit the examples that a summary keeps. A value below 1 means the
// default.
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

// mostListed is the maximum length of lists in a report. The number of entries
// beyond it is given.
const mostListed = 20

// Summary takes the records of a run as they come and keeps what its reports
// need: requests in flight, tables and lists of limited size, and sums for each
// instance. What it reports depends on the records and their order alone. It is
// not safe for concurrent use.
type Summary struct {
	options  SummaryOptions
	header   *Header
	targets  map[targetKey]ClassTargets
	records  RecordCounts
	position int64 // number of the last record, from 1
	time     course

	flights   map[int64]*flight // of requests that were admitted, delayed or routed, and have no outcome
	decided   decided
	regrets   regrets
	ended     ended
	misses    misses
	classes   table[string, group]
	tenants   table[string, group]
	instances table[int, instance]
}

// course is the course of time.
type course struct {
	started  bool
	from, to vtime.Time // of the first and the last record
	bins     timeBins
	counts   [maxBins]Bin
}

func (c *course) bin(t vtime.Time) int { return c.bins.bin(t) }

// at returns the bin of t.
func (c *course) at(t vtime.Time) *Bin { return &c.counts[c.bins.bin(t)] }

// NewSummary returns a summary of no records.
func NewSummary(options SummaryOptions) *Summary {
	if options.Worst < 1 {
		options.Worst = 10
	}
	if options.Examples < 1 {
		options.Examples = 3
	}
	return &Summary{
		options: options, targets: map[targetKey]ClassTargets{}, time: course{bins: newTimeBins()},
		flights: map[int64]*flight{}, decided: newDecided(), regrets: newRegrets(options.Worst), ended: newEnded(), misses: newMisses(),
		classes: newTable[string, group](mostClasses), tenants: newTable[string, group](mostTenants), instances: newTable[int, instance](unlimited),
	}
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
	case *Disaggregation:
		s.records.Disaggregation++
		return s.addDisaggregation(r)
	case *Scale:
		s.records.Scale++
		return s.addScale(r)
	case *Batch:
		s.records.Batch++
		return s.addBatch(r)
	case *Preemption:
		s.records.Preemption++
		return s.addPreemption(r)
	case *Transfer:
		return s.addTransfer(r)
	case *Failure:
		s.records.Failure++
		return s.addFailure(r)
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
	c := &s.time
	switch {
	case t < 0 || t == vtime.Never:
		return wrong("at_us", "%d, want a time of the run", t)
	case c.started && t < c.to:
		return wrong("at_us", "%d is before %d, the time of the record before", t, c.to)
	}
	if !c.started {
		c.started, c.from = true, t
		c.bins.start(t)
	}
	c.to = t
	for !c.bins.covers(t) {
		s.halve()
	}
	return nil
}

// halve makes bins twice as wide.
func (s *Summary) halve() {
	s.time.bins.double()
	fold(&s.time.counts, Bin.plus)
	fold(&s.regrets.bins, average.plus)
	for _, t := range [...]*table[string, group]{&s.classes, &s.tenants} {
		for i := range t.values {
			fold(&t.values[i].series, add)
			t.values[i].promises.fold()
		}
		fold(&t.others.series, add)
		t.others.promises.fold()
	}
	for i := range s.instances.values {
		fold(&s.instances.values[i].series, add)
	}
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
		s.targets[targetKey{t.Class, t.Tenant}] = ClassTargets{Class: t.Class, Tenant: t.Tenant, TTFT: copied(t.TTFT), TPOT: copied(t.TPOT), E2E: copied(t.E2E)}
		if t.Class != "" { // classes with targets are listed in the order of the header
			s.classes.at(t.Class)
		}
	}
	s.header = &own
	return nil
}

// Report summarizes the records so far. More records may follow, and another report;
// requests without outcome are treated as if the trace ended here. The
// text has at most tokens tokens, 4·tokens characters. It is about the areas in focus; without any
// about what the strategy says. Errors: an unknown strategy, fewer tokens than
// LeastSummaryTokens, no header yet.
func (s *Summary) Report(strategy Strategy, tokens int, focus ...Area) (*Report, error) {
	if _, err := ParseStrategy(string(strategy)); err != nil {
		return nil, err
	}
	if tokens < LeastSummaryTokens {
		return nil, fmt.Errorf("a summary of %d tokens: want at least %d", tokens, LeastSummaryTokens)
	}
	if s.header == nil {
		return nil, fmt.Errorf("the trace is empty: a header was to come first")
	}
	h, all := s.header, s.regretsSoFar()
	r := &Report{
		Schema: SummarySchema, Strategy: strategy, Focus: append([]Area{}, focus...), TokenLimit: min(tokens, math.MaxInt/charsPerToken),
		Run: SummaryRun{h.Level, h.Seed, h.Instances, h.Admission, h.Priority, h.Routing, h.Scheduler, h.Autoscale, h.Counterfactual}, Records: s.records,
		Outcomes: s.outcomeFacts(), Issues: s.issues(), Compared: s.comparison(), Decisions: s.decisionFacts(),
		Instances: s.instanceFacts(), Regret: s.regretFacts(&all), Patterns: s.patternFacts(&all), Avoidable: s.misses.facts(),
	}
	if s.time.started {
		r.From, r.To = pointer(int64(s.time.from)), pointer(int64(s.time.to))
	}
	r.write()
	return r, nil
}

// regretsSoFar returns the regrets of all decisions, also for
// requests that have no outcome yet, in the order of requests.
func (s *Summary) regretsSoFar() regrets {
	all := s.regrets.clone()
	var open []int64
	for request, f := range s.flights { // in any order: sorted below
		if f.routings > 0 {
			open = append(open, request)
		}
	}
	slices.Sort(open)
	for _, request := range open {
		all.add(&s.flights[request].last, &s.time.bins)
	}
	return all
}
