package survey_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"blis/workload/survey"
)

// figures is what a public trace is known to be: computed from its publisher's
// file by a few lines of Python, and printed as they are compared here.
type figures struct {
	file          string
	rows          int64
	arrivals      string // first, last in µs; requests per second; CV of gaps
	input, output string // sum; mean; CV; p50, p90, p95, p99; least, most
	block         int32  // tokens
	reuse         string // named tokens, ideal hit tokens
}

// Rows are as SOURCES.md counts them. Reuse at 512 tokens is from hash ids alone,
// that at 16 of the conversation what a run with unbounded cache finds (package
// actors, TestRealTraces); that of token ids is from comparing the
// ids of all pairs. The lengths of Vidur have no arrivals: here they come one per
// second.
var public = []figures{
	{
		"azure_llm_2023_code.csv", 8_819, "0 3435948056 2.566395 13.151291",
		"18059974 2047.8483 0.963824 1469.00 5187.60 7303.30 7436.00 3 7437",
		"245896 27.8825 2.146823 13.00 55.00 90.00 251.46 6 1899", 16, "0 0",
	},
	{
		"azure_llm_2023_conv.csv", 19_366, "0 3501721937 5.530136 1.094170",
		"22361870 1154.6974 0.960246 1020.00 2734.50 4083.00 4142.00 2 14050",
		"4088665 211.1259 0.771418 129.00 424.00 451.00 601.00 7 1000", 16, "0 0",
	},
	{
		"mooncake_fast25_conversation_trace.jsonl", 12_031, "0 3536999000 3.401188 3.033737",
		"144793823 12035.0613 1.312860 6909.00 27367.00 39550.50 85400.40 891 126195",
		"4122048 342.6189 0.729405 350.00 597.00 698.00 1118.50 1 2000", 512, "144793823 54063104",
	},
	{
		"mooncake_fast25_conversation_trace.jsonl", 12_031, "0 3536999000 3.401188 3.033737",
		"144793823 12035.0613 1.312860 6909.00 27367.00 39550.50 85400.40 891 126195",
		"4122048 342.6189 0.729405 350.00 597.00 698.00 1118.50 1 2000", 16, "144793823 54097440",
	},
	{
		"mooncake_fast25_synthetic_trace.jsonl", 3_993, "0 1022025000 3.905971 1.011311",
		"61194628 15325.4766 1.199320 11587.00 38611.20 48904.60 66456.16 13 191378",
		"595432 149.1190 1.194675 69.00 389.00 519.00 768.08 1 893", 512, "61194628 39802880",
	},
	{
		"sharegpt_300_permuted_ids.jsonl.gz", 300, "46926 29183763 10.261924 0.941648",
		"257239 857.4633 0.615014 731.50 1460.10 1748.90 2765.20 262 3998",
		"195753 652.5100 0.150612 632.00 770.00 773.00 784.12 512 1021", 16, "39478 19520",
	},
	{
		"vidur_arxiv_summarization_stats.csv", 28_257, "1000000 28257000000 1.000000 0.000000",
		"73131321 2588.0780 0.365032 2730.00 3702.00 3813.00 3933.44 1 4054",
		"8234948 291.4304 1.820423 167.00 372.00 736.20 3271.32 5 4056", 16, "0 0",
	},
}

func TestPublicTracesHaveTheirFigures(t *testing.T) {
	for _, c := range public {
		t.Run(fmt.Sprint(c.file, c.block), func(t *testing.T) {
			s, err := survey.Take(openSample(t, c.file), survey.Options{BlockSize: c.block})
			if err != nil {
				t.Fatal(err)
			}
			lengths := func(total int64, l *survey.Summary) string {
				return fmt.Sprintf("%d %.4f %.6f %.2f %.2f %.2f %.2f %d %d", total, l.Mean, *l.CV, l.P50, l.P90, l.P95, l.P99, l.Min, l.Max)
			}
			for _, f := range []struct{ what, got, want string }{
				{"rows", fmt.Sprint(s.Requests), fmt.Sprint(c.rows)},
				{"arrivals", fmt.Sprintf("%d %d %.6f %.6f", *s.First, *s.Last, *s.Rate, *s.GapCV), c.arrivals},
				{"input", lengths(s.InputTokens, s.Input), c.input},
				{"output", lengths(s.OutputTokens, s.Output), c.output},
				{"reuse", fmt.Sprintf("%d %d", s.Reuse.Named, s.Reuse.Ideal), c.reuse},
			} {
				if f.got != f.want {
					t.Errorf("%s: %s, want %s", f.what, f.got, f.want)
				}
			}
		})
	}
}

// The tables of docs/surveys.md have these figures, a line for each.
func TestFiguresArePublished(t *testing.T) {
	text, err := os.ReadFile("../../docs/surveys.md")
	if err != nil {
		t.Fatal(err)
	}
	cells := func(parts ...string) string {
		return "\n| " + strings.Join(parts, " | ") + " |\n"
	}
	for _, c := range public {
		a, reuse := strings.Fields(c.arrivals), strings.Fields(c.reuse)
		lines := map[string]string{
			"input":  cells(append([]string{"`" + c.file + "`"}, strings.Fields(c.input)...)...),
			"output": cells(append([]string{"`" + c.file + "`"}, strings.Fields(c.output)...)...),
			"reuse":  cells("`"+c.file+"`", fmt.Sprint(c.rows), a[0], a[1], a[2], a[3], fmt.Sprint(c.block), reuse[0], reuse[1]),
		}
		if strings.HasPrefix(c.file, "vidur") { // its arrivals are not the publisher's
			lines["reuse"] = cells("`"+c.file+"`", fmt.Sprint(c.rows), "–", "–", "–", "–", fmt.Sprint(c.block), reuse[0], reuse[1])
		}
		for what, line := range lines { // any order: each is looked for alone
			if !strings.Contains(string(text), line) {
				t.Errorf("%s of %s: docs/surveys.md has no line %s", what, c.file, strings.TrimSpace(line))
			}
		}
	}
}
