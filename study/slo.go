package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// SLO is a bound that a window of requests must keep: a metrics.Constraint over all its
// requests, or over those of one class. A request that was rejected, dropped, timed out or
// aborted, or that never ended, is infinitely late.
type SLO struct {
	Class string // empty: all requests
	metrics.Constraint
}

// Text is "p99_ttft<=500ms", with the class before it if there is one.
func (s *SLO) Text() string {
	bound := fmt.Sprintf("%g", s.Bound)
	if s.Measure.Kind == metrics.Latency {
		bound = vtime.Duration(s.Bound).String()
	}
	text := s.Measure.Name + s.Operator + bound
	if s.Class != "" {
		text = s.Class + ":" + text
	}
	return text
}

// ParseSLOs reads "p99_ttft=500ms,slo_attainment=0.99": measures of requests with their
// bounds, separated by commas. = is <= for what is better lower and >= for the rest.
// "batch:p99_e2e=30s" is of the class batch; the bounds after it are too, up to a semicolon
// or another class. The error names the part that is wrong.
func ParseSLOs(text string) ([]SLO, error) {
	var list []SLO
	for group := range strings.SplitSeq(text, ";") {
		class := ""
		for part := range strings.SplitSeq(group, ",") {
			part = strings.TrimSpace(part)
			if name, rest, ok := strings.Cut(part, ":"); ok {
				class, part = strings.TrimSpace(name), strings.TrimSpace(rest)
			}
			s, err := parseSLO(part)
			if err != nil {
				return nil, &actors.InputError{Text: "--slo: " + err.Error()}
			}
			s.Class = class
			if slices.ContainsFunc(list, func(o SLO) bool { return o.Class == s.Class && o.Measure.Name == s.Measure.Name }) {
				return nil, &actors.InputError{Text: fmt.Sprintf("--slo: %s is given twice, want it once", s.Measure.Name)}
			}
			list = append(list, s)
		}
	}
	return list, nil
}

// parseSLO reads one bound.
func parseSLO(text string) (s SLO, err error) {
	name, bound, plain := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if plain && !strings.ContainsAny(text, "<>") {
		operator := "<="
		if m, err := metrics.FindMeasure(name); err == nil && m.Better == metrics.Higher {
			operator = ">="
		}
		text = name + operator + bound
	}
	list, err := metrics.ParseConstraints(text)
	if err != nil {
		return s, err
	}
	s.Constraint = list[0]
	if _, ok := sampledOf(&s.Measure); !ok {
		return s, fmt.Errorf("%s is no measure of requests: want one of %s", s.Measure.Name, strings.Join(sampledNames(), ", "))
	}
	return s, nil
}

// sampled is how a measure comes from the requests of a window.
type sampled struct {
	latency func(*actors.Row) (vtime.Duration, bool) // of a request; nil: the measure is a share
	percent int64                                    // 1 to 99; 0: the mean

	// share says whether a request counts, and whether it is one of the good ones.
	share func(*actors.Row) (counts, good bool)
}

var latenciesOfRows = []struct {
	name string
	of   func(*actors.Row) (vtime.Duration, bool)
}{
	{"ttft", (*actors.Row).TTFT}, {"tpot", (*actors.Row).TPOT}, {"e2e", (*actors.Row).E2E},
	{"scheduling_delay", func(r *actors.Row) (vtime.Duration, bool) { return r.SchedulingDelay() }},
}

var statisticsOfRows = []struct {
	name    string
	percent int64
}{{"mean", 0}, {"p50", 50}, {"p90", 90}, {"p99", 99}}

var sharesOfRows = []struct {
	name string
	of   func(*actors.Row) (counts, good bool)
}{
	{"slo_attainment", (*actors.Row).Attained},
	{"completed_share", func(r *actors.Row) (counts, good bool) { return true, r.State == metrics.Completed }},
}

