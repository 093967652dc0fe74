package lookahead

import (
	"fmt"
	"testing"

	"blis/vtime"
)

// Every way of running a model must give the digest of the strictest twin.
func TestOneDigestHoweverItRuns(t *testing.T) {
	seeds := []uint64{1, 2}
	if testing.Short() {
		seeds = seeds[:1]
	}
	for _, seed := range seeds {
		for name, p := range pholds(seed) {
			t.Run(fmt.Sprintf("%s/seed %d", name, seed), func(t *testing.T) {
				twin := p.build(Config{Sequential: true})
				want := finish(t, twin)
				if n := twin.Stats().Messages; n < 200 {
					t.Fatalf("the model died out after %d messages", n)
				}
				for way, cfg := range ways() {
					s := p.build(cfg)
					if got := finish(t, s); got != want {
						t.Errorf("%s: digest %x, one by one %x", way, got, want)
						describe(t, p, cfg)
					}
				}
			})
		}
	}
}

// ways are the configurations under test.
func ways() map[string]Config {
	list := map[string]Config{}
	for _, workers := range []int{1, 2, 3, 7} {
		list[fmt.Sprintf("%d workers", workers)] = Config{Workers: workers}
		list[fmt.Sprintf("%d workers, never inline", workers)] = Config{Workers: workers, InlineBelow: -1}
	}
	for name, assign := range map[string]func(ProcessID) int{
		"modulo":   func(id ProcessID) int { return int(id) },
		"reversed": func(id ProcessID) int { return 1000 - int(id) },
		"one":      func(ProcessID) int { return 2 },
	} {
		list["assigned "+name] = Config{Workers: 3, InlineBelow: -1, Assign: assign}
	}
	for _, window := range []vtime.Duration{1, 15, 100} {
		list[fmt.Sprintf("windows of %v", window)] = Config{Workers: 2, InlineBelow: -1, MaxWindow: window}
	}
	return list
}

// describe logs the first difference between a run and its twin.
func describe(t *testing.T, p phold, cfg Config) {
	trace := Trace{Every: 1}
	a, b := p.build(Config{Sequential: true, Trace: trace}), Config{}
	b = cfg
	b.Trace = trace
	other := p.build(b)
	finish(t, a)
	finish(t, other)
	if d, ok := FirstDifference(a.Trace(), other.Trace()); ok {
		t.Log(d)
	}
}

// A window length must not matter to what is executed, only to how often the
// coordinator decides.
func TestLookaheadMakesWindowsLong(t *testing.T) {
	p := pholds(3)["without notices"]
	p.checks = false
	s := p.build(Config{})
	finish(t, s)
	if got := s.Stats(); got.Windows > 50 || got.Messages < 5000 {
		t.Errorf("a hub that reads nothing took %d windows for %d messages", got.Windows, got.Messages)
	}
	p.observe, p.noNotices = "live", false
	s = p.build(Config{})
	finish(t, s)
	if got := s.Stats(); got.Windows < 100 || got.InlineShare() != 1 {
		t.Errorf("a hub that reads everything took %d windows, %g of them inline", got.Windows, got.InlineShare())
	}
}

// Leaves with published state that their events leave as it is get no turns for it.
func TestStableLeavesAreLeftAlone(t *testing.T) {
	live, stable := pholds(1)["stable without notices"], pholds(1)["stable without notices"]
	live.checks, stable.checks = false, false // each waits for all leaves
	live.observe = "live"
	a, b := live.build(Config{}), stable.build(Config{})
	finish(t, a)
	finish(t, b)
	if x, y := a.Stats().Turns, b.Stats().Turns; 4*y > 3*x {
		t.Errorf("%d turns for stable leaves, %d for others", y, x)
	}
}

func TestStatsSeeTheSmallestLookahead(t *testing.T) {
	s := pholds(1)["notices"].build(Config{Workers: 2})
	finish(t, s)
	got := s.Stats()
	if got.ControlToLeaf != reaction || got.LeafToControl != noticeLag || got.ToSink != 0 {
		t.Errorf("smallest lookahead %v, %v, %v; the model has %v, %v, 0", got.ControlToLeaf, got.LeafToControl, got.ToSink, reaction, noticeLag)
	}
	if got.Turns == 0 || got.Events == 0 || got.ControlTurns == 0 || got.SinkTurns == 0 {
		t.Errorf("missing counts: %+v", got)
	}
}

// The counts of windows come from the lookahead alone.
func TestWindowsDoNotDependOnWorkers(t *testing.T) {
	a, b := pholds(1)["live"].build(Config{}), pholds(1)["live"].build(Config{Workers: 3, InlineBelow: -1})
	finish(t, a)
	finish(t, b)
	x, y := a.Stats(), b.Stats()
	y.Inline = x.Inline
	if x != y {
		t.Errorf("one worker %+v\nthree %+v", x, y)
	}
}

