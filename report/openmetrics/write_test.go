package openmetrics

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// testEpoch is when virtual time begins in tests.
var testEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// written runs cfg and returns its result and its metrics.
func written(t *testing.T, cfg actors.Config, o Options) (*actors.Result, string) {
	t.Helper()
	q := NewRequests(o.Step)
	cfg.Row = q.Add
	cfg.TimeSeries = []metrics.TimeSeriesOptions{{}, {Step: o.Step, Histograms: true}}
	r, err := actors.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	Write(w, r, 1, q, o)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return r, b.String()
}

// point is a sample.
type point struct {
	at    float64
	value float64
}

// exposition is a text that was read strictly.
type exposition struct {
	kinds map[string]string
	lists map[string][]point // by name and labels
}

var sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} (\S+) (\d+\.\d{3})$`)

// read reads a text and complains of all that OpenMetrics forbids and this package could do: a family twice, or
// its lines in another order; a sample of no family, or with a suffix that its type has not; samples of a series
// apart from each other or not in order of time; counters that fall; buckets that do not add up; no end.
func read(t *testing.T, text string) *exposition {
	t.Helper()
	e := &exposition{map[string]string{}, map[string][]point{}}
	suffixes := map[string][]string{"gauge": {""}, "counter": {"_total"}, "histogram": {"_bucket", "_count", "_sum"}}
	family, group, groups := "", "", map[string]bool{}
	body, whole := strings.CutSuffix(text, "# EOF\n")
	if !whole {
		t.Fatal("no # EOF at the end")
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if name, isHelp := strings.CutPrefix(line, "# HELP "); isHelp {
			name, _, _ = strings.Cut(name, " ")
			kind, isType := strings.CutPrefix(lines[i+1], "# TYPE "+name+" ")
			if _, twice := e.kinds[name]; twice || !isType || suffixes[kind] == nil || strings.HasSuffix(name, "_total") && kind == "counter" {
				t.Fatalf("line %d: family %s: %s", i+1, name, lines[i+1])
			}
			i++
			if unit, has := strings.CutPrefix(lines[i+1], "# UNIT "+name+" "); has {
				if i++; !strings.HasSuffix(name, "_"+unit) {
					t.Fatalf("line %d: unit %s of %s", i+1, unit, name)
				}
			}
			e.kinds[name], family, group, groups = kind, name, "", map[string]bool{}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("line %d is no sample: %s", i+1, line)
		}
		suffix, ok := strings.CutPrefix(m[1], family)
		if known := suffixes[e.kinds[family]]; !ok || !slices.Contains(known, suffix) {
			t.Fatalf("line %d: %s in family %s", i+1, m[1], family)
		}
		of := regexp.MustCompile(`,le="[^"]*"$`).ReplaceAllString(m[2], "")
		if of != group {
			if groups[of] {
				t.Fatalf("line %d: the samples of %s are not together", i+1, of)
			}
			group, groups[of] = of, true
		}
		value, err := strconv.ParseFloat(m[3], 64)
		at, _ := strconv.ParseFloat(m[4], 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
			t.Fatalf("line %d: value %s", i+1, m[3])
		}
		key := m[1] + "{" + m[2] + "}"
		if list := e.lists[key]; len(list) > 0 && (list[len(list)-1].at >= at || e.kinds[family] != "gauge" && list[len(list)-1].value > value) {
			t.Fatalf("line %d: %s after %v", i+1, line, list[len(list)-1])
		}
		e.lists[key] = append(e.lists[key], point{at, value})
	}
	e.checkHistograms(t)
	return e
}

// checkHistograms: the last bucket of each point is its count.
func (e *exposition) checkHistograms(t *testing.T) {
	t.Helper()
	for key, list := range e.lists { // any order: each by itself
		name, labels, _ := strings.Cut(key, "{")
		base, isBucket := strings.CutSuffix(name, "_bucket")
		if !isBucket || !strings.HasSuffix(labels, `,le="+Inf"}`) {
			continue
		}
		count := e.lists[base+"_count{"+strings.TrimSuffix(labels, `,le="+Inf"}`)+"}"]
		if fmt.Sprint(count) != fmt.Sprint(list) {
			t.Errorf("%s: %v, count %v", key, list, count)
		}
	}
}

