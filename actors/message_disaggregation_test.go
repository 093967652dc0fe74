package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/metrics"
	"blis/vtime"
)

// madeHandOver is a hand-over of a message that nobody sends without one.
type madeHandOver metrics.HandOver

type (
	valuePrefilled struct {
		Arrival  vtime.Time
		Source   engine.KVSource
		awaiting int
		HandOver madeHandOver
	}
	valuePull struct {
		Source   engine.KVSource
		fails    bool
		Delivery engine.Delivery
	}
	valuePullAgain struct {
		Source engine.KVSource
		fails  bool
		valueResumed
	}
	valueReleased struct{ instance, n int }
	valueLost     struct{ first, n int }
)

// disaggregationMessages are the kinds of prefill/decode disaggregation.
var disaggregationMessages = []carried{
	carriedDelivery("prefill", sendPrefill),
	{"prefilled", valuePrefilled{}, testLeaf, routerID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valuePrefilled)
			sendPrefilled(out, sentAt, x.Arrival, &prefilled{x.Source, x.awaiting, metrics.HandOver(x.HandOver)})
		},
		func(m *lookahead.Message) any {
			var p prefilled
			readPrefilled(&m.Body, &p)
			return valuePrefilled{Source: p.source, awaiting: p.awaiting, HandOver: madeHandOver(p.handOver)}
		}, []string{"Arrival", "Gone"}}, // the router has the request
	carriedResumed("prefill again", sendPrefillAgain),
	{"pull again", valuePullAgain{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) {
			x := v.(valuePullAgain)
			sendPullAgain(out, testLeaf, sentAt, sentAt, &x.Delivery, &x.Progress, &x.Source, x.fails)
		},
		func(m *lookahead.Message) any {
			var x valuePullAgain
			x.fails = readPullAgain(&m.Body, &x.Delivery, &x.Progress, &x.Source)
			return x
		}, lostOfRequest},
	{"source lost", valueLost{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueLost)
			sendSourceLost(out, testLeaf, sentAt, x.first, x.n)
		},
		func(m *lookahead.Message) any {
			first, n := readSourceLost(&m.Body)
			return valueLost{first, n}
		}, nil},
	{"revoked", engine.KVSource{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) {
			s := v.(engine.KVSource)
			sendRevoked(out, testLeaf, sentAt, &s)
		}, sourceOf, lostOfSource},
	{"pull", valuePull{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) {
			x := v.(valuePull)
			sendPull(out, testLeaf, sentAt, sentAt, &x.Delivery, &x.Source, x.fails)
		},
		func(m *lookahead.Message) any {
			var x valuePull
			x.fails = readPull(&m.Body, &x.Delivery, &x.Source)
			return x
		}, lostOfRequest},
	{"pulling", valuePulling{}, testLeaf, routerID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valuePulling)
			sendPulling(out, sentAt, x.by, &x.Pull)
		},
		func(m *lookahead.Message) any {
			var x valuePulling
			if x.by = readPulling(&m.Body, sentAt, &x.Pull); x.Start != sentAt {
				panic("a pull does not start when it was told")
			}
			x.Start, x.End = 0, 0
			return x
		}, []string{"Start", "End", "Gone"}}, // the time of the message, and Lasts later or never
	{"not pulled", engine.KVSource{}, testLeaf, routerID,
		func(out *lookahead.Outbox, v any) {
			s := v.(engine.KVSource)
			sendNotPulled(out, sentAt, &s)
		}, sourceOf, lostOfSource},
	{"pulled", engine.KVSource{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) {
			s := v.(engine.KVSource)
			sendSource(out, testLeaf, sentAt, kindPulled, &s)
		}, sourceOf, lostOfSource},
	{"given up", engine.KVSource{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) {
			s := v.(engine.KVSource)
			sendSource(out, testLeaf, sentAt, kindGivenUp, &s)
		}, sourceOf, lostOfSource},
	{"released", valueReleased{}, testLeaf, routerID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueReleased)
			sendReleased(out, sentAt, x.instance, x.n)
		},
		func(m *lookahead.Message) any {
			instance, n := readReleased(&m.Body)
			return valueReleased{instance, n}
		}, nil},
	{"traced disaggregation", tracedDisaggregation{}, routerID, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(tracedDisaggregation)
			sendTracedDisaggregation(out, &x)
		},
		func(m *lookahead.Message) any { return readTracedDisaggregation(&m.Body) }, nil},
	{"traced expiry", valueExpiry{}, testLeaf, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(valueExpiry)
			sendTracedExpiry(out, 3, sentAt, x.request, x.blocks)
		},
		func(m *lookahead.Message) any {
			request, blocks := readTracedExpiry(afterRank(&m.Body))
			return valueExpiry{request, blocks}
		}, nil},
	{"pull ended", valuePullEnded{}, routerID, testLeaf,
		func(out *lookahead.Outbox, v any) {
			x := v.(valuePullEnded)
			sendPullEnded(out, testLeaf, sentAt, x.rank, x.number, x.lasted)
		},
		func(m *lookahead.Message) any {
			rank, number, lasted := readPullEnded(&m.Body)
			return valuePullEnded{rank, number, lasted}
		}, nil},
	{"traced backpressure", tracedBackpressure{}, routerID, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(tracedBackpressure)
			sendTracedBackpressure(out, &x)
		},
		func(m *lookahead.Message) any { return readTracedBackpressure(&m.Body) }, nil},
	{"traced lack of capacity", tracedNoCapacity{}, routerID, collectorID,
		func(out *lookahead.Outbox, v any) {
			x := v.(tracedNoCapacity)
			sendTracedNoCapacity(out, &x)
		},
		func(m *lookahead.Message) any { return readTracedNoCapacity(&m.Body) }, nil},
}

// valueExpiry is what a message about KV that expired carries.
type valueExpiry struct {
	request int64
	blocks  int32
}

// valuePulling is what a message about the begin of a pull carries.
type valuePulling struct {
	by int
	engine.Pull
}

// valuePullEnded is what a message about the end of a pull carries.
type valuePullEnded struct {
	rank   int
	number int64
	lasted vtime.Duration
}

// lostOfSource: whether KV is gone is said only where it is to be pulled.
var lostOfSource = []string{"Gone"}

// sourceOf reads a message that is a KVSource alone.
func sourceOf(m *lookahead.Message) any {
	var s engine.KVSource
	readSource(&m.Body, &s)
	mustDecode(&m.Body)
	return s
}