// sampledOf returns how a measure comes from requests, if it does.
func sampledOf(m *metrics.Measure) (sampled, bool) {
	for _, l := range latenciesOfRows {
		for _, s := range statisticsOfRows {
			if m.Name == s.name+"_"+l.name {
				return sampled{latency: l.of, percent: s.percent}, true
			}
		}
	}
	for _, s := range sharesOfRows {
		if m.Name == s.name {
			return sampled{share: s.of}, true
		}
	}
	return sampled{}, false
}

// sampledNames are the measures that come from requests.
func sampledNames() (names []string) {
	for _, l := range latenciesOfRows {
		for _, s := range statisticsOfRows {
			names = append(names, s.name+"_"+l.name)
		}
	}
	for _, s := range sharesOfRows {
		names = append(names, s.name)
	}
	return names
}

// sloSample collects what one SLO is judged by.
type sloSample struct {
	slo       *SLO
	of        sampled
	latencies []int64 // of requests that have it, µs
	lost      int64   // requests that are infinitely late
	good, all int64   // of a share
	requests  int64   // of the class
}

func newSamples(slos []SLO) []sloSample {
	list := make([]sloSample, len(slos))
	for i := range slos {
		list[i].slo = &slos[i]
		list[i].of, _ = sampledOf(&slos[i].Measure)
	}
	return list
}

// add accounts for a request.
func (s *sloSample) add(r *actors.Row) {
	if s.slo.Class != "" && r.ClassName() != s.slo.Class {
		return
	}
	s.requests++
	if s.of.share != nil {
		if counts, good := s.of.share(r); counts {
			s.all++
			if good {
				s.good++
			}
		}
		return
	}
	if r.State != metrics.Completed {
		s.lost++
		return
	}
	if d, ok := s.of.latency(r); ok {
		s.latencies = append(s.latencies, int64(d))
	}
}

// value is the measure of the window, infinite where too many requests were lost; NaN if no
// request has it.
func (s *sloSample) value() float64 {
	switch n := int64(len(s.latencies)) + s.lost; {
	case s.of.share != nil:
		if s.all == 0 {
			return math.NaN()
		}
		return float64(s.good) / float64(s.all)
	case n == 0:
		return math.NaN()
	case s.of.percent == 0:
		if s.lost > 0 {
			return math.Inf(1)
		}
		sum := 0.0
		for _, x := range s.latencies {
			sum += float64(x)
		}
		return sum / float64(n)
	default:
		return s.percentile(n)
	}
}

// percentile is by linear interpolation, as metrics.Summary has it, of n requests of which
// the lost ones come last. It sorts the latencies.
func (s *sloSample) percentile(n int64) float64 {
	slices.Sort(s.latencies)
	at := func(rank int64) float64 {
		if rank >= int64(len(s.latencies)) {
			return math.Inf(1)
		}
		return float64(s.latencies[rank])
	}
	rank, hundredths := (n-1)*s.of.percent/100, (n-1)*s.of.percent%100
	low := at(rank)
	if hundredths == 0 || math.IsInf(low, 1) {
		return low
	}
	return low + float64((at(rank+1)-low)*float64(hundredths)/100)
}

// keeps reports whether a value keeps the bound. What could not be measured does not.
func (s *SLO) keeps(value float64) bool {
	switch s.Operator {
	case "<":
		return value < s.Bound
	case "<=":
		return value <= s.Bound
	case ">":
		return value > s.Bound
	}
	return value >= s.Bound
}

// rarest is the number of requests that the percentiles of the SLO need to be steady: a
// hundred beyond the percentile.
func (s *SLO) rarest() float64 {
	of, _ := sampledOf(&s.Measure)
	switch {
	case of.share != nil && s.Bound < 1:
		return 100 / (1 - s.Bound)
	case of.share != nil:
		return 10_000
	case of.percent == 0:
		return 200
	}
	return 100 / (1 - float64(of.percent)/100)
}
