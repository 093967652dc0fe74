package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"blis/calibrate"
)

// ClosedLoops compares benchmarks of users who ask again and again with what latency
// models predict.
type ClosedLoops struct {
	Models  []calibrate.LoopValidation
	LeftOut []calibrate.LeftOutLoops // not simulated, whatever the latency model
}

// closedLoopsJSON is the JSON form of ClosedLoops.
type closedLoopsJSON struct {
	Models  []loopSubjectJSON        `json:"latency_models"`
	LeftOut []calibrate.LeftOutLoops `json:"left_out"`
}

type loopSubjectJSON struct {
	Name    string                   `json:"name"`
	All     calibrate.LoopErrors     `json:"all"`
	Groups  []calibrate.LoopGroup    `json:"groups"`
	Points  []loopPointJSON          `json:"points"`
	LeftOut []calibrate.LeftOutLoops `json:"left_out"` // by this latency model
}

// loopPointJSON is a benchmark with a prediction. Whether TTFT compares depends on how
// its users started.
type loopPointJSON struct {
	Line          int     `json:"line"`
	Model         string  `json:"model"`
	GPU           string  `json:"gpu"`
	Precision     string  `json:"precision"`
	TP            int     `json:"tp"`
	AttentionDP   int     `json:"attention_dp"`
	Input         int32   `json:"input_tokens"`
	Output        int32   `json:"output_tokens"`
	Concurrency   int32   `json:"concurrency"`
	Crowded       bool    `json:"crowded"` // the KV cache may not hold the requests of all users
	Latency       string  `json:"latency"`
	TPOT          float64 `json:"tpot_ms"`
	PredictedTPOT float64 `json:"predicted_tpot_ms"`
	TTFT          float64 `json:"ttft_ms"`
	PredictedTTFT float64 `json:"predicted_ttft_ms"`
}

func newClosedLoopsJSON(c *ClosedLoops) *closedLoopsJSON {
	if c == nil {
		return nil
	}
	j := &closedLoopsJSON{Models: []loopSubjectJSON{}, LeftOut: listed(c.LeftOut)}
	for i := range c.Models {
		v := &c.Models[i]
		s := loopSubjectJSON{v.Subject, v.All, listed(v.Groups), []loopPointJSON{}, listed(v.LeftOut)}
		for k := range v.Results {
			r := &v.Results[k]
			if r.Missing != "" {
				continue
			}
			p, g := r.Sample.Point, r.Sample.Group()
			s.Points = append(s.Points, loopPointJSON{
				p.Line, p.Model, g.GPU, g.Precision, p.TP, p.AttentionDP, p.Input, p.Output, p.Concurrency, r.Sample.Crowded(), r.Description,
				p.TPOT / 1e3, r.Predicted.TPOT / 1e3, p.TTFT / 1e3, r.Predicted.TTFT / 1e3,
			})
		}
		j.Models = append(j.Models, s)
	}
	return j
}

// writeText writes what is left out, then a table for each latency model.
func (c *ClosedLoops) writeText(out io.Writer) {
	writeLeftOut(out, c.LeftOut)
	for i := range c.Models {
		v := &c.Models[i]
		writeLeftOut(out, v.LeftOut)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "TPOT OF CLOSED LOOPS, %s\tn\tmedian APE\tp90\tbias\tworst\t\n", v.Subject)
		for _, g := range v.Groups {
			writeLoopErrors(w, fmt.Sprintf("%s on %s, %s, TP %d", g.Model, g.GPU, g.Precision, g.TP), g.LoopErrors)
		}
		writeLoopErrors(w, "all", v.All)
		w.Flush()
		if n := crowded(v); n > 0 {
			fmt.Fprintf(out, "in %d of them the KV cache may not hold the requests of all users: TPOT depends on memory settings that the file does not say\n", n)
		}
		fmt.Fprintln(out)
	}
}

// crowded counts the benchmarks with a prediction whose KV cache may be too small.
func crowded(v *calibrate.LoopValidation) int {
	n := 0
	for i := range v.Results {
		if r := &v.Results[i]; r.Missing == "" && r.Sample.Crowded() {
			n++
		}
	}
	return n
}

func writeLoopErrors(w io.Writer, name string, e calibrate.LoopErrors) {
	if e.Points == 0 {
		fmt.Fprintf(w, "%s\t0\t–\t–\t–\t–\t\n", name)
		return
	}
	fmt.Fprintf(w, "%s\t%d\t%.1f %%\t%.1f %%\t%+.1f %%\t%+.1f %%\t\n", name, e.Points, 100*e.Median, 100*e.P90, 100*e.Bias, 100*e.Worst)
}

func writeLeftOut(out io.Writer, list []calibrate.LeftOutLoops) {
	for _, l := range list {
		fmt.Fprintf(out, "left out   %d of the closed loops (line %d%s): %s\n", l.Points, l.Lines[0], more(l.Points), l.Reason)
	}
}

// more is " and others" if there are others.
func more(n int) string {
	if n > 1 {
		return " and others"
	}
	return ""
}
