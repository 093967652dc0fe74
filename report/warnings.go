package report

import (
	"fmt"
	"slices"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
	"blis/setup"
	"blis/suggest"
)

// When a result deserves a warning.
const (
	growingShare = 0.05 // of the offered rate: so much backlog growth is no chance
	lowLoad      = 0.3  // of the capacity, or of the time in which steps execute
	hardlyWaits  = 0.01 // of the mean E2E
	fullKV       = 0.9  // of the blocks of an instance: requests are about to wait for them
	refusedShare = 0.5  // of the requests of users: what is measured is the pause of the refused
)

// Warnings are what a reader of the numbers must know to trust them, a sentence
// each.
func Warnings(r *actors.Result) []string {
	var list []string
	report := r.Report
	if r.Partial {
		list = append(list, fmt.Sprintf("partial: interrupted at %.3f s of virtual time", r.End.Seconds()))
	}
	all := &report.Overall
	list = append(list, r.Setup.Warnings...)
	list = append(list, unknownClasses(r)...)
	list = append(list, refusals(r)...)
	if all.States[metrics.Completed] == 0 {
		return append(list, "no request completed: "+OutcomeText(all))
	}
	if unsteady(report) {
		list = append(list, fmt.Sprintf("not steady: queue +%.3g req/s; latencies grow with the length of the run", *report.Load.BacklogSlope))
	}
	list = append(list, scalingWarnings(r)...)
	if r.BeyondFit != "" {
		list = append(list, r.BeyondFit)
	}
	if text := deadlocks(r); text != "" {
		list = append(list, text)
	}
	if text := nearlyFull(r); text != "" {
		list = append(list, text)
	}
	if tooLow(r) {
		list = append(list, "load too low for policies to differ: requests hardly wait; raise "+pace(&r.Config))
	}
	return list
}

// refusals says that most requests of a closed loop got no answer: then the
// load is made by the pause of refused users.
func refusals(r *actors.Result) []string {
	u := r.Users
	if u == nil || float64(u.Refused) <= refusedShare*float64(u.Ended) {
		return nil
	}
	pause := r.Config.RefusalPause.String()
	if r.Config.WorkloadSpec != "" || r.Config.Scenario != "" {
		pause += " (or what refusal_pause says)"
	}
	return []string{fmt.Sprintf("closed loop: %s of %s requests were refused or timed out; users pause %s after each, so the offered load depends mostly on that pause",
		plaintext.Grouped(u.Refused), plaintext.Grouped(u.Ended), pause)}
}

// unsteady reports whether the backlog grew by more than chance.
func unsteady(report *metrics.Report) bool {
	slope := report.Load.BacklogSlope
	return slope != nil && report.OfferedPerSecond != nil && *slope > growingShare*(*report.OfferedPerSecond) && report.Overall.Resources.Limit != "none"
}

// unknownClasses warns of classes and tenants that have targets and no requests: one
// that the workload spells differently would have targets that never count.
func unknownClasses(r *actors.Result) []string {
	targets, err := metrics.ParseTargets(r.Config.SLOTargets)
	if err != nil || r.Report.Overall.Injected == 0 { // checked before the run; with no requests at all there is a warning
		return nil
	}
	classes, tenants := namesOfRequests(r.Report.PerClass), namesOfRequests(r.Report.PerTenant)
	var list []string
	for _, t := range targets {
		what, name, there := "class", t.Class, classes
		if t.Tenant != "" {
			what, name, there = "tenant", t.Tenant, tenants
		}
		if name != "" && !slices.Contains(there, name) {
			list = append(list, fmt.Sprintf("slo-targets: no request is of the %s %q%s", what, name, suggest.Hint(name, there)))
		}
	}
	return list
}

// namesOfRequests are the names of those that have requests.
func namesOfRequests(list metrics.Scopes) (names []string) {
	for _, one := range list {
		if one.Injected > 0 {
			names = append(names, one.Name)
		}
	}
	return names
}

// nearlyFull warns that an instance came near the end of its KV cache: with a little more
// load, or longer requests, they wait or are preempted. Latencies there depend strongly
// on the number of blocks, and a real server may have a few percent fewer.
func nearlyFull(r *actors.Result) string {
	all := &r.Report.Overall
	peak := all.Resources.KVPeak
	if peak == nil || *peak < fullKV {
		return ""
	}
	return fmt.Sprintf("KV cache of an instance up to %s full (%s): close to full, requests wait for blocks or are preempted, and latencies jump; for room, raise --num-instances, --tp or --gpu-memory-utilization, take --kv-cache-dtype fp8, or lower --max-num-seqs",
		plaintext.Percent(peak), plaintext.Plural(all.Preemptions, "preemption"))
}

// tooLow reports whether policies had next to nothing to decide: there are
// several instances, no request waits, and the load is far from the capacity.
// Where no capacity was estimated, as for traces, utilisation takes the place
// of the load; also for sessions, whose prompts are mostly in the cache.
func tooLow(r *actors.Result) bool {
	report := r.Report
	all := &report.Overall
	if setup.Instances(&r.Config.Config) == 1 || report.OfferedPerSecond == nil || all.Resources.Utilisation == nil {
		return false
	}
	load := *all.Resources.Utilisation
	if r.Setup.Capacity > 0 && r.Sessions == nil {
		load = *report.OfferedPerSecond / r.Setup.Capacity
	}
	return load < lowLoad && all.Resources.Limit == "none" && all.QueueWait.Mean < hardlyWaits*all.E2E.Mean
}

// pace names the setting that raises the load.
func pace(c *actors.Config) string {
	switch {
	case c.Concurrency > 0:
		return "--concurrency"
	case c.WorkloadSpec != "":
		return "the rates of the specification"
	}
	return "--rate"
}

// OutcomeText lists the states of requests that are not 0, with the reasons.
func OutcomeText(s *metrics.Scope) string {
	var parts []string
	for state := range metrics.State(metrics.States) {
		if n := s.States[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s%s", plaintext.Grouped(n), stateWords[state], reasonsOf(s, state)))
		}
	}
	if parts == nil {
		return "none arrived"
	}
	return strings.Join(parts, ", ")
}

// stateWords are the states as text results write them.
var stateWords = [metrics.States]string{
	metrics.Completed: "completed", metrics.Rejected: "rejected", metrics.Dropped: "dropped", metrics.TimedOut: "timed out",
	metrics.Aborted: "aborted", metrics.Running: "running", metrics.Queued: "queued", metrics.Pending: "pending",
	metrics.Failed: "failed", metrics.Shed: "shed", metrics.Expired: "expired", metrics.Waiting: "at the gateway", metrics.Evicted: "evicted",
}

// reasonsOf is the reasons for a state in brackets, empty if there are none.
func reasonsOf(s *metrics.Scope, state metrics.State) string {
	var parts []string
	for reason := metrics.LengthCapped; int(reason) < metrics.Reasons; reason++ {
		if n := s.Reasons[reason]; n > 0 && reason.State() == state {
			parts = append(parts, fmt.Sprintf("%s %s", plaintext.Grouped(n), reason))
		}
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
