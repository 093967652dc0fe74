package actors

import (
	"fmt"
	"testing"

	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// A pull lasts from 1,594 to 1,885: 200 and 91.5 of blocks. The link of either instance that is slow makes those of the
// blocks longer, if the pull begins then; one that is down lets the pull fail. The prefill instance hears nothing of that,
// and holds its blocks until 3,094.
func TestLinksOfInstances(t *testing.T) {
	for _, of := range []string{"prefill/0", "decode/0", "all"} {
		for _, x := range []struct {
			line   string
			end    vtime.Time // of the pull
			failed bool
		}{
			{"at: 1500us, for: 1ms, bandwidth: 1", 1885, false},
			{"at: 1500us, for: 50us, bandwidth: 0", 1885, false},
			{"at: 1500us, for: 1ms, bandwidth: 0.5", 1977, false},
			{"at: 1500us, for: 100us, bandwidth: 0.5", 1977, false}, // it keeps the share with which it began
			{"at: 1594us, for: 1ms, bandwidth: 0.5", 1885, false},
			{"at: 1593us, for: 1ms, bandwidth: 0.5", 1977, false},
			{"at: 1500us, for: 1ms, bandwidth: 0", 1794, true},
			{"at: 1500us, for: 95us, bandwidth: 0", 1794, true},
			{"at: 1594us, for: 1us, bandwidth: 0", 1595, true},
			{"at: 1700us, for: 1ms, bandwidth: 0", 1701, true},
			{"at: 1884us, for: 1ms, bandwidth: 0", 1885, true},
			{"at: 1885us, for: 1ms, bandwidth: 0", 1885, false},
		} {
			for _, notify := range []vtime.Duration{0, 100} {
				c := pdPair()
				c.PDHoldTimeout, c.PDNotifyLatency, c.KVIdleRelease = 2000, notify, true
				s := serve(t, withFailures(c, fmt.Sprintf("failures: [{link: %s, %s}]", of, x.line)), request(0, 9, 3), request(9000, 9, 1))
				o, pd := s.rows[0], s.Report.PD.Overall
				if o.HandOver.PullEnd != x.end || (o.State == metrics.Failed) != x.failed || x.failed && (o.Reason != metrics.TransferFailed || o.Finished != x.end) {
					t.Errorf("%s %s: pulled until %v, %v (%v) at %v; want until %v, failed: %v", of, x.line, o.HandOver.PullEnd, o.State, o.Reason, o.Finished, x.end, x.failed)
				}
				if lost := b2i(x.failed); pd.Pulled != 2-lost || pd.Expired != lost || pd.Awaiting != 0 || pd.FailedPulls != lost {
					t.Errorf("%s %s, notices after %v: %+v", of, x.line, notify, pd)
				}
			}
		}
	}
}

// Shares of several lines on one link multiply, of two instances the lesser one counts; a decode instance that comes
// while a link is slow knows of it.
func TestSharesOfLinks(t *testing.T) {
	pulled := func(lines string) vtime.Duration {
		h := serve(t, withFailures(pdPair(), "failures:\n"+lines), request(0, 9, 3)).rows[0].HandOver
		return h.PullEnd.Sub(h.PullStart)
	}
	half, tenth := "  - {link: decode/0, at: 0s, bandwidth: 0.5}\n", "  - {link: prefill, at: 0s, bandwidth: 0.1}\n"
	for lines, want := range map[string]vtime.Duration{half: 383, tenth: 1115, half + tenth: 1115, half + half: 566} { // any order
		if got := pulled(lines); got != want {
			t.Errorf("%sa pull takes %v, want %v", lines, got, want)
		}
	}
	c := pdScaled([]int32{1, 1}, []int32{1, 2})
	c.Decode.Set("routing-policy", "least-loaded")
	s := serve(t, withFailures(c, "failures:\n  - {link: prefill/0, at: 1s, for: 1s, bandwidth: 0.5}\n  - {link: prefill/0, at: 5ms, bandwidth: 0.1}\n"),
		request(0, 9, 40), request(20_000, 9, 90), request(20_001, 9, 90))
	late := 0
	for i := range s.rows[1:] {
		if o := &s.rows[i+1]; o.Instance == 2 {
			late++
			if d := o.HandOver.PullEnd.Sub(o.HandOver.PullStart); d != 1115 {
				t.Errorf("the new instance pulls for %v, want 1,115: %+v", d, o)
			}
		}
	}
	if late == 0 {
		t.Errorf("no request on the new instance: %+v", s.rows)
	}
}

// With --pd-link fifo the pulls from 1,594 and from 2,694 go one after the other, until 3,685 and 5,776. Both fail at 3,001,
// and the link is free for the one that begins at 5,594.
func TestQueueOfPullsFails(t *testing.T) {
	for _, what := range []string{"link: prefill/0, at: 3000us, for: 1us, bandwidth: 0", "crash: prefill/0, at: 3000us, for: 1us"} {
		c := pdPair()
		c.PDLink, c.PDTransferLatency = "fifo", 2000
		s := serve(t, withFailures(c, "failures: [{"+what+"}]"), request(0, 9, 3), request(1100, 9, 3), request(4000, 9, 3))
		for i, want := range []vtime.Time{3001, 3001, 5594 + 2091} {
			if o := &s.rows[i]; o.HandOver.PullEnd != want || (o.State == metrics.Failed) != (i < 2) {
				t.Errorf("%s: request %d is pulled until %v, %v; want until %v", what, i, o.HandOver.PullEnd, o.State, want)
			}
		}
	}
}

// A pull fails within a step of the decode instance, which notices at the end of the step. What it was told before with
// --pd-link fifo, that the pull ends 191 µs later, changes nothing.
func TestPullFailsWithinAStep(t *testing.T) {
	c := pdPair()
	c.PDLink = "fifo"
	requests := []workload.Request{request(0, 9, 20), request(5000, 9, 1)}
	begin := serve(t, c, requests...).rows[1].HandOver.PullStart
	s := serve(t, withFailures(c, fmt.Sprintf("failures: [{link: prefill/0, at: %dus, for: 1us, bandwidth: 0}]", begin+99)), requests...)
	if o := &s.rows[1]; o.HandOver.PullEnd != begin+100 || o.State != metrics.Failed || o.Finished < begin+291 {
		t.Errorf("pulled from %v to %v, %v at %v", begin, o.HandOver.PullEnd, o.State, o.Finished)
	}
	if got := *s.Report.PD.Overall.PullMean; got != 195.5 {
		t.Errorf("pulls take %v µs on average, want 291 and 100", got)
	}
}
