package actors

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"blis/bundle"
	"blis/latency"
	"blis/policy"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// trial is a configuration that can be run any number of times and printed:
// what a run uses up is made anew for each.
type trial struct {
	Config   Config             `json:"config"`
	Requests []workload.Request `json:"requests,omitempty"` // in place of generated ones
	Tenants  []string           `json:"tenants,omitempty"`  // names of their labels
	Classes  []string           `json:"classes,omitempty"`

	// ClosedLoop, if not 0, is the seed of clients whose requests follow from answers.
	ClosedLoop uint64 `json:"closed_loop,omitempty"`
	// SometimesNoInstance is a routing policy that has no instance for every fourth request.
	SometimesNoInstance bool `json:"sometimes_no_instance,omitempty"`
	// AllFields replaces the latency model by one that reads every field of
	// its inputs, so that a wrong sum cannot hide.
	AllFields bool `json:"all_fields,omitempty"`
	// Delay, if positive, is an admission policy that puts every third
	// request off by this long, twice.
	Delay vtime.Duration `json:"delay,omitempty"`
	// Hints makes the requests' hints their priorities.
	Hints bool `json:"hints,omitempty"`
	// ReadsSignals, if not nothing, is an admission policy that lets everything
	// that these signals tell it play a part.
	ReadsSignals policy.Signals `json:"reads_signals,omitempty"`
	// NoisyAutoscaler, if not nothing, is an autoscaler that observes these signals, and
	// wants as many instances as the last digits of what they tell it.
	NoisyAutoscaler policy.Signals `json:"noisy_autoscaler,omitempty"`
	// Checks, if positive, is the interval at which the autoscaler sees the instances.
	Checks vtime.Duration `json:"checks,omitempty"`
	// Bundle, if not empty, is the text of the policies' file.
	Bundle string `json:"bundle,omitempty"`
	failureTrial
	// Fresh says how fresh single signals are.
	Fresh map[policy.Signals]cadence `json:"fresh,omitempty"`
}

// config is the configuration of one run.
func (x *trial) config() (Config, error) {
	cfg := x.Config
	if x.Bundle != "" {
		b, err := bundle.Parse("bundle.yaml", []byte(x.Bundle))
		if err != nil {
			return cfg, err
		}
		cfg.Policies = b
	}
	if x.Requests != nil {
		var labels workload.Labels
		for _, name := range x.Tenants {
			labels.Tenants.Label(name)
		}
		for _, name := range x.Classes {
			labels.Classes.Label(name)
		}
		source, err := workload.NewSlice(append([]workload.Request(nil), x.Requests...), labels)
		if err != nil {
			return cfg, err
		}
		cfg.Custom.Source = source
	}
	if err := x.setTalk(&cfg); err != nil {
		return cfg, err
	}
	if x.AllFields {
		cfg.Custom.Latency = allFields{}
	}
	if x.Delay > 0 {
		cfg.Custom.Admission = func(policy.Env) policy.Admission { return &postpone{wait: x.Delay, asked: map[int64]int{}} }
	}
	if x.ReadsSignals != policy.NoSignals {
		cfg.Custom.Admission = func(policy.Env) policy.Admission { return readsSignals{x.ReadsSignals} }
	}
	if x.NoisyAutoscaler != policy.NoSignals {
		cfg.Custom.Autoscale = func(policy.Env) policy.Autoscale { return noisyAutoscaler{x.NoisyAutoscaler} }
	}
	x.setFreshAndFailures(&cfg)
	if x.Checks > 0 {
		cfg.Policies.Autoscale.Refresh = x.Checks.String()
	}
	cfg.ForceRouting = x.forced()
	if x.SometimesNoInstance {
		cfg.Custom.Routing = newSometimesNoInstance
	}
	if x.Hints {
		cfg.Custom.Priority = func(policy.Env) policy.Priority { return byHint{} }
	}
	return cfg, nil
}

