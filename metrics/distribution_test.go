package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
)

// twin is the plain way to do what Distribution does.
type twin []int64

func (s *twin) add(v, n int64) {
	for range n {
		*s = append(*s, v)
	}
}

func (s twin) percentile(p float64) float64 {
	rank := p * float64(len(s)-1) / 100
	k := int(math.Floor(rank))
	if k+1 >= len(s) {
		return float64(s[k])
	}
	return float64(s[k]) + (float64(s[k+1])-float64(s[k]))*(rank-float64(k))
}

// compare sorts s and compares it with d in everything that d can say.
func (s twin) compare(t *testing.T, seed uint64, d *Distribution) {
	t.Helper()
	slices.Sort(s)
	got := d.Summary()
	if got.N != int64(len(s)) {
		t.Fatalf("seed %d: %d samples, twin has %d", seed, got.N, len(s))
	}
	if len(s) == 0 {
		if got != (Summary{}) {
			t.Fatalf("seed %d: empty, but %+v", seed, got)
		}
		return
	}
	mean := 0.0
	for _, v := range s {
		mean += float64(v) / float64(len(s))
	}
	if got.Min != s[0] || got.Max != s[len(s)-1] {
		t.Fatalf("seed %d: min, max %d, %d; want %d, %d", seed, got.Min, got.Max, s[0], s[len(s)-1])
	}
	size := math.Max(math.Abs(float64(got.Min)), math.Abs(float64(got.Max)))
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"mean", got.Mean, mean},
		{"p50", got.P50, s.percentile(50)}, {"p90", got.P90, s.percentile(90)},
		{"p95", got.P95, s.percentile(95)}, {"p99", got.P99, s.percentile(99)},
	} {
		if math.Abs(c.got-c.want) > 1e-9*size {
			t.Fatalf("seed %d: %s of %d samples is %v, twin says %v", seed, c.name, len(s), c.got, c.want)
		}
	}
	for i := range 5 {
		v := s[i*(len(s)-1)/4]
		at, _ := slices.BinarySearch(s, v)
		for at < len(s) && s[at] == v {
			at++
		}
		if got := d.CountAtMost(v); got != int64(at) {
			t.Fatalf("seed %d: %d samples at most %d, twin says %d", seed, got, v, at)
		}
	}
}

// shapes are ways to draw a sample; each drives other paths of the storage.
var shapes = []struct {
	name string
	draw func(r *rand.Rand) int64
}{
	{"constant", func(*rand.Rand) int64 { return 7000 }},
	{"few values", func(r *rand.Rand) int64 { return 7000 + r.Int64N(300) }},
	{"steps with outliers", func(r *rand.Rand) int64 {
		if r.IntN(50) == 0 {
			return r.Int64N(1e7)
		}
		return 9000 + r.Int64N(2500)
	}},
	{"latencies", func(r *rand.Rand) int64 { return int64(r.ExpFloat64() * 3e6) }},
	{"one far outlier", func(r *rand.Rand) int64 {
		if r.IntN(20000) == 0 {
			return packedLimit - 1
		}
		return r.Int64N(1000)
	}},
	{"wide", func(r *rand.Rand) int64 { return int64(r.Uint64()) }},
	{"ends", func(r *rand.Rand) int64 {
		return []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, packedLimit - 1, packedLimit, math.MaxInt64 - 1, math.MaxInt64}[r.IntN(9)]
	}},
}

func TestDistributionAgreesWithSortedSlice(t *testing.T) {
	first := rand.Uint64()
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			for i, size := range []int{0, 1, 2, 3, 15, 16, 17, 64, 100, 1023, 1024, 1025, 5000, 40000, 150000} {
				seed := first + uint64(i)
				r := rand.New(rand.NewPCG(seed, 1))
				var d Distribution
				var s twin
				for len(s) < size {
					v, n := shape.draw(r), int64(1)
					if r.IntN(4) == 0 {
						n = r.Int64N(5)
					}
					if n == 1 {
						d.Add(v)
					} else {
						d.AddN(v, n)
					}
					s.add(v, n)
				}
				s.compare(t, seed, &d)
			}
		})
	}
}

