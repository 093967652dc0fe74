package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// stored is a trace in a file.
func stored(t *testing.T, form Form, records []Record) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, form)
	for _, r := range records {
		if err := w.Consume(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// summarizeText is Summarize of a file.
func summarizeText(text []byte) (*Summary, error) {
	r, err := Open(bytes.NewReader(text), "t")
	if err != nil {
		return nil, err
	}
	return Summarize(r, SummaryOptions{}, nil)
}

// A stored trace has the summary of the run that wrote it, in each form of files.
func TestStoredTraceHasTheSummaryOfItsRun(t *testing.T) {
	for seed := range uint64(20) {
		of := shape{int(10 + 10*seed), 1 + int(seed%4), seed%2 > 0, seed%3 > 0, seed%5 > 0, seed%7 > 0}
		records := synthetic(seed, of)
		for i, r := range records { // as a run has them
			if h, ok := r.(*Header); ok {
				h.Level = Detailed.String()
				if h.Targets == nil {
					h.Targets = []ClassTargets{}
				}
			}
			records[i] = r
		}
		live := summarized(t, records, SummaryOptions{})
		for _, form := range []Form{JSONLines, MessagePack} {
			text := stored(t, form, records)
			for _, file := range [][]byte{text, packed(t, text)} {
				s, err := summarizeText(file)
				if err != nil {
					t.Fatalf("seed %d, form %d: %v", seed, form, err)
				}
				for _, strategy := range Strategies() {
					if diff := gocmp.Diff(reported(t, live, strategy, 700), reported(t, s, strategy, 700)); diff != "" {
						t.Fatalf("seed %d, form %d, %s: %s", seed, form, strategy, diff)
					}
				}
			}
		}
	}
}

// A trace that is cut at any byte is summarized as far as it goes when it is cut
// behind a record, else refused in a line that names it.
func TestCutTraces(t *testing.T) {
	records := synthetic(3, shape{requests: 6, instances: 2, counterfactual: true, detailed: true})
	records[0].(*Header).Level = "detailed"
	for _, form := range []Form{JSONLines, MessagePack} {
		text := stored(t, form, records)
		whole, refused := 0, 0
		for n := range text {
			_, err := summarizeText(text[:n])
			switch {
			case err == nil:
				whole++
			case strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t: line ") && !strings.HasPrefix(err.Error(), "t: record "):
				t.Fatalf("form %d, cut at %d: %v", form, n, err)
			default:
				refused++
			}
		}
		most := len(records) - 1
		if form == JSONLines {
			most = 2*len(records) - 1 // before and behind the end of the line
		}
		if whole != most || refused < len(text)/2 {
			t.Errorf("form %d: %d cuts are read and %d refused, want %d and the others", form, whole, refused, most)
		}
		zipped := packed(t, text)
		for n := 1; n < len(zipped); n++ {
			if _, err := summarizeText(zipped[:n]); err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t: ") {
				t.Fatalf("form %d, packed, cut at %d of %d: %v", form, n, len(zipped), err)
			}
		}
	}
}

// What a record says that cannot be is an error at its line.
func TestSummarizeNamesLineAndField(t *testing.T) {
	admission := `{"type":"admission","at_us":5,"request":1,"tenant":"","slo_class":"a","input_tokens":3,"verdict":"maybe","reason":"","delay_us":null}`
	for _, c := range []struct{ text, want string }{
		{header + admission, `t: line 2: field verdict: "maybe", want admit, reject or delay`},
		{header + strings.Replace(admission, `"request":1`, `"request":-1`, 1), `t: line 2: field request: -1, want a number from 0`},
		{"id,arrival\n1,2\n", "t: line 1: want a JSON object"},
		{"", "t: line 1: the file is empty, want a header"},
		{"\x00\x01\x02\x03", "t: "},
	} {
		if _, err := summarizeText([]byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// Progress is told every thousand records, and its error ends the reading.
func TestSummarizeTellsProgress(t *testing.T) {
	text := []byte(header + strings.Repeat(priority+"\n", 3500))
	r, err := Open(bytes.NewReader(text), "t")
	if err != nil {
		t.Fatal(err)
	}
	var told []int64
	stop := errors.New("stop")
	_, err = Summarize(r, SummaryOptions{}, func(n int64) error {
		if told = append(told, n); n == 3000 {
			return stop
		}
		return nil
	})
	if err != stop || len(told) != 3 || told[0] != 1000 {
		t.Errorf("%v, told %v", err, told)
	}
}

// FuzzSummarize: any file is summarized or refused in one line.
func FuzzSummarize(f *testing.F) {
	f.Add([]byte(header + priority))
	f.Add([]byte(header + `{"type":"outcome","at_us":5,"request":1,"state":"completed","reason":"","instance":0,"tenant":"","slo_class":"","arrival_us":1,"ttft_us":1,"tpot_us":null,"e2e_us":4,"queue_wait_us":0,"actual_hit_tokens":0,"expected_hit_tokens":0,"tier":null,"output_tokens":1,"preemptions":0,"slo_met":true}`))
	f.Add([]byte("\x1f\x8b"))
	f.Add([]byte{0x81, 0xa4, 't', 'y', 'p', 'e'})
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := summarizeText(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && text[0] == '{' {
				t.Fatalf("more than one line: %q", err)
			}
			return
		}
		for _, strategy := range Strategies() {
			if _, err := s.Report(strategy, LeastSummaryTokens); err != nil {
				t.Fatal(err)
			}
		}
	})
}
