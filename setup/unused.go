package setup

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"blis/policy"
	"blis/workload/spec"
	"blis/workload/traces"
)

// Settings that have no effect in a run because of other settings. That is no error:
// a configuration file may serve many runs, and the file that a run prints has all
// settings. A note keeps users from believing that such a setting counts.

// unused is a reason why settings have no effect.
type unused struct {
	applies  bool
	settings []string // names; those at their defaults are not noted
	because  string
}

// noteUnused notes the settings that have no effect.
func (p *resolver) noteUnused() error {
	c := &p.Config
	if !SeveralPools(c) {
		return noteLists(p, unusedOfInstances(c), unusedOfRanks(c), unusedOfPasses(c, Monolithic), unusedOfScaling(c), unusedOfDisaggregation(c), unusedOfCluster(c), unusedOfFailures(c), unusedOfGateway(c), unusedOfWorkload(c, p.spec))
	}
	return noteLists(p, unusedOfDisaggregation(c), unusedOfCluster(c), unusedOfFailures(c), unusedOfGateway(c), unusedOfWorkload(c, p.spec)) // its pools note the others
}

func noteLists(p *resolver, lists ...[]unused) error {
	for _, list := range lists {
		for _, i := range list {
			if i.applies {
				p.noteIfSet(i.settings, i.because)
			}
		}
	}
	return nil
}

// noteIfSet notes the ones among settings that are not at their defaults.
func (p *Plan) noteIfSet(settings []string, because string) {
	var list []string
	for s := range p.Config.Settings() {
		if slices.Contains(settings, s.Name) && !s.isDefault() {
			list = append(list, s.Name)
		}
	}
	if len(list) == 0 {
		return
	}
	verb := "has"
	if len(list) > 1 {
		verb = "have"
	}
	p.note("%s %s no effect: %s", strings.Join(list, ", "), verb, because)
}

func unusedOfPasses(c *Config, role Role) []unused {
	return []unused{{!hasPasses(c, role), passSettings, "instances form passes without work only where KV is copied to a CPU tier, or pulled by other instances"}}
}

func unusedOfInstances(c *Config) []unused {
	published := c.LatencyModel == "blackbox" && len(c.AlphaCoeffs) == 0 // found by the model's name
	return []unused{
		{c.ModelConfigFolder != "" && !published, []string{"model"}, "model-config-folder describes the model"},
		{c.TotalKVBlocks > 0 || c.NumGPUBlocksOverride > 0, []string{"gpu-memory-utilization", "activation-memory"}, "the number of KV blocks is given"},
		{!c.HasCPUTier(), kvTierSettings, "there is no CPU tier without kv-cpu-blocks or kv-cpu-size"},
		{c.HasCPUTier() && !c.MovesBlocks(), []string{"kv-offload-threshold"}, "kv-offload-policy is " + c.KVOffloadPolicy},
		{c.HasCPUTier() && c.MovesBlocks(), connectorSettings, "with kv-offload-policy threshold KV blocks move one by one, none is evicted from the CPU tier, and no request waits"},
	}
}

func unusedOfFailures(c *Config) []unused {
	return []unused{
		{!c.Fails(), failureSettings, "no instance fails without failures or mtbf"},
		{c.Fails() && c.MTBF == 0, []string{"mttr"}, "mtbf is 0"},
		{c.Fails() && c.Retries == 0, []string{"retry-backoff"}, "retries is 0"},
	}
}

var warmupSettings = []string{"warmup-duration", "warmup-curve", "warmup-penalty", "warmup-routable"}

func unusedOfScaling(c *Config) []unused {
	if c.AutoscalePolicy == "none" && c.Custom.Autoscale == nil {
		names := []string{"autoscale-interval", "autoscale-trigger", "min-replicas", "provisioning-delay", "model-load-time"}
		if !c.Fails() { // what was repaired warms up too
			names = append(names, warmupSettings...)
		}
		names = append(names, "drain-policy", "drain-timeout")
		if c.MaxReplicas != derivedMaxReplicas(c.NumInstances) { // which a printed configuration has
			names = append(names, "max-replicas")
		}
		return []unused{{true, names, "autoscale-policy is none"}}
	}
	return []unused{
		{c.DrainPolicy != DrainWait, []string{"drain-timeout"}, "with drain-policy " + c.DrainPolicy + " nobody waits"},
		{c.WarmupDuration == 0, []string{"warmup-curve", "warmup-penalty", "warmup-routable"}, "warmup-duration is 0"},
		{c.WarmupDuration > 0 && c.WarmupPenalty == 1, []string{"warmup-curve"}, "a warmup-penalty of 1 is none"},
		{c.MinReplicas == c.MaxReplicas, []string{"autoscale-policy"}, "min-replicas and max-replicas are the same"},
	}
}

