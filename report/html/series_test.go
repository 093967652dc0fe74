package html

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// series are time series of instances with a value that one can work out: instance i has
// i + k running requests in bin k, and is there from bin i on.
func series(instances, bins int) map[string]any {
	var list []any
	for i := range instances {
		level := func(extra float64) []any {
			var all []any
			for k := range bins {
				if k < i%2 {
					all = append(all, nil)
				} else {
					all = append(all, float64(i+k)+extra)
				}
			}
			return all
		}
		gauge := map[string]any{"mean": level(0), "min": level(-1), "max": level(2), "last": level(0)}
		list = append(list, map[string]any{
			"name": fmt.Sprintf("instance-%d", i), "pool": "", "from_us": 0, "to_us": nil, "total_blocks": 1000, "running": gauge, "waiting": gauge, "kv_blocks": gauge,
			"steps": level(0), "busy": level(0), "prefill_tokens": level(0), "decode_tokens": level(0), "cached_tokens": level(0), "preemptions": level(0),
		})
	}
	return map[string]any{"step_us": 500000, "instances": list}
}

func timesOf(t *testing.T, instances, bins int, end float64) *instanceTimes {
	t.Helper()
	content, err := json.Marshal(map[string]any{"vllm_estimated_duration_s": end, "timeseries": series(instances, bins)})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := parse("test", content)
	if err != nil {
		t.Fatal(err)
	}
	return newInstanceTimes(doc)
}

func measureOf(key string) *measure {
	all := measures()
	return &all[slices.IndexFunc(all, func(m measure) bool { return m.key == key })]
}

// The line is the mean of the instances that are there, the band the least and the most
// of any.
func TestLinesAreMeansBandsExtremes(t *testing.T) {
	times := timesOf(t, 3, 4, 2)
	lines := times.lines(measureOf("running"))
	if len(lines) != 1 {
		t.Fatalf("%d lines, want 1", len(lines))
	}
	text := fmt.Sprint(lines[0].Mean, lines[0].Low, lines[0].High)
	if want := "[1 2 3 4] [-1 0 1 2] [4 5 6 7]"; text != want { // in bin 0 instance 1 is not there
		t.Errorf("%s, want %s", text, want)
	}
}

// Counts become rates, and the last bin is as long as it is: the run ends within it.
func TestRatesKnowTheLastBin(t *testing.T) {
	times := timesOf(t, 1, 4, 1.75)
	got := fmt.Sprint(times.lines(measureOf("prefill_tokens"))[0].Mean)
	if want := "[0 2 4 12]"; got != want {
		t.Errorf("%s tokens a second, want %s", got, want)
	}
}

func TestMoreBinsThanALineHas(t *testing.T) {
	long := make([]float64, 2*mostBins+1)
	for i := range long {
		long[i] = float64(i)
	}
	list := []timeSeries{{Mean: slices.Clone(long), Low: slices.Clone(long), High: slices.Clone(long)}}
	if merged := thinned(list); merged != 3 {
		t.Errorf("%d bins became one, want 3", merged)
	}
	s := list[0]
	if n := len(s.Mean); n > mostBins || s.Mean[0] != 1 || s.Low[0] != 0 || s.High[0] != 2 {
		t.Errorf("%d bins, the first %v, %v, %v", n, s.Mean[0], s.Low[0], s.High[0])
	}
}

// A heat map has at most 400 × 128 cells, and a cell shows the worst of its group.
func TestHeatMapGroupsShowTheWorst(t *testing.T) {
	times := timesOf(t, 300, 900, 450)
	h := times.heat("id", "group")
	if len(h.Rows) > mostRows || h.Columns > mostColumns || h.Of != 3 || h.Step != 1.5 {
		t.Fatalf("%d rows, %d columns, %d instances of a row, %v s of a column", len(h.Rows), h.Columns, h.Of, h.Step)
	}
	if h.Rows[0] != "instance-0 to instance-2 (worst of 3)" {
		t.Errorf("a row is called %s", h.Rows[0])
	}
	layer := h.Layers[0]
	if len(layer.Cells) != 2*len(h.Rows)*h.Columns {
		t.Fatalf("%d characters", len(layer.Cells))
	}
	cell := func(row, column int) float64 {
		at := 2 * (row*h.Columns + column)
		return layer.Full * float64(strings.IndexByte(alphabet, layer.Cells[at])<<6+strings.IndexByte(alphabet, layer.Cells[at+1])) / cellMax
	}
	for _, c := range []struct {
		row, column int
		want        float64
	}{{0, 0, 4}, {5, 100, 17 + 302}, {99, 299, 299 + 899}} {
		if got := cell(c.row, c.column); math.Abs(got-c.want) > layer.Full/cellMax {
			t.Errorf("cell %d, %d is %v, want %v", c.row, c.column, got, c.want)
		}
	}
}

func TestHeatMapMarksInstancesThatAreNotThere(t *testing.T) {
	h := timesOf(t, 2, 3, 1.5).heat("id", "group")
	if cell := h.Layers[0].Cells[6:8]; cell != "//" { // instance 1 in bin 0
		t.Errorf("the cell is %s, want // (4095)", cell)
	}
}

// Any run has a page of at most 5 MB: many instances, classes and bins.
func TestPageOfALargeRunIsSmall(t *testing.T) {
	doc := sample("blis.run/v1")
	doc["timeseries"] = series(1000, 600)
	classes, load := map[string]any{}, []any{}
	for i := range 1000 {
		classes[fmt.Sprintf("class-%d", i)] = map[string]any{"injected_requests": i, "ttft_us": map[string]any{"n": 1, "p99": i}}
	}
	for i := range 128 {
		load = append(load, i)
	}
	doc["per_class"], doc["per_tenant"], doc["per_instance"] = classes, classes, classes
	doc["load"] = map[string]any{"bin_us": 1048576, "arrivals": load, "departed": load, "backlog": load}
	content, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if page := pageOf(t, Document{JSON: content}); len(page) > 5e6 {
		t.Errorf("%d bytes of a document of %d", len(page), len(content))
	} else {
		t.Logf("%d bytes of a document of %d", len(page), len(content))
	}
}
