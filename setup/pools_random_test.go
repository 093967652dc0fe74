package setup

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// poolValues are values of settings that a pool can have for itself.
var poolValues = map[string][]string{
	"hardware": {"H100", "H200", "A100-80"}, "tp": {"1", "2", "8"}, "latency-model": {"auto", "roofline"}, "total-kv-blocks": {"0", "9000", "30000"},
	"gpu-memory-utilization": {"0.8", "0.9"}, "max-num-seqs": {"0", "64", "512"}, "max-num-batched-tokens": {"0", "2048", "16384"}, "max-model-len": {"0", "20000"},
	"enable-prefix-caching": {"true", "false"}, "async-scheduling": {"true", "false"}, "scheduler": {"fcfs", "sjf", "priority-fcfs"}, "preemption-policy": {"auto", "priority"},
	"kv-cpu-blocks": {"0", "5000"}, "kv-cpu-size": {"0", "32GiB"}, "kv-offload-policy": {"write-through", "eager", "lazy"}, "kv-storage": {"", "nvme", "nvme,2TiB;disk,1TiB,3GB/s,1GB/s,1ms,local"},
	"routing-policy": {"round-robin", "least-loaded", "weighted"}, "routing-scorers": {"queue-depth:1", "kv-utilization:2,prefix-affinity:1"}, "snapshot-refresh-interval": {"0", "50ms"},
	"prefix-index": {"routed", "events"}, "prefix-index-blocks": {"auto", "700"}, "autoscale-policy": {"none", "threshold", "queue-depth"}, "min-replicas": {"1", "2"}, "max-replicas": {"0", "5"},
	"autoscale-interval": {"15s", "3s"}, "provisioning-delay": {"30s", "10s,cv=0.2"}, "drain-policy": {"wait", "redirect"}, "gpu-hour-price": {"0", "2.5"},
}

// anySettings draws a few settings of a pool, "tp=4 hardware=H200".
func anySettings(t *rapid.T, label string) string {
	var names []string
	for _, s := range ofPool.list() {
		if poolValues[s.Name] != nil {
			names = append(names, s.Name)
		}
	}
	var list []string
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID).Draw(t, label) {
		list = append(list, name+"="+rapid.SampledFrom(poolValues[name]).Draw(t, label+" "+name))
	}
	return strings.Join(list, " ")
}

// assigned returns a configuration with settings, false if it is none.
func assigned(settings string) (Config, bool) {
	c := DefaultConfig()
	var list []Assignment
	for s := range strings.FieldsSeq(settings) {
		name, text, _ := strings.Cut(s, "=")
		list = append(list, Assignment{Name: name, Text: text})
	}
	return c, c.Assign(list) == nil
}

// anyOfPools draws a configuration with prefill and decode instances, or with deployments.
func anyOfPools(t *rapid.T) Config {
	prefixed := func(prefix, settings string) string {
		var list []string
		for s := range strings.FieldsSeq(settings) {
			list = append(list, prefix+s)
		}
		return strings.Join(list, " ")
	}
	shared, prefill, decode := anySettings(t, "run"), anySettings(t, "prefill"), anySettings(t, "decode")
	if rapid.Bool().Draw(t, "deployments") {
		mapping := func(settings string) string {
			var list []string
			for s := range strings.FieldsSeq(settings) {
				name, text, _ := strings.Cut(s, "=")
				list = append(list, fmt.Sprintf("%s: %q", name, text))
			}
			return strings.Join(list, ", ")
		}
		c, ok := assigned(shared)
		if err := c.Set("deployments", fmt.Sprintf("[{id: a, model: Llama-3.1-8B-Instruct, architecture: pd, %s, prefill: {replicas: 2, %s}, decode: {replicas: 3, %s}}, {id: b, model: qwen3-14b, replicas: 2, %s}]",
			mapping("tp=2 "+anySettings(t, "a")), mapping(prefill), mapping(decode), mapping(anySettings(t, "b")))); err != nil || !ok {
			t.Skip(err)
		}
		c.Scenario = "multi-turn-chat"
		return c
	}
	c, ok := assigned("architecture=pd prefill-replicas=2 decode-replicas=3 " + shared + " " + prefixed("prefill-", prefill) + " " + prefixed("decode-", decode))
	if !ok {
		t.Skip("no configuration")
	}
	return c
}

// Whatever the pools have for themselves: the effective configuration is that of the plan, it
// repeats the plan, and says no more the second time.
func TestAnyPoolsRepeatThePlan(t *testing.T) {
	planned := 0
	rapid.Check(t, func(t *rapid.T) {
		c := anyOfPools(t)
		first, err := resolvePoolsOf(c)
		if err != nil {
			t.Skip(err)
		}
		planned++
		again, err := resolvePoolsOf(first.Config)
		if err != nil {
			t.Fatalf("%v, of\n%s", err, configText(&first.Config))
		}
		if got, want := configText(&again.Config), configText(&first.Config); got != want {
			t.Fatalf("\n%s\nwas\n%s", got, want)
		}
		for i := range first.Pools {
			if !reflect.DeepEqual(again.Pools[i], first.Pools[i]) {
				t.Fatalf("pool %d is\n%+v\nwas\n%+v", i, *again.Pools[i], *first.Pools[i])
			}
		}
	})
	t.Logf("%d plans", planned)
	if planned < 10 {
		t.Errorf("%d plans", planned)
	}
}

// resolvePoolsOf makes a plan without a workload.
func resolvePoolsOf(c Config) (*Plan, error) {
	p := newResolver(c)
	err := inOrder(func() error { return OpenDeployments(&p.Config) }, p.resolvePolicies, p.noteUnused, p.checkInputs, func() error { return resolvePools(p) })
	return p.Plan, err
}

func configText(c *Config) string {
	var b strings.Builder
	for s := range c.NotDefault() {
		fmt.Fprintf(&b, "%s=%v ", s.Name, Text(s.Value.Interface()))
	}
	return b.String()
}