// MarshalJSON writes of the configuration only what is not the default.
func (x *trial) MarshalJSON() ([]byte, error) {
	config := map[string]any{}
	for s := range x.Config.NotDefault() {
		config[s.Name] = s.Value.Interface()
	}
	type plain trial // without this method
	return json.Marshal(struct {
		Config map[string]any `json:"config"`
		*plain
	}{config, (*plain)(x)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (x *trial) UnmarshalJSON(text []byte) error {
	type plain trial
	x.Config = DefaultConfig()
	return json.Unmarshal(text, (*plain)(x))
}

// describe is the trial as BLIS_EQUALITY_TRIAL reads it.
func (x *trial) describe() string {
	text, err := json.Marshal(x)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// allFields is a latency model in which every field counts.
type allFields struct{}

func (allFields) Queueing(in latency.QueueInput) float64 {
	return float64(10+in.Input+3*in.Running+5*in.Waiting+2*in.UsedBlocks+in.FreeBlocks/4+in.CachedTokens%7+in.PromptTokens%5) + float64(9*in.PreemptionEMA)
}

func (allFields) Step(b *latency.Batch) float64 {
	return float64(90+3*b.PrefillTokens+7*b.DecodeTokens+11*b.PrefillRequests+13*b.DecodeRequests+b.PrefillPairs/17+b.PrefillContext/5+
		b.DecodeContext/3+b.DecodeBlocks*2+19*b.Preempted+23*b.SampledRows) + float64(29*b.PreemptionEMA)
}

func (allFields) TokenOverhead() float64   { return 31 }
func (allFields) RequestOverhead() float64 { return 37 }

// postpone admits everything, some of it late.
type postpone struct {
	wait  vtime.Duration
	asked map[int64]int
}

func (*postpone) Observes() policy.Signals { return policy.NoSignals }

func (p *postpone) Decide(r *policy.Request, _ *policy.RouterState, _ vtime.Time) policy.AdmissionDecision {
	if p.asked[r.ID]++; r.ID%3 == 0 && p.asked[r.ID] <= 2 {
		return policy.AdmissionDecision{Verdict: policy.Delay, Wait: p.wait}
	}
	return policy.AdmissionDecision{Verdict: policy.Admit}
}

// readsSignals decides by the last digits of all that it may read.
type readsSignals struct{ signals policy.Signals }

func (c readsSignals) Observes() policy.Signals { return c.signals }

func (c readsSignals) Decide(r *policy.Request, s *policy.RouterState, now vtime.Time) policy.AdmissionDecision {
	sum := int64(r.Delays) + s.Rejected
	if c.signals&policy.Active != 0 {
		sum += 3*s.Active() + 5*s.ActiveOf(r.Tenant) + int64(s.Throughput(now))
	}
	if c.signals&policy.Rates != 0 {
		sum += int64(s.Rate(now)) + 7*int64(s.RateOf(r.Tenant, now)) + s.RequestsOf(r.Tenant) + int64(s.ClassOf(r.Tenant))
		if s.Burst(r.Tenant, now) {
			sum++
		}
	}
	sum += sumView(c.signals, s.View) + sumPrefixes(c.signals, s) + sumClasses(c.signals, s)
	switch {
	case sum%11 == 0:
		return policy.AdmissionDecision{Verdict: policy.Reject}
	case sum%4 == 0 && r.Delays < 3:
		return policy.AdmissionDecision{Verdict: policy.Delay, Wait: vtime.Duration(1 + 100*(sum%5))}
	}
	return policy.AdmissionDecision{Verdict: policy.Admit}
}

// sumView adds up what these signals tell of the instances.
func sumView(signals policy.Signals, view *policy.View) int64 {
	sum := int64(0)
	for i := range view.Len() {
		if signals&policy.InFlight != 0 {
			sum += view.InFlight(i)
		}
		if signals&policy.QueueDepth != 0 {
			sum += int64(i+2) * view.QueueDepth(i)
		}
		if signals&policy.BatchSize != 0 {
			sum += view.BatchSize(i)
		}
		if signals&policy.KVUse != 0 {
			sum += view.UsedBlocks(i)
		}
		if signals&policy.HitRate != 0 {
			sum += int64(100 * view.HitRate(i))
		}
		if signals&policy.EstimatedWait != 0 {
			sum += int64(view.EstimatedWait(i))
		}
		if signals&policy.CPUKVUse != 0 {
			sum += view.UsedEntries(i) + 3*view.CPUEntries
		}
		if signals&policy.TransferQueue != 0 {
			stores, loads := view.Transfers(i)
			sum += stores + 3*loads
		}
		if signals&policy.PendingOffloads != 0 {
			sum += view.PendingOffloads(i)
		}
		if signals&policy.StorageKVUse != 0 {
			sum += view.StorageEntries(i)
		}
		if signals&trialSignal != 0 {
			sum += int64(view.Value(trialSignal, i))
		}
		if signals&policy.RecentLatency != 0 {
			share, of := view.RecentAttainment(i)
			sum += int64(view.RecentTTFT(i)) + int64(view.RecentTPOT(i)) + int64(10*share) + of
		}
	}
	return sum
}

// noisyAutoscaler scales by the last digits of all that it may read.
type noisyAutoscaler struct{ signals policy.Signals }

func (w noisyAutoscaler) Observes() policy.Signals { return w.signals }

func (w noisyAutoscaler) Evaluate(c *policy.AutoscaleContext) policy.ScaleDecision {
	sum := sumView(w.signals, c.View) + sumClasses(w.signals, c.State) + int64(c.Ready) + int64(c.Now/700) + c.AtGateway
	if ago, ever := c.SinceLastScale(); ever {
		sum += int64(ago / 700)
	}
	if w.signals&policy.Active != 0 {
		sum += c.State.Active()
	}
	target := int32(sum % 7)
	if target == c.Replicas || c.View.Len() > 40 { // each action makes instances
		return policy.ScaleDecision{Action: policy.Hold, Target: c.Replicas}
	}
	return policy.ScaleDecision{Action: policy.ScaleUp, Target: target, Reason: policy.ByPolicy}
}

// dice is where random trials come from.
type dice struct{ *rand.Rand }

func (d dice) chance(p float64) bool      { return d.Float64() < p }
func (d dice) between(low, high int) int  { return low + d.IntN(high-low+1) }
func (d dice) tokens(low, high int) int32 { return int32(d.between(low, high)) }
func pick[T any](d dice, choices ...T) T  { return choices[d.IntN(len(choices))] }

// drawTrial is the random trial of a seed. Values come from few choices, many
// of them at the edge of something, so that events meet at one instant.
func drawTrial(seed uint64) *trial {
	d := newDice(seed, 0x626c6973)
	x := &trial{Config: DefaultConfig()}
	c := &x.Config
	c.Seed = d.Uint64() >> 32
	if d.chance(0.2) {
		other := d.Uint64() >> 32
		c.WorkloadSeed = &other
	}
	d.drawLatency(x)
	d.drawInstances(c)
	span := d.drawTraffic(x)
	d.drawPolicies(x)
	if x.NoisyAutoscaler != policy.NoSignals || c.AutoscalePolicy != "none" { // every check may make an instance
		c.AutoscaleInterval = max(700, span/vtime.Duration(d.between(3, 15)))
	}
	if d.chance(0.4) {
		c.Horizon = span * vtime.Duration(d.between(2, 12)) / 10
	}
	if d.chance(0.25) {
		c.MeasureFrom = span / vtime.Duration(d.between(2, 6))
		if d.chance(0.5) {
			c.MeasureTo = c.MeasureFrom + 1 + span/vtime.Duration(d.between(2, 4))
		}
	}
	if d.chance(0.5) {
		c.SLOTargets = "standard:ttft=20ms,tpot=3ms"
	}
	c.SlowWithinClass = d.chance(0.5)
	d.drawPrefixes(x)
	drawTiers(seed, c) // by dice of their own: other draws stay as they were
	return x
}

// drawInstances chooses limits, a cache that is mostly too small, and flags.
func (d dice) drawInstances(c *Config) {
	c.NumInstances = pick(d, 1, 1, 2, 3, 4, 5, 8, 9)
	c.BlockSizeInTokens = pick[int32](d, 1, 4, 8, 16, 16, 16, 32)
	held := pick(d, 70, 100, 140, 200, 350) + d.IntN(40) // tokens
	if d.chance(0.25) {
		held = 40_000
	}
	c.TotalKVBlocks = int64(max(3, held/int(c.BlockSizeInTokens)))
	c.MaxNumSeqs = pick[int32](d, 1, 3, 8, 64, 64, 64, 64)
	c.MaxNumBatchedTokens = max(c.MaxNumSeqs, pick[int32](d, 1, 16, 48, 100, 512, 2048, 2048))
	c.LongPrefillTokenThreshold = pick[int32](d, 0, 0, 0, 8, 33)
	c.MaxModelLen = pick[int32](d, 0, 0, 0, 64, 131)
	c.EnablePrefixCaching = d.chance(0.9)
	c.EnableChunkedPrefill = d.chance(0.85)
	c.SchedulerReserveFullISL = d.chance(0.6)
	c.AsyncScheduling = new(d.chance(0.45))
	c.Scheduler = pick(d, "fcfs", "fcfs", "priority-fcfs", "sjf", "reverse-priority")
	c.PreemptionPolicy = pick(d, "auto", "auto", "fcfs", "priority")
	if d.chance(0.25) { // nothing but the cache is in the way: preemption
		c.NumInstances = pick(d, 1, 1, 2, 3)
		c.TotalKVBlocks = int64(max(3, d.between(90, 180)/int(c.BlockSizeInTokens)))
		c.MaxNumSeqs, c.MaxNumBatchedTokens, c.MaxModelLen = 64, 512, 0
	}
}

// drawPolicies chooses the control plane: latencies, admission, routing and
// how old what it sees may be.
func (d dice) drawPolicies(x *trial) {
	c := &x.Config
	latencies := []vtime.Duration{0, 0, 0, 1, 250, 4000}
	c.AdmissionLatency, c.RoutingLatency = pick(d, latencies...), pick(d, latencies...)
	switch {
	case x.SometimesNoInstance || d.chance(0.2): // what follows from an end at the routing is read before it is routed
		x.ReadsSignals = policy.Signals(d.IntN(1 << 8))
	case d.chance(0.1):
		x.Delay = vtime.Duration(pick(d, 1, 100, 3000))
	case d.chance(0.2):
		c.AdmissionPolicy = "token-bucket"
		c.TokenBucketCapacity = float64(d.between(50, 2000))
		c.TokenBucketRefillRate = float64(d.between(1, 100) * 1000)
	case d.chance(0.3):
		c.AdmissionPolicy = pick(d, "rate-limit", "tenant-quota", "saturation-shed")
		c.Policies.Admission = bundle.Selection{Type: c.AdmissionPolicy, Params: map[string][]policy.Setting{
			"rate-limit":      {{Name: "rate", Value: fmt.Sprint(d.between(1, 1000))}, {Name: "burst", Value: fmt.Sprint(d.between(1, 9))}, {Name: "per_tenant", Value: pick(d, "true", "false")}},
			"tenant-quota":    {{Name: "max_active", Value: fmt.Sprint(d.between(0, 9))}, {Name: "delay", Value: pick(d, "0", "100", "3ms")}, {Name: "tenants.red", Value: "2"}},
			"saturation-shed": {{Name: "threshold", Value: pick(d, "0.2", "0.5", "1")}},
		}[c.AdmissionPolicy]}
	case d.chance(0.02):
		c.AdmissionPolicy = "reject-all"
	}
	c.PriorityPolicy = pick(d, "constant", "slo-based", "inverted-slo", "deadline-aware", "tenant-priority")
	c.RoutingPolicy = pick(d, "round-robin", "least-loaded", "least-loaded", "weighted", "weighted", "prefix-affinity", "power-of-two", "always-busiest", "session-hash")
	if c.RoutingPolicy == "weighted" && d.chance(0.8) {
		c.RoutingScorers = d.scorers()
	}
	if d.chance(0.55) {
		c.SnapshotRefreshInterval = pick[vtime.Duration](d, 50, 100, 700, 1000, 5000, 50_000)
		c.InFlight = pick(d, "immediate", "periodic")
	}
	c.Signals = pick(d, "live", "live", "per-step")
	for s := policy.QueueDepth; s <= policy.RecentLatency; s <<= 1 {
		if s.Published() != 0 && d.chance(0.3) {
			if x.Fresh == nil {
				x.Fresh = map[policy.Signals]cadence{}
			}
			x.Fresh[s] = pick[cadence](d, 0, 0, onDemand, 50, 100, 700, 3000)
		}
	}
	if d.chance(0.3) {
		x.NoisyAutoscaler = policy.Signals(1 + d.IntN(1<<8-1))
		c.MaxReplicas = c.NumInstances + d.IntN(5)
		c.MinReplicas = 1 + d.IntN(c.NumInstances)
		c.ProvisioningDelay = setup.RandomDuration{Mean: pick[vtime.Duration](d, 0, 100, 3000), CV: pick(d, 0, 0, 0.5, 2)}
		c.ModelLoadTime = setup.RandomDuration{Mean: pick[vtime.Duration](d, 0, 50, 2000), CV: pick(d, 0, 0.5)}
		c.WarmupDuration = pick[vtime.Duration](d, 0, 2000, 20_000)
		c.WarmupPenalty = pick(d, 1, 1.5, 3.3)
		c.WarmupCurve = pick(d, "linear", "exponential", "step")
		c.WarmupRoutable = d.chance(0.7)
		c.DrainPolicy = pick(d, "wait", "immediate", "redirect")
		c.DrainTimeout = pick[vtime.Duration](d, 0, 500, 5000)
		c.AutoscaleTrigger = pick(d, "periodic", "event", "event", "queue>0, load<0.5 for 2ms", "rate-change>0.2", "kv>0.3 for 700us,attainment<0.9,rate>20, batch<0.9")
		x.Checks = pick[vtime.Duration](d, 0, 0, 50, 700, 3000, 20_000)
		if d.chance(0.3) { // a real one, which acts seldom
			x.NoisyAutoscaler = policy.NoSignals
			c.AutoscalePolicy = pick(d, "threshold", "target-utilization", "queue-depth")
		}
	}
	c.AutoscaleInterval = pick[vtime.Duration](d, 0, 700, 5000, 15*vtime.Second)
}

// scorers is a random subset of the scorers with random weights.
func (d dice) scorers() string {
	names := []string{"prefix-affinity", "queue-depth", "waiting-queue", "kv-utilization", "load-balance", "active-requests", "session-affinity", "cache-hit-rate", "prefix-match", "running-requests", "vllm-dp", "load-aware", "no-hit-lru"}
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var list []string
	for _, name := range names[:d.between(1, len(names))] {
		list = append(list, fmt.Sprintf("%s:%g", name, pick(d, 1, 2, 3, 0.7)))
	}
	return strings.Join(list, ",")
}
