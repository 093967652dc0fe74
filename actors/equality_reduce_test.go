package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"blis/metrics"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
)

// fails runs x on the two executors of m and returns their mismatch, if any.
func (x *trial) fails(m *mismatch) *mismatch {
	executors := []Executor{m.first}
	if m.other.Name != m.first.Name {
		executors = append(executors, m.other)
	}
	_, again := x.compare(executors)
	return again
}

// reduce makes a failing trial smaller for as long as it still fails: fewer
// requests, then settings at their default.
func (x *trial) reduce(m *mismatch, limit time.Duration) (*trial, *mismatch) {
	small := *x
	deadline := time.Now().Add(limit)
	try := func(change func(*trial)) bool {
		y := small
		y.Requests = slices.Clone(small.Requests)
		change(&y)
		if time.Now().After(deadline) {
			return false
		}
		if again := y.fails(m); again != nil && !again.refused {
			small, m = y, again
			return true
		}
		return false
	}
	for size := len(small.Requests) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(small.Requests); {
			if !try(func(y *trial) { y.Requests = slices.Delete(y.Requests, at, at+size) }) {
				at += size
			}
		}
	}
	for small.Requests == nil && small.Config.NumRequests > 1 && try(func(y *trial) { y.Config.NumRequests /= 2 }) {
	}
	usual := setup.DefaultConfig()
	for s := range usual.Settings() {
		try(func(y *trial) { reflect.ValueOf(&y.Config.Config).Elem().FieldByIndex(s.Index).Set(s.Value) })
	}
	return &small, m
}

// where is the first difference of the two executors' messages: process and
// stamp.
func (x *trial) where(m *mismatch) string {
	if m.first.Name == m.other.Name {
		return "none: one executor alone fails"
	}
	where, err := locate(context.Background(), func() Config {
		cfg, err := x.config()
		if err != nil { // it has run before
			panic(err)
		}
		return cfg
	}, m.first, m.other)
	if err != nil {
		return fmt.Sprintf("not found: %v", err)
	}
	return where
}

// TestTrialsPrintAndRead: what a failure prints is the trial that failed.
func TestTrialsPrintAndRead(t *testing.T) {
	for seed := range uint64(20) {
		x, y := drawTrial(seed), &trial{}
		if err := json.Unmarshal([]byte(x.describe()), y); err != nil {
			t.Fatal(err)
		}
		if y.Config.Policies.Equal(x.Config.Policies) {
			y.Config.Policies = x.Config.Policies // which does not say where it stood
		}
		if x.describe() != y.describe() || !reflect.DeepEqual(x.Config, y.Config) || !reflect.DeepEqual(x.Requests, y.Requests) {
			t.Fatalf("seed %d: read\n%s\nfrom\n%s", seed, y.describe(), x.describe())
		}
	}
}

// TestLocateNamesProcessAndStamp runs two configurations that part in one
// request as if they were one, and expects to be told where.
func TestLocateNamesProcessAndStamp(t *testing.T) {
	a := drawTrial(1)
	blind := func(x *trial) bool { // nothing but where the request goes tells what it is
		c := &x.Config
		return c.RoutingPolicy == "round-robin" && c.AdmissionPolicy == "always-admit" && c.AutoscalePolicy == "none" && x.ReadsSignals == policy.NoSignals && x.NoisyAutoscaler == policy.NoSignals
	}
	for seed := uint64(2); a.Requests == nil || a.Config.Horizon > 0 || !blind(a); seed++ {
		a = drawTrial(seed)
	}
	var o metrics.Outcome // of a request in the middle that was delivered
	for _, row := range mustPlay(t, a).rows {
		if row.Instance >= 0 && 2*int(row.ID) <= len(a.Requests) {
			o = row
		}
	}
	b := *a
	b.Requests = slices.Clone(a.Requests)
	b.Requests[o.ID].Input++
	runs := 0
	where, err := locate(context.Background(), func() Config {
		x := []*trial{a, &b}[runs%2]
		runs++
		cfg, err := x.config()
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}, Executors(1)[0], Executors(2)[3])
	if err != nil {
		t.Fatal(err)
	}
	prefix := fmt.Sprintf("instance-%d (%d): message ", o.Instance, o.Instance+2)
	stamp := fmt.Sprintf("differs: [%v/%d source 0 seq ", o.Routed, vtime.ClassDelivery)
	if !strings.HasPrefix(where, prefix) || !strings.Contains(where, stamp) {
		t.Errorf("located %q: want %q…%q…", where, prefix, stamp)
	}
}
