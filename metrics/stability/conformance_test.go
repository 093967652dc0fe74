package stability

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"blis/vtime"
)

// TestDetectorsConform: on the runs of the public simulator its detectors and ours say the same, to 1e-9, after as many
// events, level by level.
func TestDetectorsConform(t *testing.T) {
	dir := os.Getenv("BLIS_GATEWAY_CONFORMANCE")
	if dir == "" {
		dir = "../../../shared/reference/conformance_gateway"
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "detectors.json"))
	if len(files) == 0 {
		t.Skipf("no runs with detectors in %s", dir)
	}
	for _, file := range files {
		conform(t, file)
	}
}

// said is detectors.json.
type said struct {
	Threshold float64 `json:"threshold_ms"`
	Window    float64 `json:"window_s"`
	Final     float64 `json:"final_window_s"`
	Detectors map[string]struct {
		Final  string
		Events int64
		Levels map[string]int64
		Last   struct {
			At      int64 `json:"at_us"`
			Level   string
			Score   float64
			Signals map[string]float64
		}
	}
}

func conform(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want said
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	arrivals, ends := table(t, filepath.Join(filepath.Dir(file), "requests.csv")), table(t, filepath.Join(filepath.Dir(file), "expected.csv"))
	var list []Request
	for i, row := range ends {
		r := Request{Arrival: vtime.Time(number(t, arrivals[i]["arrival_us"])), E2E: -1, End: vtime.Never, Lost: true}
		if row["state"] == "completed" {
			r.E2E, r.Lost = vtime.Duration(number(t, row["e2e_us"])), false
			r.End = r.Arrival.Add(r.E2E)
		}
		list = append(list, r)
	}
	reports := Detect(list, &Settings{Names: Detectors, Input: Completed, Threshold: vtime.Duration(want.Threshold * 1000), Window: vtime.Duration(want.Window * 1e6), Final: vtime.Duration(want.Final * 1e6)})
	for i := range reports {
		r := &reports[i]
		w := want.Detectors[r.Name]
		if r.Final.String() != w.Final || r.Events != w.Events || r.Last.Level.String() != w.Last.Level || int64(r.Last.At) != w.Last.At || math.Abs(r.Last.Score-w.Last.Score) > 1e-9 {
			t.Errorf("%s, %s: %+v, want %+v", file, r.Name, r, w)
		}
		for level, n := range r.Counts { // any order: each by itself
			if w.Levels[level.String()] != n {
				t.Errorf("%s, %s: %d times %v, want %v", file, r.Name, n, level, w.Levels)
			}
		}
		if len(r.Last.Signals) != len(w.Last.Signals) || len(r.Counts) != len(w.Levels) {
			t.Errorf("%s, %s: %+v, want %+v", file, r.Name, r, w)
		}
		for name, x := range w.Last.Signals { // any order
			if got, ok := r.Last.Signals[name]; !ok || math.Abs(got-x) > 1e-9 {
				t.Errorf("%s, %s: %s is %v, want %v", file, r.Name, name, got, x)
			}
		}
	}
}

// table is a CSV file, its rows by the names of its columns.
func table(t *testing.T, path string) (rows []map[string]string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, text string) int64 {
	x, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
