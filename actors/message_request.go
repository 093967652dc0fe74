package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// Messages about one request, in the order of its life: delivered, returned and
// resumed if its instance is taken away, ended.

// sendDelivery sends a request to an instance. Until effect the instance shows
// the same as without it, and the request does not end.
func sendDelivery(out *lookahead.Outbox, to lookahead.ProcessID, now, effect vtime.Time, d *engine.Delivery) {
	beginDelivery(out, to, now, effect, kindDelivery, deliveryFields(d))
	writeDelivery(out, d)
	out.End()
}

func beginDelivery(out *lookahead.Outbox, to lookahead.ProcessID, now, effect vtime.Time, kind lookahead.Kind, fields int) {
	out.BeginWithEffectAt(to, lookahead.Key{At: now, Class: vtime.ClassDelivery}, lookahead.Key{At: effect, Class: vtime.ClassQueued}, kind, fields)
}

// rareDelivery reports whether d has one of the fields that few requests have.
func rareDelivery(d *engine.Delivery) bool {
	return d.Session|uint64(d.OutputContent)|uint64(d.Round|d.Expected|d.Retries) != 0 || len(d.Spans) > 0 || d.HandOver.Made() || d.Hints.Used() > 0 || d.Turn != 0
}

// turnFlag is the bit that says that a delivery has a turn, above the number of its hints.
const turnFlag = 40

// deliveryFields is the number of fields that writeDelivery writes.
func deliveryFields(d *engine.Delivery) int {
	if rareDelivery(d) {
		return 9 + 4 + handOverFields(&d.HandOver) + d.Hints.Used() + int(bit(d.Turn != 0)) + 2*len(d.Spans)
	}
	return 9
}

// writeDelivery writes what an instance needs of a request: the fields that all
// have, the rare ones, spans. It comes last in a message.
func writeDelivery(out *lookahead.Outbox, d *engine.Delivery) {
	out.Int(d.ID)
	out.Int(int64(d.Arrival))
	out.Int(since(d.Arrival, d.Admitted))
	out.Int(since(d.Arrival, d.Deadline))
	out.Int(int64(d.Input))
	out.Int(int64(d.Output))
	out.Int(int64(d.MaxOutput))
	out.Uint(labels(&d.Tags) | uint64(d.Endpoint)<<48)
	out.Float(d.Priority)
	if !rareDelivery(d) {
		return
	}
	out.Uint(d.Session)
	out.Int(counts{&d.Round, &d.Retries}.word())
	out.Uint(uint64(d.OutputContent))
	hints := d.Hints.Used()
	out.Int(int64(uint32(d.Expected)) | int64(bit(d.HandOver.Made()))<<32 | int64(hints)<<33 | int64(bit(d.Turn != 0))<<turnFlag)
	writeHandOver(out, d.Arrival, &d.HandOver)
	writeHints(out, d.Hints, hints)
	if d.Turn != 0 {
		out.Int(d.Turn)
	}
	for _, s := range d.Spans {
		out.Uint(uint64(s.Content))
		out.Int(int64(s.Length))
	}
}

// readDelivery is the inverse of writeDelivery. It uses the memory of d.Spans and
// d.Hints again.
func readDelivery(b *lookahead.Decoder, d *engine.Delivery) {
	d.ID = b.Int()
	d.Arrival = vtime.Time(b.Int())
	d.Admitted = after(d.Arrival, b.Int())
	d.Deadline = after(d.Arrival, b.Int())
	d.Input = int32(b.Int())
	d.Output = int32(b.Int())
	d.MaxOutput = int32(b.Int())
	word := b.Uint()
	setLabels(&d.Tags, word)
	d.Endpoint = uint16(word >> 48)
	d.Priority = b.Float()
	d.Session, d.Round, d.Retries, d.OutputContent, d.Expected, d.Spans = 0, 0, 0, 0, 0, d.Spans[:0]
	d.HandOver = metrics.NoHandOver()
	hints, turned := int64(0), false
	if d.Turn = 0; b.Left() > 0 {
		d.Session = b.Uint()
		counts{&d.Round, &d.Retries}.set(b.Int())
		d.OutputContent = workload.ContentID(b.Uint())
		expected := b.Int()
		if d.Expected = int32(expected); expected>>32&1 != 0 {
			readHandOver(b, d.Arrival, &d.HandOver)
		}
		hints, turned = expected>>33&(1<<(turnFlag-33)-1), expected>>turnFlag != 0
	}
	d.Hints = readHints(b, d.Hints, int(hints))
	if turned {
		d.Turn = b.Int()
	}
	for b.Left() > 0 {
		d.Spans = append(d.Spans, workload.Span{Content: workload.ContentID(b.Uint()), Length: int32(b.Int())})
	}
	mustDecode(b)
}

