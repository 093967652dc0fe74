package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Time series as CSV, as JSON and in the result say the same, fit the schema, and add up to the counters.
func TestTimeSeriesFiles(t *testing.T) {
	list := maps.Clone(kinds)
	list["autoscaling"] = small("--autoscale-policy", "queue-depth", "--max-replicas", "8", "--autoscale-interval", "50ms", "--rate", "300", "--provisioning-delay", "30ms")
	for name, args := range list {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			table, object := filepath.Join(dir, "s.csv"), filepath.Join(dir, "s.json")
			args := append(args[:len(args):len(args)], "--step", "40ms", "--timeseries")
			done(t, append(args, table)...)
			printed := done(t, append(args, object, "--format", "json")...).out
			for _, bad := range loadSchema(t).check(printed) {
				t.Error(bad)
			}
			var result struct {
				Series      json.RawMessage `json:"timeseries"`
				PerInstance map[string]struct {
					Resources struct{ Counters map[string]float64 }
				} `json:"per_instance"`
			}
			var series, written map[string]any
			for text, to := range map[string]any{printed: &result, read(t, object): &written} {
				if err := json.Unmarshal([]byte(text), to); err != nil {
					t.Fatal(err)
				}
			}
			if err := json.Unmarshal(result.Series, &series); err != nil || fmt.Sprint(series) != fmt.Sprint(written) {
				t.Errorf("%v: the result has other time series than the file", err)
			}
			f, err := os.Open(table)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			rows, err := csv.NewReader(f).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			next := 1
			instances := series["instances"].([]any)
			for k := range 1 << 20 {
				ended := true
				for _, of := range instances {
					s := of.(map[string]any)
					if steps := s["steps"].([]any); k >= len(steps) {
						continue
					} else if ended = false; steps[k] == nil {
						continue
					}
					if next >= len(rows) {
						t.Fatalf("%d rows are too few", next)
					}
					compareSeriesRow(t, k, s, rows[0], rows[next])
					next++
				}
				if ended {
					break
				}
			}
			if next != len(rows) {
				t.Errorf("%d rows, %d bins", len(rows)-1, next-1)
			}
			for _, of := range instances {
				s := of.(map[string]any)
				counters := result.PerInstance[s["name"].(string)].Resources.Counters
				for column, counter := range map[string]string{"steps": "steps", "prefill_tokens": "prefill_tokens", "decode_tokens": "decode_tokens", "cached_tokens": "cached_tokens", "preemptions": "preemptions"} {
					if sum := total(s[column].([]any)); sum != counters[counter] {
						t.Errorf("%s: %s is %g in all, want %g", s["name"], column, sum, counters[counter])
					}
				}
			}
		})
	}
}

// compareSeriesRow compares bin k of an instance with its row.
func compareSeriesRow(t *testing.T, k int, s map[string]any, columns, row []string) {
	t.Helper()
	for c, name := range columns {
		want := ""
		gauge, part, _ := cutLast(name, "_")
		of, isGauge := s[gauge].(map[string]any)
		switch list, isList := s[name].([]any); {
		case name == "from_us":
			want = fmt.Sprint(int64(k) * 40_000)
		case name == "instance":
			want = s["name"].(string)
		case name == "pool":
			want = s["pool"].(string)
		case isGauge:
			want = number(of[part].([]any)[k])
		case isList:
			want = number(list[k])
		}
		if row[c] != want {
			t.Errorf("bin %d of %s: %s is %q, want %q", k, s["name"], name, row[c], want)
		}
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// number is a number of JSON as it was written.
func number(x any) string {
	text, _ := json.Marshal(x)
	return string(text)
}

func total(list []any) (sum float64) {
	for _, x := range list {
		if x != nil {
			sum += x.(float64)
		}
	}
	return math.Round(sum)
}

// What is wrong with the flags is one line.
func TestTimeSeriesFlags(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"--step 1s", "--step has no effect without --timeseries"},
		{"--timeseries a.txt", "--timeseries: a.txt: want a name that ends in .csv or .json"},
		{"--timeseries " + filepath.Join(t.TempDir(), "a.csv") + " --step 0", "--step is 0µs: want at least 1ms"},
		{"--timeseries no/such/a.csv", "--timeseries: no/such/a.csv"},
		{"--timeseries x.csv --requests-out x.csv", "x.csv"},
	} {
		s := blis(t, nil, append([]string{"run"}, strings.Fields(x.args)...)...)
		if s.code != 2 || !strings.Contains(s.err, x.want) || strings.Count(s.err, "\n") != 1 {
			t.Errorf("%s: exit %d: %s", x.args, s.code, s.err)
		}
	}
}
