package chrometrace

import (
	"encoding/json"
	"math"

	"blis/vtime"
)

// other is otherData: what the trace is of, and what is left out.
type other struct {
	Schema  string `json:"schema"`
	Seed    uint64 `json:"seed"`
	Routing string `json:"routing"`
	EndUS   int64  `json:"end_us"`
	Partial bool   `json:"partial"`

	Events    int        `json:"events"`
	Most      int        `json:"most_events"`
	From      int64      `json:"from_us"`
	To        *int64     `json:"to_us"`     // null: the end of the run
	Instances string     `json:"instances"` // as --chrome-trace-instances; empty: all
	Kept      keptCounts `json:"kept"`
	Thinned   thinnedHow `json:"thinned"`
}

// keptCounts says how many there are in the trace, of how many in its window and on its instances.
type keptCounts struct {
	Steps     share `json:"steps"` // of: steps; kept: events, each of one or more of them
	Requests  share `json:"requests"`
	Transfers share `json:"kv_transfers"`

	Preemptions  share `json:"preemptions"`
	ExpiredKV    share `json:"expired_kv"`
	Anomalies    share `json:"anomalies"`
	Failures     share `json:"failures"`
	ScaleActions share `json:"scale_actions"`
}

type share struct {
	Kept int64 `json:"kept"`
	Of   int64 `json:"of"`
}

// thinnedHow says what was done since there were more events than the cap.
type thinnedHow struct {
	DecodeMerged bool   `json:"decode_runs_merged"`
	StepBinUS    int64  `json:"step_bin_us"`      // steps of an instance that begin in a bin of this width are one event; 0: not so
	Requests     bool   `json:"requests_by_hash"` // some are left out, and what is about them
	Below        *int32 `json:"instances_below"`  // only those are kept; null: all
}

// head appends what is before the events. The window ends at to as far as was asked for.
func (m *maker) head(l *line, end *End, to vtime.Time) {
	o := other{
		Schema: Schema, Seed: m.of.header.Seed, Routing: m.of.header.Routing, EndUS: int64(end.At), Partial: end.Partial,
		Events: len(m.events) + len(m.meta), Most: m.of.options.Events, From: int64(m.of.options.From), Instances: m.of.options.Instances.String(),
		Kept:    m.kept(),
		Thinned: thinnedHow{DecodeMerged: m.of.merged, StepBinUS: int64(m.of.width), Requests: m.of.limit != math.MaxUint64},
	}
	if to != vtime.Never {
		o.To = new(int64(to))
	}
	if int(m.of.most) < len(m.of.seats) {
		o.Thinned.Below = &m.of.most
	}
	text, err := json.Marshal(&o)
	if err != nil {
		panic("chrometrace: " + err.Error()) // it has only numbers and plain text
	}
	l.b = append(l.b, `{"displayTimeUnit":"ms","otherData":`...)
	l.b = append(l.b, text...)
	l.b = append(l.b, `,"traceEvents":[`...)
}

// kept counts what is kept.
func (m *maker) kept() keptCounts {
	var instants [instantKinds]int64
	for i := range m.of.instants.len() {
		instants[m.of.instants.at(i).kind]++
	}
	of := func(k instantKind) share { return share{instants[k], m.of.seen.instants[k]} }
	return keptCounts{
		Steps:       share{int64(m.of.steps.len()), m.of.seen.steps},
		Requests:    share{int64(m.of.requests.len()), m.of.seen.requests},
		Transfers:   share{int64(m.of.transfers.len()), m.of.seen.transfers},
		Preemptions: of(preempted), ExpiredKV: of(expired), Anomalies: of(anomaly), Failures: of(failed), ScaleActions: of(scaled),
	}
}
