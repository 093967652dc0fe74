package actors

import (
	"fmt"
	"slices"

	"blis/engine"
	"blis/kv"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// Values of messages whose functions take several.
type (
	valueResumed struct {
		Progress engine.Progress
		Delivery engine.Delivery
	}
	valueReturned struct {
		instance int32
		valueResumed
	}
	valueScale struct {
		target int32
		reason policy.Reason
	}
	valueStop      struct{ giveBack bool }
	valueEvict     struct{ request int64 }
	valueEvaluate  struct{ at vtime.Time }
	valueAdmission struct {
		request       int64
		input         int32
		tenant, class workload.Label
		Decision      policy.AdmissionDecision
	}
	valueInversion struct {
		id int64
		policy.ClassInversion
	}
	valueSlow   struct{ factor float64 }
	valueCutOff struct {
		instance, tokens int32
		valueResumed
	}
	valueTracedFailure struct {
		event             failureEvent
		instance, retries int32
		request           int64
	}
	valueBlocks struct {
		instance, crashes int32
		changes           []engine.BlockChange
	}
)

// sentAt is when the messages of the tests are sent.
const sentAt = vtime.Time(1 << 40)

// carried is one kind of message: its value with every field, and how it
// travels.
type carried struct {
	name     string
	value    any // of the type that is sent and read
	from, to lookahead.ProcessID
	send     func(out *lookahead.Outbox, v any)
	read     func(m *lookahead.Message) any
	lost     []string // fields that do not travel: the receiver does not need them
}

const testLeaf = lookahead.FirstLeaf

// The client's hint has gone into the priority; the others are between source
// and router. An instance numbers the attempts itself.
var lostOfRequest = []string{"Hint", "Source", "Index", "Begins", "Awaited", "Attempt"}

// carriedDelivery is a kind that carries a request which is delivered for the first time.
func carriedDelivery(name string, send func(out *lookahead.Outbox, to lookahead.ProcessID, now, effect vtime.Time, d *engine.Delivery)) carried {
	return carried{name, engine.Delivery{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) {
			d := v.(engine.Delivery)
			send(out, testLeaf, sentAt, sentAt, &d)
		},
		func(m *lookahead.Message) any {
			d := engine.Delivery{Request: workload.Request{Terms: workload.Terms{Spans: make([]workload.Span, 5)}}}
			readDelivery(&m.Body, &d)
			return d
		}, lostOfRequest}
}

// carriedResumed is a kind that carries a request which was returned or lost.
func carriedResumed(name string, send func(out *lookahead.Outbox, to lookahead.ProcessID, now, effect vtime.Time, d *engine.Delivery, p *engine.Progress)) carried {
	return carried{name, valueResumed{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueResumed)
			send(out, testLeaf, sentAt, sentAt, &x.Delivery, &x.Progress)
		},
		func(m *lookahead.Message) any {
			var x valueResumed
			readResumed(&m.Body, &x.Delivery, &x.Progress)
			return x
		}, lostOfRequest}
}

// messages are all kinds but the routing decision of a trace, which is made of
// what the router has and read into the record (TestTraceAgreesWithRun).
var messages = slices.Concat(commonMessages, disaggregationMessages)