func unusedOfWorkload(c *Config, s *spec.Spec) []unused {
	switch {
	case s != nil:
		return unusedBesideSpec(s)
	case c.Custom.Source != nil:
		return nil // the caller made the workload
	case c.Trace == "":
		return []unused{{true, ofTraces, "there is no trace"}}
	}
	return []unused{
		{true, []string{"num-requests"}, "the trace has its own requests; see trace-limit"},
		{true, []string{"think-time", "refusal-pause", "prompt-tokens", "prompt-tokens-stdev", "prompt-tokens-min", "prompt-tokens-max", "output-tokens", "output-tokens-stdev",
			"output-tokens-min", "output-tokens-max", "prefix-tokens"}, "the trace has its own requests"},
	}
}

// unusedBesideSpec returns settings that have no effect with a specification.
func unusedBesideSpec(s *spec.Spec) []unused {
	names := append([]string{"think-time", "arrival", "cv"}, ofTraces...)
	for _, of := range []string{"prompt-tokens", "output-tokens"} {
		names = append(names, of, of+"-stdev", of+"-min", of+"-max")
	}
	return []unused{
		{true, append(names, "prefix-tokens"), "the specification says what arrives"},
		{!s.SharesRate(), []string{"rate"}, "the clients of the specification do not share a rate"},
	}
}

// ofTraces are settings of traces.
var ofTraces = []string{"trace-format", "trace-ignore-columns", "trace-block-size", "trace-speedup", "trace-limit", "trace-offset", "spread-ties", "skip-bad-rows"}

// noteUnusedOfTrace notes settings that have no effect with the trace that was read.
func (p *resolver) noteUnusedOfTrace(t *traces.Trace) {
	if t.Format() != traces.Mooncake {
		p.noteIfSet([]string{"trace-block-size"}, fmt.Sprintf("the trace is of format %s and has no hash ids", t.Format()))
	}
	if !t.Paced() {
		p.noteIfSet([]string{"arrival", "cv"}, "the trace has its own arrivals")
		p.noteIfSet([]string{"workload-seed"}, "nothing of a trace is random")
	}
}

// NoteUnread notes settings of signals that no policy reads. signals are read by
// decisions of the router, checks by evaluations of the autoscaler. Settings that only some of
// several pools have are not looked at.
func (p *Plan) NoteUnread(signals, checks policy.Signals) {
	c := &p.Config
	for _, pool := range p.Pools[1:] {
		if !reflect.DeepEqual(pool.Observability, p.Pools[0].Observability) {
			return
		}
	}
	periodic := c.InFlight == "periodic"
	refreshed, published := policy.NoSignals, policy.NoSignals // refreshed at the interval; published by instances
	for _, row := range policy.SignalTable() {
		s := row.Bit
		fresh, apart := p.Pools[0].Observability.Fresh[s]
		switch {
		case row.Key == "":
		case apart && s&signals == 0 && s&checks != 0:
			p.note("observability.%s has no effect: only the autoscaler reads it; see autoscale.refresh", row.Key)
		case apart && s&signals == 0:
			p.note("observability.%s has no effect: no policy reads it", row.Key)
		case s&signals != 0:
			if !apart {
				refreshed |= s
			}
			if fresh != OnDemand {
				published |= s
			}
		}
	}
	inFlight := signals&policy.InFlight != 0
	if refreshed == policy.NoSignals && !(inFlight && periodic) {
		because := "no policy reads a signal that is refreshed by it"
		if checks.Published() != policy.NoSignals {
			because = "only the autoscaler reads signals of instances; see autoscale.refresh"
		}
		p.noteIfSet([]string{"snapshot-refresh-interval"}, because)
	}
	if published|checks.Published() == policy.NoSignals {
		p.noteIfSet([]string{"signals"}, "no policy reads what instances publish")
	}
	if !inFlight {
		p.noteIfSet([]string{"in-flight"}, "no policy reads the requests in flight")
	}
	p.noteUnreadPrefixes(signals&policy.Prefixes != 0)
}

// noteUnreadPrefixes notes settings of expected prefix hits that have no effect.
func (p *Plan) noteUnreadPrefixes(read bool) {
	c, blocks := &p.Config, int64(indexedBlocks(&p.Config))
	switch {
	case !read:
		p.noteIfSet([]string{"prefix-index", "prefix-index-blocks", "kv-event-delay"}, "no policy reads expected prefix hits")
	case c.PrefixIndex == IndexEvents && !c.EnablePrefixCaching:
		p.noteIfSet([]string{"prefix-index", "prefix-index-blocks", "kv-event-delay"}, "prefix caching is off")
	case c.PrefixIndex == IndexEvents:
		p.noteIfSet([]string{"prefix-index-blocks"}, "with prefix-index events the router knows what instances say")
	default:
		p.noteIfSet([]string{"kv-event-delay"}, "prefix-index is "+c.PrefixIndex)
		if blocks > 0 && blocks < c.TotalKVBlocks && c.EnablePrefixCaching {
			p.note("prefix-index-blocks is %d, less than the %d blocks of an instance's cache: the router forgets prompts that are still there", blocks, c.TotalKVBlocks)
		}
	}
}
