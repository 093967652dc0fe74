package report

import (
	"bufio"
	"fmt"
	"io"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
	"blis/study"
	"blis/trace"
)

// JSON writes the result of a run as blis run --format json does:
// docs/run.schema.json describes it.
func JSON(w io.Writer, r *actors.Result) error { return (&Run{Result: r}).JSON(w) }

// Text writes the result of a run for a person, as blis run does.
func Text(w io.Writer, r *actors.Result, s plaintext.Style) error {
	return (&Run{Result: r}).Text(w, s)
}

// Run is the result of a run with what else was asked for. Everything but Result
// may be missing.
type Run struct {
	*actors.Result
	Checks  []metrics.ConstraintResult // see Check
	Summary *trace.Report              // of the decision trace
	Replay  *study.RegretReplay        // of routing decisions with regret
	Details Details
}

// Details are what JSON has of a run besides; nil leaves a key out.
type Details struct {
	Requests []Request   // every request
	Series   *TimeSeries // what instances did over time

	Saturation *Saturation // whether it was stable

	Distributions *metrics.Curves // of latencies
	Worst         *Worst          // requests
}

// JSON implements Document.
func (r *Run) JSON(w io.Writer) error {
	b := bufio.NewWriter(w)
	return firstOf(r.write(b), b.Flush())
}

// write writes each key of the result on a line of its own, and each request.
func (r *Run) write(w *bufio.Writer) error {
	j := newResult(r.Result)
	j.Checks = append(j.Checks, r.Checks...)
	if err := writeFields(w, j); err != nil {
		return err
	}
	if r.Summary != nil {
		if err := writeKey(w, "trace_summary", r.Summary); err != nil {
			return err
		}
	}
	if r.Replay != nil {
		if err := writeKey(w, "replay_regret", newReplayResult(r.Replay)); err != nil {
			return err
		}
	}
	if r.Details.Saturation != nil {
		if err := writeKey(w, "saturation", r.Details.Saturation); err != nil {
			return err
		}
	}
	if r.Details.Distributions != nil {
		if err := writeKey(w, "distributions", r.Details.Distributions); err != nil {
			return err
		}
	}
	if r.Details.Worst != nil {
		if err := writeKey(w, "worst_requests", r.Details.Worst); err != nil {
			return err
		}
	}
	if r.Details.Series != nil {
		if err := writeKey(w, "timeseries", r.Details.Series); err != nil {
			return err
		}
	}
	if r.Details.Requests != nil {
		w.WriteString(",\n  \"requests\": [")
		open := "\n    "
		for i := range r.Details.Requests {
			text, err := marshal(&r.Details.Requests[i])
			if err != nil {
				return err
			}
			w.WriteString(open)
			w.Write(text)
			open = ",\n    "
		}
		w.WriteString("\n  ]")
	}
	_, err := w.WriteString("\n}\n")
	return err
}

// writeKey adds a key to an object.
func writeKey(w *bufio.Writer, key string, value any) error {
	text, err := marshal(value)
	fmt.Fprintf(w, ",\n  %q: %s", key, text)
	return err
}

// Text implements Document.
func (r *Run) Text(w io.Writer, s plaintext.Style) error {
	if err := Header(w, &r.Setup, &r.Config, s); err != nil {
		return err
	}
	return r.Outcome(w, len(r.Setup.Notes), s)
}

// Outcome writes what Text writes behind the header. The header had the first
// notes of the set-up: a run may add some.
func (r *Run) Outcome(w io.Writer, notes int, s plaintext.Style) error {
	b := bufio.NewWriter(w)
	writeOutcome(b, r.Result, notes, s)
	if r.Details.Saturation != nil {
		r.Details.Saturation.write(b, s)
	}
	writeReplay(b, r.Replay)
	if r.Summary != nil {
		b.WriteByte('\n')
		(&TraceSummary{r.Summary}).Text(b, s)
	}
	writeChecks(b, r.Checks, s)
	return b.Flush()
}
