package chrometrace

import (
	"blis/metrics"
	"blis/trace"
	"blis/vtime"
)

// Recorder keeps what a Chrome trace of a run has: it consumes the decision records of the
// level trace.Detailed, and takes the outcome of each request. Both in the order of the
// run, so that what is left out does not depend on the number of workers.
type Recorder struct {
	options Options
	header  trace.Header

	steps     chunks[step]
	requests  chunks[request]
	transfers chunks[transfer]
	instants  chunks[instant]
	names     names

	seats []seat // by instance
	last  vtime.Time
	seen  seen
	thinning
}

var _ trace.Consumer = (*Recorder)(nil)

// seat is what is known of an instance.
type seat struct {
	end  vtime.Time // of its last step
	last int        // its last step in steps; −1: none is kept
	used bool       // something is kept of it
}

// seen counts what there was in the window and on the instances of the trace.
type seen struct {
	steps, requests, transfers int64
	instants                   [instantKinds]int64
}

// New returns an empty Recorder, or an error that says what is wrong with the options.
func New(o Options) (*Recorder, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return &Recorder{options: o, thinning: all()}, nil
}

// Consume implements trace.Consumer.
func (r *Recorder) Consume(record trace.Record) error {
	switch x := record.(type) {
	case *trace.Header:
		r.header = *x
	case *trace.Batch:
		r.batch(x)
	case *trace.Preemption:
		r.instant(instant{kind: preempted, at: x.At, instance: int32(x.Instance), request: x.Request, a: x.Computed})
	case *trace.Transfer:
		r.transfer(x)
	case *trace.Disaggregation:
		if x.Event == trace.Expired {
			r.instant(instant{kind: expired, at: x.At, instance: index(x.Prefill), request: x.Request, a: *x.Blocks})
		}
	case *trace.Failure:
		r.failure(x)
	case *trace.Scale:
		r.scale(x)
	case *trace.Anomaly:
		r.anomaly(x)
	}
	return nil
}

// crash is the Event of a trace.Failure that ends what an instance does.
const crash = "crash"

// index is the index of an instance, −1 for none.
func index(i *int) int32 {
	if i == nil {
		return -1
	}
	return int32(*i)
}

// seat returns what is known of an instance.
func (r *Recorder) seat(i int32) *seat {
	for int(i) >= len(r.seats) {
		r.seats = append(r.seats, seat{last: -1})
	}
	return &r.seats[i]
}

// use notes that something is kept of an instance, or of the control plane.
func (r *Recorder) use(i int32) {
	if i < 0 {
		return
	}
	if s := r.seat(i); !s.used {
		s.used = true
		r.processes++
	}
}

// useOf notes that a request is kept.
func (r *Recorder) useOf(q *request) {
	if r.shows(q.instance) {
		r.use(q.instance)
	}
	if q.handed != nil && r.shows(q.handed.from) {
		r.use(q.handed.from)
	}
}

// inWindow reports whether what lasts from start to end reaches into the window.
func (r *Recorder) inWindow(start, end vtime.Time) bool {
	return start < r.options.To && (end > r.options.From || start >= r.options.From)
}

// shows reports whether the trace has instance i; −1, the control plane, it has.
func (r *Recorder) shows(i int32) bool { return i < 0 || i < r.most && r.options.Instances.Has(i) }

// wanted reports whether the trace has what happens to instance i from start to end.
func (r *Recorder) wanted(i int32, start, end vtime.Time) bool {
	r.last = max(r.last, start)
	return r.inWindow(start, end) && r.shows(i)
}

func (r *Recorder) batch(x *trace.Batch) {
	i := int32(x.Instance)
	at := r.seat(i)
	start := max(x.At, at.end) // a batch that is formed while the one before executes waits for it
	if x.End <= start {        // the one before did not end: the instance crashed
		start = x.At
		r.cut(i, start)
	}
	at.end = x.End
	if !r.wanted(i, start, x.End) {
		return
	}
	r.seen.steps++
	s := step{start: start, end: x.End, busy: x.End.Sub(start), prefill: int64(x.PrefillTokens), decode: int64(x.DecodeTokens), blocks: x.UsedBlocks,
		instance: i, steps: 1, running: x.Running, waiting: x.Waiting}
	r.addStep(&s)
	r.thin(r.options.Events)
}

// addStep adds a step, or joins it with the one before.
func (r *Recorder) addStep(s *step) {
	r.use(s.instance)
	at := &r.seats[s.instance]
	var before *step
	if at.last >= 0 {
		if before = r.steps.at(at.last); r.joins(before, s) {
			before.join(s)
			return
		}
	}
	r.stepEvents += eventsOfStep(before, s)
	at.last = r.steps.len()
	r.steps.add(*s)
}

