package measured

import (
	"fmt"
	"io"
	"strings"
)

// Step is one step of an engine: what its batch was made of and how long it
// took.
//
// What counts as prefill is up to the source. vLLM's step traces say so of a
// request until its first token has come back, which with asynchronous
// scheduling is one step late: its first decode, of one token, is among the
// prefills. Where the sums are known, see HasSums, the counts go with them.
type Step struct {
	Experiment, Model string // empty: the source does not say
	TP                int    // 0: the source does not say
	ID                int64  // consecutive steps have consecutive ones

	Running, Waiting int64 // requests when the batch had been formed

	PrefillRequests, DecodeRequests int64
	ScheduledTokens                 int64 // PrefillTokens + DecodeTokens, at least 1
	PrefillTokens, DecodeTokens     int64
	Finished, Preempted             int64 // requests since the step before

	KVUsage                 float64 // of the KV blocks, from 0 to 1
	BlocksTotal, BlocksFree int64   // usable ones, without vLLM's null block

	// Duration is what the host reported in µs: the time to form the batch, a
	// few percent of a step. Period, in µs, is from the start of this step to
	// the start of the next, 0 where it is not known. With asynchronous
	// scheduling that is how long the batch of the step before took.
	Duration, Period float64
	PreviousInSample bool // the step before stands before this one

	// OwnTime: Period is how long the batch of this very step took, measured alone,
	// with asynchronous scheduling too. ID is the line of the file.
	OwnTime bool

	// HasSums: the sums over the requests of the batch are known, as
	// latency.Batch has them. Without, the attention of chunked prefills and of
	// decodes can only be guessed.
	HasSums        bool
	PrefillPairs   int64 // Σ c·p + c(c+1)/2, chunk c after p computed tokens
	PrefillContext int64 // Σ p over prefills
	DecodeContext  int64 // Σ keys read over decodes, the request's own new one included
	SampledRows    int64 // requests that yield a token
}

// Columns of a file of steps.
const (
	stepPrefillRequests = iota
	stepDecodeRequests
	stepPrefillTokens
	stepDecodeTokens
	stepPeriod
	stepRequired // what follows is optional
)

const (
	stepScheduled = stepRequired + iota
	stepExperiment
	stepModel
	stepTP
	stepID
	stepRunning
	stepWaiting
	stepFinished
	stepPreempted
	stepUsage
	stepBlocksTotal
	stepBlocksFree
	stepDuration
	stepPrevious
	stepPairs
	stepPrefillContext
	stepDecodeContext
	stepSampled
	stepColumnCount
)

var stepColumns = strings.Fields("batch.num_prefill_reqs batch.num_decode_reqs batch.prefill_tokens batch.decode_tokens period_us " +
	"batch.scheduled_tokens experiment_id model tp step.id queue.running_depth queue.waiting_depth " +
	"batch.num_finished batch.num_preempted kv.usage_gpu_ratio kv.blocks_total_gpu kv.blocks_free_gpu " +
	"step.duration_us prev_step_in_sample prefill_pairs prefill_context decode_context sampled_rows")

// ReadSteps reads steps from an OTLP-JSON file, FILE.json or FILE.jsonl, gzip too, or
// from a CSV file of any other name. See ReadOTLP for the first. The second has columns
// in any order, others are ignored, and rows in the order of the steps. It needs
//
//	batch.num_prefill_reqs, batch.num_decode_reqs   requests in the batch
//	batch.prefill_tokens, batch.decode_tokens       tokens scheduled for them
//	period_us   from the start of this step to the start of the next, above 0
//
// and takes what there is of
//
//	batch.scheduled_tokens        the sum of the tokens
//	experiment_id, model, tp      of which run a row is; steps of one stand together
//	step.id, prev_step_in_sample  the number of the step; 1 if the row above is the
//	                              step before, which without this column the numbers tell
//	queue.running_depth, queue.waiting_depth, batch.num_finished, batch.num_preempted
//	kv.usage_gpu_ratio, kv.blocks_total_gpu, kv.blocks_free_gpu
//	step.duration_us              the host's own measure
//	prefill_pairs, prefill_context, decode_context, sampled_rows
//
// The last four are the sums over the requests of a batch, see Step; a file has
// all of them or none, a row too. Times may have decimals, all else is whole
// numbers. A row that contradicts itself is an error, and so is a file without
// rows.
//
// A CSV file with columns latency_ms and decode_context_tokens has forward passes, each
// measured alone. It needs, in any order,
//
//	prefill_tokens, prefill_requests   tokens scheduled for prompts, and of how many
//	prefill_context_tokens             Σ tokens of these that were computed before
//	decode_requests                    requests with one token each
//	decode_context_tokens              Σ tokens of these that were computed before
//	latency_ms                         of the pass, above 0
//
// and takes what there is of phase (context, decode or mixed), model and tp; without a
// column tp the name of the file may say, as in x-tp4.csv. The sums of Step that such a
// file does not have are estimated: PrefillPairs as by equally long prompts of which at
// most one was begun before, SampledRows as if every prompt ended.
func ReadSteps(path string) ([]Step, error) {
	name := strings.TrimSuffix(path, ".gz")
	if !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".jsonl") {
		if isPasses(path) {
			return readPassFile(path)
		}
		return readFile(path, readSteps)
	}
	trace, err := ReadOTLP(path)
	if err != nil {
		return nil, err
	}
	if len(trace.Steps) == 0 {
		return nil, fmt.Errorf("%s: a trace without steps: want events step.BATCH_SUMMARY", path)
	}
	return trace.Steps, nil
}

