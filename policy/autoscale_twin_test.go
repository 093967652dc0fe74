package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"blis/vtime"
)

// plainHPA is the HorizontalPodAutoscaler once more, written from its
// documentation and the order of work of its controller: a list of pods, a
// list of all that was ever recommended and lists of all that was ever done,
// each gone through from its beginning. Bounds apply where the controller
// applies them, to the last step.
type plainHPA struct {
	metrics               int // per pod
	targetMilli           int64
	tolerance             float64
	downWindow, upWindow  vtime.Duration
	upPercent, upPods     int
	downPercent, downPods int
	period                vtime.Duration

	recommended   []plainEvent
	added, gone   []plainEvent
	everEvaluated bool
}

type plainEvent struct {
	at vtime.Time
	n  int
}

// plainPod is a pod with its metrics in thousandths; −1: it gives none.
type plainPod struct {
	ready, deleted bool
	milli          []int64
}

func (h *plainHPA) evaluate(now vtime.Time, pods []plainPod, current, least, most int) int {
	if !h.everEvaluated {
		h.recommended = append(h.recommended, plainEvent{now, current})
		h.everEvaluated = true
	}
	wanted, ok := h.fromAll(pods, current)
	if !ok {
		return current
	}
	replicas := h.stabilized(now, wanted, current)
	replicas = h.limited(now, replicas, current, least, most)
	if replicas > current {
		h.added = append(h.added, plainEvent{now, replicas - current})
	}
	if replicas < current {
		h.gone = append(h.gone, plainEvent{now, current - replicas})
	}
	return replicas
}

func (h *plainHPA) near(ratio float64) bool { return 1-h.tolerance <= ratio && ratio <= 1+h.tolerance }

func (h *plainHPA) ratio(metrics []int64) float64 {
	total := int64(0)
	for _, m := range metrics {
		total += m
	}
	return float64(total/int64(len(metrics))) / float64(h.targetMilli)
}

// fromAll takes the largest of what the metrics propose. If some propose
// nothing and the others would scale down, there is no proposal at all.
func (h *plainHPA) fromAll(pods []plainPod, current int) (int, bool) {
	proposals, broken := []int{}, 0
	for m := range h.metrics {
		if n, ok := h.fromMetric(pods, m, current); ok {
			proposals = append(proposals, n)
		} else {
			broken++
		}
	}
	if len(proposals) == 0 {
		return 0, false
	}
	most := slices.Max(proposals)
	if broken > 0 && most < current {
		return 0, false
	}
	return most, true
}

// fromMetric sets aside pods that are not ready and pods without a metric,
// and takes them in again with the metric that makes the change smaller.
func (h *plainHPA) fromMetric(pods []plainPod, metric, current int) (int, bool) {
	var metrics []int64
	unready, missing := 0, 0
	for _, p := range pods {
		switch {
		case p.deleted:
		case !p.ready:
			unready++
		case p.milli[metric] < 0:
			missing++
		default:
			metrics = append(metrics, p.milli[metric])
		}
	}
	if len(metrics) == 0 {
		return 0, false
	}
	usage := h.ratio(metrics)
	if missing == 0 && (unready == 0 || usage <= 1) {
		if h.near(usage) {
			return current, true
		}
		return int(math.Ceil(usage * float64(len(metrics)))), true
	}
	for range missing {
		if usage < 1 {
			metrics = append(metrics, h.targetMilli)
		} else if usage > 1 {
			metrics = append(metrics, 0)
		}
	}
	for range unready {
		if usage > 1 {
			metrics = append(metrics, 0)
		}
	}
	again := h.ratio(metrics)
	if h.near(again) || (usage < 1 && again > 1) || (usage > 1 && again < 1) {
		return current, true
	}
	replicas := int(math.Ceil(again * float64(len(metrics))))
	if (again < 1 && replicas > current) || (again > 1 && replicas < current) {
		return current, true
	}
	return replicas, true
}

func (h *plainHPA) stabilized(now vtime.Time, wanted, current int) int {
	lowest, highest := wanted, wanted
	for _, r := range h.recommended {
		if now-r.at < vtime.Time(h.upWindow) && r.n < lowest {
			lowest = r.n
		}
		if now-r.at < vtime.Time(h.downWindow) && r.n > highest {
			highest = r.n
		}
	}
	h.recommended = append(h.recommended, plainEvent{now, wanted})
	if current < lowest {
		current = lowest
	}
	if current > highest {
		current = highest
	}
	return current
}

