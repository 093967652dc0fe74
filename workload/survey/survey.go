package survey

import (
	"cmp"
	"fmt"
	"slices"

	"blis/vtime"
	"blis/workload"
)

// Survey is what a source yields. Times are in µs of virtual time, lengths in
// tokens, rates per second of virtual time. What cannot be said is nil: rates
// of requests that all arrive at once, lengths of none.
type Survey struct {
	Requests int64       `json:"requests"`
	First    *vtime.Time `json:"first_arrival_us"`
	Last     *vtime.Time `json:"last_arrival_us"`
	Rate     *float64    `json:"requests_per_second"` // (n−1) / (last − first arrival)
	GapCV    *float64    `json:"gap_cv"`              // of the gaps between arrivals: standard deviation over mean
	Together int64       `json:"arrive_together"`     // requests that arrive at the same µs as the one before
	Peak     *float64    `json:"peak_requests_per_second"`
	PeakMean *float64    `json:"peak_to_mean"` // Peak / Rate
	Arrivals Timeline    `json:"arrivals"`     // Peak is the peak of its bins

	InputTokens  int64    `json:"total_input_tokens"`
	OutputTokens int64    `json:"total_output_tokens"`
	Input        *Summary `json:"input_tokens"`
	Output       *Summary `json:"output_tokens"`
	InputBars    []Bucket `json:"input_histogram"`
	OutputBars   []Bucket `json:"output_histogram"`

	Tenants []Share `json:"tenants"`
	Classes []Share `json:"slo_classes"`
	Models  []Share `json:"models"`

	Sessions        int64    `json:"sessions"`
	SessionRequests int64    `json:"session_requests"` // that belong to one
	Rounds          *Summary `json:"rounds_per_session"`

	WithDeadline int64 `json:"with_deadline"`
	WithLimit    int64 `json:"with_max_output"`
	WithHint     int64 `json:"with_priority_hint"`

	Reuse Reuse `json:"prefix_reuse"`
}

// Take pulls source until it is empty and describes what it yielded. The error
// is about the options, from the source, or that the source breaks the contract
// of sources. An error of Options.Watch comes with the survey of the requests
// until then.
func Take(source workload.Source, o Options) (*Survey, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	b := counts{sessions: map[uint64]int64{}}
	b.survey.Reuse.BlockSize = o.BlockSize
	var r workload.Request
	for {
		if o.Watch != nil && b.survey.Requests%between == 0 {
			if stop := o.Watch(b.survey.Requests); stop != nil {
				s, err := b.close(source.Labels())
				if err != nil {
					return nil, err
				}
				return s, stop
			}
		}
		more, err := source.Pull(&r)
		if err != nil {
			return nil, err
		}
		if !more {
			return b.close(source.Labels())
		}
		if err := b.add(&r); err != nil {
			return nil, err
		}
	}
}

// counts is a survey in progress.
type counts struct {
	survey        Survey
	first, last   vtime.Time
	gaps          moments
	timeline      timeline
	input, output tally

	tenants, classes, models shares

	sessions map[uint64]int64 // requests of each: the memory grows with their number
	prefixes prefixes
}

// add counts one request.
func (b *counts) add(r *workload.Request) error {
	s := &b.survey
	if err := r.Validate(); err != nil {
		return fmt.Errorf("the workload yields a request %d that cannot be: %w", s.Requests, err)
	}
	if s.Requests > 0 && r.Arrival < b.last {
		return fmt.Errorf("the workload yields an arrival at %v after one at %v: want order of arrival", r.Arrival, b.last)
	}
	b.arrive(r.Arrival)
	s.Requests++
	s.InputTokens += int64(r.Input)
	s.OutputTokens += int64(r.Output)
	b.input.add(int64(r.Input))
	b.output.add(int64(r.Output))
	b.tenants.add(r.Tenant, r)
	b.classes.add(r.Class, r)
	b.models.add(r.Model, r)
	if r.Session != 0 {
		b.sessions[r.Session]++
		s.SessionRequests++
	}
	if r.Deadline != vtime.Never {
		s.WithDeadline++
	}
	if r.MaxOutput != workload.Absent {
		s.WithLimit++
	}
	if r.Hint != 0 {
		s.WithHint++
	}
	b.reuse(r)
	return nil
}

