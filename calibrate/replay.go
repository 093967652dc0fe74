package calibrate

import (
	"blis/calibrate/measured"
	"blis/engine"
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// Predicted is what a replay says of one request, in µs as its client sees it.
type Predicted struct {
	TTFT, E2E, TPOT float64 // 0 where there is none
	Completed       bool
	Cached          int32      // prompt tokens found in the prefix cache
	Scheduled       vtime.Time // first batch that gave it tokens, vtime.Never: none did
	Finished        vtime.Time // when it ended, however it did
}

// Replay serves the requests of a measured run with the engine of the
// simulation and says what each would have seen. Requests give up after the
// timeout; 0: none does. The instance stands alone, as the measured one did;
// the same through a cluster gives the same (see the test).
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

// outcomes is an engine's sink that keeps what clients see.
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
