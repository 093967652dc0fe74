package metrics

import (
	"strings"
	"testing"
)

// handed is completed with a prompt that instance 4 computed: queued there at 1110, scheduled at
// 1120, its prefill ended at 1190; pulled from 1310 to 1390.
func handed() Outcome {
	o := completed()
	o.HandOver = HandOver{Instance: 4, Cached: 48, CachedCPU: 16, CachedStorage: 8, Preemptions: 1, Recomputed: 7, Lost: 30,
		Queued: 1110, Scheduled: 1120, Ended: 1190, PullStart: 1310, PullEnd: 1390, RemoteTokens: 24}
	return o
}

// Whatever is wrong with a hand-over is seen, and named.
func TestRecordRefusesHandOversThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(o *Outcome)
	}{
		{"of nobody", "nobody handed it over", func(o *Outcome) { o.HandOver.Instance = -1 }},
		{"empty", "out of order", func(o *Outcome) { o.HandOver = HandOver{} }},
		{"queued before it was admitted", "out of order", func(o *Outcome) { o.HandOver.Queued = 1099 }},
		{"scheduled before queued", "out of order", func(o *Outcome) { o.HandOver.Scheduled = 1109 }},
		{"prefill in no time", "out of order", func(o *Outcome) { o.HandOver.Ended = 1120 }},
		{"without end", "out of order", func(o *Outcome) { o.HandOver.Ended = never }},
		{"handed over in no time", "ended at 1300", func(o *Outcome) { o.HandOver.Ended = 1300 }},
		{"pulled before queued", "pull began at 1299", func(o *Outcome) { o.HandOver.PullStart = 1299 }},
		{"pulled after scheduled", "pull began at 1401", func(o *Outcome) { o.HandOver.PullStart, o.HandOver.PullEnd = 1401, 1500 }},
		{"pulled in no time", "pulled from 1310", func(o *Outcome) { o.HandOver.PullEnd = 1310 }},
		{"end without pull", "pulled from never", func(o *Outcome) { o.HandOver.PullStart = never }},
		{"first token before all was there", "ended at 2001", func(o *Outcome) { o.HandOver.PullEnd = 2001 }},
		{"all found", "found 100 tokens cached of 100", func(o *Outcome) { o.HandOver.Cached = 100 }},
		{"more from tiers than found", "found 48", func(o *Outcome) { o.HandOver.CachedStorage = 33 }},
		{"negative from the CPU tier", "found 48", func(o *Outcome) { o.HandOver.CachedCPU = -1 }},
		{"more pulled than cached", "32 tokens cached, 33 of them pulled", func(o *Outcome) { o.HandOver.RemoteTokens = 33 }},
		{"pulled and from a tier", "32 tokens cached, 24 of them pulled", func(o *Outcome) { o.CachedCPU, o.CachedStorage = 5, 4 }},
		{"tokens without pull", "its pull ended at never", func(o *Outcome) { o.HandOver.PullStart, o.HandOver.PullEnd = never, never }},
		{"lost more than its prefill", "lost 71 µs", func(o *Outcome) { o.HandOver.Lost = 71 }},
		{"lost without preemption", "in 0 preemptions", func(o *Outcome) { o.HandOver.Preemptions = 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, r := handed(), NewRecorder(options())
			r.Record(&o)
			if err := r.Err(); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			c.change(&o)
			r.Record(&o)
			if err := r.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
}

// What may be: no pull, a pull without end or effect, a request that went on elsewhere or ended first.
func TestHandOversThatMayBe(t *testing.T) {
	for name, change := range map[string]func(o *Outcome){
		"no pull": func(o *Outcome) {
			o.HandOver.PullStart, o.HandOver.PullEnd, o.HandOver.RemoteTokens = never, never, 0
		},
		"ended during its pull": func(o *Outcome) {
			*o = Outcome{Identity: o.Identity, Progress: NoProgress(), State: TimedOut, Admitted: o.Admitted, Finished: 1350, HandOver: o.HandOver}
			o.Routed, o.Queued = 1200, 1300
			o.HandOver.PullEnd, o.HandOver.RemoteTokens = never, 0
		},
		"ended between the instances": func(o *Outcome) {
			*o = Outcome{Identity: o.Identity, Progress: NoProgress(), State: TimedOut, Admitted: o.Admitted, Finished: 1350, HandOver: o.HandOver, Instance: -1}
			o.HandOver.PullStart, o.HandOver.PullEnd, o.HandOver.RemoteTokens = never, never, 0
		},
		"started with a part of its KV": func(o *Outcome) { o.HandOver.PullEnd = 1990 },
		"handed over after it was queued elsewhere": func(o *Outcome) {
			o.Redirects, o.HandOver.Ended, o.HandOver.PullStart, o.HandOver.PullEnd = 1, 1500, 1600, 1700
		},
	} {
		o, r := handed(), NewRecorder(options())
		change(&o)
		r.Record(&o)
		if err := r.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