// sendReturned gives a request of an instance that is taken away back to the
// router.
func sendReturned(out *lookahead.Outbox, now vtime.Time, d *engine.Delivery, t *transfer) {
	out.Begin(routerID, lookahead.Key{At: now, Class: vtime.ClassNotice}, kindReturned, 1+progressFields+deliveryFields(d))
	out.Int(int64(t.from))
	writeProgress(out, d.Arrival, &t.Progress)
	writeDelivery(out, d)
	out.End()
}

func readReturned(b *lookahead.Decoder, d *engine.Delivery, t *transfer) {
	t.from = int32(b.Int())
	readResumed(b, d, &t.Progress)
}

// sendResumed is sendDelivery for a request that was returned.
func sendResumed(out *lookahead.Outbox, to lookahead.ProcessID, now, effect vtime.Time, d *engine.Delivery, p *engine.Progress) {
	beginDelivery(out, to, now, effect, kindResumed, progressFields+deliveryFields(d))
	writeProgress(out, d.Arrival, p)
	writeDelivery(out, d)
	out.End()
}

// readResumed reads the progress, whose times are durations since the arrival,
// and then the request, which has the arrival.
func readResumed(b *lookahead.Decoder, d *engine.Delivery, p *engine.Progress) {
	times := progressTimes(p)
	var durations [len(times)]int64
	for i := range durations {
		durations[i] = b.Int()
	}
	p.PrefillLost = vtime.Duration(b.Int())
	p.DecodeLost = vtime.Duration(b.Int())
	for _, n := range progressCounts(p) {
		n.set(b.Int())
	}
	readDelivery(b, d)
	for i, t := range times {
		*t = after(d.Arrival, durations[i])
	}
}

// progressFields is the number of fields that writeProgress writes.
const progressFields = 15

func writeProgress(out *lookahead.Outbox, arrival vtime.Time, p *engine.Progress) {
	for _, t := range progressTimes(p) {
		out.Int(since(arrival, *t))
	}
	out.Int(int64(p.PrefillLost))
	out.Int(int64(p.DecodeLost))
	for _, n := range progressCounts(p) {
		out.Int(n.word())
	}
}

// progressTimes are the times of p, in the order in which they travel.
func progressTimes(p *engine.Progress) [6]*vtime.Time {
	return [...]*vtime.Time{&p.Routed, &p.Queued, &p.Scheduled, &p.FirstToken, &p.LastToken, &p.Evicted}
}

// progressCounts are the counts of p, in the order in which they travel.
func progressCounts(p *engine.Progress) [7]counts {
	return [...]counts{generated(&p.Progress), cached(&p.Progress), {&p.Preemptions, nil}, {&p.Recomputed, nil}, {&p.Lost, nil}, {&p.Deficit, nil}, {&p.Redirects, nil}}
}

// counts is one or two counts that travel in one word, so that a word is the first alone where
// the second is 0.
type counts [2]*int32

func (c counts) word() int64 {
	if c[1] == nil {
		return int64(*c[0])
	}
	return int64(uint32(*c[0])) | int64(*c[1])<<32
}

// set is the inverse of word.
func (c counts) set(word int64) {
	if *c[0] = int32(word); c[1] != nil {
		*c[1] = int32(word >> 32)
	}
}

// cached is the cached tokens of p, with those from the CPU tier.
func cached(p *metrics.Progress) counts { return counts{&p.Cached, &p.CachedCPU} }

// generated is the generated tokens of p, with the cached ones from storage tiers.
func generated(p *metrics.Progress) counts { return counts{&p.Generated, &p.CachedStorage} }

// sendOutcome tells the collector the outcome of a request that reached its final
// state at now: the fields that all have, then the rare ones.
func sendOutcome(out *lookahead.Outbox, now vtime.Time, o *metrics.Outcome) {
	fields := 13
	rare := o.Session|uint64(o.Round|o.Preemptions|o.Recomputed|o.Redirects|o.Retries|o.Expected)|uint64(o.PrefillLost|o.DecodeLost) != 0 || o.HandOver.Made()
	if rare {
		fields += 8 + handOverFields(&o.HandOver)
	}
	k := lookahead.Key{At: now, Class: vtime.ClassNotice}
	if !out.Cause().Less(k) { // a notice says that the request is lost
		k = out.Cause().Next()
	}
	out.Begin(collectorID, k, kindOutcome, fields)
	out.Int(o.ID)
	out.Uint(uint64(o.State)<<56 | uint64(o.Reason)<<48 | labels(&o.Tags))
	out.Int(int64(o.Instance) + int64(o.Pool)<<32)
	out.Int(int64(o.Arrival))
	out.Int(since(o.Arrival, o.Admitted))
	out.Int(since(o.Arrival, o.Routed))
	out.Int(since(o.Arrival, o.Queued))
	out.Int(since(o.Arrival, o.Scheduled))
	out.Int(since(o.Arrival, o.FirstToken))
	out.Int(since(o.Arrival, o.LastToken))
	out.Int(int64(o.Input))
	out.Int(cached(&o.Progress).word())
	out.Int(generated(&o.Progress).word())
	if rare {
		out.Uint(o.Session)
		out.Int(int64(o.Round))
		out.Int(int64(o.Preemptions))
		out.Int(int64(o.Recomputed))
		out.Int(int64(o.PrefillLost))
		out.Int(int64(o.DecodeLost))
		out.Int(counts{&o.Redirects, &o.Retries}.word())
		out.Int(int64(o.Expected))
		writeHandOver(out, o.Arrival, &o.HandOver)
	}
	out.End()
}

