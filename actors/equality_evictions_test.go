package actors

import (
	"testing"

	"blis/internal/testsize"
	"blis/metrics"
	"blis/setup"
	"blis/vtime"
	"blis/workload"
)

// evictionClasses are the classes of requests in such trials, by label.
var evictionClasses = []string{"batch", "critical", "sheddable", "standard", "background"}

// drawEvicting is the random trial of a seed whose gateway evicts requests in flight.
func drawEvicting(seed uint64) *trial {
	var x *trial
	switch seed % 3 {
	case 0:
		x = drawTrial(seed)
		newDice(seed, 0x706f6c).drawPolicy(&x.Config)
	case 1:
		x = drawTrial(seed)
		newDice(seed, 0x6661696c).drawFailures(x)
	default:
		if x = drawRanked(seed); x.Config.Architecture == setup.PD {
			x = drawTrial(seed)
		}
	}
	newDice(seed, 0x67617465).drawGateway(x)
	d, c := newDice(seed, 0x6576696374), &x.Config
	c.InFlightEviction = true
	c.SaturationDetector = pick(d, setup.DetectConcurrency, setup.DetectConcurrency, setup.DetectTotal, setup.DetectUtilization)
	c.DispatchCredit = c.DispatchCredit && c.SaturationDetector == setup.DetectConcurrency
	c.MaxConcurrency = int64(d.between(1, 3))
	c.PerBandCapacity, c.MaxGatewayQueueDepth, c.QueueShedding = 0, 0, false // nobody is refused …
	c.AdmissionLatency = min(c.AdmissionLatency, 1000)
	if c.DispatchTickInterval > 1 && x.NoisyAutoscaler == 0 { // … and who waits does so for long
		c.RequestTTL = pick[vtime.Duration](d, 0, 100_000)
	}
	c.QueueDepthThreshold, c.KVCacheUtilThreshold = pick(d, 0.5, 1), pick(d, 0.05, 0.2)
	if c.DispatchOrder == "fifo" {
		c.DispatchOrder = "fcfs"
	}
	x.Classes = evictionClasses
	for i := range x.Requests {
		x.Requests[i].Class = workload.Label(d.IntN(len(x.Classes)))
	}
	return x
}

// TestEvictionAfterAnAnswer: an answer brings a request which evicts another when it enters, long before it is routed
// itself.
func TestEvictionAfterAnAnswer(t *testing.T) { mustAgree(t, drawEvicting(90166), everyExecutor(90166)) }

// TestEqualityOfEvictions draws clusters whose gateway evicts requests in flight.
func TestEqualityOfEvictions(t *testing.T) {
	var evicted, early, lost int
	c := compareDrawnOn(t, testsize.Of(60, 120, 300), drawEvicting, everyTick(), func(y *yield) {
		var e, b, f bool
		for i := range y.rows {
			r := &y.rows[i]
			if r.State != metrics.Evicted {
				f = f || r.Retries > 0
				continue
			}
			e, b = true, b || r.Scheduled == vtime.Never
		}
		for i, b := range []bool{e, b, e && f} {
			if b {
				*[]*int{&evicted, &early, &lost}[i]++
			}
		}
	})
	t.Logf("trials in which requests were evicted %d, before they ran %d, in which others were lost %d", evicted, early, lost)
	if c.cases >= 60 && (25*evicted < c.cases || early == 0) {
		t.Error("random trials cover too little of evictions")
	}
}
