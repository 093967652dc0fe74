package actors

import (
	"slices"
	"strings"
	"testing"

	"blis/bundle"
	"blis/metrics"
	"blis/workload"
	"blis/workload/traffic"
)

// site is a small cluster with its requests.
type site struct {
	config  func(*Config)
	traffic arriving
}

// run is one run of the site with a bundle.
func (s *site) run(t *testing.T, seed uint64, text string) *Result {
	t.Helper()
	b, err := bundle.Parse("bundle", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig()
	c.AlphaCoeffs, c.BetaCoeffs = []float64{0, 0, 0}, []float64{6910.42, 17.67, 2.84}
	c.TotalKVBlocks, c.MaxNumSeqs, c.MaxNumBatchedTokens = 4000, 8, 2048
	c.Seed, c.Policies = seed, b
	if s.config != nil {
		s.config(&c)
	}
	requests, labels := s.traffic.draw(t, seed)
	return runTraffic(t, c, requests, labels)
}

// Measures, of all requests or of those of a class or tenant.

func meanTTFT() measure {
	return measure{"mean TTFT, ms", func(r *Result) float64 { return milliseconds(&r.Report.Overall) }}
}

func classTTFT(class string) measure {
	return measure{"mean TTFT of " + class + ", ms", func(r *Result) float64 { return milliseconds(scopeOf(r.Report.PerClass, class)) }}
}

func tenantTTFT(tenant string) measure {
	return measure{"mean TTFT of " + tenant + ", ms", func(r *Result) float64 { return milliseconds(scopeOf(r.Report.PerTenant, tenant)) }}
}

func milliseconds(s *metrics.Scope) float64 { return s.TTFT.Mean / 1000 }

func stateOf(state metrics.State) measure {
	name := strings.ReplaceAll(state.String(), "_", " ")
	return measure{name + ", requests", func(r *Result) float64 { return float64(r.Report.Overall.States[state]) }}
}

var (
	hitRate   = measure{"prefix hits, % of prompt tokens", func(r *Result) float64 { return 100 * *r.Report.Overall.CacheHitRate }}
	queueWait = measure{"mean queue wait, ms", func(r *Result) float64 { return r.Report.Overall.QueueWait.Mean / 1000 }}
	attained  = measure{"targets met, % of requests", func(r *Result) float64 { return 100 * *r.Report.Overall.SLOAttainment }}
	// largestShare is that of the instance which most requests ended on.
	largestShare = measure{"largest share of an instance, % of requests", func(r *Result) float64 {
		most := slices.MaxFunc(r.Report.PerInstance, func(a, b metrics.Named) int { return int(a.Injected - b.Injected) })
		return 100 * float64(most.Injected) / float64(r.Report.Injected)
	}}
)

func scopeOf(list metrics.Scopes, name string) *metrics.Scope {
	for i := range list {
		if list[i].Name == name {
			return &list[i].Scope
		}
	}
	panic("no requests of " + name)
}

// arriving is what requests are drawn from.
type arriving struct {
	rate          float64 // requests per second
	n             int64
	input, output traffic.Normal
	label         func(d dice, r *workload.Request, l *workload.Labels) // what else they have
}

// draw is the traffic of a seed: Poisson, the same whatever the policies do.
func (tr *arriving) draw(t *testing.T, seed uint64) ([]workload.Request, workload.Labels) {
	t.Helper()
	source, err := traffic.NewSynthetic(traffic.SyntheticConfig{Seed: seed, Rate: tr.rate, Requests: tr.n, Arrival: "poisson", Input: tr.input, Output: tr.output})
	if err != nil {
		t.Fatal(err)
	}
	var labels workload.Labels
	labels.Tenants.Label("")
	labels.Models.Label("")
	labels.Classes.Label(workload.DefaultClass)
	d := newDice(seed, 0x7472)
	var list []workload.Request
	for {
		var r workload.Request
		more, err := source.Pull(&r)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return list, labels
		}
		r.Index = uint64(len(list))
		if tr.label != nil {
			tr.label(d, &r, &labels)
		}
		list = append(list, r)
	}
}
