package cli

import (
	"bufio"
	"context"
	"fmt"
	"strconv"

	"blis/actors"
	"blis/study"
	"blis/vtime"
)

// mostReplays is how many runs --replay-regret can ask for.
const mostReplays = 10_000

// replay runs the worst decisions the other way.
func replay(ctx context.Context, c *console, regrets *study.Regrets, cfg actors.Config, result *actors.Result) (*study.RegretReplay, error) {
	pool := study.Pool{Workers: cfg.Workers}
	bar := c.runs(&pool)
	defer bar.done()
	var mean *float64
	if s := result.Report.Overall.TTFT; s != nil {
		mean = &s.Mean
	}
	return regrets.Replay(ctx, cfg, mean, pool)
}

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
	fmt.Fprintf(w, "\nregret     %s of %s routing decisions scored below the best", grouped(r.Regretted), grouped(r.Decisions))
	if len(r.Replayed) == 0 && !r.Partial {
		w.WriteString(": there is nothing to replay\n")
		return
	}
	if w.WriteString(fmt.Sprintf(". The worst %s decided the other way, each in a run of its own", grouped(int64(len(r.Replayed))))); r.Partial {
		w.WriteString(" (PARTIAL: interrupted)")
	}
	w.WriteString(":\n\n")
	const form = "%8s %12s %9s %9s %10s %12s %12s %10s %12s\n"
	fmt.Fprintf(w, form, "request", "at, s", "instance", "best", "regret", "TTFT, ms", "then, ms", "change", "of the mean")
	for i := range r.Replayed {
		d := &r.Replayed[i]
		change, mean := "–", "–"
		if difference, ok := d.Difference(); ok {
			change = signed(difference.Milliseconds(), 2)
		}
		if d.MeanTTFT != nil && r.MeanTTFT != nil {
			mean = signed((*d.MeanTTFT-*r.MeanTTFT)/1e3, 2)
		}
		fmt.Fprintf(w, form, strconv.FormatInt(d.Request, 10), strconv.FormatFloat(d.At.Seconds(), 'f', 3, 64), strconv.Itoa(d.Chosen), strconv.Itoa(d.Best),
			strconv.FormatFloat(d.Regret, 'g', 4, 64), inMilliseconds(d.TTFT), inMilliseconds(d.Other), change, mean)
	}
}

// inMilliseconds words a latency.
func inMilliseconds(d *vtime.Duration) string {
	if d == nil {
		return decimal(nil, 2)
	}
	ms := d.Milliseconds()
	return decimal(&ms, 2)
}