func TestMergeIsIndependentOfOrderAndSplit(t *testing.T) {
	first := rand.Uint64()
	for i := range uint64(30) {
		seed := first + i
		r := rand.New(rand.NewPCG(seed, 2))
		shape := shapes[r.IntN(len(shapes))]
		var whole Distribution
		var s twin
		parts := make([]Distribution, 1+r.IntN(8))
		for range r.IntN(30000) {
			v := shape.draw(r)
			whole.Add(v)
			parts[r.IntN(len(parts))].Add(v)
			s.add(v, 1)
		}
		var ascending, descending Distribution
		for i := range parts {
			ascending.Merge(&parts[i])
			descending.Merge(&parts[len(parts)-1-i])
		}
		var nested Distribution // ((first half) + (second half))
		var halves [2]Distribution
		for i := range parts {
			halves[i%2].Merge(&parts[i])
		}
		nested.Merge(&halves[0])
		nested.Merge(&halves[1])
		for _, m := range []*Distribution{&ascending, &descending, &nested} {
			if m.Summary() != whole.Summary() || m.Fold() != whole.Fold() {
				t.Fatalf("seed %d, %s: %d parts merge to %+v %x, the whole is %+v %x",
					seed, shape.name, len(parts), m.Summary(), m.Fold(), whole.Summary(), whole.Fold())
			}
		}
		s.compare(t, seed, &ascending)
		for _, d := range []*Distribution{&whole, &ascending} {
			if got, want := d.mixed, mixedRuns(d); got != want {
				t.Fatalf("seed %d: the running sum for the fold is %x, the runs say %x", seed, got, want)
			}
		}
		for i := range parts { // a merge must leave its argument usable
			parts[i].Add(5)
		}
		if ascending.Fold() != whole.Fold() {
			t.Fatalf("seed %d: adding to a part changed what it was merged into", seed)
		}
	}
}

// mixedRuns is Distribution.mixed, read off the runs.
func mixedRuns(d *Distribution) (sum uint64) {
	var scratch block
	for i := range d.runs {
		for _, e := range d.runs[i].decode(&scratch) {
			sum += uint64(e.count) * vtime.Mix(uint64(e.value))
		}
	}
	return sum
}

func TestFoldSeesTheMultisetOnly(t *testing.T) {
	var a, b, c Distribution
	for v := range int64(5000) {
		a.AddN(v, 2)
		b.Add(4999 - v)
		c.AddN(v, 2)
	}
	_ = b.Summary() // empties the buffer half way
	for v := range int64(5000) {
		b.Add(v)
	}
	c.Add(17)
	if a.Fold() != b.Fold() {
		t.Error("the order of insertion changed the fold")
	}
	if a.Fold() == c.Fold() {
		t.Error("one sample more did not change the fold")
	}
	var x, y Distribution // same n, same sum
	x.AddN(5, 2)
	y.Add(4)
	y.Add(6)
	if x.Fold() == y.Fold() {
		t.Error("5, 5 and 4, 6 fold to the same")
	}
}

func TestPercentilesInterpolate(t *testing.T) {
	var d Distribution
	for v := range int64(5) {
		d.Add(v + 1)
	}
	want := Summary{N: 5, Mean: 3, P50: 3, P90: 4.6, P95: 4.8, P99: 4.96, Min: 1, Max: 5}
	if got := d.Summary(); got != want {
		t.Errorf("1..5: %+v, want %+v", got, want)
	}
	var one Distribution
	one.Add(42)
	if got := one.Summary(); got != (Summary{1, 42, 42, 42, 42, 42, 42, 42}) {
		t.Errorf("a single 42: %+v", got)
	}
}

func TestOrderStatisticsFindEveryRank(t *testing.T) {
	const n = 100_000
	var d Distribution
	for v := range int64(n) {
		d.Add(3 * (n - 1 - v)) // 0, 3, 6, …
	}
	d.flush()
	for rank := int64(0); rank+7 < n; rank += 97 {
		ranks := []int64{rank, rank + 1, rank + 2, rank + 3, rank + 4, rank + 5, rank + 6, rank + 7}
		values := make([]int64, len(ranks))
		d.orderStatistics(ranks, values)
		for i := range ranks {
			if values[i] != 3*ranks[i] {
				t.Fatalf("the sample of rank %d is %d, want %d", ranks[i], values[i], 3*ranks[i])
			}
		}
	}
}

func TestManySamplesAtOnce(t *testing.T) {
	for _, n := range []int64{0, 1, 2, 128, 129, 130, maxCount - 1, maxCount, maxCount + 1, maxCount + 2, 1e12} {
		var d Distribution
		d.AddN(9, n)
		d.AddN(5, 1)
		if n == 0 {
			d.AddN(9, 1)
		}
		want := max(n, 1) + 1
		if s := d.Summary(); s.N != want || s.Min != 5 || s.Max != 9 || d.CountAtMost(5) != 1 {
			t.Errorf("%d samples of 9, one of 5: %+v", n, s)
		}
	}
}

