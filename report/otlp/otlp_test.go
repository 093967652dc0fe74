package otlp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"blis/actors"
	"blis/workload"
)

// Names are text whatever they are, each line is JSON, and ids are not 0 and differ.
func TestHostileNames(t *testing.T) {
	names := []string{`<script>alert(1)</script>`, `"quoted" \ back`, "two\nlines\x00", strings.Repeat("long", 2500), "\u202eright to left"}
	var labels workload.Labels
	var list []workload.Request
	for i, name := range names {
		list = append(list, workload.Request{
			Identity: workload.Identity{Tags: workload.Tags{Tenant: labels.Tenants.Label(name), Class: labels.Classes.Label(name)}, Input: 10},
		})
		list[i].Output, list[i].MaxOutput, list[i].Deadline = 3, workload.Absent, 1<<62
	}
	source, err := workload.NewSlice(list, labels)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	cfg := actors.DefaultConfig()
	cfg.Custom.Source, cfg.Row = source, Rows(w, time.Unix(1, 0))
	if _, err := actors.Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	seen, spans := map[string]bool{}, 0
	for line := range strings.Lines(b.String()) {
		var x any
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		spans++
		var find func(v any)
		find = func(v any) {
			switch v := v.(type) {
			case map[string]any:
				if s, ok := v["stringValue"].(string); ok {
					seen[s] = true
				}
				for _, x := range v { // any order: a search
					find(x)
				}
			case []any:
				for _, x := range v {
					find(x)
				}
			}
		}
		find(x)
	}
	if spans != len(names) {
		t.Errorf("%d spans, want %d", spans, len(names))
	}
	for _, name := range names {
		if !seen[name] {
			t.Errorf("no attribute is %.40q", name)
		}
	}
}

// mix is a bijection of the numbers of requests away from 0.
func TestIDsDiffer(t *testing.T) {
	seen := map[uint64]bool{0: true}
	for id := range uint64(100_000) {
		for _, x := range []uint64{mix(id), mix(^id)} {
			if seen[x] {
				t.Fatalf("request %d has an id that another one has, or 0", id)
			}
			seen[x] = true
		}
	}
}