// total sums the last values of the series of a name whose labels have a text.
func (e *exposition) total(name, label string) (sum float64) {
	for key, list := range e.lists { // any order: whole numbers
		if strings.HasPrefix(key, name+"{") && strings.Contains(key, label) {
			sum += list[len(list)-1].value
		}
	}
	return sum
}

// quantileBounds are between what values a quantile of a histogram lies, over all instances.
func (e *exposition) quantileBounds(name string, q float64) (low, high float64) {
	n := e.total(name+"_count", "")
	for _, bound := range ttftBounds {
		high = float64(bound) / 1e6
		if e.total(name+"_bucket", `le="`+boundText(high)+`"`) >= q*n {
			return low, high
		}
		low = high
	}
	return low, math.Inf(1)
}

// configs are runs of all kinds.
func configs() map[string]actors.Config {
	list := map[string]actors.Config{}
	for name, change := range map[string]func(*actors.Config){
		"plain":    func(*actors.Config) {},
		"overload": func(c *actors.Config) { c.Rate, c.TotalKVBlocks, c.Timeout = 400, 400, vtime.Second },
		"horizon":  func(c *actors.Config) { c.Horizon = 1_234_567 },
		"prefill and decode": func(c *actors.Config) {
			c.Architecture, c.PrefixTokens = "pd", 64
		},
		"scaling": func(c *actors.Config) {
			c.Policies.Autoscale.Type, c.MaxReplicas, c.AutoscaleInterval, c.Rate = "queue-depth", 8, 100*vtime.Millisecond, 400
		},
		"nothing": func(c *actors.Config) { c.Horizon = 1 },
	} {
		c := actors.DefaultConfig()
		c.NumRequests, c.Rate = 300, 100
		change(&c)
		list[name] = c
	}
	return list
}

// The text is OpenMetrics, and its last values are those of the report.
func TestMetricsAgreeWithTheReport(t *testing.T) {
	for name, cfg := range configs() { // any order: subtests
		t.Run(name, func(t *testing.T) {
			r, text := written(t, cfg, Options{Epoch: testEpoch, Step: 250 * vtime.Millisecond})
			e := read(t, text)
			all, c := &r.Report.Overall, &r.Report.Overall.Resources.Counters
			for _, x := range []struct {
				name, label string
				want        int64
			}{
				{"vllm:prefix_cache_queries_total", "", c.LookedUpTokens}, {"vllm:prefix_cache_hits_total", "", c.CachedTokens},
				{"vllm:num_preemptions_total", "", c.Preemptions}, {"vllm:iteration_tokens_total_count", "", c.Steps},
				{"vllm:iteration_tokens_total_sum", "", c.ScheduledTokens},
				{"vllm:request_success_total", `finished_reason="stop"`, all.States[metrics.Completed] - all.Reasons[metrics.LengthCapped]},
				{"vllm:request_success_total", `finished_reason="length"`, all.Reasons[metrics.LengthCapped]},
				{"vllm:e2e_request_latency_seconds_count", "", all.States[metrics.Completed]},
			} {
				if got := e.total(x.name, x.label); got != float64(x.want) {
					t.Errorf("%s %s is %g, want %d", x.name, x.label, got, x.want)
				}
			}
			if d := all.ITL; d != nil {
				if got := e.total("vllm:inter_token_latency_seconds_count", ""); got != float64(d.N) {
					t.Errorf("%g inter-token latencies, want %d", got, d.N)
				}
			}
			if d := all.TTFT; d != nil {
				if got := e.total("vllm:time_to_first_token_seconds_count", ""); got != float64(d.N) {
					t.Errorf("%g TTFTs, want %d", got, d.N)
				}
				low, high := e.quantileBounds("vllm:time_to_first_token_seconds", 0.99)
				if p99 := d.P99 / 1e6; p99 < low || p99 > high {
					t.Errorf("p99 TTFT is %g s, the histogram has %g to %g", p99, low, high)
				}
			}
		})
	}
}
