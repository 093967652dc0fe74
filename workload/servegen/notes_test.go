package servegen

import (
	"os"
	"slices"
	"testing"
)

// one writes the files of one client in an empty folder, where the test stays.
func one(t *testing.T, trace, dataset string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("d", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "d", "c-1-trace.csv", []byte(trace))
	write(t, "d", "c-1-dataset.json", []byte(dataset))
}

func TestNotesTellWhatDoesNotFit(t *testing.T) {
	for _, c := range []struct{ name, trace, want string }{
		{"poisson", "0,1,1,,0,0\n600,1,1.5,,0,0\n1200,2,0.25,,0,0\n", "no family: in 2 of 3 windows the column cv is not 1, 0.25 to 1.5, first in d/c-1-trace.csv:2: arrivals are Poisson"},
		{"shape", "0,1,2,Gamma,1,1\n", "Gamma: in 1 of 1 windows param1 gives gaps another CV than the column cv, 0.5 to 0.5 times as large, first in d/c-1-trace.csv:1: cv is used"},
		{"scale", "0,1,1,Weibull,1,4\n\n600,1,1,Weibull,1,1", "in 1 of 2 windows param1 and param2 give another mean gap than 1/rate, 4 to 4 times as long, first in d/c-1-trace.csv:1: the rate is used"},
		{"width", "0,1,1,,0,0\n600,1,1,,0,0\n1200,1,1,,0,0\n2400,1,1,,0,0\n2700,1,1,,0,0", "windows of unequal width, 0.5 to 2 times the usual one, first in d/c-1-trace.csv:3: each lasts to the start of the next"},
	} {
		one(t, c.trace, goodDataset)
		if _, notes := read(t, "d", Options{}); !slices.Contains(notes, c.want) {
			t.Errorf("%s: no note\n%s\namong %q", c.name, c.want, notes)
		}
	}
	one(t, "0,1,1,,0,0\n600,1,1.01,Gamma,1,1.01\n", goodDataset)
	if _, notes := read(t, "d", Options{}); len(notes) != 1 {
		t.Errorf("notes about what agrees within a hundredth: %q", notes)
	}
}

// The last window has no next: it lasts as long as most do, and one alone as
// long as all published ones.
func TestLastWindowHasTheUsualWidth(t *testing.T) {
	for _, c := range []struct {
		name, trace string
		want        []string
	}{
		{"one", "60,2,1,,0,0\n", []string{"c-1 60-660 s at 2"}},
		{"most", "0,2,1,,0,0\n300,2,1,,0,0\n500,2,1,,0,0\n700,2,1,,0,0\n", []string{"c-1 0-300 s at 2", "c-1 300-500 s at 2", "c-1 500-700 s at 2", "c-1 700-900 s at 2"}},
		{"tie", "0,2,1,,0,0\n300,2,1,,0,0\n400,2,1,,0,0\n", []string{"c-1 0-300 s at 2", "c-1 300-400 s at 2", "c-1 400-500 s at 2"}},
	} {
		one(t, c.trace, goodDataset)
		clients, _ := read(t, "d", Options{})
		if got := brief(clients); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// The parameters of a window that sends nothing say nothing.
func TestWindowsWithoutRateNeedNoLaw(t *testing.T) {
	one(t, "0,0,0,Gamma,0,0\n600,2,1,,0,0\n", goodDataset)
	clients, _ := read(t, "d", Options{})
	if got, want := brief(clients), []string{"c-1 600-1200 s at 2"}; !slices.Equal(got, want) {
		t.Errorf(" got %q\nwant %q", got, want)
	}
}

func TestClientsAreInTheOrderOfTheirNumbers(t *testing.T) {
	want := []string{"a", "a_chunk-2", "a_chunk-02", "a_chunk-9", "a_chunk-10", "a_chunk-12345678901234567890123", "b_chunk-1", "b_chunk-003", "b_chunk-20"}
	got := slices.Clone(want)
	slices.Sort(got)
	slices.SortFunc(got, byNumber)
	slices.Sort(want[1:3]) // equal numbers: by their bytes
	if !slices.Equal(got, want) {
		t.Errorf(" got %q\nwant %q", got, want)
	}
}