func (h *plainHPA) limited(now vtime.Time, wanted, current, least, most int) int {
	start := current
	for _, e := range h.added {
		if now-e.at < vtime.Time(h.period) {
			start -= e.n
		}
	}
	for _, e := range h.gone {
		if now-e.at < vtime.Time(h.period) {
			start += e.n
		}
	}
	if wanted > current {
		byPercent := int(math.Ceil(float64(start) * (1 + float64(h.upPercent)/100)))
		limit := max(byPercent, start+h.upPods)
		if limit < current {
			limit = current
		}
		return min(wanted, limit, most)
	}
	if wanted < current {
		byPercent := int(float64(start) * (1 - float64(h.downPercent)/100))
		limit := min(byPercent, start-h.downPods)
		if limit > current {
			limit = current
		}
		return max(wanted, limit, least)
	}
	return current
}

// twins draws the settings of a series and makes both of them.
func twins(t *testing.T, rng *rand.Rand, signal string) (*plainHPA, Autoscale) {
	pick := func(list ...int) int { return list[rng.IntN(len(list))] }
	plain := &plainHPA{
		metrics:     1,
		targetMilli: int64(pick(100, 500, 700, 750, 900, 1000)), tolerance: float64(pick(0, 50, 100, 100, 100, 300)) / 1000,
		downWindow: vtime.Duration(pick(0, 30, 60, 300, 300)) * vtime.Second, upWindow: vtime.Duration(pick(0, 0, 0, 45, 120)) * vtime.Second,
		upPercent: pick(0, 10, 50, 100, 100, 400), upPods: pick(0, 1, 4, 4, 10),
		downPercent: pick(0, 10, 25, 100, 100), downPods: pick(0, 0, 1, 4),
		period: vtime.Duration(pick(15, 15, 15, 60, 100)) * vtime.Second,
	}
	if signal == "load" {
		plain.metrics = 3
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	return plain, mustScale(t, "target-utilization", Setting{"signal", signal},
		Setting{"target", number(float64(plain.targetMilli) / 1000)}, Setting{"tolerance", number(plain.tolerance)},
		Setting{"down_window", plain.downWindow.String()}, Setting{"up_window", plain.upWindow.String()},
		Setting{"up_percent", fmt.Sprint(plain.upPercent)}, Setting{"up_pods", fmt.Sprint(plain.upPods)},
		Setting{"down_percent", fmt.Sprint(plain.downPercent)}, Setting{"down_pods", fmt.Sprint(plain.downPods)},
		Setting{"period", plain.period.String()})
}

// twinPods draws a pod for each of current replicas and some that leave, and
// the same as instances with seats requests each; 0: not known. load is what
// a pod measures about, per target.
func twinPods(rng *rand.Rand, signal string, seats int32, target int64, current int, load, unready, missing float64) (pods []plainPod, slots []Slot) {
	tilt := [3]float64{1, 1, 1} // which of three metrics binds
	if signal == "load" {
		tilt = [3]float64{rng.Float64() * 1.5, rng.Float64() * 1.5, rng.Float64() * 1.5}
	}
	for len(pods) < current+rng.IntN(3) {
		pod, slot := plainPod{ready: true}, Slot{Routable: true}
		tenths := func(of int) int32 {
			return int32(math.Round(rng.Float64() * 2 * tilt[of] * load * float64(target) / 100))
		}
		batch, kv, queue := int64(-1), int64(-1), int64(0)
		if slot.Batch = min(tenths(0), 10); seats > 0 {
			batch = int64(slot.Batch) * 1000 / int64(seats)
		}
		if rng.Float64() >= missing { // thirds, that thousandths do not hold
			slot.Used, slot.Total = int64(min(tenths(1), 30)), 30
			kv = int64(math.Ceil(float64(slot.Used) * 1000 / 30))
		}
		slot.Queue = tenths(2)
		switch queue = int64(slot.Queue) * 1000; signal {
		case "batch":
			pod.milli = []int64{batch}
		case "kv":
			pod.milli = []int64{kv}
		case "queue":
			pod.milli = []int64{queue}
		default:
			slot.Queue = slot.Queue / 2
			pod.milli = []int64{batch, kv, int64(slot.Queue) * 200}
		}
		switch {
		case len(pods) >= current:
			pod.deleted = true
			slot.Routable, slot.Phase = false, [...]Phase{Draining, Gone}[rng.IntN(2)]
		case rng.Float64() < unready:
			pod.ready = false
			slot.Routable, slot.Phase = false, [...]Phase{Starting, Warming}[rng.IntN(2)]
		case rng.IntN(4) == 0:
			slot.Phase = Warming
		}
		pods, slots = append(pods, pod), append(slots, slot)
	}
	rng.Shuffle(len(pods), func(i, j int) { pods[i], pods[j], slots[i], slots[j] = pods[j], pods[i], slots[j], slots[i] })
	return pods, slots
}

// TestHPAAgreesWithItsTwin compares a thousand series of random settings,
// bounds, loads, readiness and intervals, evaluation by evaluation: with one
// metric, and with three.
func TestHPAAgreesWithItsTwin(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals []string
		salt    uint64
		reasons []Reason // that must come up often
	}{
		{"one metric", []string{"batch", "kv", "queue"}, 77, []Reason{NoReason, WithinTolerance, ToTarget, Stabilized, RateOfChange}},
		{"three metrics", []string{"load"}, 78, []Reason{NoReason, WithinTolerance, SeatsToTarget, KVToTarget, QueueToTarget, Stabilized, RateOfChange}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tally := &twinTally{reasons: map[Reason]int{}}
			for seed := range uint64(1000) {
				tally.series(t, seed, c.salt, c.signals)
			}
			t.Logf("%d up, %d down, %d kept for want of a metric, reasons %v", tally.ups, tally.downs, tally.kept, tally.reasons)
			for _, r := range c.reasons {
				if tally.reasons[r] < 500 {
					t.Errorf("only %d decisions for the reason %q", tally.reasons[r], r)
				}
			}
			if tally.ups < 2500 || tally.downs < 2500 || len(c.signals) == 1 && tally.kept < 300 {
				t.Errorf("only %d up, %d down, %d kept for want of a metric", tally.ups, tally.downs, tally.kept)
			}
		})
	}
}

