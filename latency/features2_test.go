package latency

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"blis/vtime"
)

// naiveShare is the share of its experts that the most burdened GPU reads in a step of
// n tokens.
func naiveShare(d *Deployment, n int64) float64 {
	s, engines := d.Model, math.Max(1, float64(d.DataParallel.Ranks))
	if s.Experts == 0 || n == 0 {
		return 0
	}
	p := 1 - math.Pow(1-float64(s.ActiveExperts)/float64(s.Experts), float64(n)*engines)
	if gpus := float64(d.TP) * engines; d.ExpertParallel {
		p += math.Sqrt(2*math.Log(gpus)) * math.Sqrt(p*(1-p)*gpus/float64(s.Experts))
	}
	return math.Min(1, p)
}

// naiveExpertTime is the time to read the experts of that share, s.
func naiveExpertTime(d *Deployment, n int64) float64 {
	return d.Model.Counts().expertBytes() * naiveShare(d, n) / d.BandwidthCeiling() / math.Max(1, float64(d.DataParallel.Ranks))
}

// naiveConverted reports whether weights are converted before use.
func naiveConverted(d *Deployment, w PartWidth) bool {
	if w.WeightBits == 4 && (w.ActivationBits == 4 || w.ScaleBits == 0.25) {
		return d.GPU.FP4 == 0
	}
	return w.WeightBits < 16 && w.ActivationBits > w.WeightBits
}

// naiveSecond is the twin of features 17 to 28.
func naiveSecond(d *Deployment, b *Batch) []float64 {
	s, tokens, engines := d.Model, b.Scheduled(), math.Max(1, float64(d.DataParallel.Ranks))
	layers, moe := float64(s.Layers), 0.0
	if s.Experts > 0 {
		moe = layers - float64(s.DenseLayers)
	}
	graph := b.DecodeTokens
	if larger := slices.IndexFunc(capturedSizes(), func(size int64) bool { return size >= graph }); larger >= 0 && b.PrefillTokens == 0 {
		graph = capturedSizes()[larger]
	}
	reading := s.Counts().alwaysStreamed()/d.BandwidthCeiling() + naiveExpertTime(d, tokens)
	row := moe * float64(s.ActiveExperts*s.Hidden*s.ElementBytes) / d.GPU.Bandwidth
	if d.ExpertParallel {
		row /= float64(d.TP)
	} else {
		row *= engines
	}
	all, mlp, experts := naiveWidths(s)
	inAttention, inMLPs, inExperts := s.Counts().parts()
	fp8, conversion := 0.0, 0.0
	if experts.WeightBits == 8 && experts.ActivationBits == 8 {
		fp8 = naiveExpertTime(d, tokens)
	}
	for _, part := range []struct {
		width   PartWidth
		weights float64
	}{{all, float64(inAttention)}, {mlp, float64(inMLPs)}, {experts, float64(inExperts) * naiveShare(d, tokens) / engines}} {
		if naiveConverted(d, part.width) {
			conversion += part.weights / float64(d.TP) / 1e13
		}
	}
	small := *b
	small.PrefillTokens, small.DecodeTokens = 0, min(tokens, 512)
	bytes := float64(s.Hidden * s.ElementBytes)
	return []float64{
		float64(graph) * naiveLayers(d),
		float64(tokens)*naiveLayers(d) - reading,
		layers * 1e-6,
		moe * 1e-6,
		2 * layers * (d.allReduceTime(float64(tokens)*bytes) - d.allReduceTime(0)) * 1e-6,
		row * float64(b.DecodeTokens),
		row * float64(b.PrefillTokens),
		2 * layers * (d.allReduceTime(float64(small.DecodeTokens)*bytes) - d.allReduceTime(0)) * 1e-6,
		fp8,
		conversion,
		2 * moe * float64(tokens) * bytes * (engines - 1) / d.linkRate(),
		layers * float64(b.DecodeRequests) * 1e-6,
	}
}

// capturedSizes are the sizes of vLLM's CUDA graphs.
func capturedSizes() []int64 {
	sizes := []int64{1, 2, 4}
	for n := int64(8); n < 256; n += 8 {
		sizes = append(sizes, n)
	}
	for n := int64(256); n <= 512; n += 16 {
		sizes = append(sizes, n)
	}
	return sizes
}

func TestCapturedIsTheNextSizeOfTheList(t *testing.T) {
	for n := int64(-2); n < 1100; n++ {
		want := n // larger than all: not padded
		for _, size := range slices.Backward(capturedSizes()) {
			if n > 0 && size >= n {
				want = size
			}
		}
		if got := captured(n); got != want {
			t.Errorf("%d decodes run as %d, want %d", n, got, want)
		}
	}
}

