package actors

import (
	"fmt"
	"strings"
	"testing"

	"blis/metrics"
	"blis/setup"
	"blis/trace"
	"blis/vtime"
	"blis/workload"
)

// pullLost is the fate of a request whose pull fails at a time.
func pullLost(at vtime.Time) fate {
	return fate{State: "failed", Reason: metrics.TransferFailed, Scheduled: never, First: never, Last: never, Finished: at}
}

// Nine tokens are prefilled until 1,094, and pulled from 1,594 to 1,885. If the prefill instance crashes before that is
// over, the pull fails a microsecond later; if it does before the pull begins, after the 200 of a pull of no blocks. What
// has ended by then counts.
func TestPrefillInstanceCrashes(t *testing.T) {
	for _, x := range []struct {
		crash vtime.Time
		want  fate
		lost  int64 // KV that goes with the instance
	}{
		{1093, fate{State: "failed", Reason: metrics.InstanceLost, Scheduled: 0, First: never, Last: never, Finished: 1094}, 0},
		{1094, pullLost(1794), 1},
		{1300, pullLost(1794), 1},
		{1593, pullLost(1794), 1},
		{1594, pullLost(1595), 1},
		{1700, pullLost(1701), 1},
		{1884, pullLost(1885), 1},
		{1885, completed(1594, 1885, 1885+1010, 3), 1}, // the prefill instance is idle, and holds the KV to its end
	} {
		bothChoices(t, func(t *testing.T, choice string) {
			c := pdPair()
			c.PDDecodeChoice = choice
			s := serve(t, withFailures(c, fmt.Sprintf("failures: [{crash: prefill/0, at: %dus, for: 50us}]", x.crash)), request(0, 9, 3))
			got := s.fates()[0]
			if x.want.State == "completed" {
				if got.State != "completed" || s.rows[0].HandOver.PullEnd != 1885 {
					t.Errorf("crash at %v:\n got %+v", x.crash, got)
				}
			} else if got != x.want {
				t.Errorf("crash at %v:\n got %+v\nwant %+v", x.crash, got, x.want)
			}
			pd, f := s.Report.PD.Overall, s.Failures
			if pd.Lost != x.lost || pd.HandOvers != pd.Pulled+pd.ToldLeft+pd.Expired+pd.Awaiting+pd.Lost {
				t.Errorf("crash at %v: %+v", x.crash, pd)
			}
			if failed := x.want.Reason == metrics.TransferFailed; f.PullFailed != b2i(failed) || f.Failed != b2i(x.want.State == "failed") || f.CutOff != f.Failed {
				t.Errorf("crash at %v: %+v", x.crash, f.FailureCounts)
			}
		})
	}
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// A request whose pull fails has its prompt computed where it goes on, or is tried again: with its prompt computed anew.
func TestRequestGoesOnAfterThePrefillInstance(t *testing.T) {
	bothChoices(t, func(t *testing.T, choice string) {
		c := pdPair()
		c.PDDecodeChoice, c.KVLoadFailurePolicy = choice, "recompute"
		crash := "failures: [{crash: prefill/0, at: 1700us, for: 50us}]\n"
		if o := serve(t, withFailures(c, crash), request(0, 9, 3)).rows[0]; o.State != metrics.Completed || o.Scheduled != 1701 || o.Retries != 0 || o.HandOver.RemoteTokens != 0 {
			t.Errorf("%+v", o)
		}
		c.KVLoadFailurePolicy = "fail"
		for retry, tried := range map[string]vtime.Time{"router: 1, redirect_latency: 300us": 2001, "client: 1, backoff: 500us": 2201} { // any order
			s := serve(t, withFailures(c, crash+"retry: {"+retry+"}"), request(0, 9, 3))
			o := s.rows[0]
			h := o.HandOver
			if o.State != metrics.Completed || o.Retries != 1 || h.Queued != tried || h.Ended != tried+1094 || h.PullStart != tried+1594 || h.RemoteTokens != 8 || o.Generated != 3 {
				t.Errorf("%s: %+v", retry, o)
			}
			if f := s.Failures; f.CutOff != 1 || f.PullFailed != 1 || f.Retried != 1 || f.Recovered != 1 || f.Failed != 0 {
				t.Errorf("%s: %+v", retry, f.FailureCounts)
			}
		}
	})
}

// If the decode instance crashes during the pull, nobody tells the prefill instance, which was told already when the pull
// would end: its blocks stay until the hold time-out, at 3,094. It notices with its next request.
func TestDecodeInstanceCrashes(t *testing.T) {
	for _, x := range []struct {
		crash         vtime.Time
		want          metrics.State
		pulled, await int64
	}{
		{1300, metrics.Rejected, 0, 1}, // before the request is there: there is no instance for it
		{1594, metrics.Failed, 0, 1},
		{1700, metrics.Failed, 0, 1},
		{1884, metrics.Failed, 0, 1},
		{1885, metrics.Failed, 1, 0}, // the pull has ended
		{9000, metrics.Completed, 1, 0},
	} {
		bothChoices(t, func(t *testing.T, choice string) {
			for _, notify := range []vtime.Duration{0, 1, 100} {
				c := pdPair()
				c.PDDecodeChoice, c.PDHoldTimeout, c.PDNotifyLatency, c.KVIdleRelease = choice, 2000, notify, true
				s := serve(t, withFailures(c, fmt.Sprintf("failures: [{crash: decode, at: %dus, for: 500us}]", x.crash)), request(0, 9, 3), request(5000, 9, 1))
				if o := s.rows[0]; o.State != x.want || x.want == metrics.Failed && o.Reason != metrics.InstanceLost {
					t.Errorf("crash at %v: %+v", x.crash, o)
				}
				if pd := s.Report.PD.Overall; pd.Pulled != x.pulled+1 || pd.Expired != x.await || pd.HandOvers != 2 || pd.Awaiting != 0 {
					t.Errorf("crash at %v, notices after %v: %+v", x.crash, notify, pd)
				}
			}
		})
	}
}

// A request that its client has tokens of goes on on another decode instance, and is computed there.
func TestRequestGoesOnAfterTheDecodeInstance(t *testing.T) {
	bothChoices(t, func(t *testing.T, choice string) {
		c := pdPair()
		c.PDDecodeChoice, c.DecodeReplicas = choice, 2
		s := serve(t, withFailures(c, "failures: [{crash: decode/0, at: 4000us, for: 500us}]\nretry: {router: 1, migrate: true}"), request(0, 9, 9))
		if o := s.rows[0]; o.State != metrics.Completed || o.Instance != 2 || o.Generated != 9 || o.FirstToken >= 4000 || o.Redirects != 1 || s.Report.PD.Overall.HandOvers != 1 {
			t.Errorf("%+v, %d hand-overs", o, s.Report.PD.Overall.HandOvers)
		}
	})
}

// Without a prefill instance that takes requests, a decode instance serves them alone: nine tokens from 5,000 to
// 6,094, whenever the decode instance is chosen.
func TestWithoutPrefillInstances(t *testing.T) {
	bothChoices(t, func(t *testing.T, choice string) {
		c := pdPair()
		c.PDDecodeChoice = choice
		s := serve(t, withFailures(c, "failures: [{crash: prefill, at: 1us, for: 50000us}]"), request(5000, 9, 1))
		wantFates(t, s, completed(5000, 6094, 6094, 1))
		if o := &s.rows[0]; o.HandOver.Made() || o.Instance != 1 {
			t.Errorf("%+v", o)
		}
	})
}

// Records of failures name the pool where there are several, and streams of failures are named by line and instance.
func TestFailuresOfPools(t *testing.T) {
	c := pdPair()
	c.NumRequests, c.Rate, c.PrefillReplicas, c.DecodeReplicas = 200, 200, 2, 2
	var log traceOf
	s, err := serveOn(t, withFailures(c, "failures:\n  - {crash: prefill/1, at: 100ms, for: 10ms}\n  - {crash: decode, at: 300ms, for: 10ms}\n  - {slow: instance-0, at: 200ms, for: 1ms, factor: 2}\n"+
		"health_check: {interval: 1ms, failures: 2}\nretry: {router: 2, client: 9}"), Execution{Tracing: Tracing{Level: trace.Decisions, Consumer: &log}}, workload.Labels{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pools := map[string][]string{}
	for _, f := range log.failures {
		if f.Event != "cut_off" && f.Event != "retry" {
			pools[f.Event] = append(pools[f.Event], fmt.Sprint(f.Pool, *f.Instance))
		}
	}
	if got, want := fmt.Sprint(pools), "map[crash:[prefill1 decode2 decode3] down:[prefill1 decode2 decode3] repair:[prefill1 decode2 decode3] slow:[prefill0] slow_end:[prefill0] up:[prefill1 decode2 decode3]]"; got != want {
		t.Errorf("records\n got %s\nwant %s", got, want)
	}
	if f := s.Failures; len(f.Instances) != 4 || f.Instances[1].Crashes != 1 || f.Instances[0].Crashes != 0 || f.Recovered == 0 || f.Failed != 0 {
		t.Errorf("%+v", f)
	}
}

func TestTargetsOfFailures(t *testing.T) {
	file := "[{id: chat, model: Llama-3.1-8B-Instruct, architecture: pd, prefill: {replicas: 2}, decode: {replicas: 3}}, {id: alone, model: Llama-3.1-8B-Instruct, replicas: 2}]"
	for target, want := range map[string]string{ // any order
		"chat/decode/1": "[3]",
		"chat/decode":   "[2 3 4]",
		"chat":          "[0 1 2 3 4]",
		"alone":         "[5 6]",
		"alone/1":       "[6]",
		"instance-4":    "[4]",
		"all":           "[0 1 2 3 4 5 6]",
		"chat/decode/3": "there are chat/decode/0 to chat/decode/2",
		"instance-7":    "there are instance-0 to instance-6",
		"chat/1":        "want an instance, like chat/decode/0 or instance-3, a pool, like chat/decode, or all",
		"decode":        "want an instance, like chat/decode/0",
		"chat/decode/x": "want an instance",
		"node/h100/2":   "there are no nodes without node_pools (--node-pools): want an instance",
	} {
		c := DefaultConfig()
		assign(&c, "deployments", file)
		c = withFailures(c, "failures: [{crash: "+target+", at: 1s}]")
		p, err := setup.Resolve(c.Config)
		if err != nil {
			if !strings.Contains(err.Error(), `failures[0].crash: is "`+target+`": `+want) {
				t.Errorf("%s: %v, want %s", target, err, want)
			}
			continue
		}
		of, n := p.Failures.List[0].Of, 0
		var got []int
		for k, pool := range p.Pools {
			for i := range pool.Instances {
				if of.Has(k, i, n, n) {
					got = append(got, n)
				}
				n++
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: instances %v, want %s", target, got, want)
		}
	}
}

// A link is one on which KV is pulled: instances that serve requests alone have none.
func TestLinksOfInstancesThatServeAlone(t *testing.T) {
	file := "[{id: chat, model: Llama-3.1-8B-Instruct, architecture: pd, prefill: {replicas: 2}, decode: {replicas: 3}}, {id: alone, model: Llama-3.1-8B-Instruct, replicas: 2}]"
	for target, right := range map[string]bool{"all": true, "chat": true, "instance-0": true, "instance-4": true, "instance-5": false, "alone": false, "alone/1": false} { // any order
		c := DefaultConfig()
		assign(&c, "deployments", file)
		_, err := setup.Resolve(withFailures(c, "failures: [{link: "+target+", at: 1s, bandwidth: 0.5}]").Config)
		if (err == nil) != right || err != nil && !strings.Contains(err.Error(), "want an instance that pulls KV of others") {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// A node takes the instances with it that have GPUs there.
func TestNodeCrashes(t *testing.T) {
	run := func(node string) ([]int64, error) {
		c := DefaultConfig()
		c.NumRequests = 50
		assign(&c, "node-pools", "[{id: a, gpu: H100, nodes: 1, gpus_per_node: 1}, {id: b, gpu: H100, nodes: 3, gpus_per_node: 2}]")
		r, err := Run(t.Context(), withFailures(c, "failures: [{crash: "+node+", at: 1s, for: 1s}]"))
		if err != nil {
			return nil, err
		}
		var crashes []int64
		for _, f := range r.Failures.Instances {
			crashes = append(crashes, f.Crashes)
		}
		return crashes, nil
	}
	for node, want := range map[string]string{"node/a/0": "[1 0 0 0]", "node/b/0": "[0 1 1 0]", "node/b/1": "[0 0 0 1]", "node/b/2": "[0 0 0 0]"} { // any order
		if got, err := run(node); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: crashes %v, %v; want %s", node, got, err, want)
		}
	}
	for node, want := range map[string]string{"node/b/3": "there are node/b/0 to node/b/2", "node/c/0": "want a node, like node/a/0"} { // any order
		if _, err := run(node); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", node, err, want)
		}
	}
}