func readSteps(name string, r io.Reader) ([]Step, error) {
	t, err := openTable(name, r, stepColumns[:stepRequired], stepColumns[stepRequired:])
	if err != nil {
		return nil, err
	}
	if err := sumsComplete(t); err != nil {
		return nil, err
	}
	var list []Step
	for {
		more, err := t.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		step := parseStep(t)
		if t.err() == nil {
			if k, want := step.contradiction(); want != "" {
				t.bad(k, "%s", want)
			}
			checkPrevious(t, &step, list)
		}
		if err := t.err(); err != nil {
			return nil, err
		}
		list = append(list, step)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no steps: want a row for each below the header", name)
	}
	return list, nil
}

// sumsComplete: with one column of sums there are all.
func sumsComplete(t *table) error {
	var missing []string
	for k := stepPairs; k <= stepSampled; k++ {
		if !t.has(k) {
			missing = append(missing, stepColumns[k])
		}
	}
	if len(missing) == 0 || len(missing) == stepSampled-stepPairs+1 {
		return nil
	}
	return fmt.Errorf("%s:%d: header: missing %s: want all of %s, or none", t.name, t.line,
		strings.Join(missing, ", "), strings.Join(stepColumns[stepPairs:], ","))
}

// parseStep is the step of the current row; see table.err.
func parseStep(t *table) Step {
	const tokens = 1 << 40 // and requests: beyond any batch, and sums of two fit
	s := Step{
		Experiment: t.text(stepExperiment), Model: t.text(stepModel),
		TP:              int(t.wholeOr(stepTP, 1, maxTP, 0)),
		ID:              t.wholeOr(stepID, 0, latest, 0),
		Running:         t.wholeOr(stepRunning, 0, tokens, 0),
		Waiting:         t.wholeOr(stepWaiting, 0, tokens, 0),
		PrefillRequests: t.whole(stepPrefillRequests, 0, tokens),
		DecodeRequests:  t.whole(stepDecodeRequests, 0, tokens),
		PrefillTokens:   t.whole(stepPrefillTokens, 0, tokens),
		DecodeTokens:    t.whole(stepDecodeTokens, 0, tokens),
		Finished:        t.wholeOr(stepFinished, 0, tokens, 0),
		Preempted:       t.wholeOr(stepPreempted, 0, tokens, 0),
		KVUsage:         t.decimalOr(stepUsage, 1),
		BlocksTotal:     t.wholeOr(stepBlocksTotal, 0, tokens, 0),
		BlocksFree:      t.wholeOr(stepBlocksFree, 0, tokens, 0),
		Duration:        t.decimalOr(stepDuration, longest),
		Period:          t.decimalOr(stepPeriod, longest),
	}
	if s.Period == 0 {
		t.bad(stepPeriod, "a time above 0")
	}
	s.ScheduledTokens = t.wholeOr(stepScheduled, 0, 2*tokens, s.PrefillTokens+s.DecodeTokens)
	for k := stepPairs; k <= stepSampled; k++ {
		s.HasSums = s.HasSums || t.text(k) != ""
	}
	if s.HasSums {
		s.PrefillPairs = t.whole(stepPairs, 0, latest)
		s.PrefillContext = t.whole(stepPrefillContext, 0, latest)
		s.DecodeContext = t.whole(stepDecodeContext, 0, latest)
		s.SampledRows = t.whole(stepSampled, 0, 2*tokens)
	}
	return s
}

