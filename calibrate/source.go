package calibrate

import (
	"math"

	"blis/calibrate/measured"
	"blis/vtime"
	"blis/workload"
)

// promptsPerSystem is the number of consecutive prompts of a measured run with the
// same system prompt: the load generator of the measured runs asks ten questions
// under each.
const promptsPerSystem = 10

// longestGuess limits the guessed length of a prompt of unknown length, tokens.
const longestGuess = 1 << 20

// source yields the requests of a measured run with the content of their prompts:
// equal prompts have equal content, and prompts with one system prompt begin with
// it. Without this a replay would prefill tokens that the prefix cache of the
// measured server had.
type source struct {
	requests []measured.Request
	system   int32 // tokens of the system prompt, 0: none
	timeout  vtime.Duration
	lengths  map[int32]int32 // of prompts, by number of the prompt: rows of failed requests have none
	fallback int32           // prompt tokens of a request of unknown length

	next   int
	labels workload.Labels
	spans  [2]workload.Span
}

// newSource returns a source of the requests of a run. Requests end after the
// timeout; 0: no timeout.
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

// content returns the content of a prompt, nil if it shares none with others.
func (s *source) content(prompt, input int32) []workload.Span {
	if prompt < 0 {
		return nil
	}
	// Even numbers are system prompts, odd ones the rest of prompts.
	own := workload.ContentID(2*uint64(prompt) + 1)
	if s.system <= 0 || s.system >= input {
		s.spans[0] = workload.Span{Content: own, Length: input}
		return s.spans[:1]
	}
	s.spans[0] = workload.Span{Content: workload.ContentID(2*uint64(prompt/promptsPerSystem) + 2), Length: s.system}
	s.spans[1] = workload.Span{Content: own, Length: input - s.system}
	return s.spans[:2]
}