func readOutcome(m *lookahead.Message, o *metrics.Outcome) {
	b := &m.Body
	*o = metrics.Outcome{Finished: m.Stamp.At, HandOver: metrics.NoHandOver()}
	o.ID = b.Int()
	word := b.Uint()
	o.State, o.Reason = metrics.State(word>>56), metrics.Reason(word>>48)
	setLabels(&o.Tags, word)
	place := b.Int()
	o.Instance = int32(place)
	o.Pool = int16((place - int64(o.Instance)) >> 32)
	o.Arrival = vtime.Time(b.Int())
	o.Admitted = after(o.Arrival, b.Int())
	o.Routed = after(o.Arrival, b.Int())
	o.Queued = after(o.Arrival, b.Int())
	o.Scheduled = after(o.Arrival, b.Int())
	o.FirstToken = after(o.Arrival, b.Int())
	o.LastToken = after(o.Arrival, b.Int())
	o.Input = int32(b.Int())
	cached(&o.Progress).set(b.Int())
	generated(&o.Progress).set(b.Int())
	if b.Left() > 0 {
		o.Session = b.Uint()
		o.Round = int32(b.Int())
		o.Preemptions = int32(b.Int())
		o.Recomputed = int32(b.Int())
		o.PrefillLost = vtime.Duration(b.Int())
		o.DecodeLost = vtime.Duration(b.Int())
		counts{&o.Redirects, &o.Retries}.set(b.Int())
		o.Expected = int32(b.Int())
		if b.Left() > 0 {
			readHandOver(b, o.Arrival, &o.HandOver)
		}
	}
	mustDecode(b)
}

// ended is what an instance tells the router of a request that ended on it.
type ended struct {
	instance int
	request  int64
	tenant   workload.Label
	state    metrics.State

	class   workload.Label // like latency, 0 unless the run says that the router hears it
	latency policy.Ending

	generated int32 // 0 unless a workload goes on from answers, or a gateway evicts
}

// completed reports whether the request has all its tokens.
func (e *ended) completed() bool { return e.state == metrics.Completed }

// sendEnded sends the end of a request. With latency not nil it says that and the
// class too, with generated the number of tokens.
func sendEnded(out *lookahead.Outbox, now vtime.Time, instance int, o *metrics.Outcome, generated bool, latency *policy.Ending) {
	fields := 3
	if latency != nil {
		fields += 4
	}
	if generated {
		fields++
	}
	out.Begin(routerID, lookahead.Key{At: now, Class: vtime.ClassNotice}, kindEnded, fields)
	out.Int(int64(instance))
	out.Int(o.ID)
	out.Uint(uint64(o.State)<<16 | uint64(o.Tenant))
	if latency != nil {
		out.Int(int64(latency.TTFT))
		out.Int(int64(latency.TPOT))
		out.Int(int64(latency.E2E))
		out.Uint(uint64(o.Class)<<2 | bit(latency.Attained)<<1 | bit(latency.Judged))
	}
	if generated {
		out.Int(int64(o.Generated))
	}
	out.End()
}

// readEnded is the inverse of sendEnded. The receiver knows whether latency was
// sent.
func readEnded(b *lookahead.Decoder, latency bool) (e ended) {
	e.instance = int(b.Int())
	e.request = b.Int()
	word := b.Uint()
	e.state, e.tenant = metrics.State(word>>16), workload.Label(word)
	if latency {
		e.latency.TTFT = vtime.Duration(b.Int())
		e.latency.TPOT = vtime.Duration(b.Int())
		e.latency.E2E = vtime.Duration(b.Int())
		word := b.Uint()
		e.class, e.latency.Attained, e.latency.Judged = workload.Label(word>>2), word&2 != 0, word&1 != 0
	}
	if b.Left() > 0 {
		e.generated = int32(b.Int())
	}
	mustDecode(b)
	return e
}
