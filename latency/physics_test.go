package latency

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blis/vtime"
)

// fixedCoefficients are all different, some negative.
func fixedCoefficients() (alpha AlphaVector, beta BetaVector) {
	for i := range alpha {
		alpha[i] = 0.5 + float64(i)/7
	}
	for i := range beta {
		beta[i] = 0.25 + float64(i)/9
	}
	alpha[6], beta[6], beta[18] = -0.5, -0.125, -2
	return alpha, beta
}

func TestPhysicsIsTheDotProductInMicroseconds(t *testing.T) {
	alpha, beta := fixedCoefficients()
	for _, c := range featureCases(t) {
		f := c.features(t)
		m := physics(t, f, alpha, beta)
		if c.Batch != nil && c.Batch.Scheduled() > 0 {
			want := 0.0
			for i, v := range c.Beta {
				want += 1e6 * v * beta[i]
			}
			if got := m.Step(c.Batch); !(math.Abs(got-want) <= 1e-10*want) {
				t.Errorf("%s: step %v µs, want %v", c.Name, got, want)
			}
		}
		if c.Queue != nil {
			want := 0.0
			for i, v := range c.Alpha {
				want += 1e6 * v * alpha[i]
			}
			want = max(0, want) // cached tokens save more than all else in one case
			if got := m.Queueing(*c.Queue); !(math.Abs(got-want) <= 1e-10*want) {
				t.Errorf("%s: queueing %v µs, want %v", c.Name, got, want)
			}
		}
		if m.TokenOverhead() != 0 || m.RequestOverhead() != 0 {
			t.Errorf("%s: overheads", c.Name)
		}
	}
}

func TestNewPhysicsNamesEveryBadCoefficient(t *testing.T) {
	f := features(t, deployment(t, "llama-3.1-8b", "H100", 1), typicalLimits)
	_, err := NewPhysics(f, AlphaVector{math.NaN(), 1, 10: math.Inf(-1)}, BetaVector{2: math.Inf(1), 3: 1e12, 15: -2e12})
	want := "physics coefficients: alpha seat_use is NaN, want a number from -1e12 to 1e12; alpha congestion is -Inf, want a number from -1e12 to 1e12; " +
		"beta weight_streaming is +Inf, want a number from -1e12 to 1e12; beta constant is -2e+12, want a number from -1e12 to 1e12"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// Coefficients below 0 can drive the sum there. Time does not run back.
func TestPhysicsIsNeverNegative(t *testing.T) {
	f := features(t, deployment(t, "llama-3.1-8b", "H100", 1), typicalLimits)
	m := physics(t, f, AlphaVector{3: -1}, BetaVector{15: -1})
	if got := m.Step(&Batch{DecodeTokens: 1}); got != 0 || math.Signbit(got) {
		t.Errorf("step %v", got)
	}
	if got := m.Queueing(QueueInput{Input: 5}); got != 0 || math.Signbit(got) {
		t.Errorf("queueing %v", got)
	}
	if m.MinStep() != 0 || m.MinQueueing(5) != 0 {
		t.Errorf("floors %v and %v", m.MinStep(), m.MinQueueing(5))
	}
}

// Floors by hand: what every step costs, or every prompt of a length.
func TestFloorOfPhysics(t *testing.T) {
	near := func(name string, got, want float64) {
		if math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %v µs, want %v", name, got, want)
		}
	}
	f := features(t, deployment(t, "llama-3.1-8b", "H100", 1), typicalLimits)
	const weights = 15_009_316_864 / 3.35e12 * 1e6 // µs
	near("weights and a constant", physics(t, f, AlphaVector{}, BetaVector{0: 1, 1: 1, 2: 1.5, 3: 1, 4: 1, 12: 5, 15: 0.002}).MinStep(), 1.5*weights+2000)
	near("mixed batches are cheaper", physics(t, f, AlphaVector{}, BetaVector{14: -0.001, 15: 0.002}).MinStep(), 1000)
	near("full batches are cheaper", physics(t, f, AlphaVector{}, BetaVector{5: -0.001, 15: 0.002}).MinStep(), 1000)
	near("prompts are cheaper", physics(t, f, AlphaVector{}, BetaVector{0: -1, 15: 1}).MinStep(), 1e6*(1-(8192*13_958_643_712+1024*1_050_673_152)/989e12))
	near("small batches are dearer", physics(t, f, AlphaVector{}, BetaVector{10: 0.008192, 15: 0.002}).MinStep(), 2001)
	near("offload off", physics(t, f, AlphaVector{}, BetaVector{12: -1, 13: -1, 15: 0.002}).MinStep(), 2000)
	near("attention below 0: nothing is sure", physics(t, f, AlphaVector{}, BetaVector{3: -0.001, 15: 0.002}).MinStep(), 0)
	m := physics(t, f, AlphaVector{0: -0.001, 2: 0.5, 3: 0.004, 10: 0.5}, BetaVector{})
	near("prompt, constant, less a full house", m.MinQueueing(1000), 1e6*(0.5*1000*15_009_316_864/989e12+0.003))

	moe := features(t, deployment(t, "mixtral-8x7b", "H100", 2), typicalLimits)
	one := moe.Beta(&Batch{DecodeTokens: 1})
	near("two of eight experts", physics(t, moe, AlphaVector{}, BetaVector{2: 1, 7: 0.1, 8: 1}).MinStep(), 1e6*(one[2]+0.025+one[8]))
	if one[8] < 2*32*5e-6 {
		t.Errorf("all-reduces take %v s", one[8])
	}
}

