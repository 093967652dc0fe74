package actors

import (
	"strconv"
	"testing"

	"blis/internal/testsize"
)

// drawRanks gives the instances of a trial data-parallel ranks: of a dense model, or of one with
// experts, which step together; behind one endpoint or several.
func (d dice) drawRanks(x *trial) {
	c := &x.Config
	c.ForceRouting = ""
	if d.chance(0.6) {
		c.Model, c.Quantization, c.KVCacheDtype = "qwen/qwen3-30b-a3b", "", "auto"
		if c.Coefficients != "" && d.chance(0.5) {
			c.Coefficients = "h100"
		}
	}
	c.DataParallelSize = pick(d, 2, 2, 3, 4)
	c.DataParallelLB = pick(d, "internal", "internal", "external", "hybrid")
	if c.DataParallelLB == "hybrid" {
		c.DataParallelSize, c.DataParallelSizeLocal = 4, pick(d, 1, 2, 2, 4)
	}
	c.APIServerCount = pick(d, 0, 0, 1, 2, 5)
	c.EnableExpertParallel = d.chance(0.3)
	c.NumInstances = min(c.NumInstances, d.between(1, 3))
	c.MinReplicas = min(c.MinReplicas, c.NumInstances)
	if c.MaxReplicas > 0 {
		c.MaxReplicas = min(c.MaxReplicas, c.NumInstances+d.IntN(3))
	}
}

// drawRanked is the random trial of a seed in which instances have ranks: with tiers, with prefill and
// decode instances, with failures, or with storage tiers that they share.
func drawRanked(seed uint64) *trial {
	x, d := drawTrial(seed), newDice(seed, 0x72616e6b)
	if seed%4 == 3 {
		x = drawSharing(seed)
	}
	d.drawRanks(x)
	switch seed % 4 {
	case 1:
		newDice(seed, 0x70756c6c).drawDisaggregation(x)
		own := pick(d, &x.Config.Prefill, &x.Config.Decode)
		switch c := &x.Config; {
		case d.chance(0.2):
			own.Set("data-parallel-size", "1")
		case d.chance(0.3):
			own.Set("data-parallel-lb", "external")
		case d.chance(0.2) && c.DataParallelLB != "hybrid":
			own.Set("data-parallel-size", strconv.Itoa(d.between(2, 5)))
		}
	case 2:
		newDice(seed, 0x6661696c).drawFailures(x)
	}
	return x
}

// TestEqualityOfRanks draws clusters whose instances have data-parallel ranks.
func TestEqualityOfRanks(t *testing.T) {
	c := compareDrawn(t, testsize.Of(30, 60, 150), drawRanked)
	if c.cases < 60 { // few say nothing about shares
		return
	}
	if 8*c.preempted < c.cases || 10*c.scaled < c.cases || 20*c.redirected < c.cases || 20*c.failed < c.cases || c.promoted == 0 || 12*c.pd.completed < c.cases {
		t.Errorf("requests were preempted in %s of the trials, instances scaled in %s, requests were redirected in %s, lost in %s, read storage in %s, and were handed over in %s",
			c.share(c.preempted), c.share(c.scaled), c.share(c.redirected), c.share(c.failed), c.share(c.promoted), c.share(c.pd.completed))
	}
}
