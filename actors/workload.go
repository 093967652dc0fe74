package actors

import (
	"blis/latency"
	"blis/vtime"
	"blis/workload"
)

// Workload returns the source of a run of this configuration, with the effective
// configuration and its setup. The source yields the requests that would arrive
// until the horizon. Requests that follow from answers come as if every answer took
// as long as on an idle instance; a note says so. Errors, here and of the source,
// are those of Run.
func Workload(cfg Config) (workload.Source, Config, Setup, error) {
	p, err := newPlan(cfg)
	if err != nil {
		return nil, cfg, Setup{}, err
	}
	a := &arrivals{Source: p.source, end: vtime.Never}
	if loops(p.source) {
		a.Source = workload.Play(p.source.(workload.ClosedLoop), func(r *workload.Request) vtime.Duration {
			return alone(p.model, p.config.BlockSizeInTokens, r)
		})
		p.note("requests that follow from answers come as if every answer took as long as on an idle instance")
	}
	if p.config.Horizon > 0 {
		a.end = vtime.Time(p.config.Horizon)
	}
	return a, p.config, p.setup, nil
}

// alone is how long the answer to a request takes on an idle instance with an empty
// cache: the prompt in one step, then each token as long as the one in the middle.
func alone(m latency.Model, blockSize int32, r *workload.Request) vtime.Duration {
	input, output := int64(r.Input), int64(r.Output)
	prefill := latency.Batch{PrefillTokens: input, PrefillRequests: 1, PrefillPairs: input * (input + 1) / 2, SampledRows: 1}
	us := m.Queueing(latency.QueueInput{Input: input}) + m.Step(&prefill) + m.RequestOverhead()
	if output > 1 {
		context := input + output/2
		decode := latency.Batch{DecodeTokens: 1, DecodeRequests: 1, DecodeContext: context, DecodeBlocks: context/int64(blockSize) + 1, SampledRows: 1}
		us += float64(float64(output-1) * m.Step(&decode))
	}
	us += float64(float64(output) * m.TokenOverhead())
	d, err := vtime.Truncate(us)
	if err != nil { // a model that yields no number fails in a run too, and says when
		return 1
	}
	return d
}

// arrivals is a source that ends with the run.
type arrivals struct {
	workload.Source
	end vtime.Time // time of the last possible arrival
}

// Pull implements workload.Source.
func (a *arrivals) Pull(r *workload.Request) (bool, error) {
	more, err := a.Source.Pull(r)
	if err != nil {
		return false, &InputError{err.Error()}
	}
	return more && r.Arrival <= a.end, nil
}