// Of coefficients of any signs, no answer is below the floor, to the last bit.
func TestNoAnswerOfPhysicsIsBelowItsFloor(t *testing.T) {
	deployments := boundedDeployments(t)
	rapid.Check(t, func(t *rapid.T) {
		r := vtime.NewStream(rapid.Uint64().Draw(t, "seed"), "floor")
		e, d := randomLimits(r), *deployments[r.Int64N(int64(len(deployments)))]
		randomSharing(r, &d)
		f, err := NewFeatures(&d, e)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewPhysics(f, AlphaVector(randomCoefficients(r, 11)), randomBetas(r))
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			var b Batch
			randomBatch(r, e, &b)
			if dot := 1e6 * dotOf(f.Beta(&b), m.beta); m.Step(&b) != max(0, dot) {
				t.Fatalf("%+v: step %v is not the dot product %v: floor %v", b, m.Step(&b), dot, m.MinStep())
			}
			if m.Step(&b) < m.MinStep() {
				t.Fatalf("%+v: step %v below %v", b, m.Step(&b), m.MinStep())
			}
			q := randomState(r)
			if m.Queueing(q) < m.MinQueueing(q.Input) {
				t.Fatalf("%+v: queueing %v below %v", q, m.Queueing(q), m.MinQueueing(q.Input))
			}
		}
	})
}

