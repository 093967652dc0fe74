package servegen

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/workload/draw"
	"blis/workload/traffic"
)

const samples = "../../testdata/servegen"

func read(t testing.TB, path string, o Options) ([]traffic.Client, Notes) {
	t.Helper()
	clients, notes, err := Read(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return clients, notes
}

// length is what a table of lengths must become.
func length(t testing.TB, lengths, weights []float64) *draw.Length {
	t.Helper()
	d, err := draw.NewEmpirical(lengths, weights)
	if err != nil {
		t.Fatal(err)
	}
	return &draw.Length{Dist: d, Min: int32(lengths[0]), Max: int32(lengths[len(lengths)-1])}
}

func gaps(p draw.ProcessKind, cv float64) *draw.ArrivalProcess {
	return &draw.ArrivalProcess{Kind: p, CV: cv}
}

// equal compares by reflection: distributions have parts of their own.
func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func TestFolderBecomesClientsInTheOrderOfTheirNumbers(t *testing.T) {
	clients, notes := read(t, samples, Options{})
	if len(clients) != 2 {
		t.Fatalf("%d clients, want 2", len(clients))
	}
	long := length(t, []float64{100, 200}, []float64{0.25, 0.75})
	ten, few := length(t, []float64{10}, []float64{1}), length(t, []float64{5, 7}, []float64{0.5, 0.5})
	equal(t, "chunk-2", clients[0], traffic.Client{
		ID: "chunk-2", Tenant: "chunk-2", Class: "standard", Process: draw.ArrivalProcess{Kind: draw.Poisson},
		Rate: draw.RateCurve{Pieces: []draw.Piece{{Length: 1, From: 1, To: 1}}, Windows: []draw.Window{
			{Start: 0, End: 600e6, Factor: 0.5, Process: gaps(draw.Gamma, 1.4142135623730951)},
			{Start: 1200e6, End: 1800e6, Factor: 2},
			{Start: 1800e6, End: 2400e6, Factor: 1.5, Process: gaps(draw.Weibull, 2.23606797749979)},
		}},
		Input: *long, Output: *ten,
		Changes: []traffic.Change{{Input: long, Output: ten}, {Input: long, Output: few}, {Input: long, Output: few}},
	})
	mixed, some := length(t, []float64{1, 2, 30}, []float64{0.125, 0.375, 0.5}), length(t, []float64{0, 40}, []float64{0.5, 0.5})
	equal(t, "chunk-10", clients[1], traffic.Client{
		ID: "chunk-10", Tenant: "chunk-10", Class: "standard", Process: draw.ArrivalProcess{Kind: draw.Poisson},
		Rate: draw.RateCurve{Pieces: []draw.Piece{{Length: 1, From: 1, To: 1}}, Windows: []draw.Window{
			{Start: 600e6, End: 1200e6, Factor: 3, Process: gaps(draw.Gamma, 2)},
			{Start: 1200e6, End: 1800e6, Factor: 4.5, Process: gaps(draw.Weibull, 3)},
		}},
		Input: *mixed, Output: *some,
		Changes: []traffic.Change{{Input: mixed, Output: some}, {Input: mixed, Output: some}},
	})
	want := Notes{
		"read: 2 clients with 5 windows; left out: windows without traffic: 2",
		"Gamma: in 1 of 2 windows param1 gives gaps another CV than the column cv, 1.25 to 1.25 times as large, first in ../../testdata/servegen/chunk-10-trace.csv:2: cv is used",
		"Weibull: in 1 of 2 windows param1 gives gaps another CV than the column cv, 0.745 to 0.745 times as large, first in ../../testdata/servegen/chunk-10-trace.csv:3: cv is used",
		"in 2 of 4 windows param1 and param2 give another mean gap than 1/rate, 0.768 to 0.9 times as long, first in ../../testdata/servegen/chunk-10-trace.csv:2: the rate is used",
		"reason_ratio was not used: output_tokens count the reasoning",
	}
	if d := cmp.Diff(want, notes); d != "" {
		t.Error(d)
	}
}

// By their shapes, gaps are those that were fitted; a CV that cannot be drawn is
// cut, with a note.
func TestGapsByShapeOrByCV(t *testing.T) {
	clients, notes := read(t, samples, Options{ByShape: true})
	equal(t, "law", clients[1].Rate.Windows[1].Process, &draw.ArrivalProcess{Kind: draw.Weibull, Shape: 0.5})
	if text := strings.Join(notes, "; "); !strings.Contains(text, "param1 is used") || strings.Contains(text, "cv is used") {
		t.Error(text)
	}
	w := window{process: draw.Weibull, shape: 0.5, cv: 250}
	equal(t, "cut", w.arrivals(false), gaps(draw.Weibull, draw.MaxCV))
	equal(t, "as fitted", w.arrivals(true), &draw.ArrivalProcess{Kind: draw.Weibull, Shape: 0.5})
	f := facts{used: "cv"}
	f.consider(&w, "t")
	if text := strings.Join(f.notes(), "; "); !strings.Contains(text, "windows whose column cv is above 100, which is used: 1") {
		t.Error(text)
	}
}

// A week of ten-minute windows has 28 distributions, not 1008.
func TestWindowsWithEqualLengthsShareThem(t *testing.T) {
	clients, _ := read(t, samples, Options{})
	c := clients[0].Changes
	if c[0].Input != c[1].Input || c[1].Output != c[2].Output {
		t.Error("equal distributions of neighbours are not the same object")
	}
	if c[0].Output == c[1].Output {
		t.Error("different distributions are one object")
	}
}

func TestSingleTraceFileIsOneClient(t *testing.T) {
	all, _ := read(t, samples, Options{})
	one, _ := read(t, filepath.Join(samples, "chunk-10-trace.csv"), Options{})
	equal(t, "chunk-10", one, all[1:])
}

func TestPackedFilesAreTheSame(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"chunk-2-trace.csv", "chunk-2-dataset.json", "chunk-10-trace.csv", "chunk-10-dataset.json"} {
		text, err := os.ReadFile(filepath.Join(samples, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "chunk-2") {
			text, name = pack(t, text), name+".gz"
		} else {
			text = append([]byte("\xef\xbb\xbf"), text...)
		}
		write(t, folder, name, text)
	}
	write(t, folder, "README.md", []byte("other files are left alone"))
	got, _ := read(t, folder, Options{})
	want, _ := read(t, samples, Options{})
	equal(t, "packed", got, want)
	one, _ := read(t, filepath.Join(folder, "chunk-2-trace.csv.gz"), Options{})
	equal(t, "packed file", one, want[:1])
}

func pack(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t testing.TB, folder, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// brief is start, end and rate of the windows of all clients.
func brief(clients []traffic.Client) (s []string) {
	for _, c := range clients {
		for _, w := range c.Rate.Windows {
			s = append(s, fmt.Sprint(c.ID, " ", int64(w.Start)/1e6, "-", int64(w.End)/1e6, " s at ", w.Factor))
		}
	}
	return s
}

func TestSpanChoosesWindowsAndBecomesTheOrigin(t *testing.T) {
	const idle, outside = "left out: clients without traffic: 1", "left out: windows with traffic that are not wholly inside the span: "
	for _, c := range []struct {
		o     Options
		want  []string
		notes []string
	}{
		{Options{From: 600, To: 1800}, []string{"chunk-2 600-1200 s at 2", "chunk-10 0-600 s at 3", "chunk-10 600-1200 s at 4.5"}, []string{outside + "2"}},
		{Options{From: 601}, []string{"chunk-2 599-1199 s at 2", "chunk-2 1199-1799 s at 1.5", "chunk-10 599-1199 s at 4.5"}, []string{outside + "2"}},
		{Options{From: 1800, RateScale: 2}, []string{"chunk-2 0-600 s at 3"}, []string{outside + "4", idle}},
		{Options{To: 600, RateScale: 0.5}, []string{"chunk-2 0-600 s at 0.25"}, []string{outside + "4", idle}},
		{Options{To: 1799}, []string{"chunk-2 0-600 s at 0.5", "chunk-10 600-1200 s at 3"}, []string{outside + "3"}},
	} {
		clients, notes := read(t, samples, c.o)
		if got := brief(clients); !slices.Equal(got, c.want) {
			t.Errorf("%+v:\n got %q\nwant %q", c.o, got, c.want)
		}
		for _, want := range c.notes {
			if !slices.Contains(notes, want) {
				t.Errorf("%+v: no note %q among %q", c.o, want, notes)
			}
		}
	}
}
