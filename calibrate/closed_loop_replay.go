package calibrate

import (
	"fmt"

	"blis/calibrate/regress"
	"blis/engine"
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// ClosedLoopPrediction holds the latencies of a closed loop in its steady state, means
// over requests in µs, as clients see them.
type ClosedLoopPrediction struct {
	TTFT, TPOT float64
	Requests   int // over which the means are
}

const (
	warmUpRounds   = 2 // requests of each user, on average, before the ones that count
	measuredRounds = 3 // requests of each user, on average, that count
)

// Predict simulates the closed loop. All users ask at time 0, as load generators do,
// and each again as soon as it has the last token of its answer. The first requests,
// two for each user, are a warm-up; the next ones, three for each user, count; the loop
// goes on until these have completed. Over the public benchmarks TPOT is within 0.3 %
// (in nine of ten) of what nine rounds give. A simulated cluster of one instance with
// such users gives the same numbers (see the test).
func (s *ClosedLoopSample) Predict(m latency.Model) (ClosedLoopPrediction, error) {
	l, err := s.replay(m, nil)
	if err != nil {
		return ClosedLoopPrediction{}, err
	}
	return l.mean(), nil
}

// LoopObservation is a closed loop as a linear equation: given the schedule, the mean
// TPOT is the sum over features of coefficient · feature, in seconds.
type LoopObservation struct {
	Features  latency.BetaVector // of a token's step, the mean over requests
	Measured  float64            // TPOT, s
	Predicted float64            // TPOT of the replay, s
}

// Record simulates the closed loop under coefficients, as Predict does, and returns its
// measured TPOT as a sum over the features of steps.
func (s *ClosedLoopSample) Record(c *Coefficients) (*LoopObservation, error) {
	model, err := s.Model(c)
	if err != nil {
		return nil, err
	}
	t := newFeatureRecorder(model, s.features, s.requests())
	l, err := s.replay(t, t)
	if err != nil {
		return nil, err
	}
	t.sumSteps()
	o := &LoopObservation{Measured: s.Point.TPOT / 1e6, Predicted: l.mean().TPOT / 1e6}
	tokens := float64(s.Point.Output-1) * float64(len(l.list)-l.first)
	for _, at := range t.spans[l.first:] {
		for j, v := range t.sumBetween(at.first, at.last) {
			o.Features[j] += v / tokens
		}
	}
	return o, nil
}

// predict simulates the closed loop under coefficients.
func (s *ClosedLoopSample) predict(c *Coefficients) (ClosedLoopPrediction, error) {
	m, err := s.Model(c)
	if err != nil {
		return ClosedLoopPrediction{}, err
	}
	return s.Predict(m)
}

// observe implements replayed. TPOT has the weight of the sample, as the decoding of
// all requests of a Sample together has 1.
func (s *ClosedLoopSample) observe(c *Coefficients, _ FitOptions) (*regress.System, error) {
	l, err := s.Record(c)
	if err != nil {
		return nil, fmt.Errorf("closed loop of line %d: %w", s.Point.Line, err)
	}
	x := make([]float64, columns)
	copy(x, l.Features[:])
	system := regress.New(columns)
	system.Add(x, l.Measured, s.Weight*huber(l.Predicted/l.Measured-1)/(l.Measured*l.Measured))
	return system, nil
}

// requests is the number of requests up to the last one that counts.
func (s *ClosedLoopSample) requests() int { return int(s.Users) * (warmUpRounds + measuredRounds) }

// replay simulates the loop. recorder is nil, or m.
func (s *ClosedLoopSample) replay(m latency.Model, recorder *featureRecorder) (*loopReplay, error) {
	token, err := vtime.Truncate(m.TokenOverhead())
	if err != nil {
		return nil, err
	}
	request, err := vtime.Truncate(m.RequestOverhead())
	if err != nil {
		return nil, err
	}
	l := &loopReplay{
		outcomes: outcomes{model: m, list: make([]Predicted, s.requests()), recorder: recorder},
		first:    int(s.Users) * warmUpRounds, input: s.Point.Input, output: s.Point.Output,
		answer: vtime.Duration(int64(s.Point.Output)*int64(token)) + request + 1,
	}
	l.left = len(l.list) - l.first
	var observer engine.Observer
	if recorder != nil {
		observer = recorder
	}
	if l.engine, err = s.Server.engine(m, l, observer); err != nil {
		return nil, err
	}
	for range s.Users {
		l.deliver(0)
	}
	for l.left > 0 && l.failed == nil {
		l.next()
	}
	if l.failed == nil {
		l.failed = l.engine.Check()
	}
	return l, l.failed
}

// loopReplay is a closed loop on one engine. It is the sink of the engine.
type loopReplay struct {
	outcomes        // of the first requests; those with larger numbers keep the load up
	first       int // number of the first request that counts
	left        int // requests that count and have not completed
	failed      error
	engine      *engine.Engine
	sent        int64 // requests
	input       int32
	output      int32
	answer      vtime.Duration // from the last token of an answer to the next request, at least 1 µs
	due         []vtime.Time   // arrivals that follow from answers, in order, as all answers take the same time
	delivery    engine.Delivery
	deliveredAt int // in due
}

// next delivers the next request that is due, or lets the engine go on to the next step
// in which a request may end.
func (l *loopReplay) next() {
	if l.deliveredAt < len(l.due) {
		at := l.due[l.deliveredAt]
		l.deliveredAt++
		l.engine.Advance(at, vtime.ClassDelivery)
		l.deliver(at)
		return
	}
	l.due, l.deliveredAt = l.due[:0], 0
	l.engine.Advance(l.engine.FirstEnd(), vtime.ClassDelivery)
	at, class := l.engine.Next()
	if at == vtime.Never {
		l.failed = fmt.Errorf("all %d users wait and nothing is to be done", l.sent)
		return
	}
	l.engine.Act(at, class+1) // this event and no other: an answer may be due right after it
}

// deliver sends the next request.
func (l *loopReplay) deliver(at vtime.Time) {
	d := &l.delivery
	d.Request = workload.NewRequest(at, l.input, l.output)
	d.ID, d.Admitted, d.Source, d.Index = l.sent, at, workload.FirstSource, uint64(l.sent)
	l.sent++
	l.engine.Deliver(d, at)
}

// Done implements engine.Sink.
func (l *loopReplay) Done(out *metrics.Outcome, now vtime.Time) {
	if out.State != metrics.Completed || out.Generated != l.output {
		l.failed = fmt.Errorf("a request of %d and %d tokens ends as %s after %d: %s", l.input, l.output, out.State, out.Generated, out.Reason)
		return
	}
	l.due = append(l.due, now.Add(l.answer))
	if out.ID >= int64(len(l.list)) {
		return
	}
	l.outcomes.Done(out, now)
	if out.ID >= int64(l.first) {
		l.left--
	}
}

// mean is the mean over the requests that count.
func (l *loopReplay) mean() ClosedLoopPrediction {
	p := ClosedLoopPrediction{Requests: len(l.list) - l.first}
	for i := range l.list[l.first:] {
		r := &l.list[l.first+i]
		p.TTFT += r.TTFT
		p.TPOT += r.TPOT
	}
	p.TTFT /= float64(p.Requests)
	p.TPOT /= float64(p.Requests)
	return p
}
