package lookahead

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"blis/vtime"
)

// ticker is a leaf with one event every period; it ignores messages.
type ticker struct {
	next   Key
	period vtime.Duration
	last   vtime.Time
	hub    bool
	sum    uint64
}

func (l *ticker) Next() Key { return l.next }
func (l *ticker) Promise() Key {
	if !l.hub {
		return NeverKey
	}
	return l.next.Next()
}
func (l *ticker) Work(Key) int { return 1 }
func (l *ticker) Receive(m *Message, out *Outbox) {
	l.sum += m.Body.Uint()
	for m.Body.Left() > 0 {
		l.sum += uint64(m.Body.Int())
	}
}
func (l *ticker) Advance(_ Key, out *Outbox) {
	for out.Execute(l.next) {
		if l.hub {
			out.Begin(0, l.next.Next(), 8, 1)
			out.Uint(l.sum)
			out.End()
		}
		l.sum++
		if l.next.At = l.next.At.Add(l.period); l.next.At >= l.last {
			l.next = NeverKey
		}
	}
}

// decider sends one message per event, round robin. If it observes, it reads all
// leaves at each event.
type decider struct {
	ticker
	leaves  int
	observe bool
	turn    int
}

func (d *decider) Promise() Key { return d.next.Next() }
func (d *decider) Observation() Observation {
	if !d.observe {
		return Observation{At: NeverKey}
	}
	return Observation{At: d.next, Until: d.next.Next(), StateBefore: d.next, LeafLimit: d.next}
}
func (d *decider) Advance(_ Key, out *Outbox) {
	for out.Execute(d.next) {
		out.Begin(FirstLeaf+ProcessID(d.turn), d.next.Next(), 3, 6)
		for i := range int64(6) {
			out.Uint(uint64(i * 1000))
		}
		out.End()
		if d.turn++; d.turn == d.leaves {
			d.turn = 0
		}
		if d.next.At = d.next.At.Add(d.period); d.next.At >= d.last {
			d.next = NeverKey
		}
		if !d.observe {
			out.Stream(1 << 16)
		}
	}
}

// workload builds a simulation of n decisions.
func workload(cfg Config, leaves, n int, observe, notices bool, eventsPerDecision int) *Simulation {
	const gap = 1600
	if !notices {
		cfg.Notices = unanswered()
	}
	s := New(cfg)
	last := vtime.Time(n * gap)
	s.AddControl("router", &decider{ticker: ticker{next: Key{0, 2}, period: gap, last: last}, leaves: leaves, observe: observe})
	for i := range leaves {
		l := &ticker{next: NeverKey, hub: notices}
		if eventsPerDecision > 0 {
			l.period = vtime.Duration(gap * leaves / eventsPerDecision)
			l.next, l.last = Key{vtime.Time(1 + int(l.period)*i/leaves), 6}, last
		}
		s.AddLeaf(fmt.Sprintf("leaf/%d", i), l)
	}
	return s
}

func runBench(b *testing.B, s *Simulation) {
	b.ReportAllocs()
	b.ResetTimer()
	if err := s.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.Logf("digest %x, %d windows", fold(s.Digest()), s.Stats().Windows)
}

// One routing decision with immediate observation: a control turn, and a
// window in which some leaves execute one event each.
func BenchmarkDecision(b *testing.B) {
	for _, leaves := range []int{16, 256, 1000} {
		for _, events := range []int{0, 2, 8} {
			b.Run(fmt.Sprintf("%d leaves/%d events", leaves, events), func(b *testing.B) {
				runBench(b, workload(Config{}, leaves, b.N, true, false, events))
			})
		}
	}
	b.Run("16 leaves/2 events, notices", func(b *testing.B) {
		runBench(b, workload(Config{}, 16, b.N, true, true, 2))
	})
	b.Run("16 leaves/2 events, 2 workers", func(b *testing.B) {
		runBench(b, workload(Config{Workers: 2}, 16, b.N, true, false, 2))
	})
}

// One message of six fields from a router that observes nothing.
func BenchmarkMessage(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("%d workers", workers), func(b *testing.B) {
			runBench(b, workload(Config{Workers: workers}, 16, b.N, false, false, 0))
		})
	}
}

// One window that workers share: claims, turns without work, the end.
func BenchmarkBarrier(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("one processor")
	}
	for _, turns := range []int{2, 16} {
		b.Run(fmt.Sprintf("%d turns", turns), func(b *testing.B) {
			s := New(Config{Workers: 2})
			var list []*node
			for i := range turns {
				s.AddLeaf(fmt.Sprint(i), &ticker{next: NeverKey})
				list = append(list, s.loop.lookup(FirstLeaf+ProcessID(i)))
			}
			s.loop.workers.start()
			for b.Loop() {
				s.loop.workers.runParallel(list, NeverKey, nil, false, 1<<20)
			}
			s.loop.workers.stop()
		})
	}
}

// A message must cost no allocation, however it travels.
func TestNoAllocationPerMessage(t *testing.T) {
	cost := func(cfg Config, n int, observe, notices bool) int64 {
		s := workload(cfg, 16, n, observe, notices, 2)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		finish(t, s)
		runtime.ReadMemStats(&after)
		return int64(after.Mallocs - before.Mallocs)
	}
	for name, c := range map[string]struct {
		cfg              Config
		observe, notices bool
	}{
		"blind":           {Config{}, false, false},
		"observing":       {Config{}, true, false},
		"notices":         {Config{}, true, true},
		"shared":          {Config{Workers: 2, InlineBelow: -1}, false, true},
		"one by one":      {Config{Sequential: true}, true, true},
		"shared and open": {Config{Workers: 2, InlineBelow: -1}, true, true},
	} {
		short, long := cost(c.cfg, 2000, c.observe, c.notices), cost(c.cfg, 7000, c.observe, c.notices)
		// Less than one per five decisions: parking a worker allocates too.
		if extra := long - short; extra > 1000 {
			t.Errorf("%s: %d allocations for 5,000 decisions more (%d and %d)", name, extra, short, long)
		}
	}
}