func TestSumsDoNotOverflow(t *testing.T) {
	var d Distribution
	for range 10 {
		d.AddN(1e9, 1e9) // 10¹⁰ samples of 10⁹ µs: 10¹⁹ > 2⁶³
	}
	d.AddN(-1e9, 1e10)
	d.AddN(3, 1e10)
	if got := d.Summary(); got.N != 3e10 || got.Mean != 1 || got.P50 != 3 || got.P99 != 1e9 {
		t.Errorf("got %+v", got)
	}
	d.AddN(-6, 3e10)
	if got := d.Summary().Mean; got != -2.5 {
		t.Errorf("mean of a negative sum is %v, want -2.5", got)
	}
}

func TestRepeatedValuesAreStoredOnce(t *testing.T) {
	var d Distribution
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 1_000_000 {
		d.AddN(8000+r.Int64N(5000), 1+r.Int64N(200))
		if i%50 == 0 {
			d.AddN(1e6*r.Int64N(300), 1)
		}
	}
	if size := d.bytes(); size > 300_000 {
		t.Errorf("a million samples of 5,300 values take %d bytes", size)
	}
	d = Distribution{}
	for i := range int64(30_000) {
		d.AddN(8000+i%5000, 1)
		if i%50 == 0 {
			d.AddN(1e6*(i%300), 1)
		}
	}
	d.flush()
	d.compact()
	if want := 5000 + 6; d.entries != want {
		t.Errorf("%d values are %d entries when just compacted", want, d.entries)
	}
}

func TestDistinctSamplesAreCompact(t *testing.T) {
	var d Distribution
	r := rand.New(rand.NewPCG(1, 1))
	const n = 1_000_000
	for range n {
		d.Add(int64(r.ExpFloat64() * 5e6))
	}
	if perSample := float64(d.bytes()) / n; perSample > 3 {
		t.Errorf("%.2f bytes per sample, want at most 3", perSample)
	}
}

// bytes is the memory that d holds.
func (d *Distribution) bytes() int {
	size := 8*cap(d.recent) + 16*cap(d.wide) + 64*cap(d.runs)
	for i := range d.runs {
		size += cap(d.runs[i].data)
	}
	return size
}

func TestSum128AgreesWithSmallNumbers(t *testing.T) {
	for _, v := range []int64{-7, -1, 0, 1, 9} {
		for _, n := range []int64{1, 2, 5} {
			var s sum128
			s.addProduct(v, n)
			if got, want := s.over(n), float64(v); got != want {
				t.Errorf("%d·%d/%d = %v", v, n, n, got)
			}
			if got, want := s.float(), float64(v*n); got != want {
				t.Errorf("%d·%d = %v", v, n, got)
			}
		}
	}
}

func benchmarkValues(n int, draw func(r *rand.Rand) int64) []int64 {
	r := rand.New(rand.NewPCG(1, 1))
	values := make([]int64, n)
	for i := range values {
		values[i] = draw(r)
	}
	return values
}

func BenchmarkAdd(b *testing.B) {
	values := benchmarkValues(1<<16, shapes[3].draw)
	var d Distribution
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.Add(values[i&(1<<16-1)])
	}
	b.ReportMetric(float64(d.bytes())/float64(d.N()), "bytes/sample")
}

// Values that never come again: what latencies of a long run look like.
func BenchmarkAddDistinct(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var d Distribution
	b.ReportAllocs()
	for b.Loop() {
		d.Add(int64(r.Uint64() >> 38))
	}
	b.ReportMetric(float64(d.bytes())/float64(d.N()), "bytes/sample")
}

func BenchmarkAddN(b *testing.B) {
	values := benchmarkValues(1<<16, shapes[2].draw)
	var d Distribution
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		v := values[i&(1<<16-1)]
		d.AddN(v, 1+v&127)
	}
}

func BenchmarkSummaryOfMillion(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var d Distribution
	for range 1_000_000 {
		d.Add(int64(r.ExpFloat64() * 5e6))
	}
	b.ReportAllocs()
	var s Summary
	for b.Loop() {
		s = d.Summary()
	}
	b.ReportMetric(s.P99, "p99")
}
