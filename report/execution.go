package report

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"blis/actors"
	"blis/engine"
	"blis/lookahead"
	"blis/report/plaintext"
	"blis/setup"
	"blis/study"
	"blis/vtime"
)

// How a run was carried out: what differs between machines and is in no result.

// Speed says how fast a run was that took so long on this machine.
func Speed(r *actors.Result, took time.Duration) string {
	seconds := took.Seconds()
	rate := float64(r.Report.Injected) / seconds
	tokens := float64(r.Report.Overall.GeneratedTokens) / seconds
	return fmt.Sprintf("%.3f s, %s requests/s, %s output tokens/s, %s times real time",
		seconds, plaintext.Decimal(&rate, 0), plaintext.Decimal(&tokens, 0), plaintext.Grouped(int64(r.End.Seconds()/seconds)))
}

// What an instance without requests costs, measured with 100,000 of them on
// two cores of a server (2.85 GB, 4.0 s of processor time).
const (
	idleBytes   = 28_000
	idleSeconds = 40e-6
	manyIdle    = 20_000 // half a gigabyte
)

// SizeWarning says what many instances cost before they have done anything; ""
// where that is little.
func SizeWarning(cfg *actors.Config) string {
	instances := setup.Instances(&cfg.Config)
	n := float64(instances)
	if n < manyIdle || instances > setup.MostInstances { // more are refused
		return ""
	}
	return fmt.Sprintf("%s instances need about %.1f GB of memory and %.0f s of processor time before they serve anybody",
		plaintext.Grouped(int64(instances)), n*idleBytes/1e9, n*idleSeconds)
}

// Statistics puts into words how the kernel carried a run out, a line each.
func Statistics(r *actors.Result) []string {
	s := &r.Stats
	list := []string{
		fmt.Sprintf("%s events and %s messages executed", plaintext.Grouped(int64(s.Events)), plaintext.Grouped(int64(s.Messages))),
		fmt.Sprintf("%s windows, %.0f %% of them too small to share among workers; in each %.1f instances ran, %.1f events, %.1f messages",
			plaintext.Grouped(int64(s.Windows)), 100*s.InlineShare(), s.TurnsPerWindow(), s.EventsPerWindow(), s.MessagesPerWindow()),
		fmt.Sprintf("%s turns of the control plane, %s of the collector; %.2f turns of instances per request",
			plaintext.Grouped(int64(s.ControlTurns)), plaintext.Grouped(int64(s.SinkTurns)), float64(s.Turns)/float64(max(1, r.Report.Injected))),
		fmt.Sprintf("smallest lookahead: control plane to instances %s, instances to control plane %s, to the collector %s",
			lookaheadText(s.ControlToLeaf), lookaheadText(s.LeafToControl), lookaheadText(s.ToSink)),
	}
	if len(r.Waits) == 0 {
		list = append(list, "held back by nothing: no policy reads signals of the instances, the router runs ahead of them")
	}
	for _, w := range r.Waits {
		list = append(list, fmt.Sprintf("held back: %v", w))
	}
	return list
}

func lookaheadText(d vtime.Duration) string {
	if d == vtime.Duration(vtime.Never) {
		return "none sent"
	}
	return d.String()
}

// ErrorLine returns an error as one line of text. The line of a fault names its place,
// and says that it is a bug.
func ErrorLine(err error) string {
	var (
		fault    *lookahead.Fault
		livelock *engine.Livelock
		run      *study.RunError
	)
	if errors.As(err, &run) {
		return run.Name + ": " + ErrorLine(run.Err)
	}
	text := err.Error()
	switch {
	case errors.As(err, &fault) && errors.As(err, &livelock):
		text = fault.Process + " " + livelock.Error()
	case errors.As(err, &fault):
		text += "; this is a bug in BLIS: please report it with the output of the same command under BLIS_DEBUG=1"
	}
	if _, joined := err.(interface{ Unwrap() []error }); joined {
		text = strings.ReplaceAll(text, "\n", "; ")
	}
	return strings.Join(strings.Fields(text), " ")
}
