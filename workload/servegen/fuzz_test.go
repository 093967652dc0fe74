package servegen

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blis/workload/draw"
)

// seeds adds the files of testdata with an ending.
func seeds(f *testing.F, end string, more ...string) {
	files, err := filepath.Glob(filepath.Join(samples, "*"+end))
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds in testdata/servegen", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, s := range more {
		f.Add([]byte(s))
	}
}

// oneLine makes sure that an error is one, and says where.
func oneLine(t *testing.T, err error) {
	t.Helper()
	if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t:") || !strings.Contains(err.Error(), "want") {
		t.Errorf("not one line that names its place and what is right: %v", err)
	}
}

// FuzzTrace: windows that ascend and can be drawn from, or one line of error.
func FuzzTrace(f *testing.F) {
	seeds(f, traceEnd, "0,1e6,1e-6,Weibull,0.2,1e9\n5,0,0,,,\n", "0,1,1,Gamma,1e-4,1\n", "7,1,1,,0,0")
	f.Fuzz(func(t *testing.T, text []byte) {
		windows, err := parseTrace("t", text)
		if err != nil {
			oneLine(t, err)
			return
		}
		last := int64(-1)
		var all facts
		for i := range windows {
			w := &windows[i]
			if w.start < 0 || w.start < last || w.end <= w.start || !(w.rate >= 0 && w.rate <= maxRate) {
				t.Errorf("window %+v after second %d", w, last)
			}
			last = w.end
			if w.rate == 0 {
				continue
			}
			all.consider(w, "t")
			if w.process == draw.Poisson {
				continue
			}
			if cv := variation(w.process, w.shape); !(cv >= draw.MinCV && cv <= draw.MaxCV) {
				t.Errorf("window %+v: gaps have the CV %v", w, cv)
			}
		}
		for _, n := range all.notes() {
			if strings.Contains(n, "NaN") || strings.Contains(n, "Inf") {
				t.Error(n)
			}
		}
	})
}

// FuzzDataset: tables whose lengths ascend and whose weights add up to 1, or
// one line of error.
func FuzzDataset(f *testing.F) {
	seeds(f, datasetEnd, goodDataset, `{"0":{"output_tokens":"{10000000:1e-20,0:1}","input_tokens":" {1 :\t1.}\n"}}`, dataset("{3: 0.5, 2: 0.5}", "{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		periods, _, err := parseDataset("t", text)
		if err != nil {
			oneLine(t, err)
			return
		}
		last := int64(-1)
		for i, p := range periods {
			if p.start < 0 || p.start < last || p.end <= p.start {
				t.Errorf("period %d: %d to %d after second %d", i, p.start, p.end, last)
			}
			last = p.end
			for low, table := range []*table{p.output, p.input} {
				checkTable(t, table, float64(low))
			}
		}
	})
}

func checkTable(t *testing.T, all *table, low float64) {
	t.Helper()
	if all == nil {
		return
	}
	last, sum := low-1, 0.0
	for i, n := range all.lengths {
		if !(n > last && n <= longest && n == math.Floor(n) && all.weights[i] > 0) {
			t.Errorf("%v tokens with weight %v after %v", n, all.weights[i], last)
		}
		last = n
		sum += all.weights[i]
	}
	// What was added in another order may differ in the last places.
	if len(all.lengths) == 0 || len(all.weights) != len(all.lengths) || !(math.Abs(sum-1) <= 2*sumTolerance) {
		t.Errorf("%d lengths, %d weights that add up to %v", len(all.lengths), len(all.weights), sum)
	}
}

// FuzzLiteral holds the reader of dictionaries to the JSON library: what both
// accept has the same keys and probabilities.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"{}", "{5: 1.0}", "{18: 0.25, 19: 0.5, 7: 0.25}", "{1: 1e-30, 2: 1}", "{1:.5,2:.5}", "{01: 1.0}", "{5: 0.5, 5: 0.5}", "{5: 1.0,}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var l literal
		if err := l.parse(text, lengths(0), tokensFrom0); err != nil {
			return
		}
		want, err := plain(text)
		if err != nil {
			return // JSON has no .5 and no 1.
		}
		if len(l.entries) != len(want) {
			t.Fatalf("%q: %d keys, the library has %d", text, len(l.entries), len(want))
		}
		for _, e := range l.entries {
			if want[e.key] != e.probability {
				t.Errorf("%q: %v has %v, the library has %v", text, e.key, e.probability, want[e.key])
			}
		}
	})
}
