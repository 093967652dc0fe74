package policy

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func TestRateLimit(t *testing.T) {
	type ask struct {
		at     vtime.Time
		tenant workload.Label
		admit  bool
	}
	slow := []Setting{{"rate", "2"}, {"burst", "2"}} // one in 500 ms
	tenants := append([]Setting{{"per_tenant", "true"}}, slow...)
	for _, c := range []struct {
		name     string
		settings []Setting
		asks     []ask
	}{
		{"a burst at the start", slow, []ask{{0, 0, true}, {0, 0, true}, {0, 0, false}}},
		{"a burst also when the first request comes late", slow, []ask{{9_000_000, 0, true}, {9_000_000, 0, true}, {9_000_000, 0, false}}},
		{"exactly at the rate", slow, []ask{{0, 0, true}, {0, 0, true}, {499_999, 0, false}, {500_000, 0, true}, {999_999, 0, false}, {1_000_000, 0, true}}},
		{"a rejected request costs nothing", slow, []ask{{0, 0, true}, {0, 0, true}, {400_000, 0, false}, {499_999, 0, false}, {500_000, 0, true}}},
		{"no more than the burst is saved", slow, []ask{{1 << 62, 0, true}, {1 << 62, 0, true}, {1 << 62, 0, false}}},
		{"no more after ever so long", slow, []ask{{0, 0, true}, {0, 0, true}, {1 << 62, 0, true}, {1 << 62, 0, true}, {1 << 62, 0, false}}},
		{"one limit for all tenants", slow, []ask{{0, 3, true}, {0, 1, true}, {0, 2, false}}},
		{"a limit for each tenant", tenants, []ask{{0, 3, true}, {0, 3, true}, {0, 3, false}, {0, 1, true}, {700_000, 9, true}, {700_000, 9, true}, {700_000, 9, false}, {700_000, 3, true}, {700_000, 3, false}}},
		{"a burst with a fraction", []Setting{{"rate", "2"}, {"burst", "1.5"}}, []ask{{0, 0, true}, {0, 0, false}, {249_999, 0, false}, {250_000, 0, true}, {749_999, 0, false}, {750_000, 0, true}}},
		{"the slowest", []Setting{{"rate", "1e-6"}, {"burst", "1"}}, []ask{{0, 0, true}, {999_999_999_999, 0, false}, {1_000_000_000_000, 0, true}}},
		{"the fastest", []Setting{{"rate", "1e6"}, {"burst", "1"}}, []ask{{0, 0, true}, {0, 0, false}, {1, 0, true}, {1, 0, false}}},
		{"rate in steps of a millionth", []Setting{{"rate", "0.1"}, {"burst", "1"}}, []ask{{0, 0, true}, {9_999_999, 0, false}, {10_000_000, 0, true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustAdmit(t, "rate-limit", c.settings...)
			for i, a := range c.asks {
				want := AdmissionDecision{Verdict: Admit}
				if !a.admit {
					want = AdmissionDecision{Verdict: Reject, Reason: RateLimited}
				}
				if got := p.Decide(&Request{Identity: workload.Identity{Tags: workload.Tags{Tenant: a.tenant}, Input: 1 << 30}}, &state, a.at); got != want {
					t.Errorf("request %d: %+v, want %+v", i, got, want)
				}
			}
		})
	}
	t.Run("defaults", func(t *testing.T) {
		p := mustAdmit(t, "rate-limit")
		for i := range 12 {
			at := vtime.Time(max(0, i-10)) * 100_000 // ten at once, then one at 0 too many, then the next
			if got := p.Decide(&Request{}, &state, at).Verdict == Admit; got != (i != 10) {
				t.Errorf("request %d: %v", i, got)
			}
		}
	})
}

// rateTwin keeps no level but the time at which it would be full again, in
// units of 1/(10⁶·rate) µs, in which everything is whole.
type rateTwin struct{ rate, burst, full int64 } // millionths per second, millionths

func (p *rateTwin) admit(now vtime.Time) bool {
	at := int64(now) * p.rate
	full := max(p.full, at) + 1e12
	if full-at > p.burst*1e6 {
		return false
	}
	p.full = full
	return true
}

// TestRateLimitIsExact makes a million decisions beside the twin, around the
// rate and in steps that sum to the interval exactly, where floats would let a
// request too many or too few through.
func TestRateLimitIsExact(t *testing.T) {
	const decisions = 1_000_000
	cases := []struct{ rate, burst int64 }{ // in millionths
		{10e6, 10e6}, {10e6, 1e6}, {7e6, 1e6}, {100_000, 1e6}, {333_333_333, 2_500_000}, {1e12, 1e6}, {1, 1e6}, {12_345_678, 1e12}, {249, 1e6},
	}
	for seed, c := range cases {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(seed), 12))
			p := mustAdmit(t, "rate-limit", Setting{"rate", fmt.Sprintf("%d.%06d", c.rate/1e6, c.rate%1e6)}, Setting{"burst", fmt.Sprintf("%d.%06d", c.burst/1e6, c.burst%1e6)})
			twin := &rateTwin{rate: c.rate, burst: c.burst}
			interval := int64(1e12) / c.rate // µs
			now, admitted, left := vtime.Time(0), 0, int64(0)
			for i := range decisions {
				switch i / 1000 % 3 {
				case 0: // two or three in an interval, the last at its end
					gap := left
					if left == 0 || rng.IntN(2) == 0 {
						left += interval * int64(rng.IntN(2))
						gap = rng.Int64N(left + 1)
					}
					now, left = now+vtime.Time(gap), left-gap
				case 1:
					now += vtime.Time(rng.Int64N(2*interval + 1))
				default:
					now += vtime.Time(interval * rng.Int64N(3))
				}
				got, want := p.Decide(&Request{}, &state, now).Verdict == Admit, twin.admit(now)
				if got != want {
					t.Fatalf("seed %d, decision %d at %v: %v, want %v", seed, i, now, got, want)
				}
				if got {
					admitted++
				}
			}
			if c.burst < 1e12 && (admitted < 1000 || admitted > decisions-1000) {
				t.Errorf("too little is tested: %d admitted", admitted)
			}
		})
	}
}