// pholds are the configurations of the equality tests.
func pholds(seed uint64) map[string]phold {
	p := phold{seed: seed, leaves: 19, arrivals: 150, checks: true}
	with := func(change func(*phold)) phold { q := p; change(&q); return q }
	return map[string]phold{
		"notices":                 p,
		"no checks":               with(func(p *phold) { p.checks = false }),
		"live":                    with(func(p *phold) { p.observe = "live" }),
		"stable":                  with(func(p *phold) { p.observe = "stable" }),
		"stable without notices":  with(func(p *phold) { p.observe, p.noNotices = "stable", true }),
		"slots":                   with(func(p *phold) { p.observe = "slots" }),
		"without notices":         with(func(p *phold) { p.noNotices, p.arrivals = true, 1500 }),
		"streaming":               with(func(p *phold) { p.noNotices, p.stream, p.arrivals = true, 40, 1500 }),
		"streaming, 1":            with(func(p *phold) { p.noNotices, p.stream, p.arrivals, p.checks = true, 1, 300, false }),
		"slots without notices":   with(func(p *phold) { p.noNotices, p.observe = true, "slots" }),
		"growing":                 with(func(p *phold) { p.grow, p.observe = true, "live" }),
		"growing without notices": with(func(p *phold) { p.grow, p.noNotices = true, true }),
		"cut":                     with(func(p *phold) { p.end = Key{3003, 8} }),
		"one leaf":                with(func(p *phold) { p.leaves = 1 }),

		"three control processes":      with(func(p *phold) { p.watchers = []string{""} }),
		"three that observe":           with(func(p *phold) { p.observe, p.checks, p.watchers = "live", false, []string{"live", "live"} }),
		"four control processes":       with(func(p *phold) { p.observe, p.watchers = "slots", []string{"slots", "live"} }),
		"four, only the last observes": with(func(p *phold) { p.watchers = []string{"", "slots"} }),
		"four, stable":                 with(func(p *phold) { p.observe, p.watchers = "stable", []string{"", "stable"} }),
		"five, growing":                with(func(p *phold) { p.grow, p.watchers = true, []string{"live", "slots", ""} }),
		"three, streaming":             with(func(p *phold) { p.noNotices, p.stream, p.arrivals, p.watchers = true, 40, 600, []string{"live"} }),
		"four, the hub last":           with(func(p *phold) { p.hubLast, p.observe, p.watchers = true, "live", []string{"live", ""} }),
		"three, the hub last and streaming": with(func(p *phold) {
			p.hubLast, p.noNotices, p.stream, p.arrivals, p.watchers, p.checks = true, true, 40, 600, []string{"live", ""}, false
		}),
		"a server":                with(func(p *phold) { p.spread = 20; p.servers = [][]NoticeKind{{1}} }),
		"two servers of one kind": with(func(p *phold) { p.spread = 20; p.servers, p.replies = [][]NoticeKind{{1}, {1}}, true }),
		"two servers, observing":  with(func(p *phold) { p.spread = 20; p.observe, p.servers = "live", [][]NoticeKind{{1}, {2}} }),
		"two servers, slots": with(func(p *phold) {
			p.spread = 20
			p.observe, p.servers, p.serversFirst, p.replies = "slots", [][]NoticeKind{{1}, {2}}, true, true
		}),
		"two servers, stable": with(func(p *phold) {
			p.spread = 20
			p.observe, p.servers, p.replies = "stable", [][]NoticeKind{{1}, {2}}, true
		}),
		"two servers, stable, no notices": with(func(p *phold) {
			p.spread = 20
			p.observe, p.noNotices, p.servers, p.replies = "stable", true, [][]NoticeKind{{1}, {2}}, true
		}),
		"servers of several kinds, growing": with(func(p *phold) {
			p.spread = 20
			p.grow, p.servers, p.serversFirst, p.observe = true, [][]NoticeKind{{1, 2}, {2, 3}}, true, "live"
		}),
		"servers and streaming": with(func(p *phold) {
			p.spread = 20
			p.noNotices, p.stream, p.arrivals, p.servers, p.replies = true, 40, 600, [][]NoticeKind{{1}, {2}}, true
		}),
		"servers first and streaming": with(func(p *phold) {
			p.spread = 20
			p.noNotices, p.stream, p.arrivals, p.servers, p.serversFirst, p.checks = true, 40, 600, [][]NoticeKind{{2}, {1, 3}}, true, false
		}),
		"servers, watchers and streaming": with(func(p *phold) {
			p.spread = 20
			p.noNotices, p.stream, p.arrivals, p.watchers, p.servers, p.replies = true, 40, 600, []string{"live"}, [][]NoticeKind{{1}, {2}}, true
		}),
		"servers and watchers": with(func(p *phold) {
			p.spread = 20
			p.observe, p.watchers, p.servers, p.replies = "slots", []string{"stable", "live"}, [][]NoticeKind{{1}, {3}}, true
		}),
		"servers of which one is heard by all": with(func(p *phold) {
			p.spread = 20
			p.observe, p.watchers, p.servers, p.receives, p.hubLast = "stable", []string{"", "stable"}, [][]NoticeKind{{1}, {2}}, []NoticeKind{0, 1}, true
		}),
		"four, without notices, none observing": with(func(p *phold) { p.noNotices, p.stream, p.arrivals, p.watchers = true, 40, 600, []string{"", ""} }),
	}
}
