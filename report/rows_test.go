package report

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// written is an outcome as a row of a table, and as a JSON line.
func written(t *testing.T, which Rows, o metrics.Outcome) (table map[string]string, line map[string]any) {
	t.Helper()
	var text, object strings.Builder
	a, b := bufio.NewWriter(&text), bufio.NewWriter(&object)
	csvRow, jsonRow := CSVRows(a, which), JSONRows(b, which)
	cfg, done := smallConfig(), false
	cfg.Row = func(r *actors.Row) {
		if done {
			return
		}
		done = true
		o.Tags = r.Tags
		mine := *r
		mine.Outcome = &o
		csvRow(&mine)
		jsonRow(&mine)
	}
	if _, err := actors.Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	a.Flush()
	b.Flush()
	records, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil || len(records) != 2 || json.Unmarshal([]byte(object.String()), &line) != nil {
		t.Fatalf("%v: %s%s", err, &text, &object)
	}
	table = map[string]string{}
	for i, name := range records[0] {
		table[name] = records[1][i]
	}
	return table, line
}

// The columns of hand-overs, of a request that went through all of it and of one that did not.
func TestRowsOfHandOvers(t *testing.T) {
	o := metrics.Outcome{Progress: metrics.Progress{Routed: 20, Queued: 1594, Scheduled: 1885, FirstToken: 2895, LastToken: 2895, Cached: 8, Generated: 1, Preemptions: 2}, State: metrics.Completed, Finished: 2895, Instance: 1}
	o.Input = 9
	o.HandOver = metrics.HandOver{Instance: 0, Cached: 4, CachedCPU: 3, CachedStorage: 1, Preemptions: 1, Queued: 10, Scheduled: 20, Ended: 1094, PullStart: 1600, PullEnd: 1884, RemoteTokens: 8}
	columns := []string{"instance", "cached_tokens", "cpu_tokens", "storage_tokens", "preemptions", "queued_us", "scheduled_us",
		"prefill_instance", "prefill_queued_us", "prefill_scheduled_us", "handoff_us", "decode_queued_us", "pull_start_us", "pull_end_us", "remote_tokens"}
	direct := o
	direct.HandOver = metrics.NoHandOver()
	failed := o
	failed.Scheduled, failed.FirstToken, failed.LastToken, failed.Generated, failed.State = vtime.Never, vtime.Never, vtime.Never, 0, metrics.TimedOut
	failed.HandOver.PullEnd, failed.HandOver.RemoteTokens = vtime.Never, 0
	for name, c := range map[string]struct {
		o    metrics.Outcome
		want string
	}{
		"handed over": {o, "instance-1 4 3 1 3 1594 1885 instance-0 10 20 1094 1594 1600 1884 8"},
		"direct":      {direct, "instance-1 8 0 0 2 1594 1885 - - - - - - - -"},
		"timed out":   {failed, "instance-1 - - - 3 1594 - instance-0 10 20 1094 1594 1600 - -"},
	} {
		table, line := written(t, Rows{Tiers: 2, Disaggregates: true}, c.o)
		var cells, values []string
		for _, column := range columns {
			cells = append(cells, or(table[column], "-"))
			value := "-"
			if v := line[column]; v != nil {
				value = fmt.Sprint(v)
			}
			values = append(values, value)
		}
		if d := cmp.Diff(c.want, strings.Join(cells, " ")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if !slices.Equal(cells, values) {
			t.Errorf("%s: a table has %v, JSON %v", name, cells, values)
		}
	}
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// Columns are there only where a run has what they are about.
func TestRowsHaveTheColumnsOfTheirRun(t *testing.T) {
	usual := Rows{}.Columns()
	for _, c := range []struct {
		which Rows
		more  string
	}{
		{Rows{}, ""},
		{Rows{Tiers: 1}, "cpu_tokens"},
		{Rows{Tiers: 2}, "cpu_tokens storage_tokens"},
		{Rows{Fails: true}, "retries"},
		{Rows{Deployments: true}, "deployment"},
		{Rows{Pools: true}, "pool"},
		{Rows{Disaggregates: true}, "prefill_instance prefill_queued_us prefill_scheduled_us handoff_us decode_queued_us pull_start_us pull_end_us remote_tokens"},
		{Rows{Tiers: 1, Fails: true, Pools: true}, "cpu_tokens retries pool"},
	} {
		if d := cmp.Diff(strings.Fields(strings.Join(usual, " ")+" "+c.more), c.which.Columns()); d != "" {
			t.Errorf("%+v: %s", c.which, d)
		}
	}
	if len(usual) != 21 {
		t.Errorf("%d usual columns: %v", len(usual), usual)
	}
}
