package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"blis/actors"
)

// TestContentResemblesMooncake: the generated trace has the numbers of the
// conversation trace, within a tenth, and the same bytes each time.
func TestContentResemblesMooncake(t *testing.T) {
	var text, again bytes.Buffer
	if writeContent(&text) != nil || writeContent(&again) != nil || !bytes.Equal(text.Bytes(), again.Bytes()) {
		t.Fatal("another trace when written again")
	}
	var line struct {
		Timestamp int64
		Input     int   `json:"input_length"`
		Output    int   `json:"output_length"`
		Spans     []int `json:"hash_ids"`
	}
	n, known, spans, hits, output := 0, map[int]bool{}, 0, 0, 0
	for d := json.NewDecoder(&text); n < contentRequests; n++ {
		line.Spans = nil
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		found := 0
		for found < len(line.Spans) && known[line.Spans[found]] {
			found++
		}
		for _, s := range line.Spans {
			known[s] = true
		}
		if (line.Input+contentSpan-1)/contentSpan != len(line.Spans) {
			t.Fatalf("request %d: %d tokens in %d spans", n, line.Input, len(line.Spans))
		}
		spans, hits, output = spans+len(line.Spans), hits+found, output+line.Output
	}
	near := func(what string, got, want float64) {
		t.Logf("%s: %.3g, of Mooncake %.3g", what, got, want)
		if got < 0.9*want || got > 1.1*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("hour", float64(line.Timestamp), 3_537_000)
	near("spans of a prompt", float64(spans)/contentRequests, 24)
	near("part known before", float64(hits)/float64(spans), 0.366)
	near("tokens of an answer", float64(output)/contentRequests, 343)
}

// TestContentHasOneDigest: prompts that share content give one result on any
// number of workers.
func TestContentHasOneDigest(t *testing.T) {
	dir := t.TempDir()
	for _, s := range sharing() {
		s = s.Shortened(400)
		if err := s.prepare(dir); err != nil || filepath.Dir(s.Config.Trace) != dir {
			t.Fatal(s.Config.Trace, err)
		}
		var want string
		for _, workers := range []int{1, 2, 3, 8} {
			c := s.Config
			c.Workers = workers
			r, err := actors.Run(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			if o := &r.Report.Overall; o.CachedTokens == 0 || o.InputTokens < 400*contentSpan {
				t.Errorf("%s: %d tokens of %d found", s.Name, o.CachedTokens, o.InputTokens)
			}
			if want == "" {
				want = r.Digest
			}
			if r.Digest != want {
				t.Errorf("%s on %d workers: digest %s, want %s", s.Name, workers, r.Digest, want)
			}
		}
	}
}
