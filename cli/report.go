package cli

import (
	"slices"
	"strings"
	"time"

	"blis/actors"
	"blis/metrics"
	"blis/setup"
	"blis/suggest"
	"blis/vtime"
)

// report says on standard error how a run went: what no result holds.
func (c *console) report(r *actors.Result, took time.Duration, stats bool) {
	all := &r.Report.Overall
	if all.States[metrics.Completed] == 0 {
		c.note("warning: no request completed: %s", outcomeText(all))
	}
	seconds := took.Seconds()
	rate := float64(r.Report.Injected) / seconds
	tokens := float64(all.GeneratedTokens) / seconds
	c.note("%.3f s, %s requests/s, %s output tokens/s, %s times real time",
		seconds, decimal(&rate, 0), decimal(&tokens, 0), grouped(int64(r.End.Seconds()/seconds)))
	if stats {
		c.statistics(r)
	}
}

// What an instance without requests costs, measured with 100,000 of them on
// two cores of a server (2.85 GB, 4.0 s of processor time).
const (
	idleBytes   = 28_000
	idleSeconds = 40e-6
	manyIdle    = 20_000 // half a gigabyte
)

// warnOfSize says what many instances cost before they have done anything.
func (c *console) warnOfSize(cfg *actors.Config) {
	n := float64(cfg.NumInstances)
	if n < manyIdle || cfg.NumInstances > setup.MostInstances { // more are refused
		return
	}
	c.note("warning: %s instances need about %.1f GB of memory and %.0f s of processor time before they serve anybody",
		grouped(int64(cfg.NumInstances)), n*idleBytes/1e9, n*idleSeconds)
}

// statistics puts into words how the kernel carried a run out.
func (c *console) statistics(r *actors.Result) {
	s := &r.Stats
	c.note("%s events and %s messages executed", grouped(int64(s.Events)), grouped(int64(s.Messages)))
	c.note("%s windows, %.0f %% of them too small to share among workers; in each %.1f instances ran, %.1f events, %.1f messages",
		grouped(int64(s.Windows)), 100*s.InlineShare(), s.TurnsPerWindow(), s.EventsPerWindow(), s.MessagesPerWindow())
	c.note("%s turns of the control plane, %s of the collector; %.2f turns of instances per request",
		grouped(int64(s.ControlTurns)), grouped(int64(s.SinkTurns)), float64(s.Turns)/float64(max(1, r.Report.Injected)))
	c.note("smallest lookahead: control plane to instances %s, instances to control plane %s, to the collector %s",
		lookaheadWords(s.ControlToLeaf), lookaheadWords(s.LeafToControl), lookaheadWords(s.ToSink))
	if len(r.Waits) == 0 {
		c.note("held back by nothing: no policy reads signals of the instances, the router runs ahead of them")
	}
	for _, w := range r.Waits {
		c.note("held back: %v", w)
	}
}

func lookaheadWords(d vtime.Duration) string {
	if d == vtime.Duration(vtime.Never) {
		return "none sent"
	}
	return d.String()
}

// warnOfVariables names variables that look like settings and are none: a
// misspelt one would be ignored without a word.
func (c *console) warnOfVariables() {
	var given []string
	for _, pair := range c.environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "BLIS_") {
			given = append(given, name)
		}
	}
	if given == nil {
		return // what would be known need not be listed
	}
	known := map[string]bool{"BLIS_DEBUG": true, "BLIS_LONG": true, "BLIS_CASES": true, "BLIS_LEDGERS": true, "BLIS_CONFORMANCE": true, "BLIS_CONFIG": true}
	var names []string
	for name := range settingTypes() {
		known[variable(name)] = true
		names = append(names, variable(name))
	}
	slices.Sort(names) // of two that are equally near the first is named
	for _, name := range []string{"format", "results-path", "requests-out", "check", "record", "stats", "print-config", "policy-config", "workload", "set", "seeds", "intervals", "margin", "objectives", "measures", "out"} {
		known[variable(name)] = true
	}
	for _, name := range given {
		if !known[name] && !strings.HasPrefix(name, "BLIS_EQUALITY_") { // which the tests read
			c.note("warning: %s is no setting%s", name, suggest.Hint(name, names))
		}
	}
}
