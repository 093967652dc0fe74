package survey_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"blis/workload/survey"
	"blis/workload/traces"
)

// The public traces are no part of the project.
const samples = "../../../shared/data/traces"

func openSample(t testing.TB, name string) *traces.Trace {
	t.Helper()
	path := filepath.Join(samples, name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("no samples here")
	}
	trace, err := traces.OpenFile(path, traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// Figures computed from the publishers' files by a few lines of Python; rows as
// SOURCES.md counts them. They are compared as they are printed here. Reuse at
// 512 tokens is from hash ids alone, that at 16 of the conversation what a run
// with unbounded cache finds (package actors, TestRealTraces).
func TestPublicTracesHaveTheirFigures(t *testing.T) {
	for _, c := range []struct {
		file          string
		rows          int64
		arrivals      string // requests per second, CV of gaps, last arrival in µs
		input, output string // sum; mean, CV; p50, p90, p95, p99; min, max
		block         int32
		reuse         string // named tokens, ideal hit tokens
	}{
		{
			"azure_llm_2023_code.csv", 8_819, "2.566395 13.151291 3435948056",
			"18059974; 2047.8483 0.963824; 1469.00 5187.60 7303.30 7436.00; 3 7437",
			"245896; 27.8825 2.146823; 13.00 55.00 90.00 251.46; 6 1899", 16, "0 0",
		},
		{
			"azure_llm_2023_conv.csv", 19_366, "5.530136 1.094170 3501721937",
			"22361870; 1154.6974 0.960246; 1020.00 2734.50 4083.00 4142.00; 2 14050",
			"4088665; 211.1259 0.771418; 129.00 424.00 451.00 601.00; 7 1000", 16, "0 0",
		},
		{
			"mooncake_fast25_conversation_trace.jsonl", 12_031, "3.401188 3.033737 3536999000",
			"144793823; 12035.0613 1.312860; 6909.00 27367.00 39550.50 85400.40; 891 126195",
			"4122048; 342.6189 0.729405; 350.00 597.00 698.00 1118.50; 1 2000", 512, "144793823 54063104",
		},
		{
			"mooncake_fast25_conversation_trace.jsonl", 12_031, "3.401188 3.033737 3536999000",
			"144793823; 12035.0613 1.312860; 6909.00 27367.00 39550.50 85400.40; 891 126195",
			"4122048; 342.6189 0.729405; 350.00 597.00 698.00 1118.50; 1 2000", 16, "144793823 54097440",
		},
		{
			"mooncake_fast25_synthetic_trace.jsonl", 3_993, "3.905971 1.011311 1022025000",
			"61194628; 15325.4766 1.199320; 11587.00 38611.20 48904.60 66456.16; 13 191378",
			"595432; 149.1190 1.194675; 69.00 389.00 519.00 768.08; 1 893", 512, "61194628 39802880",
		},
	} {
		t.Run(fmt.Sprint(c.file, c.block), func(t *testing.T) {
			s, err := survey.Take(openSample(t, c.file), survey.Options{BlockSize: c.block})
			if err != nil {
				t.Fatal(err)
			}
			lengths := func(total int64, l *survey.Summary) string {
				return fmt.Sprintf("%d; %.4f %.6f; %.2f %.2f %.2f %.2f; %d %d", total, l.Mean, *l.CV, l.P50, l.P90, l.P95, l.P99, l.Min, l.Max)
			}
			for _, f := range []struct{ what, got, want string }{
				{"rows", fmt.Sprint(s.Requests), fmt.Sprint(c.rows)},
				{"arrivals", fmt.Sprintf("%.6f %.6f %d", *s.Rate, *s.GapCV, *s.Last), c.arrivals},
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

// What an infinite cache finds of a Mooncake trace, from its hash ids alone:
// each names a block of 512 tokens with all before it.
func TestIdealHitIsThatOfHashIDs(t *testing.T) {
	const block = 512
	for _, name := range []string{"mooncake_fast25_conversation_trace.jsonl", "mooncake_fast25_synthetic_trace.jsonl"} {
		s, err := survey.Take(openSample(t, name), survey.Options{BlockSize: block})
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(samples, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cached := map[int64]bool{}
		found, requests := int64(0), int64(0)
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var row struct {
				Input int     `json:"input_length"`
				IDs   []int64 `json:"hash_ids"`
			}
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			hits := 0
			for hits < (row.Input-1)/block && cached[row.IDs[hits]] {
				hits++
			}
			found += int64(hits)
			if hits > 0 {
				requests++
			}
			for _, id := range row.IDs[:row.Input/block] {
				cached[id] = true
			}
		}
		if r := s.Reuse; r.Ideal != block*found || r.HitRequests != requests || found == 0 {
			t.Errorf("%s: %d tokens found by %d requests, want %d blocks by %d", name, r.Ideal, r.HitRequests, found, requests)
		}
	}
}

func BenchmarkMooncake(b *testing.B) {
	trace := openSample(b, "mooncake_fast25_conversation_trace.jsonl")
	b.ReportAllocs()
	var s *survey.Survey
	for b.Loop() {
		again := *trace
		var err error
		if s, err = survey.Take(&again, survey.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.Requests), "ns/request")
	b.ReportMetric(float64(s.Reuse.Ideal), "hit-tokens")
}
