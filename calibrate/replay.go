package calibrate

import (
	"blis/calibrate/measured"
	"blis/engine"
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// Predicted is one request as a replay predicts it. Times are in µs, as the client
// sees them.
type Predicted struct {
	TTFT, E2E, TPOT float64 // 0 where there is none
	Completed       bool
	Cached          int32      // prompt tokens found in the prefix cache
	Scheduled       vtime.Time // start of the first batch with it, vtime.Never: none had it
	Finished        vtime.Time // end of the request, completed or not
}

// Replay simulates the requests of a measured run on one engine and returns the
// latencies of each, in the order of the run. Requests end after the timeout; 0: no
// timeout. A simulated cluster of one instance gives the same numbers (see the test).
func (s *Server) Replay(r *measured.Run, m latency.Model, timeout vtime.Duration) ([]Predicted, error) {
	return s.replay(r, m, timeout, nil)
}

func (s *Server) replay(r *measured.Run, m latency.Model, timeout vtime.Duration, recorder *featureRecorder) ([]Predicted, error) {
	o := &outcomes{model: m, list: make([]Predicted, len(r.Requests)), recorder: recorder}
	var tracer engine.Observer
	if recorder != nil {
		tracer = recorder
	}
	e, err := s.engine(m, o, tracer)
	if err != nil {
		return nil, err
	}
	source := newSource(r, timeout)
	var d engine.Delivery
	for i := range r.Requests {
		if _, err := source.Pull(&d.Request); err != nil {
			return nil, err
		}
		d.ID, d.Admitted = int64(i), d.Arrival
		e.Advance(d.Arrival, vtime.ClassDelivery)
		e.Deliver(&d, d.Arrival)
	}
	e.Advance(vtime.Never, 255)
	if err := e.Check(); err != nil {
		return nil, err
	}
	return o.list, nil
}

// outcomes is the sink of the engine: it keeps the latencies that clients see.
type outcomes struct {
	model    latency.Model
	list     []Predicted
	recorder *featureRecorder
}

// Group implements engine.Sink: inter-token latencies are not needed.
func (*outcomes) Group(workload.Label, workload.Label, vtime.Time) int { return -1 }

// ITL implements engine.Sink.
func (*outcomes) ITL(int, vtime.Duration, int) {}

// Done implements engine.Sink.
func (o *outcomes) Done(out *metrics.Outcome, now vtime.Time) {
	p := &o.list[out.ID]
	*p = Predicted{Completed: out.State == metrics.Completed, Cached: out.Cached, Scheduled: out.Scheduled, Finished: now}
	token, _ := vtime.Truncate(o.model.TokenOverhead())
	request, _ := vtime.Truncate(o.model.RequestOverhead())
	if v, ok := out.TTFT(token); ok {
		p.TTFT = float64(v)
	}
	if v, ok := out.E2E(token, request); ok {
		p.E2E = float64(v)
	}
	if p.Completed && out.Generated > 1 {
		p.TPOT = (p.E2E - p.TTFT) / float64(out.Generated-1)
	}
	if o.recorder != nil {
		o.recorder.done(out)
	}
}

var _ workload.Source = (*source)(nil)
