package actors

import (
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
	"blis/workload/traffic"
)

// An instance of these sites has 8 seats and steps of 7 ms and more: it serves
// about 1,050 output tokens per second, 21 requests of 50.

func length(mean, stdev float64) traffic.Normal {
	return traffic.Normal{Mean: mean, Stdev: stdev, Min: 1, Max: 4000}
}

// chat is traffic of requests that are much alike, with labels.
func chat(rate float64, n int64, label func(dice, *workload.Request, *workload.Labels)) arriving {
	return arriving{rate, n, length(200, 50), length(50, 10), label}
}

// classes gives a tenth of the requests to critical, the rest to batch and
// sheddable.
func classes(d dice, r *workload.Request, l *workload.Labels) {
	name := "batch"
	switch d.IntN(10) {
	case 0:
		name = "critical"
	case 1, 2, 3, 4:
		name = "sheddable"
	}
	r.Class = l.Classes.Label(name)
}

// tenants gives a tenth of the requests to a tenant of few, the rest to one of
// many.
func tenants(d dice, r *workload.Request, l *workload.Labels) {
	name := "many"
	if d.IntN(10) == 0 {
		name = "few"
	}
	r.Tenant = l.Tenants.Label(name)
}

// uneven makes one in eight requests ten times as long as the others.
func uneven(d dice, r *workload.Request, _ *workload.Labels) {
	if d.IntN(8) == 0 {
		r.Output *= 10
	}
}

// deadlines gives requests a second or ten.
func deadlines(d dice, r *workload.Request, _ *workload.Labels) {
	r.Deadline = r.Arrival.Add(pick(d, vtime.Second, 10*vtime.Second))
}

// prefixes puts one of twelve long prompts before each.
func prefixes(d dice, r *workload.Request, _ *workload.Labels) {
	r.Spans = []workload.Span{{Content: workload.ContentID(1 + d.IntN(12)), Length: 800}}
	r.Input += 800
}

// sessions makes the requests turns of 30 sessions, all turns of one with what
// the session has in common.
func sessions(d dice, r *workload.Request, _ *workload.Labels) {
	r.Session = uint64(1 + d.IntN(30))
	r.Spans = []workload.Span{{Content: workload.ContentID(r.Session), Length: 800}}
	r.Input += 800
}

// prompts makes one in eight prompts ten times as long.
func prompts(d dice, r *workload.Request, _ *workload.Labels) {
	if d.IntN(8) == 0 {
		r.Input *= 10
	}
}

func instances(n int) func(*Config) { return func(c *Config) { c.NumInstances = n } }

// The sites.
var (
	overload  = site{instances(2), chat(60, 300, classes)} // two instances serve 42
	twoOwners = site{instances(2), chat(60, 300, tenants)}
	busy      = site{instances(4), arriving{36, 400, length(200, 50), length(50, 10), uneven}} // uneven requests, close to what four serve
	shared    = site{func(c *Config) { c.NumInstances, c.TotalKVBlocks = 4, 400 }, arriving{40, 400, length(100, 20), length(30, 5), prefixes}}
	talks     = site{func(c *Config) { c.NumInstances, c.TotalKVBlocks = 4, 900 }, arriving{40, 400, length(100, 20), length(30, 5), sessions}}
	fullCache = site{func(c *Config) { c.NumInstances, c.TotalKVBlocks, c.MaxNumSeqs = 4, 300, 64 }, arriving{60, 400, length(150, 30), length(50, 10), prompts}}
	growing   = site{func(c *Config) { c.NumInstances, c.SLOTargets = 2, "standard:ttft=500ms" }, chat(70, 600, nil)}
)

const (
	byPriorityFirst = "scheduler: {type: priority-fcfs}\n"
	bySLO           = "priority: {type: slo-based}\n"
	quickly         = "min: 1, max: 6, interval: 500ms, actuation: {provisioning: 200ms, model_load: 300ms}}"
)