func (r *Recorder) transfer(x *trace.Transfer) {
	if i := int32(x.Instance); !r.wanted(i, min(x.Submitted, x.Start), x.Noticed) {
		return
	}
	r.seen.transfers++
	if !r.keeps(x.Request) {
		return
	}
	t := transfer{submitted: x.Submitted, start: x.Start, end: x.End, noticed: x.Noticed, request: x.Request, bytes: x.Bytes,
		instance: int32(x.Instance), blocks: x.Blocks, reason: r.names.of(x.Reason), from: r.names.of(x.From), to: r.names.of(x.To)}
	r.use(t.instance)
	r.transfers.add(t)
	r.keyedEvents += mostOfTransfer
	r.thin(r.options.Events)
}

// cut ends the last step of an instance at a time, if it has not ended before.
func (r *Recorder) cut(instance int32, at vtime.Time) {
	s := r.seat(instance)
	s.end = min(s.end, at)
	if s.last >= 0 {
		r.steps.at(s.last).cut(at)
	}
}

func (r *Recorder) failure(x *trace.Failure) {
	if x.Event == crash && x.Instance != nil {
		r.cut(int32(*x.Instance), x.At)
	}
	i := instant{kind: failed, at: x.At, instance: index(x.Instance), request: -1, name: r.names.of(x.Event), detail: r.names.of(x.Pool)}
	if x.Request != nil {
		i.request = *x.Request
	}
	if x.Retries != nil {
		i.a = *x.Retries
	}
	if x.Event == crash {
		i.b = 1
	}
	r.instant(i)
}

// scale takes a check of an autoscaler that changed something, or could not.
func (r *Recorder) scale(x *trace.Scale) {
	if x.From == x.To {
		return
	}
	i := instant{kind: scaled, at: x.At, instance: -1, request: -1, a: x.From, b: x.To, name: r.names.of(x.Pool), detail: r.names.of(x.Reason)}
	if x.Action == trace.NoCapacity {
		i.severity = 1
	}
	r.instant(i)
}

func (r *Recorder) anomaly(x *trace.Anomaly) {
	i := instant{kind: anomaly, at: x.At, instance: index(x.Instance), request: -1, severity: x.Severity, name: r.names.of(x.Name), detail: r.names.of(x.Detail)}
	if len(x.Requests) > 0 {
		i.request = x.Requests[0]
	}
	r.instant(i)
}

func (r *Recorder) instant(i instant) {
	if !r.wanted(i.instance, i.at, i.at) {
		return
	}
	r.seen.instants[i.kind]++
	if !r.keepsInstant(&i) {
		return
	}
	r.use(i.instance)
	r.instants.add(i)
	if i.rare() {
		r.rareEvents += mostOfRare
	} else {
		r.keyedEvents++
	}
	r.thin(r.options.Events)
}

// Request takes the outcome of a request that ended, or of one that had not when the run did.
func (r *Recorder) Request(o *metrics.Outcome) {
	q := request{id: o.ID, arrival: o.Arrival, admitted: o.Admitted, routed: o.Routed, queued: o.Queued, scheduled: o.Scheduled, first: o.FirstToken, finished: o.Finished,
		instance: o.Instance, input: o.Input, cached: o.Lookup().Cached, generated: o.Generated,
		preempted: o.Preemptions + o.HandOver.Preemptions, retries: o.Retries,
		tenant: int32(o.Tenant), class: int32(o.Class), model: int32(o.Model), state: o.State, reason: o.Reason}
	if h := &o.HandOver; h.Made() {
		q.handed = &handOver{h.Queued, h.Scheduled, h.Ended, h.PullStart, h.Instance}
	}
	if o.Finished != vtime.Never {
		r.last = max(r.last, o.Finished)
	}
	r.last = max(r.last, o.Arrival)
	if !r.inWindow(o.Arrival, o.Finished) || !r.showsRequest(&q) {
		return
	}
	r.seen.requests++
	if !r.keeps(q.id) {
		return
	}
	r.useOf(&q)
	r.requests.add(q)
	r.keyedEvents += r.eventsOfRequest(&q)
	r.thin(r.options.Events)
}

// showsRequest reports whether the trace has the instance of a request, or the one that
// computed its prompt. Requests without an instance are in traces of all instances.
func (r *Recorder) showsRequest(q *request) bool {
	if q.handed != nil && r.shows(q.handed.from) {
		return true
	}
	if q.instance < 0 {
		return len(r.options.Instances) == 0
	}
	return r.shows(q.instance)
}