// longest is the longest time of a step that is believed, in µs: a day.
const longest = 24 * 3600 * 1e6

// checkPrevious settles PreviousInSample: by the numbers of the steps, which a
// column that says so must agree with.
func checkPrevious(t *table, s *Step, before []Step) {
	follows := false
	if n := len(before); n > 0 && t.has(stepID) {
		last := &before[n-1]
		follows = last.Experiment == s.Experiment && last.Model == s.Model && last.TP == s.TP && last.ID == s.ID-1
	}
	s.PreviousInSample = follows
	if t.text(stepPrevious) == "" || t.truth(stepPrevious) == follows {
		return
	}
	if follows {
		t.bad(stepPrevious, "1: by experiment_id and step.id the row above is the step before")
	} else {
		t.bad(stepPrevious, "0: by experiment_id and step.id the row above is not the step before")
	}
}

// contradiction returns the column of a value that contradicts another one, and a
// legal value for it; want is "" if there is no contradiction.
func (s *Step) contradiction() (column int, want string) {
	switch {
	case s.PrefillTokens == 0 && s.DecodeTokens == 0:
		return stepPrefillTokens, "a step that schedules tokens, as batch.decode_tokens is 0 too"
	case s.PrefillTokens > 0 && s.PrefillRequests == 0:
		return stepPrefillTokens, "0, as batch.num_prefill_reqs is"
	case s.PrefillTokens < s.PrefillRequests:
		return stepPrefillTokens, fmt.Sprintf("at least 1 for each of the batch.num_prefill_reqs %d", s.PrefillRequests)
	case s.DecodeTokens > 0 && s.DecodeRequests == 0:
		return stepDecodeTokens, "0, as batch.num_decode_reqs is"
	case s.DecodeTokens < s.DecodeRequests:
		return stepDecodeTokens, fmt.Sprintf("at least 1 for each of the batch.num_decode_reqs %d", s.DecodeRequests)
	case s.ScheduledTokens != s.PrefillTokens+s.DecodeTokens:
		return stepScheduled, fmt.Sprintf("%d, as batch.prefill_tokens + batch.decode_tokens is", s.PrefillTokens+s.DecodeTokens)
	case s.BlocksFree > s.BlocksTotal:
		return stepBlocksFree, fmt.Sprintf("at most kv.blocks_total_gpu %d", s.BlocksTotal)
	case !s.HasSums:
		return 0, ""
	}
	return s.sumContradiction()
}

// sumContradiction is contradiction for the sums over requests. PrefillPairs, the sum
// of c·p + c(c+1)/2 over prefills, is at least Σ c, and if all p are 0 at most the
// pairs of one prefill of all tokens.
func (s *Step) sumContradiction() (column int, want string) {
	tokens := float64(s.PrefillTokens) // the bound of pairs need not fit an integer
	switch {
	case s.PrefillPairs < s.PrefillTokens:
		return stepPairs, fmt.Sprintf("at least batch.prefill_tokens %d", s.PrefillTokens)
	case s.PrefillRequests == 0 && s.PrefillPairs > 0:
		return stepPairs, "0, as batch.num_prefill_reqs is"
	case s.PrefillRequests == 0 && s.PrefillContext > 0:
		return stepPrefillContext, "0, as batch.num_prefill_reqs is"
	case s.PrefillContext == 0 && float64(s.PrefillPairs) > tokens*(tokens+1)/2:
		return stepPairs, fmt.Sprintf("at most %.0f, a prefill of all tokens at once, as prefill_context is 0", tokens*(tokens+1)/2)
	case s.DecodeRequests == 0 && s.DecodeContext > 0:
		return stepDecodeContext, "0, as batch.num_decode_reqs is"
	case s.DecodeContext < s.DecodeTokens:
		return stepDecodeContext, fmt.Sprintf("at least batch.decode_tokens %d", s.DecodeTokens)
	case s.SampledRows < s.DecodeRequests:
		return stepSampled, fmt.Sprintf("at least batch.num_decode_reqs %d: all of them yield a token", s.DecodeRequests)
	case s.SampledRows > s.PrefillRequests+s.DecodeRequests:
		return stepSampled, fmt.Sprintf("at most the %d requests of the batch", s.PrefillRequests+s.DecodeRequests)
	}
	return 0, ""
}
