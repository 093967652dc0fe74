package llmd

import (
	"fmt"

	"blis/policy"
	"blis/vtime"
)

// baseTick is the interval at which llm-d scrapes servers by default. Intervals are rounded
// to its multiples.
const baseTick = 50 * vtime.Millisecond

// signals says how fresh what the profile reads is in llm-d.
func (e *exporter) signals() {
	o := &e.pool.Observability
	if o.InFlightPeriodic {
		e.differ("observability.in_flight", "periodic learns of ended requests at a refresh; llm-d's endpoint picker sees responses end")
	}
	if !e.scrapes {
		return
	}
	for _, row := range policy.SignalTable() {
		if d, given := o.Fresh[row.Bit]; given && row.Bit&(policy.QueueDepth|policy.BatchSize|policy.KVUse) != 0 && d != o.Refresh {
			e.differ("observability."+row.Key, "llm-d scrapes all signals at one interval; here this one has a freshness of its own")
		}
	}
	switch d := o.Refresh; {
	case d == 0:
		e.differ("observability.refresh", "signals are as of each decision here; llm-d scrapes them every %v: run with --snapshot-refresh-interval %v --signals per-step", baseTick, baseTick)
	case d%baseTick != 0:
		e.differ("observability.refresh", "%v is no multiple of llm-d's interval: give the endpoint picker the flag --refresh-metrics-interval=%s", d, goDuration(d))
	case d > baseTick:
		source := e.add(Plugin{Type: "metrics-data-source", Parameters: map[string]any{"interval": goDuration(d)}})
		e.extract(source, e.add(Plugin{Type: "core-metrics-extractor"}))
	}
	if d := o.Refresh; d > 0 && !o.PerStep {
		e.differ("signals", "live shows changes in the middle of a step; the metrics of vLLM change when one ends: run with --signals per-step")
	}
}

// goDuration writes a duration as Go reads it.
func goDuration(d vtime.Duration) string {
	if d%vtime.Millisecond == 0 {
		return fmt.Sprintf("%dms", d/vtime.Millisecond)
	}
	return fmt.Sprintf("%dus", d)
}