// twinTally counts what came up.
type twinTally struct {
	reasons          map[Reason]int
	ups, downs, kept int
}

// series is one of the random series.
func (c *twinTally) series(t *testing.T, seed, salt uint64, signals []string) {
	rng := rand.New(rand.NewPCG(seed, salt))
	signal := signals[rng.IntN(len(signals))]
	plain, p := twins(t, rng, signal)
	least := 1 + rng.IntN(4)
	most := least + rng.IntN(60)
	current := least + rng.IntN(most-least+1)
	unready, missing := rng.Float64()*0.4*float64(rng.IntN(2)), rng.Float64()*0.4*float64(rng.IntN(2))
	demand, now := float64(current), vtime.Time(0)
	for step := range 60 {
		now += vtime.Time([...]vtime.Duration{15 * vtime.Second, 15 * vtime.Second, 5 * vtime.Second, vtime.Duration(rng.IntN(40_000_000))}[rng.IntN(4)])
		if rng.IntN(6) == 0 {
			demand = rng.ExpFloat64() * float64(most) / 2
		}
		seats, without := int32(10), missing
		if missing > 0 && rng.IntN(8) == 0 { // no replica has this metric
			if without = 1; rng.IntN(2) == 0 {
				seats, without = 0, missing
			}
		}
		pods, slots := twinPods(rng, signal, seats, plain.targetMilli, current, demand/float64(current), unready, without)
		ctx := fleet(p, now, slots...)
		ctx.Min, ctx.Max, ctx.MaxNumSeqs = int32(least), int32(most), seats
		if n, ok := plain.fromMetric(pods, plain.metrics-1, current); ok && n < current {
			if _, ok = plain.fromAll(pods, current); !ok {
				c.kept++
			}
		}
		want := plain.evaluate(now, pods, current, least, most)
		got := p.Evaluate(ctx)
		if int(got.Target) != want || (got.Action == ScaleUp) != (want > current) || (got.Action == ScaleDown) != (want < current) {
			t.Fatalf("seed %d, step %d at %v, signal %s: from %d to %+v (%v), its twin to %d\n%+v\n%+v", seed, step, now, signal, current, got, got.Reason, want, plain, pods)
		}
		c.reasons[got.Reason]++
		if want > current {
			c.ups++
		} else if want < current {
			c.downs++
		}
		current = want
	}
}
