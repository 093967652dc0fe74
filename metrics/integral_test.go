package metrics

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"blis/vtime"
)

// levels is a course of a level: level[i] from at[i] on.
type levels struct {
	at    []vtime.Time
	level []int64
}

// draw is one that ends at end, with changes that may fall together.
func drawLevels(r *rand.Rand, end vtime.Time) levels {
	l := levels{[]vtime.Time{0}, []int64{r.Int64N(100)}}
	for range r.IntN(60) {
		at := l.at[len(l.at)-1] + vtime.Time(r.Int64N(int64(end)/20+2))
		if r.IntN(4) == 0 {
			at &^= 1<<10 - 1 // at the end of a bin
		}
		if at < l.at[len(l.at)-1] || at > end {
			continue
		}
		l.at, l.level = append(l.at, at), append(l.level, r.Int64N(100))
	}
	return l
}

// integral is ∫ level dt from a to b, piece by piece.
func (l *levels) integral(a, b vtime.Time) int64 {
	sum := int64(0)
	for i := range l.at {
		from, to := max(a, l.at[i]), b
		if i+1 < len(l.at) {
			to = min(b, l.at[i+1])
		}
		if to > from {
			sum += int64(to-from) * l.level[i]
		}
	}
	return sum
}

// follow is an Integral kept over l to end as an engine does, and its total.
// With often it is also looked at in between, which must make no difference.
func (l *levels) follow(r *rand.Rand, end vtime.Time, often bool) (*Integral, int64) {
	s, sum, since := &Integral{}, int64(0), vtime.Time(0)
	touch := func(now vtime.Time, level int64) {
		if s.Due(now) {
			s.Pass(sum, since, now, level)
		}
		sum += int64(now-since) * level
		since = now
	}
	for i := range l.at {
		until := end
		if i+1 < len(l.at) {
			until = l.at[i+1]
		}
		for often && since < until && r.IntN(4) > 0 {
			touch(since+vtime.Time(r.Int64N(int64(until-since))), l.level[i])
		}
		touch(until, l.level[i])
	}
	return s, sum
}

// Bins of several instances against integrals taken one by one over the whole
// course, and their width against the smallest that will do.
func TestKVUseAgreesWithTheSlowTwin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	for range 400 {
		end := vtime.Time(1 + r.Int64N(1<<(4+r.Int64N(30))))
		if r.IntN(4) == 0 {
			end = 1 << r.Int64N(34) // with a bin
		}
		c := collection{Run: Run{End: end}}
		var courses []levels
		for range 1 + r.IntN(4) {
			l := drawLevels(r, end)
			s, total := l.follow(r, end, r.IntN(2) == 0)
			courses = append(courses, l)
			c.Counters = append(c.Counters, Counters{BlockMicros: total, TotalBlocks: 100})
			c.Lives = append(c.Lives, Life{Gone: end, Blocks: s})
		}
		use, err := c.kvUse()
		if err != nil {
			t.Fatal(err)
		}
		width := vtime.Time(use.BinMicros)
		if end>>10 < seriesBins && width != 1<<10 || end/width >= seriesBins || width > 1<<10 && end/(width/2) < seriesBins {
			t.Fatalf("%d µs in bins of %d", end, width)
		}
		for i, got := range use.BlockMicros {
			from, to := vtime.Time(i)*width, min(vtime.Time(i+1)*width, end)
			want := int64(0)
			for k := range courses {
				want += courses[k].integral(from, to)
			}
			if got != want || !near(use.Share[i], float64(want)/float64(100*int64(len(courses))*int64(to-from))) {
				t.Fatalf("bin %d of %d µs to %d: %d block·µs, share %v; want %d", i, width, end, got, *use.Share[i], want)
			}
		}
		if last := vtime.Time(len(use.BlockMicros)) * width; last < end || last-width >= end {
			t.Fatalf("%d bins of %d µs for %d µs", len(use.BlockMicros), width, end)
		}
	}
}

// Blocks of instances count while these are there: one from 1,024 to 3,072,
// one of twice the size from 2,048 on. In the first bin there is none.
func TestShareIsOfTheInstancesThereAre(t *testing.T) {
	course := func(l levels) Life {
		s, _ := l.follow(nil, 4000, false)
		return Life{Blocks: s}
	}
	a := course(levels{[]vtime.Time{0, 1024, 3072}, []int64{0, 5, 0}})
	b := course(levels{[]vtime.Time{0, 2048}, []int64{0, 10}})
	a.Ready, a.Gone, b.Ready, b.Gone = 1024, 3072, 2048, never
	c := collection{Run: Run{End: 4000, Lives: []Life{a, b}, Counters: []Counters{{TotalBlocks: 10, BlockMicros: 5 * 2048}, {TotalBlocks: 20, BlockMicros: 10 * 1952}}}}
	use, err := c.kvUse()
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(use)
	if want := `{"bin_us":1024,"block_us":[0,5120,15360,9280],"share":[null,0.5,0.5,0.5]}`; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	c.Counters[1].TotalBlocks = 9
	if _, err := c.kvUse(); err == nil || !strings.Contains(err.Error(), "from 3072 µs on") {
		t.Errorf("more blocks in use than there are: %v", err)
	}
	c.Lives = c.Lives[:1]
	if _, err := c.kvUse(); err == nil || !strings.Contains(err.Error(), "2 instances with 1 lives") {
		t.Errorf("a life is missing: %v", err)
	}
}

// Time that goes to its end is no reason to overflow.
func TestIntegralReachesTheEndOfTime(t *testing.T) {
	var s Integral
	now, sum := vtime.Time(0), int64(0)
	for _, next := range []vtime.Time{1, 1 << 40, 1 << 61, never - 1, never} {
		if s.Due(next) {
			s.Pass(sum, now, next, 1)
		}
		if next < never && s.Due(next) {
			t.Errorf("at %d: due again", next)
		}
		sum += int64(next - now)
		now = next
		for i := range s.known {
			if s.ends[i] != int64(i+1)<<s.shift {
				t.Fatalf("at %d: the integral at the end of bin %d is %d", next, i, s.ends[i])
			}
		}
	}
	if s.shift != 56 || s.known != 127 {
		t.Errorf("%d bins of 2^%d", s.known, s.shift)
	}
	c := collection{Run: Run{End: never, Lives: []Life{{Gone: never, Blocks: &s}}, Counters: []Counters{{TotalBlocks: 2, BlockMicros: sum}}}}
	use, err := c.kvUse()
	if err != nil || len(use.Share) != 128 || !near(use.Share[127], 0.5) {
		t.Errorf("%v: %+v", err, use)
	}
	c.End = 5
	if _, err := c.kvUse(); err == nil || !strings.Contains(err.Error(), "KV use of instance 0 is known for 127 bins") {
		t.Errorf("known for another time than that of the run: %v", err)
	}
}

func BenchmarkIntegral(b *testing.B) {
	var s Integral
	now := vtime.Time(0)
	for b.Loop() { // a step of 9 ms each
		if next := now + 9000; s.Due(next) {
			s.Pass(int64(now), now, next, 1)
		}
		now += 9000
	}
}
