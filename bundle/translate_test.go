package bundle

import (
	"strings"
	"testing"
)

// planned is the bundle that the plan of the public simulator shows, with other
// numbers: all of its names.
const planned = `admission:
  type: "token-bucket"
  params: {bucket_size: 900, refill_rate: 90, per_tenant: true}
priority: {type: "slo-based", params: {realtime_score: 99, batch_score: 9, default_score: 49}}
routing:
  type: "weighted-scoring"
  params:
    cache_affinity_weight: 0.5
    load_balance_weight: 0.25
    queue_depth_weight: 0.125
    prefix_match_bonus: 2
scheduler:
  type: "priority-fcfs"
  params: {respect_priority: true, preemption_enabled: true, preemption_policy: "lowest-priority"}
autoscale: {type: "threshold", params: {scale_up_threshold: 0.7, scale_down_threshold: 0.2, cooldown_seconds: 90}}
`

func TestFilesInOtherWordsAreRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"the plan's names", planned, `admission: {type: token-bucket, params: {capacity: 900, refill_rate: 90, per_tenant: true}}
priority: {type: slo-based, params: {critical: 99, batch: 9, default: 49}}
routing: {type: weighted, params: {prefix-affinity: 0.5, load-balance: 0.25, queue-depth: 0.125, prefix-match: 2}}
scheduler: {type: priority-fcfs, params: {preemption: priority}}
autoscale: {type: threshold, params: {up: 0.7, down: 0.2, cooldown: 90s}}
`},
		{"the public simulator's form", `admission:
  policy: token-bucket
  token_bucket_capacity: 500
  token_bucket_refill_rate: 50
routing:
  scorers:
    - name: prefix-affinity
      weight: 2.0
    - {weight: 1, name: queue-depth}
  policy: weighted
priority: {policy: constant}
scheduler: fcfs
`, `admission: {type: token-bucket, params: {capacity: 500, refill_rate: 50}}
priority: {type: constant}
routing: {type: weighted, params: {prefix-affinity: 2.0, queue-depth: 1}}
scheduler: {type: fcfs}
`},
		{"bare names", "admission: always-admit\nrouting: weighted-scoring\nscheduler: priority\n", "admission: {type: always-admit}\nrouting: {type: weighted}\nscheduler: {type: priority-fcfs}\n"},
		{"priority is not respected", "scheduler: {type: priority-fcfs, params: {respect_priority: false}}", "scheduler: {type: fcfs}\n"},
		{"nothing to ignore", "scheduler: {type: sjf, params: {respect_priority: false}}", "scheduler: {type: sjf}\n"},
		{"a cooldown of parts of seconds", "autoscale: {type: threshold, params: {cooldown_seconds: 0.5}}", "autoscale: {type: threshold, params: {cooldown: 0.5s}}\n"},
	} {
		b := mustParse(t, c.text)
		if got, err := b.MarshalText(); err != nil || string(got) != c.want {
			t.Errorf("%s:\n%s(%v), want\n%s", c.name, got, err, c.want)
		}
		if _, err := b.Complete(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestOtherWordsOnTheCommandLine(t *testing.T) {
	var b Bundle
	for _, s := range [][2]string{{"routing.type", "weighted-scoring"}, {"routing.params.cache_affinity_weight", "3"}, {"autoscale.type", "threshold"}, {"autoscale.params.cooldown_seconds", "30"}} {
		if err := b.Set(s[0], s[1]); err != nil {
			t.Error(err)
		}
	}
	want := "routing: {type: weighted, params: {prefix-affinity: 3}}\nautoscale: {type: threshold, params: {cooldown: 30s}}\n"
	if got, err := b.MarshalText(); err != nil || string(got) != want {
		t.Errorf("%s(%v), want\n%s", got, err, want)
	}
}

func TestBadFilesInOtherWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"routing: {policy: weighted, type: weighted}", "p.yaml:1: routing.type: policy is another name of type, want one of them"},
		{"routing:\n  policy: wieghted", `p.yaml:2: routing.type: unknown routing policy "wieghted"`},
		{"routing: nope", `p.yaml:1: routing.type: unknown routing policy "nope" (there are: `},
		{"routing: [weighted]", "p.yaml:1: routing: a list is not allowed, want a mapping like {name: value}, or the name of a policy"},
		{"routing: {policy: 3}", "p.yaml:1: routing.type: 3 is not allowed"},
		{"routing: {policy: weighted, scorers: queue-depth}", `p.yaml:1: routing.scorers: the string "queue-depth" is not allowed, want a list like [{name: queue-depth, weight: 2}]`},
		{"routing: {policy: weighted, scorers: [queue-depth]}", `p.yaml:1: routing.scorers: entry 1 is the string "queue-depth", want a list`},
		{"routing: {policy: weighted, scorers: [{name: queue-depth}]}", "p.yaml:1: routing.scorers: entry 1 has no name or no weight"},
		{"routing: {policy: weighted, scorers: [{name: queue-depth, weight: 1, wait: 2}]}", "p.yaml:1: routing.scorers: entry 1 has wait: 2"},
		{"routing: {policy: weighted, scorers: [{name: queue, weight: 1}]}", `p.yaml:1: routing.params.queue: weighted has no parameter "queue"`},
		{"routing: {policy: weighted, scorers: [{name: queue-depth, weight: 1}, {name: queue-depth, weight: 2}]}", "p.yaml:1: routing.params.queue-depth: queue-depth is given twice"},
		{"routing: {policy: least-loaded, scorers: [{name: queue-depth, weight: 1}]}", `p.yaml:1: routing.params.queue-depth: least-loaded has no parameter "queue-depth"`},
		{"admission: {type: token-bucket, params: {bucket_size: 5, capacity: 5}}", "p.yaml:1: admission.params.capacity: capacity is given twice"},
		{"scheduler: {type: fcfs, params: {respect_priority: true}}", "p.yaml:1: scheduler.params.respect_priority: the scheduler goes by no priority, want type: priority-fcfs"},
		{"scheduler: {params: {respect_priority: 1}}", "p.yaml:1: scheduler.params.respect_priority: 1 is not allowed, want true or false"},
		{"scheduler: {params: {preemption_enabled: false}}", "p.yaml:1: scheduler.params.preemption_enabled: preemption cannot be off: "},
		{"scheduler: {params: {preemption: off}}", "p.yaml:1: scheduler.params.preemption: preemption cannot be off: "},
		{"clients: []", "p.yaml:1: clients: no section of a policy bundle: this is a specification of a workload, which is given with --workload-spec"},
	} {
		if _, err := Parse("p.yaml", []byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n%v, want\n%s", c.text, err, c.want)
		}
	}
	if err := new(Bundle).Set("scheduler.params.preemption", "off"); err == nil || !strings.Contains(err.Error(), "preemption cannot be off") {
		t.Errorf("--set: %v", err)
	}
}
