package calibrate

import (
	"math"

	"blis/calibrate/measured"
	"blis/vtime"
	"blis/workload"
)

// promptsPerSystem is how many consecutive prompts of a measured run share a
// system prompt: the load generator of the measured runs asks ten questions
// under each.
const promptsPerSystem = 10

// longestGuess bounds the guess at a prompt of which nothing is known.
const longestGuess = 1 << 20

// source yields the requests of a measured run with the identity of their
// prompts: equal prompts are equal content, and prompts under one system prompt
// begin with it. What is equal is in the prefix cache after the first time, so
// without it a replay would prefill what the server did not.
type source struct {
	requests []measured.Request
	system   int32 // tokens of the system prompt, 0: none
	timeout  vtime.Duration
	lengths  map[int32]int32 // of prompts, by identity: failed requests do not tell theirs
	fallback int32           // prompt tokens of a request of which nothing is known

	next   int
	labels workload.Labels
	spans  [2]workload.Span
}

// newSource is a source of a run's requests. Those that take longer than the
// timeout give up; 0: none does.
func newSource(r *measured.Run, timeout vtime.Duration) *source {
	s := &source{requests: r.Requests, system: int32(min(r.SystemPromptTokens, math.MaxInt32)), timeout: timeout,
		lengths: map[int32]int32{}, fallback: int32(min(max(1, int64(r.SystemPromptTokens)+int64(r.QuestionTokens)), longestGuess))}
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Prompt >= 0 && q.Input > 0 {
			s.lengths[q.Prompt] = q.Input
		}
	}
	s.labels.NameUsual()
	return s
}

// Labels implements workload.Source.
func (s *source) Labels() *workload.Labels { return &s.labels }

// Pull implements workload.Source.
func (s *source) Pull(r *workload.Request) (bool, error) {
	if s.next == len(s.requests) {
		return false, nil
	}
	m := &s.requests[s.next]
	input := m.Input
	if input == 0 {
		if input = s.lengths[m.Prompt]; input == 0 {
			input = s.fallback
		}
	}
	*r = workload.NewRequest(m.Arrival, input, m.Output)
	r.Source, r.Index = workload.FirstSource, uint64(s.next)
	if s.timeout > 0 {
		r.Deadline = m.Arrival.Add(s.timeout)
	}
	r.Spans = s.content(m.Prompt, input)
	s.next++
	return true, nil
}

// content is what a prompt shares with others, nil if it is like no other.
func (s *source) content(prompt, input int32) []workload.Span {
	if prompt < 0 {
		return nil
	}
	// Contents are numbers of this source alone, apart from each other.
	own := workload.ContentID(2*uint64(prompt) + 1)
	if s.system <= 0 || s.system >= input {
		s.spans[0] = workload.Span{Content: own, Length: input}
		return s.spans[:1]
	}
	s.spans[0] = workload.Span{Content: workload.ContentID(2*uint64(prompt/promptsPerSystem) + 2), Length: s.system}
	s.spans[1] = workload.Span{Content: own, Length: input - s.system}
	return s.spans[:2]
}
