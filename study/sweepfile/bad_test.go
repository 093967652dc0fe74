package sweepfile_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"blis/actors"
	"blis/cli"
)

// badHead is what most bad files begin with.
const badHead = "schema: blis.sweep/v1\nbase: {num-requests: 20}\n"

// badFiles are sweep files with one fault each, and what is said of it after the name of
// the file. Those that begin with a field continue badHead.
var badFiles = []struct{ name, text, want string }{
	{"empty", "", `1:1: want a mapping with schema: blis.sweep/v1, base and axes`},
	{"a list", "- schema: blis.sweep/v1\n", `1:1: want a mapping with schema: blis.sweep/v1, base and axes`},
	{"no schema", "base: {}\naxes: {rate: [1]}\n", `1:1: schema is missing, want schema: blis.sweep/v1`},
	{"another schema", "schema: blis.sweep/v2\naxes: {rate: [1]}\n", `1:9: schema: "blis.sweep/v2": want blis.sweep/v1`},
	{"of another kind", "schema: blis.config/v1\naxes: {rate: [1]}\n", `1:9: schema: "blis.config/v1": want blis.sweep/v1`},
	{"no axes", badHead, `1:1: axes: there is none: want at least one setting with its values`},
	{"no axis", badHead + "axes: {}\n", `3:7: axes: there is none: want at least one setting with its values`},
	{"axes of a list", badHead + "axes: [rate, tp]\n", `3:7: axes: a list: want a mapping from settings to their values`},
	{"axes without a value", badHead + "axes:\n", `3:1: axes: has no value, want one or no axes`},
	{"unknown field", badHead + "axis: {rate: [1]}\n", `3:1: unknown field "axis", the nearest is "axes" (there are: schema, lock, base, axes, where, replicates, sample, limits, latency_per_point)`},
	{"field twice", badHead + "axes: {rate: [1]}\naxes: {tp: [1]}\n", `4:1: axes: is given twice, first on line 3, want it once`},
	{"unknown setting", badHead + "axes:\n  tp: [1]\n  num-instance: [1, 2]\n", `5:3: axes.num-instance: unknown setting "num-instance", the nearest is "num-instances"`},
	{"unknown setting of a span", badHead + "axes: {rat: {from: 1, to: 2, step: 1}}\n", `3:8: axes.rat: unknown setting "rat", the nearest is "rate"`},
	{"unknown field of a bundle", badHead + "axes: {routing.params.queue-dept: [1]}\n", `3:8: axes.routing.params.queue-dept: unknown parameter "queue-dept", the nearest is "queue-depth" (there are: active-requests, cache-hit-rate, cpu_weight, file, kv-utilization, load-aware, load-balance, max_imbalance, max_in_flight, max_kv, max_queue, max_running, max_steps, min_match, min_prefix, no-hit-lru, prefix-affinity, prefix-match, queue-depth, running-requests, session-affinity, session_ttl, source, sticky_session, storage_weight, tie, tree, vllm-dp, waiting-queue)`},
	{"unknown field of a bundle's part", badHead + "axes: {routin.type: [round-robin]}\n", `3:8: axes.routin.type: unknown section "routin", the nearest is "routing" (there are: admission, priority, routing, scheduler, autoscale, observability, metadata)`},
	{"no values", badHead + "axes: {rate: []}\n", `3:8: axes.rate: has no values: want at least one`},
	{"a scalar axis", badHead + "axes: {rate: 5}\n", `3:14: axes.rate: 5: want a list of values, {from, to, step}, or labels with settings`},
	{"a value of another type", badHead + "axes:\n  rate:\n  - 5\n  - fast\n", `6:5: axes.rate[1]: --rate: "fast": want a number`},
	{"a fraction of a whole number", badHead + "axes: {num-instances: [1.5]}\n", `3:24: axes.num-instances[0]: --num-instances: "1.5": want a whole number`},
	{"a null value", badHead + "axes: {rate: [1, null]}\n", `3:18: axes.rate[1]: null: want a value, as the flag takes it`},
	{"a value twice", badHead + "axes: {rate: [1, 2, 1]}\n", `3:21: axes.rate[2]: 1 is given twice, want different values`},
	{"a mapping as a value", badHead + "axes: {rate: [{a: 1}]}\n", `3:15: axes.rate[0]: a mapping: want a value as the flag takes it, or {value: NAME, set: {SETTING: VALUE}}`},
	{"a value with no set", badHead + "axes: {m: [{value: a, set: {}}]}\n", `3:12: axes.m.a: sets nothing: want at least one setting`},
	{"not a number", badHead + "axes: {rate: [.nan]}\n", `3:15: axes.rate[0]: .nan: want a finite number`},
	{"step that does not divide", badHead + "axes: {rate: {from: 1, to: 2, step: 0.3}}\n", `3:14: axes.rate: to − from is 1: want a multiple of step, 0.3`},
	{"step of zero", badHead + "axes: {rate: {from: 1, to: 2, step: 0}}\n", `3:14: axes.rate: step is 0: want more than 0`},
	{"step below zero", badHead + "axes: {rate: {from: 1, to: 2, step: -1}}\n", `3:14: axes.rate: step is -1: want more than 0`},
	{"from above to", badHead + "axes: {rate: {from: 2, to: 1, step: 1}}\n", `3:14: axes.rate: to is 1: want more than from, 2`},
	{"no to", badHead + "axes: {rate: {from: 2, step: 1}}\n", `3:14: axes.rate: want from and to, both ends included`},
	{"step and points", badHead + "axes: {rate: {from: 1, to: 2, step: 1, points: 2}}\n", `3:14: axes.rate: has step and points: want one of them`},
	{"one point", badHead + "axes: {rate: {from: 1, to: 2, points: 1}}\n", `3:14: axes.rate: points is 1: want 2 to 1000000`},
	{"log from zero", badHead + "axes: {rate: {from: 0, to: 2, points: 3, scale: log}}\n", `3:14: axes.rate: from is 0: want more than 0 with scale log`},
	{"log with a step", badHead + "axes: {rate: {from: 1, to: 2, step: 1, scale: log}}\n", `3:14: axes.rate: has step with scale log: want points`},
	{"unknown scale", badHead + "axes: {rate: {from: 1, to: 2, points: 3, scale: cubic}}\n", `3:49: axes.rate.scale: "cubic": want linear or log`},
	{"unknown field of a span", badHead + "axes: {rate: {from: 1, to: 2, steps: 1}}\n", `3:31: axes.rate: unknown field "steps", the nearest is "step" (there are: from, to, step, points, scale)`},
	{"a fraction as an end", badHead + "axes: {tp: {from: 1, to: 2.5, step: 1}}\n", `3:26: axes.tp.to: 2.5: want a whole number, as the setting takes`},
	{"more points than whole numbers", badHead + "axes: {tp: {from: 1, to: 3, points: 5}}\n", `3:12: axes.tp: has 2 twice: want fewer points`},
	{"a span of words", badHead + "axes: {hardware: {from: a, to: b, step: 1}}\n", `3:25: axes.hardware.from: "a": want a finite number`},
	{"a range in a grid", badHead + "axes: {rate: {from: 1, to: 2}}\n", `3:8: axes.rate: from and to alone: want step or points too, or sample with method random or lhs`},
	{"too many values", badHead + "axes: {rate: {from: 1, to: 1e9, step: 1}}\n", `3:14: axes.rate: more than 1000000 values: want a larger step`},
	{"labels called like a setting", badHead + "axes: {tp: {a: {rate: 1}}}\n", `3:8: axes.tp: is a setting: want another name for an axis of labels, or a list of values`},
	{"labels that read like a setting", badHead + "axes: {num_instances: {a: {rate: 1}}}\n", `3:8: axes.num_instances: reads as num_instances in where, as a setting does: want another name`},
	{"labels called gpus", badHead + "axes: {gpus: {a: {rate: 1}}}\n", `3:8: axes.gpus: gpus is what where calls a value of the point: want another name`},
	{"a label without settings", badHead + "axes:\n  machine:\n    a: {tp: 1}\n    b: 2\n", `6:5: axes.machine.b: 2: want settings, like {hardware: H100, tp: 1}`},
	{"a label with nothing", badHead + "axes: {machine: {a: {}}}\n", `3:18: axes.machine.a: sets nothing: want at least one setting`},
	{"a label with an unknown setting", badHead + "axes:\n  machine:\n    a: {tp: 1, hardwar: H100}\n", `5:16: axes.machine.a.hardwar: unknown setting "hardwar", the nearest is "hardware"`},
	{"a label with a bad value", badHead + "axes:\n  machine:\n    a: {tp: one}\n", `5:5: axes.machine.a: --tp: "one": want a whole number`},
	{"a setting on two axes", badHead + "axes:\n  tp: [1, 2]\n  machine: {a: {tp: 1}}\n", `5:3: axes.machine: tp is on the axis tp too: want it on one`},
	{"a bundle that is not there", badHead + "axes: {policies: [round-robin, no-such-policy]}\n", `3:32: axes.policies[1]: no-such-policy: no such file, and no routing policy (there are: round-robin, least-loaded, weighted, prefix-affinity, power-of-two, session-hash, always-busiest, starlark, tree)`},
	{"a program that is not there", badHead + "axes: {policies: [mine.star]}\n", `3:19: axes.policies[0]: mine.star: no such file or directory`},
	{"a number as a bundle", badHead + "axes: {policies: [1]}\n", `3:19: axes.policies[0]: 1: want a bundle: a file, the name of a routing policy, or a mapping`},
	{"where without an end", badHead + "axes: {rate: [1]}\nwhere: rate <\n", `4:8: where: got end of file, want primary expression`},
	{"where of an unknown name", badHead + "axes: {rate: [1]}\nwhere: rat < 2\n", `4:8: where: unknown name "rat", the nearest is "rate": want a setting or an axis, with _ for - and ., or gpus, cost_per_hour, kv_blocks`},
	{"where of a list", badHead + "axes: {rate: [1]}\nwhere: [rate]\n", `4:8: where: a list: want an expression like gpus <= 16`},
	{"where with a dash", badHead + "axes: {num-instances: [1]}\nwhere: num-instances < 2\n", `4:8: where: unknown name "num": want num_instances for num-instances`},
	{"no replicates", badHead + "axes: {rate: [1]}\nreplicates: 0\n", `4:13: replicates: 0: want 1 to 10000`},
	{"half a replicate", badHead + "axes: {rate: [1]}\nreplicates: 1.5\n", `4:13: replicates: 1.5: want a whole number`},
	{"unknown method", badHead + "axes: {rate: [1]}\nsample: {method: sobol, points: 3}\n", `4:18: sample.method: "sobol": want grid, random or lhs`},
	{"a sample without points", badHead + "axes: {rate: [1]}\nsample: {method: lhs}\n", `4:9: sample.points: 0: want 1 to 100000000`},
	{"points of a grid", badHead + "axes: {rate: [1]}\nsample: {points: 3}\n", `4:18: sample.points: 3: a grid has all its points: want none, or method random or lhs`},
	{"a seed below zero", badHead + "axes: {rate: [1]}\nsample: {method: lhs, points: 3, seed: -1}\n", `4:40: sample.seed: -1: want a whole number from 0`},
	{"unknown field of a sample", badHead + "axes: {rate: [1]}\nsample: {metod: lhs}\n", `4:10: sample: unknown field "metod", the nearest is "method" (there are: method, points, seed)`},
	{"no points", badHead + "axes: {rate: [1]}\nlimits: {points: 0}\n", `4:18: limits.points: 0: want 1 or more`},
	{"half a point", badHead + "axes: {rate: [1]}\nlimits: {points: 1.5}\n", `4:18: limits.points: 1.5: want a whole number`},
	{"events below zero", badHead + "axes: {rate: [1]}\nlimits: {events: -1}\n", `4:18: limits.events: -1: want 0 or more`},
	{"a wall without a unit", badHead + "axes: {rate: [1]}\nlimits: {wall: 60}\n", `4:16: limits.wall: 60: want a duration like 60s`},
	{"latency per point", badHead + "axes: {rate: [1]}\nlatency_per_point: often\n", `4:20: latency_per_point: "often": want true or false`},
	{"an unknown setting in base", "schema: blis.sweep/v1\nbase:\n  num-requests: 20\n  num-instance: 2\naxes: {rate: [1]}\n", `4: unknown setting "num-instance", the nearest is "num-instances"`},
	{"a bad value in base", "schema: blis.sweep/v1\nbase:\n  num-requests: many\naxes: {rate: [1]}\n", `3: num-requests: "many": want a whole number`},
	{"base is no mapping", "schema: blis.sweep/v1\nbase: [1]\naxes: {rate: [1]}\n", `2:7: base: a list: want the path of a file with settings, or settings`},
	{"base is not there", "schema: blis.sweep/v1\nbase: none.yaml\naxes: {rate: [1]}\n", `2:7: base: none.yaml: no such file or directory`},
	{"base is a folder", "schema: blis.sweep/v1\nbase: .\naxes: {rate: [1]}\n", `2:7: base: .: is a directory`},
	{"a fault in the file of base", "schema: blis.sweep/v1\nbase: base.yaml\naxes: {rate: [1]}\n", `2:7: base: base.yaml:2: rate: "quick": want a number`},
	{"an anchor", "schema: blis.sweep/v1\nbase: &b {num-requests: 20}\naxes: {rate: [1]}\n", `2:7: anchors are not supported, write the value where it is needed`},
	{"no YAML", badHead + "axes: {rate: [1\n", `3:14: not valid YAML: sequence end token ']' not found`},
	{"a bad limit of time", badHead + "axes: {rate: [1]}\nlimits: {wall: -1s}\n", `4:16: limits.wall: "-1s": want a duration like 60s`},
	{"a lock of nothing", badHead + "lock: {}\naxes: {rate: [1]}\n", `3:7: lock: has no semantics, want a lock that blis sweep wrote`},
	{"a lock of another version", badHead + "lock: {semantics: 999, key_format: 1}\naxes: {rate: [1]}\n", `3:19: lock.semantics: 999: the sweep is of another version of blis, this one has NOW: want that one, or another folder`},
}

// Every fault is one line with file, line, column and field, and says what is wanted.
func TestBadFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("base.yaml", []byte("num-requests: 20\nrate: quick\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range badFiles {
		_, err := cli.ParseSweep("s.yaml", []byte(bad.text))
		if err == nil {
			t.Errorf("%s: no error", bad.name)
			continue
		}
		if got, want := err.Error(), "s.yaml:"+strings.Replace(bad.want, "NOW", fmt.Sprint(actors.SemanticsVersion), 1); got != want || strings.Contains(got, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", bad.name, got, want)
		}
	}
}
