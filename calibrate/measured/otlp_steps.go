package measured

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// stepEvents collects the events of steps until all spans have been read.
type stepEvents struct {
	steps []rawStep
	sums  map[int64]*snapshots // by step.id
}

// rawStep is a step.BATCH_SUMMARY.
type rawStep struct {
	Step
	start int64 // ns of a monotonic clock; 0 where it is missing
	line  int
}

// take adds the steps of a span: those of its events, or the span itself if it has the
// name of such an event. It reports whether there were any.
func (e *stepEvents) take(s *span, trace *Trace) bool {
	found := e.one(s.Name, s.self())
	others := 0
	for i := range s.Events {
		if e.one(s.Events[i].Name, s.event(i)) {
			found = true
		} else {
			others++
		}
	}
	if found {
		trace.OtherEvents += others
	}
	return found
}

func (e *stepEvents) one(name string, p part) bool {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "BATCH_SUMMARY":
		e.steps = append(e.steps, summary(p))
	case "REQUEST_SNAPSHOT":
		if e.sums == nil {
			e.sums = map[int64]*snapshots{}
		}
		id := p.needed(stepColumns[stepID], latest)
		if e.sums[id] == nil {
			e.sums[id] = &snapshots{}
		}
		e.sums[id].add(p)
	default:
		return false
	}
	return true
}

// summary returns the step of a step.BATCH_SUMMARY.
func summary(p part) rawStep {
	const tokens = 1 << 40
	count := func(k int) int64 { return p.needed(stepColumns[k], tokens) }
	maybe := func(k int) int64 { return p.whole(stepColumns[k], 0, tokens, 0) }
	s := Step{
		ID:              p.needed(stepColumns[stepID], latest),
		Running:         maybe(stepRunning),
		Waiting:         maybe(stepWaiting),
		PrefillRequests: count(stepPrefillRequests),
		DecodeRequests:  count(stepDecodeRequests),
		PrefillTokens:   count(stepPrefillTokens),
		DecodeTokens:    count(stepDecodeTokens),
		Finished:        maybe(stepFinished),
		Preempted:       maybe(stepPreempted),
		KVUsage:         p.decimal(stepColumns[stepUsage], 1),
		BlocksTotal:     maybe(stepBlocksTotal),
		BlocksFree:      maybe(stepBlocksFree),
		Duration:        p.decimal(stepColumns[stepDuration], longest),
	}
	s.ScheduledTokens = p.whole(stepColumns[stepScheduled], 0, 2*tokens, s.PrefillTokens+s.DecodeTokens)
	if k, want := s.contradiction(); want != "" && !s.idle() {
		text, _ := p.text(stepColumns[k])
		p.bad(stepColumns[k], text, "%s", want)
	}
	return rawStep{Step: s, start: p.whole("step.ts_start_ns", 0, latest, 0), line: p.line}
}

// idle reports whether a step did nothing at all.
func (s *Step) idle() bool {
	return s.PrefillRequests == 0 && s.DecodeRequests == 0 && s.PrefillTokens == 0 && s.DecodeTokens == 0 && s.ScheduledTokens == 0
}

// snapshots holds the sums over the requests of one step.
type snapshots struct {
	step Step  // counts and sums by the tokens of requests
	rows int64 // requests with scheduled tokens
}

// add sums one step.REQUEST_SNAPSHOT.
func (n *snapshots) add(p part) {
	const tokens = 1 << 24 // pairs of one request are below 2⁴⁹
	prompt := p.needed("request.num_prompt_tokens", tokens)
	before := p.needed("request.num_computed_tokens", tokens)
	chunk := p.needed("request.scheduled_tokens_this_step", tokens)
	output := p.whole("request.num_output_tokens", 0, tokens, 0)
	if chunk == 0 { // it runs, but not in this batch
		return
	}
	n.rows++
	s := &n.step
	s.ScheduledTokens += chunk
	if before+chunk >= prompt+output {
		s.SampledRows++
	}
	if before >= max(prompt, prompt+output-1) {
		s.DecodeRequests++
		s.DecodeTokens += chunk
		s.DecodeContext += before + chunk
		return
	}
	s.PrefillRequests++
	s.PrefillTokens += chunk
	s.PrefillPairs += chunk*before + chunk*(chunk+1)/2
	s.PrefillContext += before
	if s.PrefillPairs > latest {
		p.bad("request.num_computed_tokens", fmt.Sprint(before), "fewer requests, or shorter ones, in one step")
	}
}

// list returns the steps in order of number, with their periods and sums.
func (e *stepEvents) list(name string, trace *Trace) ([]Step, error) {
	slices.SortStableFunc(e.steps, func(a, b rawStep) int { return cmp.Compare(a.ID, b.ID) })
	var out []Step
	for i := range e.steps {
		s := &e.steps[i]
		if i > 0 && e.steps[i-1].ID == s.ID {
			return nil, fmt.Errorf("%s:%d: %s: %d: a second step of this number: want the steps of one engine", name, s.line, stepColumns[stepID], s.ID)
		}
		s.PreviousInSample = i > 0 && e.steps[i-1].ID == s.ID-1
		if i+1 < len(e.steps) && e.steps[i+1].ID == s.ID+1 {
			if err := s.measure(name, &e.steps[i+1]); err != nil {
				return nil, err
			}
		}
		if s.idle() {
			trace.Idle++
			continue
		}
		if err := s.sum(name, e.sums[s.ID]); err != nil {
			return nil, err
		}
		// PreviousInSample is about what stands before it here.
		s.PreviousInSample = s.PreviousInSample && len(out) > 0 && out[len(out)-1].ID == s.ID-1
		out = append(out, s.Step)
	}
	return out, nil
}

// measure sets the period of a step that another follows.
func (s *rawStep) measure(name string, next *rawStep) error {
	if s.start == 0 || next.start == 0 {
		return nil
	}
	if next.start <= s.start {
		return fmt.Errorf("%s:%d: step.ts_start_ns: %d: want a time after %d, when step %d began: the steps of one engine", name, next.line, next.start, s.start, s.ID)
	}
	s.Period = float64(next.start-s.start) / 1000
	return nil
}

// sum takes the sums and counts of a step if all of its requests are in the trace.
func (s *rawStep) sum(name string, n *snapshots) error {
	if n == nil {
		return nil
	}
	if n.step.ScheduledTokens > s.ScheduledTokens || n.rows > s.PrefillRequests+s.DecodeRequests {
		return fmt.Errorf("%s:%d: %s: %d: its step.REQUEST_SNAPSHOTs have %d requests and %d tokens: want at most the %d and %d of its step.BATCH_SUMMARY",
			name, s.line, stepColumns[stepID], s.ID, n.rows, n.step.ScheduledTokens, s.PrefillRequests+s.DecodeRequests, s.ScheduledTokens)
	}
	if n.step.ScheduledTokens < s.ScheduledTokens || n.rows < s.PrefillRequests+s.DecodeRequests {
		return nil
	}
	s.PrefillRequests, s.DecodeRequests = n.step.PrefillRequests, n.step.DecodeRequests
	s.PrefillTokens, s.DecodeTokens = n.step.PrefillTokens, n.step.DecodeTokens
	s.HasSums = true
	s.PrefillPairs, s.PrefillContext = n.step.PrefillPairs, n.step.PrefillContext
	s.DecodeContext, s.SampledRows = n.step.DecodeContext, n.step.SampledRows
	return nil
}
