package actors

import (
	"fmt"
	"strings"

	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// drawPrefixes chooses how the router knows what is cached, and sends some
// requests where no policy would.
func (d dice) drawPrefixes(x *trial) {
	c := &x.Config
	if d.chance(0.5) {
		c.PrefixIndex = "events"
		c.KVEventDelay = pick[vtime.Duration](d, 0, 0, 1, 100, 3000)
	} else {
		c.PrefixIndexBlocks = pick(d, "auto", "auto", "1", "7", "200")
	}
	if x.ReadsSignals != policy.NoSignals && d.chance(0.5) {
		x.ReadsSignals |= policy.Prefixes
	}
	d.drawWait(x)
	if x.NoisyAutoscaler != policy.NoSignals || c.AutoscalePolicy != "none" || d.chance(0.7) {
		return // an instance that is chosen may not be there
	}
	var forced []string
	for i := range d.between(1, 20) {
		forced = append(forced, fmt.Sprintf("%d=%d", 3*i, d.IntN(c.NumInstances)))
	}
	c.ForceRouting = strings.Join(forced, ",")
}

// trialSignal is a signal of another module that reads everything.
var trialSignal = policy.RegisterSignal("trial_sum", func(s *policy.InstanceState) float64 {
	return float64(s.Waiting+3*s.Running+5*s.Used+7*s.Blocks+11*s.Preemptions+13*s.CachedTokens+17*s.LookedUpTokens+
		19*s.TTFT+23*s.TPOT+29*s.TTFTs+31*s.TPOTs+37*s.Judged+41*s.Attained+43*s.WaitingTokens+47*s.PrefillTokens+53*s.PrefillMicros+
		59*s.TierUsed+67*s.Stores+71*s.Loads+73*s.ChosenStores) / 8
})

// drawWait lets the estimated wait, and a signal of another module, play a part.
func (d dice) drawWait(x *trial) {
	for _, signals := range []*policy.Signals{&x.ReadsSignals, &x.NoisyAutoscaler} {
		if *signals != policy.NoSignals && d.chance(0.4) {
			*signals |= policy.EstimatedWait
		}
		if *signals != policy.NoSignals && d.chance(0.3) {
			*signals |= policy.ClassLatency
		}
		if *signals != policy.NoSignals && d.chance(0.3) {
			*signals |= trialSignal
		}
		for _, of := range tierSignals {
			if *signals != policy.NoSignals && d.chance(0.3) {
				*signals |= of
			}
		}
	}
	if d.chance(0.6) {
		if x.Fresh == nil {
			x.Fresh = map[policy.Signals]cadence{}
		}
		x.Fresh[policy.EstimatedWait] = pick[cadence](d, 0, 0, onDemand, 50, 700)
		x.Fresh[trialSignal] = pick[cadence](d, 0, 0, onDemand, 50, 700)
		for _, of := range tierSignals {
			if d.chance(0.5) {
				x.Fresh[of] = pick[cadence](d, 0, onDemand, 50, 700)
			}
		}
	}
}

// tierSignals are the signals of the tiers below the GPU.
var tierSignals = []policy.Signals{policy.CPUKVUse, policy.TransferQueue, policy.PendingOffloads, policy.StorageKVUse}

// forced is what is forced of the requests that there are: a reduced trial has
// fewer than the one that was drawn.
func (x *trial) forced() string {
	requests := x.Config.NumRequests
	if x.Requests != nil {
		requests = int64(len(x.Requests))
	}
	if x.ClosedLoop != 0 { // how many come follows from answers, and may be none under a horizon
		requests = 0
	}
	var kept []string
	for entry := range strings.SplitSeq(x.Config.ForceRouting, ",") {
		var request, instance int64
		if n, _ := fmt.Sscanf(entry, "%d=%d", &request, &instance); n == 2 && request < requests {
			kept = append(kept, entry)
		}
	}
	return strings.Join(kept, ",")
}

// sumPrefixes adds up what is expected of the instances.
func sumPrefixes(signals policy.Signals, s *policy.RouterState) int64 {
	sum := int64(0)
	if signals&policy.Prefixes != 0 {
		for i := range s.View.Len() {
			sum += int64(i+1) * int64(s.Expected(i))
		}
	}
	return sum
}

// sumClasses adds up how requests of each class fared.
func sumClasses(signals policy.Signals, s *policy.RouterState) int64 {
	sum := int64(0)
	if signals&policy.ClassLatency != 0 {
		for class := range s.Classes() {
			c := s.Class(workload.Label(class))
			sum += int64(class+1) * (int64(c.TTFT) + int64(c.TPOT) + int64(c.E2E) + int64(c.Ended+2*c.Judged+3*c.Attained))
		}
	}
	return sum
}

// setFresh says how fresh single signals are.
func setFresh(c *Config, fresh map[policy.Signals]cadence) {
	for signal, every := range fresh { // any order: each has its own field
		text := vtime.Duration(every).String()
		switch every {
		case immediate:
			text = policy.Immediate
		case onDemand:
			text = policy.OnDemand
		}
		*c.Policies.Observability.Fresh.Of(signal) = text
	}
}
