package cli

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"blis/report"
)

// The columns that examples/pandas names are in the files.
func TestPandasExampleNamesColumns(t *testing.T) {
	text := read(t, "../examples/pandas/README.md")
	table := filepath.Join(t.TempDir(), "load.csv")
	done(t, small("--timeseries", table)...)
	header, _, _ := strings.Cut(read(t, table), "\n")
	series := strings.Split(header, ",")
	names := func(pattern string) (list []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			list = append(list, m[1:]...)
		}
		return list
	}
	ofRequests, ofSeries := names(`\br\.(\w+_us)\b|groupby\("(\w+)"\)\.ttft`), names(`pivot\(index="(\w+)", columns="(\w+)", values="(\w+)"\)`)
	if len(ofRequests) < 3 || len(ofSeries) != 3 {
		t.Fatalf("the page names %q and %q", ofRequests, ofSeries)
	}
	for _, name := range ofRequests {
		if rows := (report.Rows{}).Columns(); name != "" && !slices.Contains(rows, name) {
			t.Errorf("rows have no column %s", name)
		}
	}
	for _, name := range ofSeries {
		if !slices.Contains(series, name) {
			t.Errorf("time series have no column %s: %s", name, header)
		}
	}
}