var contrasts = []contrast{
	{policy.AdmissionKind, "token-bucket", "60 requests per second on two instances that serve 42, 7,000 prompt tokens per second let in", overload,
		"", "admission: {type: token-bucket, params: {capacity: 7000, refill_rate: 7000}}", meanTTFT(), -1},
	{policy.AdmissionKind, "rate-limit", "the same load, nine tenths of one tenant (many), the rest of another (few), 25 per second of each let in", twoOwners,
		"", "admission: {type: rate-limit, params: {rate: 25, burst: 5, per_tenant: true}}", tenantTTFT("few"), -1},
	{policy.AdmissionKind, "tenant-quota", "the same tenants, 12 active requests of each, others put off by 200 ms", twoOwners,
		"", "admission: {type: tenant-quota, params: {max_active: 12, delay: 200ms, max_delays: 50}}", tenantTTFT("few"), -1},
	{policy.AdmissionKind, "saturation-shed", "60 requests per second on two instances that serve 42, four tenths of it sheddable", overload,
		"", "admission: {type: saturation-shed}", classTTFT("critical"), -1},
	{policy.AdmissionKind, "reject-all", "the same load", overload, "", "admission: {type: reject-all}", stateOf(metrics.Completed), -1},

	{policy.PriorityKind, "slo-based", "60 requests per second on two instances that serve 42, a tenth of it critical, `priority-fcfs`", overload,
		byPriorityFirst, byPriorityFirst + bySLO, classTTFT("critical"), -1},
	{policy.PriorityKind, "tenant-priority", "the same load, nine tenths of one tenant (many), the rest of another (few), `priority-fcfs`", twoOwners,
		byPriorityFirst, byPriorityFirst + "priority: {type: tenant-priority, tenants: {few: 1}}", tenantTTFT("few"), -1},
	{policy.PriorityKind, "deadline-aware", "46 per second on two instances, half of them with 1 s time, half with 10 s, `priority-fcfs`", site{instances(2), chat(46, 300, deadlines)},
		byPriorityFirst, byPriorityFirst + "priority: {type: deadline-aware}", stateOf(metrics.TimedOut), -1},
	{policy.PriorityKind, "inverted-slo", "as with `slo-based`", overload,
		byPriorityFirst, byPriorityFirst + "priority: {type: inverted-slo}", classTTFT("critical"), 1},

	{policy.RoutingKind, "least-loaded", "36 per second on four instances, one in eight outputs ten times as long: close to what they serve", busy, "", "routing: {type: least-loaded}", meanTTFT(), -1},
	{policy.RoutingKind, "weighted", "twelve long prompts that requests share, caches too small for all of them", shared, "", "routing: {type: weighted}", hitRate, 1},
	{policy.RoutingKind, "prefix-affinity", "the same", shared, "", "routing: {type: prefix-affinity}", hitRate, 1},
	{policy.RoutingKind, "power-of-two", "as with `least-loaded`", busy, "", "routing: {type: power-of-two}", meanTTFT(), -1},
	{policy.RoutingKind, "session-hash", "30 sessions with 800 tokens in common", talks, "", "routing: {type: session-hash}", hitRate, 1},
	{policy.RoutingKind, "always-busiest", "as with `least-loaded`", busy, "", "routing: {type: always-busiest}", meanTTFT(), 1},
	{policy.RoutingKind, "weighted/queue-depth", "alone, as with `least-loaded`", busy, "", "routing: {type: weighted, params: {queue-depth: 1}}", meanTTFT(), -1},
	{policy.RoutingKind, "weighted/waiting-queue", "alone, as with `least-loaded`", busy, "", "routing: {type: weighted, params: {waiting-queue: 1}}", meanTTFT(), -1},
	{policy.RoutingKind, "weighted/load-balance", "alone, as with `least-loaded`", busy, "", "routing: {type: weighted, params: {load-balance: 1}}", meanTTFT(), -1},
	{policy.RoutingKind, "weighted/active-requests", "alone, as with `least-loaded`", busy, "", "routing: {type: weighted, params: {active-requests: 1}}", meanTTFT(), -1},
	{policy.RoutingKind, "weighted/no-hit-lru", "beside `prefix-affinity`, against that alone: twelve long prompts that requests share", shared,
		"routing: {type: weighted, params: {prefix-affinity: 1}}", "routing: {type: weighted, params: {prefix-affinity: 1, no-hit-lru: 1}}", largestShare, -1},
	{policy.RoutingKind, "weighted/running-requests", "alone, as with `least-loaded`", busy, "", "routing: {type: weighted, params: {running-requests: 1}}", meanTTFT(), -1},
	{policy.RoutingKind, "weighted/vllm-dp", "alone, as with `least-loaded`", busy, "", "routing: {type: weighted, params: {vllm-dp: 1}}", meanTTFT(), -1},
	{policy.RoutingKind, "weighted/load-aware", "alone, as with `least-loaded`", busy, "", "routing: {type: weighted, params: {load-aware: 1}}", meanTTFT(), -1},
	{policy.RoutingKind, "weighted/kv-utilization", "alone, 60 per second on four instances with small caches, one in eight prompts ten times as long", fullCache, "", "routing: {type: weighted, params: {kv-utilization: 1}}", queueWait, -1},
	{policy.RoutingKind, "weighted/prefix-affinity", "beside `load-balance`, against that alone: twelve long prompts that requests share", shared, "routing: {type: weighted, params: {load-balance: 1}}", "routing: {type: weighted, params: {load-balance: 1, prefix-affinity: 1}}", hitRate, 1},
	{policy.RoutingKind, "weighted/session-affinity", "beside `load-balance`, against that alone: 30 sessions with 800 tokens in common", talks,
		"routing: {type: weighted, params: {load-balance: 1}}", "routing: {type: weighted, params: {load-balance: 1, session-affinity: 1}}", hitRate, 1},
	{policy.RoutingKind, "weighted/cache-hit-rate", "beside `load-balance`, against that alone: twelve long prompts that requests share", shared,
		"routing: {type: weighted, params: {load-balance: 1}}", "routing: {type: weighted, params: {load-balance: 1, cache-hit-rate: 1}}", largestShare, 1},
	{policy.RoutingKind, "weighted/prefix-match", "beside `load-balance`, against that alone: twelve long prompts that requests share", shared,
		"routing: {type: weighted, params: {load-balance: 1}}", "routing: {type: weighted, params: {load-balance: 1, prefix-match: 1}}", hitRate, 1},

	{policy.SchedulerKind, "priority-fcfs", "60 requests per second on two instances that serve 42, a tenth of it critical, `slo-based`", overload,
		bySLO, bySLO + byPriorityFirst, classTTFT("critical"), -1},
	{policy.SchedulerKind, "sjf", "50 per second on two instances, one in eight prompts ten times as long", site{instances(2), arriving{50, 300, length(200, 50), length(50, 10), prompts}},
		"", "scheduler: {type: sjf}", meanTTFT(), -1},
	{policy.SchedulerKind, "reverse-priority", "as with `priority-fcfs`", overload, bySLO, bySLO + "scheduler: {type: reverse-priority}", classTTFT("critical"), 1},
	{policy.SchedulerKind, "backfill", "60 per second on four instances with small caches, one in eight prompts ten times as long", fullCache,
		"", "scheduler: {type: backfill}", meanTTFT(), -1},

	{policy.AutoscaleKind, "threshold", "70 per second on at first two instances that serve 42, others within half a second", growing,
		"routing: {type: least-loaded}", "routing: {type: least-loaded}\nautoscale: {type: threshold, params: {cooldown: 1s}, " + quickly, attained, 1},
	{policy.AutoscaleKind, "target-utilization", "the same", growing,
		"routing: {type: least-loaded}", "routing: {type: least-loaded}\nautoscale: {type: target-utilization, " + quickly, attained, 1},
	{policy.AutoscaleKind, "queue-depth", "the same", growing,
		"routing: {type: least-loaded}", "routing: {type: least-loaded}\nautoscale: {type: queue-depth, " + quickly, attained, 1},
	{policy.AutoscaleKind, "oscillator", "30 per second on two instances, one of which goes and comes back, with half a second to start", site{instances(2), chat(30, 300, nil)},
		"routing: {type: least-loaded}", "routing: {type: least-loaded}\nautoscale: {type: oscillator, min: 1, max: 2, interval: 500ms, actuation: {provisioning: 200ms, model_load: 300ms}}", meanTTFT(), 1},
}
