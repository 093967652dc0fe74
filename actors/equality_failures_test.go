package actors

import (
	"fmt"
	"strings"
	"testing"

	"blis/internal/testsize"
	"blis/setup"
	"blis/vtime"
)

// failureTrial is the part of a trial in which instances fail.
type failureTrial struct {
	// FailureFile, if not empty, is the text of the file of failures.
	FailureFile string `json:"failure_file,omitempty"`
}

// setFreshAndFailures sets how fresh signals are, and what fails.
func (x *trial) setFreshAndFailures(cfg *Config) {
	setFresh(cfg, x.Fresh)
	*cfg = withFailures(*cfg, x.FailureFile)
}

// drawFailures gives a trial failures: few or many, that meet other events at one instant.
func (d dice) drawFailures(x *trial) {
	c := &x.Config
	c.ForceRouting = ""
	instance := func() string {
		switch {
		case d.chance(0.15):
			return "all"
		case c.Architecture != setup.PD:
			return fmt.Sprint("instance-", d.IntN(c.NumInstances))
		case d.chance(0.1):
			return pick(d, "prefill", "decode")
		case d.chance(0.3):
			return fmt.Sprint("instance-", d.IntN(c.PrefillReplicas+c.DecodeReplicas))
		case d.chance(0.5):
			return fmt.Sprint("prefill/", d.IntN(c.PrefillReplicas))
		}
		return fmt.Sprint("decode/", d.IntN(c.DecodeReplicas))
	}
	time := func() vtime.Duration { return pick[vtime.Duration](d, 1, 50, 100, 699, 1000, 5000, 20_000, 100_000) }
	var b strings.Builder
	b.WriteString("failures:\n")
	for range d.between(1, 4) {
		kind, factor := "crash", ""
		if d.chance(0.25) {
			kind, factor = "slow", fmt.Sprintf(", factor: %v", pick(d, 1, 1.5, 3, 100.0))
		}
		if c.Architecture == setup.PD && d.chance(0.3) {
			kind, factor = "link", fmt.Sprintf(", bandwidth: %v", pick(d, 0, 0, 0.5, 0.01, 1))
		}
		when := fmt.Sprintf("at: %dus, for: %dus", time()+vtime.Duration(d.IntN(3)*d.IntN(20_000)), pick[vtime.Duration](d, 1, 100, 700, 1000, 5000, 20_000))
		switch {
		case d.chance(0.3):
			when = fmt.Sprintf("mtbf: %dus, mttr: %q", 2000+10*time(), fmt.Sprintf("%dus%s", time()/10+1, pick(d, "", ",cv=0.5")))
		case d.chance(0.05):
			when = fmt.Sprintf("at: %dus", time())
		}
		fmt.Fprintf(&b, "  - {%s: %s, %s%s}\n", kind, instance(), when, factor)
	}
	if d.chance(0.5) {
		fmt.Fprintf(&b, "health_check: {interval: %dus, failures: %d, successes: %d}\n", pick(d, 50, 100, 700, 1000, 5000), d.between(1, 3), d.between(1, 3))
	}
	if d.chance(0.8) {
		fmt.Fprintf(&b, "retry: {router: %d, redirect_latency: %dus, migrate: %v, client: %d, backoff: %dus}\n", pick(d, 0, 0, 1, 3, 20), pick(d, 1, 1, 100, 1000),
			d.chance(0.5), pick(d, 0, 0, 1, 4), pick(d, 1, 100, 5000))
	}
	x.FailureFile = b.String()
	if c.WarmupDuration == 0 && d.chance(0.3) {
		c.WarmupDuration, c.WarmupRoutable = pick[vtime.Duration](d, 100, 2000, 20_000), d.chance(0.5)
	}
}

// drawStorageLinks lets links of the storage tiers of a trial be slow, or down, for a while.
func (d dice) drawStorageLinks(x *trial) {
	tiers := strings.Split(x.Config.KVStorage.String(), ";")
	var b strings.Builder
	b.WriteString("failures:\n")
	for range d.between(1, 3) {
		name, _, _ := strings.Cut(tiers[d.IntN(len(tiers))], ",")
		when := fmt.Sprintf("at: %dus, for: %dus", pick[vtime.Duration](d, 1, 699, 5000, 50_000)+vtime.Duration(d.IntN(50_000)), pick[vtime.Duration](d, 1, 700, 5000, 200_000))
		if d.chance(0.6) {
			when = fmt.Sprintf("mtbf: %dus, mttr: %dus", 500+d.IntN(20_000), 1+d.IntN(10_000))
		}
		fmt.Fprintf(&b, "  - {link: %s, %s, bandwidth: %v}\n", name, when, pick(d, 0, 0, 0, 0.5, 0.01, 1))
	}
	x.FailureFile = b.String()
}

// drawFailingPools is the random trial of a seed in which prefill and decode instances fail.
func drawFailingPools(seed uint64) *trial {
	x := drawDisaggregated(seed)
	newDice(seed, 0x6c696e6b).drawFailures(x)
	x.Config.PDHoldTimeout = min(x.Config.PDHoldTimeout, 500_000) // else there are failures for many minutes
	return x
}

// TestEqualityOfFailingPools draws clusters of prefill and decode instances that fail.
func TestEqualityOfFailingPools(t *testing.T) {
	c := compareDrawn(t, testsize.Of(40, 80, 120), drawFailingPools)
	t.Logf("trials with some request of a kind: %+v", c.pd)
	if c.cases < 80 { // few say nothing about shares
		return
	}
	if 6*c.failed < c.cases || 8*c.retried < c.cases || 20*c.recovered < c.cases {
		t.Errorf("requests failed in %s of the trials, were tried again in %s, and completed then in %s: want a sixth, an eighth and a twentieth", c.share(c.failed), c.share(c.retried), c.share(c.recovered))
	}
}

// drawFailing is the random trial of a seed in which instances fail.
func drawFailing(seed uint64) *trial {
	x := drawTrial(seed)
	newDice(seed, 0x6661696c).drawFailures(x)
	return x
}

// TestEqualityOfFailures draws clusters whose instances fail.
func TestEqualityOfFailures(t *testing.T) {
	c := compareDrawn(t, testsize.Of(40, 80, 120), drawFailing)
	if c.cases < 80 { // few say nothing about shares
		return
	}
	if 6*c.failed < c.cases || 8*c.retried < c.cases || 20*c.recovered < c.cases {
		t.Errorf("requests failed in %s of the trials, were tried again in %s, and completed then in %s: want a sixth, an eighth and a twentieth", c.share(c.failed), c.share(c.retried), c.share(c.recovered))
	}
}

// drawFailingStorage is the random trial of a seed in which instances with storage tiers, some shared, fail.
func drawFailingStorage(seed uint64) *trial {
	x := drawSharing(seed)
	newDice(seed, 0x66737467).drawFailures(x)
	return x
}

// TestEqualityOfFailingStorage draws clusters whose instances have storage tiers, and crash while these work.
func TestEqualityOfFailingStorage(t *testing.T) {
	c := compareDrawn(t, testsize.Of(20, 40, 60), drawFailingStorage)
	if c.cases < 40 {
		return
	}
	if 8*c.promoted < c.cases || 4*c.failed < c.cases {
		t.Errorf("something was read from storage in %s of the trials, and requests failed in %s: want an eighth and a quarter", c.share(c.promoted), c.share(c.failed))
	}
}
