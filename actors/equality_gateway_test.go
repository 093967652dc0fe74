package actors

import (
	"fmt"
	"testing"

	"blis/internal/testsize"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
)

// drawGateway gives a trial a queue before routing.
func (d dice) drawGateway(x *trial) {
	c := &x.Config
	c.FlowControl, c.ForceRouting = true, ""
	c.SaturationDetector = pick(d, setup.DetectConcurrency, setup.DetectConcurrency, setup.DetectTotal, setup.DetectUtilization, setup.DetectUtilization, setup.DetectNever)
	c.MaxConcurrency = int64(d.between(1, 6))
	c.QueueDepthThreshold, c.KVCacheUtilThreshold = pick(d, 0.5, 1, 3, 5), pick(d, 0.1, 0.4, 0.8)
	c.DispatchCredit = setup.DetectConcurrency == c.SaturationDetector && d.chance(0.4)
	c.FairnessPolicy = pick(d, "global-strict", "round-robin", "vtc")
	if c.FairnessPolicy == "vtc" && d.chance(0.5) {
		c.FairnessWeights = "red=3,default=0.7"
	}
	c.DispatchOrder = pick(d, "fcfs", "priority", "edf", "slo-deadline", "fifo")
	c.UsageLimitPolicy = pick(d, "priority-holdback", "priority-holdback-value", "soft-reflective")
	if c.UsageLimitPolicy != "soft-reflective" {
		c.UsageLimitThreshold = pick(d, 1, 0.5, 0.2)
	}
	c.DispatchTickInterval = pick[vtime.Duration](d, 1, 137, 1000, 1000, 50_000)
	if d.chance(0.3) {
		c.PerBandCapacity = int64(d.between(1, 10))
	}
	if d.chance(0.4) {
		c.MaxGatewayQueueDepth = int64(d.between(1, 20))
		c.QueueShedding = d.chance(0.6)
	}
	c.RequestTTL = pick[vtime.Duration](d, 0, 0, 1, 1000, 20_000, 300_000)
	c.DispatchPerCycle = int64(pick(d, 1, 1, 0, 3))
	c.InFlightEviction = d.chance(0.5) && c.Architecture != setup.PD
	if c.DispatchTickInterval == 1 { // a tick each µs, in the twin for as long as something waits
		c.RequestTTL = pick[vtime.Duration](d, 1, 1000, 5000)
	}
	if (c.AutoscalePolicy == "queue-depth" || x.NoisyAutoscaler != 0) && c.SaturationDetector != setup.DetectNever && c.KVStorage.String() == "" && d.chance(0.7) {
		c.MinReplicas = 0
	}
	if x.NoisyAutoscaler != 0 && c.RequestTTL == 0 { // else instances come and go for ever while blocks of an idle one keep the gate closed
		c.RequestTTL = 20_000
	}
}

func init() { stuckPatience, mostExtensions = vtime.Second, 2 } // signals may be refreshed each 50 µs meanwhile

// drawGated is the random trial of a seed with a gateway: of any cluster.
func drawGated(seed uint64) *trial {
	var x *trial
	switch seed % 4 {
	case 0:
		x = drawTrial(seed)
		newDice(seed, 0x706f6c).drawPolicy(&x.Config)
	case 1:
		x = drawDisaggregated(seed)
	case 2:
		x = drawTrial(seed)
		newDice(seed, 0x6661696c).drawFailures(x)
	default:
		x = drawRanked(seed)
	}
	newDice(seed, 0x67617465).drawGateway(x)
	return x
}

// everyTick are executors that execute every tick of gateways.
func everyTick() (list []Executor) {
	for _, x := range []Execution{{Workers: 1, Sequential: true}, {Workers: 2, Inline: -1}} {
		x.EveryTick = true
		list = append(list, Executor{fmt.Sprintf("every tick, %d workers", x.Workers), x})
	}
	return list
}

// TestEqualityOfGateways draws clusters behind a gateway. Ticks that are skipped leave no trace.
func TestEqualityOfGateways(t *testing.T) {
	var waited, shed, expired, timedOut, full, left int
	c := compareDrawnOn(t, testsize.Of(60, 120, 400), drawGated, everyTick(), func(y *yield) {
		var w, s, e, o, f, l bool
		for i := range y.rows {
			r := &y.rows[i]
			w = w || r.Routed != vtime.Never && r.Routed > r.Admitted+5_000
			s = s || r.State == metrics.Shed
			e = e || r.State == metrics.Expired
			o = o || r.Reason == metrics.AtGateway
			f = f || r.Reason == metrics.GatewayFull
			l = l || r.State == metrics.Waiting
		}
		for i, b := range []bool{w, s, e, o, f, l} {
			if b {
				*[]*int{&waited, &shed, &expired, &timedOut, &full, &left}[i]++
			}
		}
	})
	t.Logf("trials in which requests waited long %d, were shed %d, expired %d, timed out there %d, found no room %d, were left there %d", waited, shed, expired, timedOut, full, left)
	if c.cases >= 60 && (waited < 5 || shed == 0 || expired < 5 || timedOut == 0 || full < 5) {
		t.Error("random trials cover too little of the gateway")
	}
}

// TestGatewayNobodyWaitsAt: with a gateway that is always open every row is as without it.
func TestGatewayNobodyWaitsAt(t *testing.T) {
	cases, first := budget(t, testsize.Of(40, 80, 300))
	for seed := first; seed < first+uint64(cases); seed++ {
		x := drawGated(seed)
		c := &x.Config
		c.SaturationDetector, c.DispatchCredit, c.MinReplicas = setup.DetectNever, false, max(c.MinReplicas, 1)
		c.PerBandCapacity, c.MaxGatewayQueueDepth, c.QueueShedding, c.InFlightEviction = 0, 0, false, false
		e := everyExecutor(seed)[seed%10]
		with, err := x.play(e)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		usual := setup.DefaultConfig()
		c.GatewaySettings = usual.GatewaySettings
		without, err := x.play(e)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if with.digest != without.digest || len(with.rows) != len(without.rows) {
			t.Errorf("seed %d: digest %s, %d rows; without gateway %s, %d", seed, with.digest, len(with.rows), without.digest, len(without.rows))
		}
		for i := range with.rows {
			if with.rows[i] != without.rows[i] {
				t.Fatalf("seed %d: row %d\n got %+v\nwant %+v\n%s", seed, i, with.rows[i], without.rows[i], x.describe())
			}
		}
	}
}