var commonMessages = []carried{
	carriedDelivery("delivery", sendDelivery),
	carriedResumed("resumed", sendResumed),
	{"returned", valueReturned{}, testLeaf, routerID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueReturned)
			sendReturned(out, sentAt, &x.Delivery, &transfer{x.Progress, x.instance})
		},
		func(m *lookahead.Message) any {
			var x valueReturned
			var t transfer
			readReturned(&m.Body, &x.Delivery, &t)
			x.Progress, x.instance = t.Progress, t.from
			return x
		}, lostOfRequest},
	{"outcome", metrics.Outcome{}, testLeaf, collectorID,
		func(out *lookahead.Outbox, v any) {
			o := v.(metrics.Outcome)
			sendOutcome(out, sentAt, &o)
		},
		func(m *lookahead.Message) any {
			var o metrics.Outcome
			readOutcome(m, &o)
			if o.Finished != sentAt {
				panic("the outcome is not finished when it was sent")
			}
			o.Finished = 0
			return o
		}, []string{"Finished"}},
	{"ended", ended{}, testLeaf, routerID, sendTestEnded, func(m *lookahead.Message) any { return readEnded(&m.Body, true) }, nil},
	{"scale", valueScale{}, autoscalerID, routerID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueScale)
			sendScale(out, sentAt, x.target, x.reason)
		},
		func(m *lookahead.Message) any {
			var x valueScale
			x.target, x.reason = readScale(&m.Body)
			return x
		}, nil},
	{"stop", valueStop{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) { sendStop(out, testLeaf, sentAt, v.(valueStop).giveBack) },
		func(m *lookahead.Message) any { return valueStop{readStop(&m.Body)} }, nil},
	{"evict", valueEvict{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) { sendEvict(out, testLeaf, sentAt, v.(valueEvict).request) },
		func(m *lookahead.Message) any { return valueEvict{readEvict(&m.Body)} }, nil},
	{"crash", struct{}{}, routerID, testLeaf,
		func(out *lookahead.Outbox, _ any) { sendCrash(out, testLeaf, sentAt) },
		func(*lookahead.Message) any { return struct{}{} }, nil},
	{"repair", struct{}{}, routerID, testLeaf,
		func(out *lookahead.Outbox, _ any) { sendRepair(out, testLeaf, sentAt) },
		func(*lookahead.Message) any { return struct{}{} }, nil},
	{"slow", valueSlow{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) { sendSlow(out, testLeaf, sentAt, v.(valueSlow).factor) },
		func(m *lookahead.Message) any { return valueSlow{readSlow(&m.Body)} }, nil},
	{"link", linkShare{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) { sendLink(out, testLeaf, sentAt, v.(linkShare)) },
		func(m *lookahead.Message) any { return readLink(&m.Body) }, nil},
	{"cut off", valueCutOff{}, testLeaf, routerID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueCutOff)
			sendCutOff(out, sentAt, &x.Delivery, &lost{transfer{x.Progress, x.instance}, x.tokens})
		},
		func(m *lookahead.Message) any {
			var x valueCutOff
			var l lost
			readCutOff(&m.Body, &x.Delivery, &l)
			x.Progress, x.instance, x.tokens = l.Progress, l.from, l.tokens
			return x
		}, lostOfRequest},
	{"traced failure", valueTracedFailure{}, routerID, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueTracedFailure)
			sendTracedFailure(out, &tracedFailure{x.event, x.instance, x.request, x.retries})
		},
		func(m *lookahead.Message) any {
			f := readTracedFailure(&m.Body)
			return valueTracedFailure{f.event, f.instance, f.retries, f.request}
		}, nil},
	{"evaluate", valueEvaluate{}, routerID, autoscalerID,
		func(out *lookahead.Outbox, v any) { sendEvaluate(out, autoscalerID, sentAt, v.(valueEvaluate).at) },
		func(m *lookahead.Message) any { return valueEvaluate{readEvaluate(&m.Body)} }, nil},
	{"blocks", valueBlocks{}, testLeaf, routerID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueBlocks)
			for k := range x.changes {
				x.changes[k].Medium = kv.GPU // it does not travel, no other does
			}
			sendBlocks(out, sentAt, incarnation{x.instance, x.crashes}, x.some())
		},
		func(m *lookahead.Message) any { return blocksOf(m, readBlocks) }, nil},
	{"tier blocks", valueBlocks{}, testLeaf, routerID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueBlocks)
			sendTierBlocks(out, sentAt, incarnation{x.instance, x.crashes}, x.some())
		},
		func(m *lookahead.Message) any { return blocksOf(m, readTierBlocks) }, nil},
	{"storage operation", engine.StorageOp{}, testLeaf, lookahead.ThirdControl,
		func(out *lookahead.Outbox, v any) {
			x := v.(engine.StorageOp)
			sendStorageOp(out, lookahead.ThirdControl, sentAt, thirdAsker, &x)
		},
		func(m *lookahead.Message) any {
			var x engine.StorageOp
			mustBeTheAsker(readStorageOp(&m.Body, &x))
			return x
		}, nil},
	{"storage answer", engine.StorageAnswer{}, lookahead.ThirdControl, testLeaf,
		func(out *lookahead.Outbox, v any) {
			x := v.(engine.StorageAnswer)
			x.End = sentAt
			sendStorageAnswer(out, testLeaf, thirdAsker, &x)
		},
		func(m *lookahead.Message) any {
			to, x := readStorageAnswer(m)
			mustBeTheAsker(to)
			x.End = 0
			return x
		}, []string{"End"}}, // it is the time of the message
	{"traced admission", valueAdmission{}, routerID, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueAdmission)
			if x.Decision.Wait != 0 {
				x.Decision.Verdict = policy.Delay
			}
			r := workload.Identity{ID: x.request, Input: x.input, Tags: workload.Tags{Tenant: x.tenant, Class: x.class}}
			sendTracedAdmission(out, sentAt, &r, &x.Decision)
		},
		func(m *lookahead.Message) any {
			r, a := readTracedAdmission(&m.Body)
			return valueAdmission{r.ID, r.Input, r.Tenant, r.Class, a}
		}, nil},
	{"traced inversion", valueInversion{}, routerID, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueInversion)
			sendTracedInversion(out, sentAt, x.id, x.ClassInversion)
		},
		func(m *lookahead.Message) any {
			var x valueInversion
			x.id, x.ClassInversion = readTracedInversion(&m.Body)
			return x
		}, nil},
	{"traced scale", tracedScale{}, autoscalerID, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(tracedScale)
			sendTracedScale(out, sentAt, &x)
		},
		func(m *lookahead.Message) any { return readTracedScale(&m.Body) }, nil},
	{"traced step", engine.Step{}, testLeaf, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(engine.Step)
			sendTracedStep(out, 3, sentAt, &x)
		},
		func(m *lookahead.Message) any { return readTracedStep(afterRank(&m.Body)) }, []string{"Start"}}, // no record has it
	{"traced preemption", engine.Preemption{}, testLeaf, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(engine.Preemption)
			sendTracedPreemption(out, 3, sentAt, &x)
		},
		func(m *lookahead.Message) any { return readTracedPreemption(afterRank(&m.Body)) }, nil},
	{"traced transfer", engine.Transfer{}, testLeaf, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(engine.Transfer)
			sendTracedTransfer(out, 3, sentAt, &x)
		},
		func(m *lookahead.Message) any { return readTracedTransfer(afterRank(&m.Body)) }, nil},
	{"traced anomaly", engine.Anomaly{}, testLeaf, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(engine.Anomaly)
			sendTracedAnomaly(out, 3, sentAt, &x)
		},
		func(m *lookahead.Message) any {
			var x engine.Anomaly
			readTracedAnomaly(afterRank(&m.Body), &x)
			return x
		}, nil},
}

