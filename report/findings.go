package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"blis/report/plaintext"
	"blis/study"
	"blis/trace"
	"blis/vtime"
)

// replayResult is the JSON form of a replay, latencies in µs.
type replayResult struct {
	Partial   bool       `json:"partial"`
	Decisions int64      `json:"decisions"`
	Regretted int64      `json:"with_regret"`
	MeanTTFT  *float64   `json:"mean_ttft_us"`
	Replayed  []replayed `json:"replayed"`
}

// replayed is a decision that was taken the other way.
type replayed struct {
	Request    int64      `json:"request"`
	At         vtime.Time `json:"at_us"`
	Chosen     int        `json:"chosen"`
	Best       int        `json:"best"`
	Score      float64    `json:"score"`
	BestScore  float64    `json:"best_score"`
	Regret     float64    `json:"regret"`
	TTFT       *int64     `json:"ttft_us"`
	Other      *int64     `json:"other_ttft_us"`
	Difference *int64     `json:"ttft_difference_us"`
	MeanTTFT   *float64   `json:"other_mean_ttft_us"`
}

func newReplayResult(r *study.RegretReplay) *replayResult {
	j := &replayResult{Partial: r.Partial, Decisions: r.Decisions, Regretted: r.Regretted, MeanTTFT: r.MeanTTFT, Replayed: []replayed{}}
	for i := range r.Replayed {
		d := &r.Replayed[i]
		out := replayed{
			Request: d.Request, At: d.At, Chosen: d.Chosen, Best: d.Best, Score: d.Score, BestScore: d.BestScore, Regret: d.Regret,
			TTFT: micros(d.TTFT), Other: micros(d.Other), MeanTTFT: d.MeanTTFT,
		}
		if difference, ok := d.Difference(); ok {
			out.Difference = micros(&difference)
		}
		j.Replayed = append(j.Replayed, out)
	}
	return j
}

// micros is a duration as a number.
func micros(d *vtime.Duration) *int64 {
	if d == nil {
		return nil
	}
	n := int64(*d)
	return &n
}

// writeReplay prints a replay below a result in text; nothing for nil.
func writeReplay(w *bufio.Writer, r *study.RegretReplay) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "\nregret     %s of %s routing decisions scored below the best", plaintext.Grouped(r.Regretted), plaintext.Grouped(r.Decisions))
	if len(r.Replayed) == 0 && !r.Partial {
		w.WriteString(": there is nothing to replay\n")
		return
	}
	if w.WriteString(fmt.Sprintf(". The worst %s decided the other way, each in a run of its own", plaintext.Grouped(int64(len(r.Replayed))))); r.Partial {
		w.WriteString(" (PARTIAL: interrupted)")
	}
	w.WriteString(":\n\n")
	const form = "%8s %12s %9s %9s %10s %12s %12s %10s %12s\n"
	fmt.Fprintf(w, form, "request", "at, s", "instance", "best", "regret", "TTFT, ms", "then, ms", "change", "of the mean")
	for i := range r.Replayed {
		d := &r.Replayed[i]
		change, mean := "–", "–"
		if difference, ok := d.Difference(); ok {
			change = plaintext.Signed(difference.Milliseconds(), 2)
		}
		if d.MeanTTFT != nil && r.MeanTTFT != nil {
			mean = plaintext.Signed((*d.MeanTTFT-*r.MeanTTFT)/1e3, 2)
		}
		fmt.Fprintf(w, form, strconv.FormatInt(d.Request, 10), strconv.FormatFloat(d.At.Seconds(), 'f', 3, 64), strconv.Itoa(d.Chosen), strconv.Itoa(d.Best),
			strconv.FormatFloat(d.Regret, 'g', 4, 64), inMilliseconds(d.TTFT), inMilliseconds(d.Other), change, mean)
	}
}

// inMilliseconds words a latency.
func inMilliseconds(d *vtime.Duration) string {
	if d == nil {
		return plaintext.Decimal(nil, 2)
	}
	ms := d.Milliseconds()
	return plaintext.Decimal(&ms, 2)
}

// TraceSummary is the summary of a decision trace.
type TraceSummary struct{ *trace.Report }

// JSON implements Document: what a run has under the key trace_summary.
func (r *TraceSummary) JSON(w io.Writer) error {
	text, err := marshal(r.Report)
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}

// Text implements Document.
func (r *TraceSummary) Text(w io.Writer, s plaintext.Style) error {
	b := bufio.NewWriter(w)
	t := plaintext.NewWriter(b, s)
	for line := range strings.SplitSeq(strings.TrimSuffix(r.Report.Text, "\n"), "\n") {
		for _, part := range plaintext.WrapIndented(line, t.Width) {
			b.WriteString(part + "\n")
		}
	}
	return b.Flush()
}
