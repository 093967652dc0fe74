package servegen

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/workload/draw"
)

// The published files are not part of the project.
const published = "../../../shared/data/traces/servegen"

func needPublished(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(published); err != nil {
		t.Skip("no samples here")
	}
}

// plain reads a dictionary as JSON, to which its text is close: the twin of
// literal.
func plain(text string) (map[float64]float64, error) {
	m := map[string]float64{}
	err := json.Unmarshal([]byte(regexp.MustCompile(`([0-9.e+-]+):`).ReplaceAllString(text, `"$1":`)), &m)
	if err != nil {
		return nil, err
	}
	p := map[float64]float64{}
	for k, v := range m {
		x, err := strconv.ParseFloat(k, 64)
		if err != nil {
			return nil, err
		}
		p[x] += v
	}
	return p, nil
}

// tableOf is a dictionary of plain as a table.
func tableOf(p map[float64]float64) *table {
	t := &table{}
	for k, v := range p {
		if v > 0 {
			t.lengths = append(t.lengths, k)
		}
	}
	sort.Float64s(t.lengths)
	for _, k := range t.lengths {
		t.weights = append(t.weights, p[k])
	}
	return t
}

// plainDataset is all dictionaries of a published file by start and key.
func plainDataset(t testing.TB, client string) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(published, client+datasetEnd))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// clientRow is what the files of a published client say.
type clientRow struct {
	client                  string
	windows                 int // with traffic
	requests                int // the integral of the rate: counts from which rates were made
	inputLeast, inputMost   int32
	outputLeast, outputMost int32
}

var publishedRows = []clientRow{
	{"deepseek-r1_chunk-3", 13, 92449, 23, 240, 167, 32768},
	{"deepseek-r1_chunk-12", 27, 61182, 4, 4329, 62, 7465},
	{"deepseek-r1_chunk-13", 11, 68084, 23, 230, 162, 32768},
	{"deepseek-r1_chunk-48", 62, 108696, 246, 874, 71, 10185},
	{"deepseek-r1_chunk-54", 51, 56190, 40, 2206, 45, 1024},
	{"m-small_chunk-14", 1979, 125181546, 13, 4970, 1, 793},
	{"m-small_chunk-27", 1687, 80742657, 27, 2287, 2, 158},
}

func TestPublishedClientsHaveTheirWindowsAndRequests(t *testing.T) {
	needPublished(t)
	clients, notes := read(t, published, Options{})
	var got []clientRow
	for _, c := range clients {
		r := clientRow{client: c.ID, windows: len(c.Rate.Windows), inputLeast: math.MaxInt32, outputLeast: math.MaxInt32}
		sum := 0.0
		for i, w := range c.Rate.Windows {
			sum += w.Factor * w.End.Sub(w.Start).Seconds()
			r.inputLeast, r.inputMost = min(r.inputLeast, c.Changes[i].Input.Min), max(r.inputMost, c.Changes[i].Input.Max)
			r.outputLeast, r.outputMost = min(r.outputLeast, c.Changes[i].Output.Min), max(r.outputMost, c.Changes[i].Output.Max)
		}
		r.requests = int(math.Round(sum))
		if math.Abs(sum-math.Round(sum)) > 1e-3 {
			t.Errorf("%s: %v requests, want a whole number", c.ID, sum)
		}
		got = append(got, r)
	}
	if d := cmp.Diff(publishedRows, got, cmp.AllowUnexported(clientRow{})); d != "" {
		t.Error(d)
	}
	wantNotes := Notes{
		"read: 7 clients with 3830 windows; left out: windows without traffic: 922",
		"Weibull: in 2585 of 2746 windows param1 gives gaps another CV than the column cv, 0.0983 to 2.15 times as large, first in " + published + "/deepseek-r1_chunk-3-trace.csv:12: cv is used",
		"windows whose column cv is above 100, which is used: 1",
		"in 2633 of 3830 windows param1 and param2 give another mean gap than 1/rate, 0.0526 to 913 times as long, first in " + published + "/deepseek-r1_chunk-3-trace.csv:12: the rate is used",
		"reason_ratio was not used: output_tokens count the reasoning",
	}
	if d := cmp.Diff(wantNotes, notes); d != "" {
		t.Error(d)
	}
}

// The table of docs/surveys.md has a line for each.
func TestPublishedRowsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/surveys.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range publishedRows {
		all := 144 // windows of ten minutes in a day; m-small is two weeks
		if strings.HasPrefix(r.client, "m-small") {
			all *= 14
		}
		line := fmt.Sprintf("\n| `%s` | %d | %d | %d | %d to %d | %d to %d |\n", r.client, all, r.windows, r.requests, r.inputLeast, r.inputMost, r.outputLeast, r.outputMost)
		if !strings.Contains(string(text), line) {
			t.Errorf("docs/surveys.md has no line %s", strings.TrimSpace(line))
		}
	}
}

// In the published files param1 of Gamma is 1/CV² of the column; that of
// Weibull comes from a fit that follows the CV loosely.
func TestPublishedShapesAndVariations(t *testing.T) {
	needPublished(t)
	files, _ := filepath.Glob(filepath.Join(published, "*"+traceEnd))
	counts := map[draw.ProcessKind]int{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		windows, err := parseTrace(name, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range windows {
			if w.rate == 0 {
				continue
			}
			counts[w.process]++
			if r := variation(w.process, w.shape) / w.cv; w.process == draw.Gamma && math.Abs(r-1) > 1e-7 {
				t.Errorf("%s:%d: CV %v by the shape, %v in the column", name, w.line, r*w.cv, w.cv)
			}
		}
	}
	if d := cmp.Diff(map[draw.ProcessKind]int{draw.Gamma: 1084, draw.Weibull: 2746}, counts); d != "" {
		t.Error(d)
	}
}

func TestPublishedLengthsAreThoseOfAnotherReader(t *testing.T) {
	needPublished(t)
	files, _ := filepath.Glob(filepath.Join(published, "*"+datasetEnd))
	worst := 0.0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		periods, reasons, err := parseDataset(name, text)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Contains(name, "deepseek"); reasons != want {
			t.Errorf("%s: shares of reasoning: %v, want %v", name, reasons, want)
		}
		client, _ := stem(filepath.Base(name), datasetEnd)
		all := plainDataset(t, client)
		if len(all) != len(periods) {
			t.Errorf("%s: %d windows, want %d", name, len(periods), len(all))
		}
		for _, p := range periods {
			if p.end != p.start+21600 {
				t.Errorf("%s: window %d ends at %d, want six hours", name, p.start, p.end)
			}
			for key, got := range map[string]*table{inputKey: p.input, outputKey: p.output} {
				m, err := plain(all[strconv.FormatInt(p.start, 10)][key])
				if err != nil {
					t.Fatal(err)
				}
				if got == nil {
					if len(m) > 0 {
						t.Errorf("%s: window %d: %s: nothing, want %d lengths", name, p.start, key, len(m))
					}
					continue
				}
				want, sum := tableOf(m), 0.0
				if d := cmp.Diff(want, got, cmp.AllowUnexported(table{})); d != "" {
					t.Errorf("%s: window %d: %s: %s", name, p.start, key, d)
				}
				for _, w := range got.weights {
					sum += w
				}
				worst = max(worst, math.Abs(sum-1))
			}
		}
	}
	if worst > 4e-14 {
		t.Errorf("probabilities add up to 1 within %v, want 4e-14, as the comment of sumTolerance says", worst)
	}
}