// some returns the changes, at least one.
func (x *valueBlocks) some() []engine.BlockChange {
	if len(x.changes) == 0 {
		return []engine.BlockChange{{}}
	}
	return x.changes
}

// blocksOf reads what some said.
func blocksOf(m *lookahead.Message, read func(*lookahead.Decoder, func(incarnation, engine.BlockChange))) (x valueBlocks) {
	read(&m.Body, func(of incarnation, c engine.BlockChange) {
		x.instance, x.crashes, x.changes = of.instance, of.number, append(x.changes, c)
	})
	if slices.Equal(x.changes, []engine.BlockChange{{}}) {
		x.changes = nil
	}
	return x
}

// sendTestEnded sends what an ended says.
func sendTestEnded(out *lookahead.Outbox, v any) {
	x := v.(ended)
	o := metrics.Outcome{State: x.state}
	o.ID, o.Tenant, o.Class, o.Generated = x.request, x.tenant, x.class, x.generated
	sendEnded(out, sentAt, x.instance, &o, true, &x.latency)
}

// afterRank reads the rank of a message about a step.
func afterRank(b *lookahead.Decoder) *lookahead.Decoder {
	mustBeThird(int(b.Int()))
	return b
}

// thirdAsker is who asks a storage tier in messages of tests.
var thirdAsker = asker{rank: 3, crashes: 0x7abc}

func mustBeTheAsker(a asker) {
	if a != thirdAsker {
		panic(fmt.Sprintf("%+v arrived, %+v was sent", a, thirdAsker))
	}
}

// mustBeThird panics unless the rank that arrived is the one that was sent, 3.
func mustBeThird(rank int) {
	if rank != 3 {
		panic(fmt.Sprintf("rank %d arrived, 3 was sent", rank))
	}
}
