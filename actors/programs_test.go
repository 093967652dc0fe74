package actors

import "blis/policy"

// isProgram reports whether a template is what its user writes.
func isProgram(t *policy.Template) bool { return t.Parameter("source") != nil }

// programs are some of each kind, which read signals, draw, and remember.
var programs = map[policy.Kind][]string{
	policy.AdmissionKind: {
		"def admit(req, i):\n  return max(i.queue) < 9 or delay(0.003) if req.delays < 3 else req.slo_class != 'batch'",
		"def admit(req, i):\n  return sum(i.prefix_hit) > 0 or rand() < 0.8",
		"def admit(req):\n  return rand() < 0.9 or 'unlucky'",
		"def admit(req, i):\n  state[req.tenant] = state.get(req.tenant, 0) + 1\n  return req.tenant_active < 30 and cluster.active < 100 or state[req.tenant] % 3 > 0",
	},
	policy.PriorityKind: {
		"def priority(req):\n  print(req.input)\n  return -req.input",
		"def priority(req, i):\n  return mean(i.kv) + rand() + (5 if req.slo_class == 'critical' else 0)",
		"def priority(req, i):\n  return max(i.prefix_hit) + max(i.prefix_tokens) / 100",
		"def priority(req):\n  return req.tenant_rate + (1 if req.tenant_burst else 0)",
	},
	policy.RoutingKind: {
		"def route(req, i):\n  return 3 * i.prefix_hit - i.queue - i.running / 10 - i.in_flight",
		"def route(req, i):\n  return argmin(i.queue + i.wait + i.ttft + i.hit_rate * 0.5 + i.cpu_kv)",
		"def route(req, i):\n  k = (state.get('k', -1) + 1) % len(i)\n  state['k'] = k\n  state['v'] = i.kv\n  return k",
		"def route(req, i):\n  return int(rand() * len(i))",
		"def route(req, i):\n  return [exp(-x.kv) + pow(x.running, 0.3) for x in i]",
	},
	policy.SchedulerKind: {
		"def order(req):\n  return req.input + 10 * req.round",
		"def order(req):\n  return rand() - req.priority\ndef victim(running):\n  return argmax(running.input - running.generated)",
		"def victim(running):\n  print(len(running))\n  return argmin(running.age)",
	},
	policy.AutoscaleKind: {
		"def scale(ctx, i):\n  return ctx.replicas + (1 if mean(i.kv) > 0.3 else -1) if len(i) > 0 else None",
		"def scale(ctx, i):\n  return ceil(cluster.active / 5)",
		"def scale(ctx):\n  return ctx.replicas + round(rand() * 4 - 2)",
	},
}

// trees are decision trees of each kind.
var trees = map[policy.Kind]string{
	policy.AdmissionKind: `{if: "max(queue) > 9 and delays < 3", then: delay(0.003), else: {if: rand() < 0.95, then: admit, else: reject}}`,
	policy.PriorityKind:  `{if: "slo_class == 'critical'", then: 5, else: "mean(kv) - input / 1000"}`,
	policy.RoutingKind:   `{if: "kv > 0.9 and queue > 2", then: -1, else: {if: prefix_hit > 0.5, then: "2 + prefix_hit", else: "1 / (1 + running)"}}`,
	policy.SchedulerKind: `{if: "priority > 3", then: 0, else: input}`,
	policy.AutoscaleKind: `{if: "len(kv) == 0 or mean(kv) > 0.3", then: replicas + 1, else: "max(1, replicas - 1)"}`,
}