// randomSharing spreads experts over GPUs and engines in some way.
func randomSharing(r *vtime.Stream, d *Deployment) {
	d.ExpertParallel, d.DataParallel.Ranks = r.Int64N(2) == 0, int(r.Int64N(2))
	if d.Model.Experts > 0 {
		d.DataParallel.Ranks = int(r.Int64N(9))
	}
}

// More tokens never touch a smaller share, to the bit, though the deviation of the
// share shrinks again where nearly all experts are touched: floors are of one token and
// of a full step.
func TestShareOfTheMostBurdenedGPUGrowsWithTokens(t *testing.T) {
	for _, c := range [][3]int64{{8, 2, 2}, {8, 2, 8}, {64, 6, 4}, {128, 4, 2}, {256, 8, 16}, {4096, 1, 2}, {4096, 1, 1024}, {4, 4, 4}, {2, 1, 1024}, {1, 1, 8}} {
		d := &Deployment{Model: &ModelSpec{Experts: c[0], ActiveExperts: c[1]}, TP: int(c[2]), ExpertParallel: true}
		shares := newExpertShares(d)
		plain := newExpertShares(&Deployment{Model: d.Model, TP: d.TP})
		last := 0.0
		for n := int64(1); n < 200_000; n++ {
			got := shares.ofStep(n)
			if got < last || got < plain.ofStep(n) || got > 1 {
				t.Fatalf("%d of %d experts on %d GPUs, %d tokens: share %v after %v, without expert parallel %v", c[1], c[0], c[2], n, got, last, plain.ofStep(n))
			}
			last = got
		}
		if last != 1 {
			t.Errorf("%d of %d experts on %d GPUs: %v in the end", c[1], c[0], c[2], last)
		}
	}
}

// Engines that share experts touch what one engine with all their tokens does.
func TestEnginesTouchExpertsTogether(t *testing.T) {
	d := *deployment(t, "mixtral-8x7b", "H100", 2)
	one := newExpertShares(&d)
	d.DataParallel.Ranks = 4
	four := newExpertShares(&d)
	for n := range int64(100) {
		if got, want := four.ofStep(n), one.ofStep(4*n); got != want {
			t.Errorf("%d tokens: %v, want %v", n, got, want)
		}
	}
}

func TestDataParallelIsForExperts(t *testing.T) {
	d := *deployment(t, "llama-3.1-8b", "H100", 2)
	d.DataParallel.Ranks = 2
	want := d.String() + ": data parallel is 2: want a model with experts, which the engines share"
	if err := d.Validate(); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	d.DataParallel.Ranks = 1
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	e := *deployment(t, "mixtral-8x7b", "H100", 2)
	for n, ok := range map[int]bool{-1: false, 0: true, 8: true, 1025: false} {
		e.DataParallel.Ranks = n
		if err := e.Validate(); (err == nil) != ok {
			t.Errorf("%d engines: %v", n, err)
		}
	}
}

// Without coefficients of version 2 the shorter sum has the bits of the long one.
func TestDotOfVersion1HasTheSameBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := vtime.NewStream(rapid.Uint64().Draw(t, "seed"), "dot")
		c := BetaVector{}
		copy(c[:], randomCoefficients(r, BetasOfVersion1))
		var v BetaVector
		for i := range v {
			v[i] = 100 * r.Float64()
		}
		if got, want := v.dotFirst(&c), v.dot(&c); math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%v·%v = %v, want %v", v, c, got, want)
		}
	})
}

// Each feature of version 2 is computed if its coefficient alone is not 0.
func TestOneCoefficientOfVersion2IsEnough(t *testing.T) {
	d := *deployment(t, "mixtral-8x7b", "H100", 2)
	s := *d.Model
	s.ExpertWidth = PartWidth{WeightBits: 8, ActivationBits: 8}
	s.WeightBits = 4
	d.Model, d.DataParallel.Ranks = &s, 2
	f := features(t, &d, typicalLimits)
	for i := BetasOfVersion1; i < len(BetaVector{}); i++ {
		var beta BetaVector
		beta[i] = 1
		b := &Batch{PrefillTokens: 3000, PrefillRequests: 1, DecodeTokens: 9, DecodeRequests: 9}
		if got, want := physics(t, f, AlphaVector{}, beta).Step(b), f.Beta(b)[i]; want == 0 || math.Abs(got-1e6*want) > 1e-9*got {
			t.Errorf("%s: step %v µs, feature %v", fmt.Sprint(BetaNames[i]), got, want)
		}
	}
}
