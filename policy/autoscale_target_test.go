package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
)

// The examples of the Kubernetes documentation, "Horizontal Pod Autoscaling".

func TestHPAExamplesOfTheRatio(t *testing.T) {
	at := func(target string, more ...Setting) []Setting {
		return ofBatch(append([]Setting{{"target", target}, {"down_window", "0"}}, more...))
	}
	for _, c := range []struct {
		name     string
		settings []Setting
		check    check
	}{
		{"200m observed, 100m desired: doubled", at("0.1"), check{15, each(3, Slot{Batch: 2}), ScaleUp, 6, ToTarget}},
		{"50m observed, 100m desired: halved", at("0.1"), check{15, append(each(3, Slot{Batch: 1}), each(3, Slot{})...), ScaleDown, 3, ToTarget}},
		{"90 % of 50 replicas, 75 % desired: 60", at("0.75"), check{15, each(50, Slot{Batch: 9}), ScaleUp, 60, ToTarget}},
		{"rounded up", at("0.7"), check{15, each(4, Slot{Batch: 9}), ScaleUp, 6, ToTarget}}, // 5.14
		{"1.1 is within the tolerance", at("1", Setting{"signal", "queue"}), check{15, append(each(9, Slot{Queue: 1}), each(1, Slot{Queue: 2})...), Hold, 10, WithinTolerance}},
		{"1.2 is not", at("1", Setting{"signal", "queue"}), check{15, append(each(8, Slot{Queue: 1}), each(2, Slot{Queue: 2})...), ScaleUp, 12, ToTarget}},
		{"0.9 is", at("1", Setting{"signal", "queue"}), check{15, append(each(9, Slot{Queue: 1}), each(1, Slot{})...), Hold, 10, WithinTolerance}},
		{"0.8 is not", at("1", Setting{"signal", "queue"}), check{15, append(each(8, Slot{Queue: 1}), each(2, Slot{})...), ScaleDown, 8, ToTarget}},
		{"0.8 is within a tolerance of 0.2", at("1", Setting{"signal", "queue"}, Setting{"tolerance", "0.2"}), check{15, append(each(8, Slot{Queue: 1}), each(2, Slot{})...), Hold, 10, WithinTolerance}},
		{"idle: the fewest", at("0.7"), check{15, each(5, Slot{}), ScaleDown, 1, ToTarget}},
		{"the most", at("0.1"), check{15, each(40, Slot{Batch: 9}), ScaleUp, 60, ToTarget}},
		{"KV blocks in use", at("0.5", Setting{"signal", "kv"}), check{15, each(2, Slot{Used: 100, Total: 100}), ScaleUp, 4, ToTarget}},
	} {
		p := mustScale(t, "target-utilization", c.settings...)
		ctx := fleet(p, seconds(c.check.at), c.check.slots...)
		ctx.Max = 60
		if got, want := p.Evaluate(ctx), (ScaleDecision{c.check.action, c.check.target, c.check.reason}); got != want {
			t.Errorf("%s: %+v (%v), want %+v", c.name, got, got.Reason, want)
		}
	}
}

// TestHPAIsCarefulWithReplicasItCannotMeasure: those not ready count 0 on the
// way up and not at all on the way down; those ready without a value count 0 on
// the way up and as the target on the way down.
func TestHPAIsCarefulWithReplicasItCannotMeasure(t *testing.T) {
	unmeasured := Slot{Routable: true}
	full, half, idle := Slot{Used: 100, Total: 100}, Slot{Used: 50, Total: 100}, Slot{Used: 0, Total: 100}
	for _, c := range []struct {
		name  string
		check check
	}{
		{"up, one starts: ratio 2 becomes 1.33, of 3", check{15, append(each(2, full), starting), ScaleUp, 4, ToTarget}},
		{"up, one warms up without requests: the same", check{15, append(each(2, full), parked), ScaleUp, 4, ToTarget}},
		{"up, as many start as are wanted: 1", check{15, append(each(2, full), starting, starting), Hold, 4, WithinTolerance}},
		{"up, more start than are wanted: the direction would turn", check{15, append(each(1, full), starting, starting), Hold, 3, WithinTolerance}},
		{"down, one starts: only those ready count", check{15, append(each(4, idle), append(each(2, half), starting)...), ScaleDown, 2, ToTarget}},
		{"up, one has no value", check{15, append(each(2, full), each(1, unmeasured)...), ScaleUp, 4, ToTarget}},
		{"down, one has no value: as at the target", check{15, append(each(3, idle), each(1, unmeasured)...), ScaleDown, 1, ToTarget}},
		{"down, half have none: 0.5 of 4", check{15, append(each(2, idle), each(2, unmeasured)...), ScaleDown, 2, ToTarget}},
		{"at the target, one has none", check{15, append(each(2, half), each(2, unmeasured)...), Hold, 4, WithinTolerance}},
		{"who drains or is gone is nobody", check{15, append(each(2, full), draining, gone), ScaleUp, 4, ToTarget}},
		{"nobody ready", check{15, []Slot{starting, parked, draining}, Hold, 2, NoReason}},
		{"nobody measured", check{15, each(2, unmeasured), Hold, 2, NoReason}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.check.run(t, mustScale(t, "target-utilization", Setting{"signal", "kv"}, Setting{"target", "0.5"}, Setting{"down_window", "0"}), 0)
		})
	}
}