// Without coefficients of a congested instance the shorter sum of queueing has the bits
// of the long one, and each such coefficient is enough for the long one.
func TestQueueingIsTheDotProductOfAllFeatures(t *testing.T) {
	f := features(t, deployment(t, "llama-3.1-8b", "H100", 1), EngineLimits{MaxBatchedTokens: 512, MaxSeqs: 64, BlockSize: 16, GPUBlocks: 1000, CPUBlocks: 300})
	rapid.Check(t, func(t *rapid.T) {
		r := vtime.NewStream(rapid.Uint64().Draw(t, "seed"), "queueing")
		alpha := AlphaVector(randomCoefficients(r, len(AlphaVector{})))
		if kept := r.Int64N(2 * int64(len(alpha))); kept < int64(len(alpha)) {
			clear(alpha[alphaQueueDrain:])
			alpha[kept] = r.Float64() - 0.5
		}
		m, err := NewPhysics(f, alpha, BetaVector{})
		if err != nil {
			t.Fatal(err)
		}
		dot := func(v AlphaVector) uint64 {
			sum := 0.0
			for i := range v {
				sum += float64(v[i] * alpha[i])
			}
			return math.Float64bits(max(0, 1e6*sum))
		}
		for range 20 {
			q := randomState(r)
			if got := m.Queueing(q); math.Float64bits(got) != dot(f.Alpha(q)) {
				t.Fatalf("α %v, %+v: queueing %v is not the dot product", alpha, q, got)
			}
			least := f.leastAlpha(&alpha)
			least[alphaPromptCompute] = f.Alpha(q)[alphaPromptCompute]
			if alpha[alphaCacheHits] < 0 {
				least[alphaCacheHits] = min(100, float64(q.Input)/512)
			}
			if got := m.MinQueueing(q.Input); math.Float64bits(got) != dot(least) {
				t.Fatalf("α %v, %d tokens: minimum queueing %v is not the dot product", alpha, q.Input, got)
			}
		}
	})
}

// boundedDeployments are deployments that have all features.
func boundedDeployments(t *testing.T) []*Deployment {
	t.Helper()
	fp8, int4 := *mustModel(t, "mixtral-8x7b"), *mustModel(t, "llama-3.1-8b")
	fp8.ExpertWidth, fp8.WeightBits = PartWidth{WeightBits: 8, ActivationBits: 8}, 4
	int4.WeightBits = 4
	return []*Deployment{
		deployment(t, "llama-3.1-8b", "H100", 1), deployment(t, "llama-2-70b", "A100", 4),
		deployment(t, "mixtral-8x7b", "H100", 2), deployment(t, "mixtral-8x7b", "L40S", 8), deployment(t, "gpt-oss-20b", "H100", 2),
		{Model: &fp8, GPU: mustGPU(t, "B200"), TP: 4}, {Model: &int4, GPU: mustGPU(t, "H100"), TP: 1},
	}
}

// Each feature alone is within its bounds, which sums of many hide.
func TestEachFeatureIsWithinItsBounds(t *testing.T) {
	deployments := boundedDeployments(t)
	rapid.Check(t, func(t *rapid.T) {
		r := vtime.NewStream(rapid.Uint64().Draw(t, "seed"), "bounds")
		e, d := randomLimits(r), *deployments[r.Int64N(int64(len(deployments)))]
		randomSharing(r, &d)
		f, err := NewFeatures(&d, e)
		if err != nil {
			t.Fatal(err)
		}
		low, high := f.betaBounds(false)
		for range 100 {
			var b Batch
			randomBatch(r, e, &b)
			for i, v := range f.Beta(&b) {
				if v < low[i] || v > high[i] {
					t.Fatalf("%s of %+v on %s under %+v is %v, want %v to %v", BetaNames[i], b, &d, e, v, low[i], high[i])
				}
			}
		}
	})
}

func dotOf(v, c BetaVector) float64 { return v.dot(&c) }

// randomCoefficients are 0, small or large; a few or many of them negative, so
// that floors above 0 are common.
func randomCoefficients(r *vtime.Stream, n int) []float64 {
	list := make([]float64, n)
	negative := r.Int64N(4)
	for i := range list {
		list[i] = r.Float64() * math.Pow(10, float64(r.Int64N(6)-3))
		if r.Int64N(3) == 0 {
			list[i] = 0
		}
		if r.Int64N(10) < negative {
			list[i] *= -0.01
		}
	}
	list[len(list)-1] = 1
	return list
}

// randomBetas are coefficients of either version.
func randomBetas(r *vtime.Stream) BetaVector {
	var beta BetaVector
	copy(beta[:], randomCoefficients(r, BetasOfVersion1))
	if r.Int64N(4) > 0 {
		copy(beta[BetasOfVersion1:], randomCoefficients(r, len(beta)-BetasOfVersion1))
	}
	return beta
}

