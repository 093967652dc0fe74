package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"blis/vtime"
	"blis/workload"
)

// TestGatewayBooks: on random entries and departures the counts and integrals are those of a walk over every µs.
func TestGatewayBooks(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for trial := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, trial))
		var u GatewayUse
		var slots []int32
		waiting, closed, level := int64(0), false, math.NaN()
		var length, shut, peak, entered, evicted int64
		var weighted, lastCycle, firstCycle float64
		next := int32(0)
		for now := range vtime.Time(300) {
			length += waiting * bool64(now > 0)
			if closed && waiting > 0 && now > 0 {
				shut++
			}
			for range r.IntN(3) {
				switch k := r.IntN(4); {
				case k == 0 || len(slots) == 0:
					u.Enter(GatewayPlace{Band: r.IntN(3) - 3, Class: workload.Label(r.IntN(2)), Tenant: workload.Label(r.IntN(2))}, next, now)
					slots, next = append(slots, next), next+1
					waiting++
					entered++
					peak = max(peak, waiting)
				case k == 3:
					s := float64(r.IntN(9)) / 8
					if closed = s == 1; !math.IsNaN(level) {
						weighted += level * (float64(now) - lastCycle)
					} else {
						firstCycle = float64(now)
					}
					level, lastCycle = s, float64(now)
					u.Saturated(s, closed, now)
				default:
					i := r.IntN(len(slots))
					if k == 1 {
						if of := u.Dispatch(slots[i], now); r.IntN(4) == 0 {
							u.Evict(of, 7)
							evicted++
						}
					} else {
						u.Leave(slots[i], []State{Shed, Expired, TimedOut}[r.IntN(3)], now)
					}
					slots = append(slots[:i], slots[i+1:]...)
					waiting--
				}
			}
		}
		if err := u.Check(299); err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		g := u.Report(299, func(workload.Label) string { return "" }, func(workload.Label) string { return "" })
		if *g.LengthMean != float64(length)/299 || *g.ClosedShare != float64(shut)/299 || g.LengthPeak != peak || g.Entered != entered || g.Waiting != waiting || g.Evicted != evicted || g.Wasted != 7*evicted {
			t.Fatalf("trial %d: %+v: want ∫ %d, closed %d, peak %d, entered %d", trial, g, length, shut, peak, entered)
		}
		if want := weighted / (lastCycle - firstCycle); lastCycle > firstCycle && math.Abs(*g.Saturation-want) > 1e-12 {
			t.Fatalf("trial %d: saturation %v, want %v", trial, *g.Saturation, want)
		}
		u.Overall.Shed++
		if u.Check(299) == nil {
			t.Fatal("one request too many is shed, and nothing is said")
		}
	}
}

func bool64(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// A request that has waited longer than the queue was long is noticed.
func TestGatewayBooksThatDoNotBalance(t *testing.T) {
	var u GatewayUse
	u.Enter(GatewayPlace{}, 0, 5)
	u.Dispatch(0, 9)
	u.waits++
	if err := u.Check(20); err == nil || !strings.Contains(err.Error(), "waited 5 µs") {
		t.Errorf("%v: want that requests waited 5 µs in all, against 4", err)
	}
}

// Nobody of a band from 0 on is evicted.
func TestGatewayBooksOfEvictions(t *testing.T) {
	for band, fine := range map[int]bool{-1: true, 0: false, 3: false} { // any order
		var u GatewayUse
		u.Enter(GatewayPlace{Band: band}, 0, 5)
		u.Evict(u.Dispatch(0, 9), 3)
		if err := u.Check(20); (err == nil) != fine {
			t.Errorf("band %d: %v, want an error: %v", band, err, !fine)
		}
	}
}

// Bands are listed from the highest one, and a run without time has no means.
func TestGatewayReport(t *testing.T) {
	var u GatewayUse
	u.Refuse(GatewayPlace{Band: -1})
	u.Enter(GatewayPlace{Band: 4}, 0, 0)
	u.Enter(GatewayPlace{Band: 3}, 1, 0)
	b, err := json.Marshal(u.Report(0, func(workload.Label) string { return "c" }, func(workload.Label) string { return "t" }))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if i, j, k := strings.Index(text, `"4":`), strings.Index(text, `"3":`), strings.Index(text, `"-1":`); i < 0 || j < i || k < j {
		t.Errorf("%s: want bands 4, 3, −1", text)
	}
	if !strings.Contains(text, `"queue_length_mean":null`) || !strings.Contains(text, `"saturation_mean":null`) || !strings.Contains(text, `"wait_us":null`) {
		t.Errorf("%s: want no means", text)
	}
}

// refused makes o a request that an instance never gets, from a time on: rejected by admission, or one of a gateway.
func refused(o Outcome, at vtime.Time) Outcome {
	o.Instance = -1
	if o.State == Rejected {
		o.Reason = InsufficientTokens
	}
	if o.State != Waiting {
		o.Finished = at
	}
	return o
}
