package calibrate

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"blis/latency"
	"blis/vtime"
)

// What the fit rests on: weighed with the coefficients of the replay, the sum
// that the recorder writes for a request is the time that the replay gives it, but
// for what the engine cuts off: less than a microsecond of each step, and of the
// way to the queue.
func TestTapWritesTimesAsSums(t *testing.T) {
	const rounding = 1e-3 // µs, of sums of thousands of seconds
	compared, partly := 0, 0
	property := func(t *rapid.T) {
		s, c := drawSample(t), drawCoefficients(t)
		m, err := s.Model(c)
		if err != nil {
			t.Fatal(err)
		}
		recorder := newFeatureRecorder(m, s.features, len(s.Run.Requests))
		predicted, err := s.Server.replay(s.Run, recorder, s.Timeout, recorder)
		if err != nil {
			t.Fatal(err)
		}
		recorder.sumSteps()
		if len(recorder.steps) != len(recorder.starts) || len(recorder.alphas) != len(s.Run.Requests) {
			t.Fatalf("%d steps asked for, %d told; %d queueings of %d requests", len(recorder.steps), len(recorder.starts), len(recorder.alphas), len(s.Run.Requests))
		}
		for i, p := range predicted {
			at := recorder.spans[i]
			if at.first == vtime.Never {
				continue
			}
			compared++
			queued := recorder.sumBetween(at.queued, at.first)
			ttft := 1e6 * (dot(queued[:], c.Beta[:]) + dot(recorder.alphas[i][:], c.Alpha[:]))
			n, part := recorder.count(at.queued, at.first)
			if part {
				partly++
			}
			if lost := ttft - p.TTFT; lost < -rounding || lost > float64(n+1)+rounding {
				t.Errorf("request %d: TTFT %v µs, by the sum over %d steps %v", i, p.TTFT, n, ttft)
			}
			if !p.Completed {
				continue
			}
			decoding := recorder.sumBetween(at.first, at.last)
			rest := 1e6 * dot(decoding[:], c.Beta[:])
			n, part = recorder.count(at.first, at.last)
			if part {
				t.Errorf("request %d: its tokens come within a step", i)
			}
			if lost := rest - (p.E2E - p.TTFT); lost < -rounding || lost > float64(n)+rounding {
				t.Errorf("request %d: E2E − TTFT %v µs, by the sum over %d steps %v", i, p.E2E-p.TTFT, n, rest)
			}
		}
	}
	for range 3 {
		rapid.Check(t, property)
	}
	t.Logf("%d requests, %d of them queued within a step", compared, partly)
	if partly == 0 && thorough() && !t.Failed() {
		t.Error("want requests that are queued within a step")
	}
}

// count is how many steps have a part of a stretch of time, and whether it
// begins or ends within one. Steps that take no time have none.
func (t *featureRecorder) count(from, to vtime.Time) (steps int, part bool) {
	for k := range t.steps {
		start, end := t.starts[k], t.ends[k]
		if start < to && from < end {
			steps++
			part = part || start < from || to < end
		}
	}
	return steps, part
}

// A feature of the work of a step under way counts by the share of the step that
// lies within.
func TestTapShares(t *testing.T) {
	recorder := &featureRecorder{starts: []vtime.Time{100, 200, 500}, ends: []vtime.Time{200, 300, 600}}
	for _, v := range []float64{1, 10, 100} {
		recorder.steps = append(recorder.steps, latency.BetaVector{3: v})
	}
	recorder.sumSteps()
	for _, c := range []struct {
		from, to vtime.Time
		want     float64
	}{
		{0, 1000, 111}, {0, 100, 0}, {100, 200, 1}, {100, 150, 0.5}, {150, 250, 5.5}, {200, 200, 0}, {250, 550, 55},
		{300, 500, 0}, {510, 520, 10}, {600, 700, 0}, {0, vtime.Never, 111},
	} {
		got := recorder.sumBetween(c.from, c.to)
		if math.Abs(got[3]-c.want) > 1e-12 || got[2] != 0 {
			t.Errorf("%v to %v: %v, want %v", c.from, c.to, got[3], c.want)
		}
	}
}