func randomState(r *vtime.Stream) QueueInput {
	n := func() int64 { return r.Int64N(1 << (1 + r.Int64N(20))) }
	return QueueInput{
		Input: n(), Running: n(), Waiting: n() - 1, UsedBlocks: n() - 1, FreeBlocks: n() - 1,
		CachedTokens: n(), PromptTokens: n(), PreemptionEMA: 2 * r.Float64(),
	}
}

// A batch beyond the engine's limits is not held to the dot product, but to
// the floor.
func TestAnImpossibleBatchTakesAtLeastTheFloor(t *testing.T) {
	limits := typicalLimits
	limits.MaxBatchedTokens = 16
	m := physics(t, features(t, deployment(t, "llama-3.1-8b", "H100", 1), limits), AlphaVector{}, BetaVector{5: -0.001, 15: 0.005})
	if got := m.Step(&Batch{PrefillTokens: 64}); got != m.MinStep() || got != 4000 {
		t.Errorf("%v µs, floor %v", got, m.MinStep())
	}
}

// Bits, not values: machines must agree. CI compiles for two. Coefficients of version 1
// have the bits that they had before there was a version 2, but for transfers, which go over the
// PCIe of all GPUs.
func TestPhysicsHasTheseBits(t *testing.T) {
	alpha, beta := fixedCoefficients()
	first := beta
	clear(first[BetasOfVersion1:])
	for name, c := range map[string]struct {
		beta BetaVector
		want uint64
	}{"version 1": {first, 0xbce15eee0fdefbb9}, "version 2": {beta, 0x1aa2beeb5b8e1d14}} {
		if got := bitsOfPhysics(t, alpha, c.beta, func(*Deployment) {}); got != c.want {
			t.Errorf("%s: hash of the bits = %#x, want %#x", name, got, c.want)
		}
	}
	shared := bitsOfPhysics(t, alpha, beta, func(d *Deployment) {
		d.ExpertParallel = true
		if d.Model.Experts > 0 {
			d.DataParallel.Ranks = 4
		}
	})
	if want := uint64(0x7c4bf96cb83f8f41); shared != want {
		t.Errorf("experts over four engines: hash of the bits = %#x, want %#x", shared, want)
	}
}

// bitsOfPhysics hashes answers on deployments that are changed as told.
func bitsOfPhysics(t *testing.T, alpha AlphaVector, beta BetaVector, change func(*Deployment)) uint64 {
	t.Helper()
	hash := uint64(0)
	r := vtime.NewStream(3, "physics bits")
	for _, model := range []string{"llama-3.1-8b", "mixtral-8x7b"} {
		for _, tp := range []int{1, 2, 8} {
			for range 500 {
				e := randomLimits(r)
				d := deployment(t, model, "A100", tp)
				change(d)
				m := physics(t, features(t, d, e), alpha, beta)
				var b Batch
				randomBatch(r, e, &b)
				for _, v := range []float64{m.Step(&b), m.Queueing(randomState(r)), m.MinStep(), m.MinQueueing(100)} {
					hash = hash*0x9e3779b97f4a7c15 + math.Float64bits(v)
				}
			}
		}
	}
	return hash
}

// The list of features and the example in the documentation are those of the
// program.
func TestDocumentationOfPhysics(t *testing.T) {
	data, err := os.ReadFile("../docs/latency.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	step, queueing, _ := strings.Cut(text, "### Queueing")
	for i, name := range BetaNames {
		if row := fmt.Sprintf("\n| %d | `%s` | ", i+1, name); !strings.Contains(step, row) {
			t.Errorf("no row%q for β", row)
		}
	}
	for i, name := range AlphaNames {
		if row := fmt.Sprintf("\n| %d | `%s` | ", i+1, name); !strings.Contains(queueing, row) {
			t.Errorf("no row%q for α", row)
		}
	}
	_, example, _ := strings.Cut(text, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	if _, err := ParsePhysicsSet([]byte(example), "docs/latency.md"); err != nil {
		t.Error(err)
	}
}
