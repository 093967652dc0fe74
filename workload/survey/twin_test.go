package survey

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blis/vtime"
	"blis/workload"
)

// TestReuseIsThatOfACacheOfBlocks compares the tree of spans with a cache that
// holds blocks by all of their tokens.
func TestReuseIsThatOfACacheOfBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int32Range(1, 5).Draw(t, "block size")
		var list []workload.Request
		for i := range rapid.IntRange(1, 12).Draw(t, "requests") {
			list = append(list, drawRequest(t, i))
		}
		source, err := workload.NewSlice(list, workload.Labels{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Take(source, Options{BlockSize: size})
		if err != nil {
			t.Fatal(err)
		}
		named, ideal, hits := reuseOf(list, size)
		if r := s.Reuse; r.Named != named || r.Ideal != ideal || r.HitRequests != hits {
			t.Fatalf("%d named, %d found by %d requests; want %d, %d, %d of %+v", r.Named, r.Ideal, r.HitRequests, named, ideal, hits, list)
		}
	})
}

// drawRequest draws one of contents few and short enough to meet again, some
// as the output of one and a span of another.
func drawRequest(t *rapid.T, i int) workload.Request {
	r := workload.NewRequest(0, rapid.Int32Range(0, 3).Draw(t, "own"), rapid.Int32Range(0, 9).Draw(t, "output"))
	r.Source, r.Index = workload.FirstSource, uint64(i)
	for range rapid.IntRange(0, 4).Draw(t, "spans") {
		s := workload.Span{
			Content: workload.ContentID(rapid.IntRange(1, 3).Draw(t, "content")),
			Length:  rapid.SampledFrom([]int32{8, 8, 8, 1, 3, 7, 9, 12}).Draw(t, "length"),
		}
		r.Spans = append(r.Spans, s)
		r.Input += s.Length
	}
	r.Input = max(r.Input, 1)
	r.OutputContent = workload.ContentID(rapid.IntRange(0, 3).Draw(t, "output content"))
	return r
}

// reuseOf is what TestReuse… wants: named tokens, tokens found, requests that
// found any.
func reuseOf(list []workload.Request, size int32) (named, ideal, hits int64) {
	cached := map[string]bool{} // beginnings of whole blocks, token by token
	for i, r := range list {
		var tokens []byte
		add := func(content workload.ContentID, length int32) {
			for k := range length {
				tokens = append(tokens, byte(content), byte(k))
			}
		}
		for _, s := range r.Spans {
			add(s.Content, s.Length)
			named += int64(s.Length)
		}
		own := r.Input - r.Shared()
		for k := range own {
			tokens = append(tokens, byte(100+i), byte(k))
		}
		found := int32(0)
		for end := size; end < r.Input && cached[string(tokens[:2*end])]; end += size {
			found = end
		}
		ideal += int64(found)
		if found > 0 {
			hits++
		}
		if own == 0 && r.OutputContent != 0 {
			add(r.OutputContent, max(r.Output, 1)-1)
		}
		for end := size; int(2*end) <= len(tokens); end += size {
			cached[string(tokens[:2*end])] = true
		}
	}
	return named, ideal, hits
}

// The coefficient of variation is that of the definition, in arithmetic so wide
// that it does not round.
func TestCVIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		near := rapid.Uint64Range(0, 1<<62).Draw(t, "near")
		spread := rapid.SampledFrom([]uint64{1, 3, 1000, 1 << 40, 1 << 62}).Draw(t, "spread")
		list := rapid.SliceOfN(rapid.Uint64Range(near, near+spread-1), 2, 40).Draw(t, "numbers")
		wide := func(x float64) *big.Float { return new(big.Float).SetPrec(500).SetFloat64(x) }
		var m moments
		sum, squares, n := wide(0), wide(0), wide(float64(len(list)))
		for _, x := range list {
			m.add(x)
			sum.Add(sum, wide(0).SetUint64(x))
		}
		mean := wide(0).Quo(sum, n)
		for _, x := range list {
			d := wide(0).SetUint64(x)
			d.Sub(d, mean)
			squares.Add(squares, d.Mul(d, d))
		}
		if sum.Sign() == 0 {
			if m.cv() != nil {
				t.Fatal("zeros have a coefficient of variation")
			}
			return
		}
		want := wide(0).Quo(wide(0).Sqrt(squares.Quo(squares, n)), mean)
		f, _ := want.Float64()
		if got := *m.cv(); math.Abs(got-f) > 1e-15*f {
			t.Fatalf("cv %v, want %v of %v", got, f, list)
		}
	})
}

// A timeline counts each arrival in its bin, however far apart arrivals are, and
// has a line's worth of bins.
func TestTimelineCountsArrivalsInTheirBins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reach := vtime.Time(1) << rapid.IntRange(0, 61).Draw(t, "reach")
		list := rapid.SliceOfN(rapid.Int64Range(0, int64(reach)), 1, 500).Draw(t, "arrivals")
		slices.Sort(list)
		var l timeline
		for _, at := range list {
			l.add(vtime.Time(at))
		}
		got := l.report(int64(len(list)))
		most := min(max(int64(len(list))/5, 3), 80)
		last := list[len(list)-1] - list[0]
		if bins := last/got.BinMicros + 1; int64(len(got.Counts)) != bins || bins > most || bins < 2 && last > 0 {
			t.Fatalf("%d bins of %d µs for a span of %d", len(got.Counts), got.BinMicros, last)
		}
		want := make([]int64, len(got.Counts))
		for _, at := range list {
			want[(at-list[0])/got.BinMicros]++
		}
		if !slices.Equal(got.Counts, want) {
			t.Fatalf("bins of %d µs: %v, want %v", got.BinMicros, got.Counts, want)
		}
		// Of the round widths that are as good, the least.
		if widths := roundWidths(); !slices.Contains(widths, vtime.Duration(got.BinMicros)) {
			t.Fatalf("%d is no round width", got.BinMicros)
		} else if i := slices.Index(widths, vtime.Duration(got.BinMicros)); i > 0 && last/int64(widths[i-1]) < most {
			t.Fatalf("bins of %d µs where %d do for %d", got.BinMicros, widths[i-1], last)
		}
	})
}

// The longest that a workload can last, few requests: the widths reach so far.
func TestTimelineOfAllVirtualTime(t *testing.T) {
	var l timeline
	for _, at := range []vtime.Time{0, 1, workload.Latest} {
		l.add(at)
	}
	if got := l.report(3); got.BinMicros != int64(20_000_000*day) || !slices.Equal(got.Counts, []int64{2, 0, 1}) {
		t.Errorf("%+v", got)
	}
}