// Of three metrics the largest number wins. If one cannot be measured and the
// others ask for fewer, nothing happens.
func TestHPAWithThreeMetrics(t *testing.T) {
	three := func(batch, queue int32, used int64) Slot {
		return Slot{Batch: batch, Queue: queue, Used: used, Total: 100}
	}
	for _, c := range []struct {
		name  string
		check check
	}{
		{"seats ask for most", check{15, each(4, three(10, 1, 50)), ScaleUp, 6, SeatsToTarget}}, // 5.7, 1.1, 2.9
		{"KV blocks do", check{15, each(4, three(1, 1, 100)), ScaleUp, 6, KVToTarget}},
		{"the queue does", check{15, each(4, three(1, 7, 50)), ScaleUp, 8, QueueToTarget}}, // 1.4/0.7
		{"one within its tolerance keeps what the others would remove", check{15, each(4, three(7, 0, 10)), Hold, 4, WithinTolerance}},
		{"all ask for fewer: the least reduction", check{15, each(4, three(3, 0, 10)), ScaleDown, 2, SeatsToTarget}}, // 1.7, 0, 0.6
		{"KV unknown, others ask for fewer", check{15, each(4, Slot{Batch: 1}), Hold, 4, NoReason}},
		{"KV unknown, seats ask for more", check{15, each(4, Slot{Batch: 10}), ScaleUp, 6, SeatsToTarget}},
		{"KV unknown, seats within their tolerance", check{15, each(4, Slot{Batch: 7}), Hold, 4, WithinTolerance}},
		{"KV of one unknown: at the target for it, on the way down", check{15, append(each(3, three(1, 0, 0)), each(1, Slot{Batch: 1})...), ScaleDown, 1, SeatsToTarget}},
		{"nobody ready", check{15, []Slot{starting, parked}, Hold, 2, NoReason}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.check.run(t, mustScale(t, "target-utilization", Setting{"down_window", "0"}), 0)
		})
	}
}

// climb evaluates every interval seconds with every replica as full as slot
// and does as it is told; it returns the number of replicas each time.
func climb(p Autoscale, replicas, most int32, interval float64, slot Slot, times int) (curve []int32) {
	for i := range times {
		ctx := fleet(p, seconds(float64(i+1)*interval), each(int(replicas), slot)...)
		ctx.Max = most
		replicas = p.Evaluate(ctx).Target
		curve = append(curve, replicas)
	}
	return curve
}

func TestHPAExamplesOfScalingPolicies(t *testing.T) {
	full, idle := Slot{Batch: 10}, Slot{}
	for _, c := range []struct {
		name     string
		settings []Setting
		from     int32
		interval float64
		slot     Slot
		want     []int32
	}{
		{"default, up: 4 pods or 100 % every 15 s", []Setting{{"target", "0.01"}}, 1, 15, full, []int32{5, 10, 20, 40, 80, 100, 100}},
		{"default, down: at once, after 300 s", nil, 80, 15, idle, append(slices.Repeat([]int32{80}, 20), 1, 1)},
		// 8 of 80, then 7.2 of 72 rounded to 8, ..., below 40 four at a time.
		{"down 4 pods or 10 % every 60 s", []Setting{{"down_window", "0"}, {"down_percent", "10"}, {"down_pods", "4"}, {"period", "60s"}}, 80, 60, idle,
			[]int32{72, 64, 57, 51, 45, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 1, 1}},
		{"the same asked every 15 s: the minute's removals count together", []Setting{{"down_window", "0"}, {"down_percent", "10"}, {"down_pods", "4"}, {"period", "60s"}}, 80, 15, idle,
			[]int32{72, 72, 72, 72, 64, 64, 64, 64, 57}},
		{"down 10 % every 60 s", []Setting{{"down_window", "0"}, {"down_percent", "10"}, {"period", "60s"}}, 80, 60, idle, []int32{72, 64, 57, 51, 45, 40, 36, 32, 28, 25, 22, 19, 17, 15, 13, 11, 9, 8}},
		{"a window of one minute", []Setting{{"down_window", "60s"}}, 80, 15, idle, []int32{80, 80, 80, 80, 1}},
		{"down never", []Setting{{"down_window", "0"}, {"down_percent", "0"}}, 80, 15, idle, []int32{80, 80, 80}},
		{"up never", []Setting{{"up_percent", "0"}, {"up_pods", "0"}}, 1, 15, full, []int32{1, 1, 1}},
		{"up by pods alone", []Setting{{"target", "0.01"}, {"up_percent", "0"}}, 1, 15, full, []int32{5, 9, 13}},
		{"up by half, a part of a replica is one", []Setting{{"target", "0.01"}, {"up_percent", "50"}, {"up_pods", "0"}}, 1, 15, full, []int32{2, 3, 5, 8, 12}},
		{"up only to the lowest of a minute", []Setting{{"up_window", "60s"}, {"target", "0.5"}}, 3, 15, full, []int32{3, 3, 3, 3, 6}},
	} {
		if got := climb(mustScale(t, "target-utilization", ofBatch(c.settings)...), c.from, 100, c.interval, c.slot, len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%v, want\n%v", c.name, got, c.want)
		}
	}
}