func (b *counts) arrive(at vtime.Time) {
	if b.survey.Requests == 0 {
		b.first = at
	} else {
		b.gaps.add(uint64(at.Sub(b.last)))
		if at == b.last {
			b.survey.Together++
		}
	}
	b.last = at
	b.timeline.add(at)
}

func (b *counts) reuse(r *workload.Request) {
	reuse := &b.survey.Reuse
	reuse.Named += int64(r.Shared())
	blocks := min(b.prefixes.take(r), r.Input-1) / reuse.BlockSize
	reuse.Ideal += int64(blocks) * int64(reuse.BlockSize)
	if blocks > 0 {
		reuse.HitRequests++
	}
}

// close puts the counts into words.
func (b *counts) close(labels *workload.Labels) (*Survey, error) {
	s := &b.survey
	s.Arrivals.Counts = []int64{}
	if s.Requests > 0 {
		s.First, s.Last = &b.first, &b.last
		s.Arrivals = b.timeline.report(s.Requests)
	}
	s.Rate = ratio(float64(s.Requests-1), b.last.Sub(b.first).Seconds())
	s.GapCV = b.gaps.cv()
	if s.Peak = s.Arrivals.peak(); s.Peak != nil {
		s.PeakMean = ratio(*s.Peak, *s.Rate)
	}
	s.Input, s.InputBars = b.input.summary(), b.input.histogram()
	s.Output, s.OutputBars = b.output.summary(), b.output.histogram()
	rounds := tally{}
	for _, n := range b.sessions { // any order: a tally has none
		rounds.add(n)
	}
	s.Sessions, s.Rounds = int64(len(b.sessions)), rounds.summary()
	total := float64(s.InputTokens)
	s.Reuse.NamedShare = ratio(float64(s.Reuse.Named), total)
	s.Reuse.IdealShare = ratio(float64(s.Reuse.Ideal), total)
	var err error
	for _, k := range []struct {
		kind   string
		counts shares
		names  *workload.Names
		list   *[]Share
	}{{"tenant", b.tenants, &labels.Tenants, &s.Tenants}, {"class", b.classes, &labels.Classes, &s.Classes}, {"model", b.models, &labels.Models, &s.Models}} {
		if *k.list, err = k.counts.named(k.names, k.kind); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ratio is nil where there is nothing to divide by.
func ratio(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	q := a / b
	return &q
}

// Options says how a survey is taken. The zero value is ready.
type Options struct {
	// BlockSize is how many tokens a block of the prefix cache has, of which
	// Reuse speaks. 0: 16.
	BlockSize int32

	// Watch is called now and then with the number of requests so far. An
	// error of it ends the survey. Nil: not called.
	Watch func(requests int64) error
}

// defaultBlockSize is the block size of vLLM.
const defaultBlockSize = 16

// between is how many requests there are between two calls of Watch.
const between = 1 << 12

func (o *Options) check() error {
	if o.BlockSize < 0 {
		return fmt.Errorf("block-size-in-tokens: %d: want at least 1, 0 for %d", o.BlockSize, defaultBlockSize)
	}
	if o.BlockSize == 0 {
		o.BlockSize = defaultBlockSize
	}
	return nil
}

// Share is what one tenant, class or model has of the requests.
type Share struct {
	Name         string `json:"name"`
	Requests     int64  `json:"requests"`
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
}

// shares counts by label. Its memory grows with the number of labels.
type shares []Share

func (s *shares) add(l workload.Label, r *workload.Request) {
	for int(l) >= len(*s) {
		*s = append(*s, Share{})
	}
	one := &(*s)[l]
	one.Requests++
	one.InputTokens += int64(r.Input)
	one.OutputTokens += int64(r.Output)
}

// named gives the shares their names: those with requests, the most requests
// first, equal ones by name.
func (s shares) named(names *workload.Names, kind string) ([]Share, error) {
	list := []Share{}
	for l, one := range s {
		if one.Requests == 0 {
			continue
		}
		if l >= names.Len() {
			return nil, fmt.Errorf("the workload yields the %s %d: want a label of the table, below %d", kind, l, names.Len())
		}
		one.Name = names.Name(workload.Label(l))
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}
