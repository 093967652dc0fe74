package setup

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"blis/engine"
)

// Each setting either counts in every run, or is an error or a note where it
// does not: a new one has to be thought about.
func TestEverySettingCountsOrIsNoted(t *testing.T) {
	counts := strings.Fields(`hardware tp dtype quantization kv-cache-dtype latency-model coefficients alpha-coeffs beta-coeffs model-config-folder hardware-config num-instances total-kv-blocks
		num-gpu-blocks-override kv-cpu-blocks kv-cpu-size block-size-in-tokens async-scheduling scheduler preemption-policy
		policies admission-policy admission-latency priority-policy routing-policy routing-latency timeout trace
		seed horizon measure-from measure-to slo-targets slow-within-class force-routing fitness-weights workload-spec scenario concurrency failures mtbf architecture deployments node-pools data-parallel-size
		flow-control`)
	for f := range reflect.TypeFor[engine.Args]().Fields() { // an engine reads all of its arguments
		counts = append(counts, f.Tag.Get("json"))
	}
	refused := slices.Concat(gatewaySettings, []string{"token-bucket-capacity", "token-bucket-refill-rate", "routing-scorers"})
	noted := []string{"cost-per-replica-hour", "gpu-hour-price", "preemption-ema-gamma", "signals", "snapshot-refresh-interval", "in-flight", "prefix-index", "prefix-index-blocks", "kv-event-delay", "trace-block-size", "enable-expert-parallel", "ep-imbalance", "rate", "arrival", "cv", "workload-seed"} // by what policies read, the trace, the model, and the node pools
	collect := func(change func(*Config)) {
		c := DefaultConfig()
		change(&c)
		for _, list := range [][]unused{unusedOfInstances(&c), unusedOfRanks(&c), unusedOfPasses(&c, Monolithic), unusedOfScaling(&c), unusedOfDisaggregation(&c), unusedOfCluster(&c), unusedOfFailures(&c), unusedOfWorkload(&c, nil)} {
			for _, i := range list {
				noted = append(noted, i.settings...)
			}
		}
	}
	collect(func(*Config) {})
	collect(func(c *Config) { c.KVCPUBlocks, c.KVOffloadPolicy = 7, ThresholdOffload })
	collect(func(c *Config) { c.AutoscalePolicy, c.Trace = "threshold", "some" })
	for s := range new(Config).Settings() {
		name := s.Name
		in := 0
		for _, list := range [][]string{counts, refused, noted} {
			if slices.Contains(list, name) {
				in++
			}
		}
		if in != 1 {
			t.Errorf("%s stands in %d of the lists of settings that always count, that are refused and that are noted; want one", name, in)
		}
	}
}
