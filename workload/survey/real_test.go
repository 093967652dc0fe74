package survey_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/survey"
	"blis/workload/traces"
)

// The public traces are no part of the project.
const samples = "../../../shared/data/traces"

// openSample opens one of them. What has no arrivals of its own gets one per
// second.
func openSample(t testing.TB, name string) *traces.Trace {
	t.Helper()
	path := filepath.Join(samples, name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("no samples here")
	}
	even := draw.Flat(1)
	pace := draw.NewArrivals(draw.ArrivalProcess{Kind: draw.Constant}, &even, vtime.NewStream(1, "pace"))
	trace, err := traces.OpenFile(path, traces.Options{Pace: &pace})
	if err != nil {
		t.Fatal(err)
	}
	return trace
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