// TestHPARollingMaximum: with fluctuating metrics it goes down to the highest
// of the desired numbers of the last five minutes, and no sooner.
func TestHPARollingMaximum(t *testing.T) {
	p := mustScale(t, "target-utilization", Setting{"target", "1"}, Setting{"signal", "queue"}, Setting{"up_pods", "20"})
	for i, c := range []check{
		{15, each(2, Slot{Queue: 1}), Hold, 2, WithinTolerance},
		{30, each(2, Slot{Queue: 5}), ScaleUp, 10, ToTarget},
		{45, append(each(8, Slot{Queue: 1}), each(2, Slot{})...), Hold, 10, Stabilized},         // 8
		{60, append(each(3, Slot{Queue: 1}), each(7, Slot{})...), Hold, 10, Stabilized},         // 3
		{329.999999, append(each(6, Slot{Queue: 1}), each(4, Slot{})...), Hold, 10, Stabilized}, // 6
		{330, append(each(2, Slot{Queue: 1}), each(8, Slot{})...), ScaleDown, 8, Stabilized},
		{345, each(8, Slot{}), ScaleDown, 6, Stabilized},
		{629.9, each(6, Slot{}), Hold, 6, Stabilized},
		{629.999999, append(each(2, Slot{Queue: 1}), each(4, Slot{})...), ScaleDown, 2, ToTarget},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) { c.run(t, p, i) })
	}
}

// TestHPASaysWhatLimitsIt: the reason names the last step that changed
// the number.
func TestHPASaysWhatLimitsIt(t *testing.T) {
	p := mustScale(t, "target-utilization", Setting{"signal", "batch"}, Setting{"target", "0.1"}, Setting{"up_window", "30s"}, Setting{"down_window", "30s"}, Setting{"down_percent", "50"})
	for i, c := range []check{
		{15, each(1, Slot{Batch: 10}), Hold, 1, Stabilized},
		{30, each(1, Slot{Batch: 10}), Hold, 1, Stabilized},
		{45, each(1, Slot{Batch: 10}), ScaleUp, 5, RateOfChange},
		{50, each(5, Slot{Batch: 10}), Hold, 5, RateOfChange},
		{60, each(5, Slot{Batch: 10}), ScaleUp, 10, Stabilized}, // 10 were desired at 45 s
		{80, each(10, Slot{Batch: 10}), ScaleUp, 20, ToTarget},
		{81, each(20, Slot{Batch: 1}), Hold, 20, WithinTolerance},
		{111, each(20, Slot{}), ScaleDown, 10, RateOfChange},
	} {
		c.run(t, p, i)
	}
}

// TestStabilizerKeepsLittle: an evaluation every millisecond and a window of
// an hour leave as many numbers as there can be replicas, not 3.6 million.
func TestStabilizerKeepsLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	s := newStabilizer(3600*vtime.Second, 3600*vtime.Second)
	ctx := &AutoscaleContext{Min: 1, Max: 30}
	for i := range 100_000 {
		ctx.Now = vtime.Time(i) * vtime.Time(vtime.Millisecond)
		s.stabilize(ctx, 1+rng.Int32N(30))
		if most := max(len(s.down.kept), len(s.up.kept)); most > 30 {
			t.Fatalf("%d numbers kept after %d evaluations", most, i+1)
		}
	}
}
