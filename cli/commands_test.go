package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"blis/policy"
	"blis/vtime"
)

func TestVerifyOfEqualRuns(t *testing.T) {
	s := done(t, "verify", "--num-requests", "30", "--routing-policy", "least-loaded", "--workers", "3")
	lines := strings.Split(strings.TrimSpace(s.out), "\n")
	if len(lines) != 1+3+3 {
		t.Fatalf("%d lines:\n%s", len(lines), s.out)
	}
	for _, line := range lines[1:] {
		if !strings.HasSuffix(line, "yes") {
			t.Errorf("not equal: %s", line)
		}
	}
}

// drifting is a policy that no result may come from: it knows how many runs
// there were before.
type drifting struct{ run int64 }

func (drifting) Observes() policy.Signals { return policy.NoSignals }

func (d drifting) Route(q *policy.Request, _ float64, _ *policy.RouterState, v *policy.View, _ vtime.Time) policy.RoutingDecision {
	return policy.RoutingDecision{Target: int(d.run+q.ID) % v.Len()}
}

func TestVerifyOfUnequalRunsFails(t *testing.T) {
	var runs atomic.Int64
	v := verifyCmd{settings{Config: smallConfig()}}
	v.Workers = 1
	v.Custom.Routing = func(policy.Env) policy.Routing { return drifting{runs.Add(1)} }
	var out, errors bytes.Buffer
	c := &console{out: &out, err: &errors, environ: func() []string { return nil }}
	if err := v.Run(context.Background(), c); exitCode(err) != exitCheck {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(out.String(), "NO: ") {
		t.Errorf("printed\n%s", out.String())
	}
}

func TestLists(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"policies"}, []string{"token-bucket", "refill_rate", "1000", "prefix-affinity", "priority-fcfs"}},
		{[]string{"policies", "routing"}, []string{"least-loaded"}},
		{[]string{"policies", "weighted"}, []string{"queue-depth"}},
		{[]string{"models"}, []string{"meta-llama/Llama-3.1-8B-Instruct", "mistralai/Mixtral-8x7B"}},
		{[]string{"hardware"}, []string{"H100", "79.19", "989", "L40S"}},
	} {
		for _, format := range []string{"text", "json"} {
			s := done(t, append(c.args, "--format", format)...)
			for _, want := range c.want {
				if !strings.Contains(s.out, want) {
					t.Errorf("%v as %s does not have %q", c.args, format, want)
				}
			}
			if format == "json" && !json.Valid([]byte(s.out)) {
				t.Errorf("%v: no JSON", c.args)
			}
		}
	}
}

func TestStats(t *testing.T) {
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--routing-policy=round-robin"}, "held back by nothing: no policy reads signals of the instances"},
		{[]string{"--concurrency=3", "--think-time=2s", "--rate=0"}, "held back: the workload has requests that follow from answers, 2s later at the earliest"},
		{[]string{"--kv-cpu-blocks=500", "--kv-storage=remote"}, "held back: storage tier remote is shared, and answers after 1ms at the earliest"},
		{[]string{"--routing-policy=least-loaded"}, "held back: routing least-loaded reads in-flight, queue depth, batch size: each decision waits for the instances"},
		{[]string{"--routing-policy=least-loaded", "--snapshot-refresh-interval=50ms"}, "routing least-loaded reads in-flight: decisions wait for every end of a request"},
		{[]string{"--routing-policy=prefix-affinity", "--prefix-index=events"}, "routing prefix-affinity reads expected prefix hits: decisions wait for every end of a step"},
		{[]string{"--routing-policy=least-loaded", "--snapshot-refresh-interval=50ms", "--in-flight=periodic"}, "as of a refresh: everybody meets every 50ms"},
	} {
		s := done(t, append(small("--stats"), c.flags...)...)
		for _, want := range []string{"events and", "windows", "turns of the control plane", "turns of instances per request", "smallest lookahead", c.want} {
			if !strings.Contains(s.err, want) {
				t.Errorf("%v: no %q in\n%s", c.flags, want, s.err)
			}
		}
		if strings.Contains(s.out, "windows") {
			t.Error("statistics in the result")
		}
	}
}

func TestRecordIsWritten(t *testing.T) {
	path := file(t, "frames", "")
	done(t, small("--record", path)...)
	if read(t, path) == "" {
		t.Error("nothing recorded")
	}
}
