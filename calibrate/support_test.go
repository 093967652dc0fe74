package calibrate

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"blis/calibrate/measured"
	"blis/latency"
	"blis/vtime"
)

// measuredRuns are the measured runs beside the project; tests that use them
// skip where they are not.
const measuredRuns = "../../shared/reference/measured"

func needMeasured(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(measuredRuns); err != nil {
		t.Skip("no measured runs here")
	}
}

// truth is a set of coefficients inside all bounds that a server might have.
func truth() *Coefficients {
	c := &Coefficients{
		Alpha: latency.AlphaVector{0: 0.006, 2: 0.05, 3: 0.005},
		Beta:  latency.BetaVector{0: 1.5, 1: 2, 2: 1.35, 4: 1.2, 8: 1.3, 13: 1, 15: 0.0014},
	}
	for i := latency.BetasOfVersion1; i < betas; i++ {
		c.Beta[i] = physicsBounds[i].usual
	}
	return c
}

// thorough reports whether rapid draws enough that something of everything comes
// up.
func thorough() bool {
	checks, _ := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	return checks >= 50
}

// fatal is what tests and rapid have in common.
type fatal interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// mustSample is the sample of a run whose clients give up after the timeout.
func mustSample(t fatal, r *measured.Run, timeout vtime.Duration) *Sample {
	t.Helper()
	server, err := NewServer(r, Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSample(r, server, timeout)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustReplay(t fatal, s *Sample, c *Coefficients) []Predicted {
	t.Helper()
	m, err := s.Model(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Server.Replay(s.Run, m, s.Timeout)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// measure replays a sample with coefficients and makes the predictions its
// measurements, each time off by a relative noise. Requests that do not complete
// failed.
func measure(t fatal, s *Sample, c *Coefficients, noise float64, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	off := func(us float64) vtime.Duration {
		return vtime.Duration(math.Round(us * (1 + float64(noise*random.NormFloat64()))))
	}
	for i, p := range mustReplay(t, s, c) {
		m := &s.Run.Requests[i]
		if m.Failed = !p.Completed; m.Failed {
			m.TTFT, m.E2E = 0, 0
			continue
		}
		m.TTFT = off(p.TTFT)
		m.E2E = m.TTFT + off(p.E2E-p.TTFT)
	}
}

// rig is one of the deployments that random and synthetic runs are served by.
type rig struct {
	model string
	tp    int
}

var rigs = []rig{{"meta-llama/Llama-3.1-8B", 1}, {"meta-llama/Llama-2-70b-hf", 4}, {"mistralai/Mixtral-8x7B-v0.1", 2}}

// drawSample is a random run: few seats or many, tiny caches, prompts that
// share their beginning or all of it, clients with and without patience, engines
// that form batches ahead or not and chunk prompts or not.
func drawSample(t *rapid.T) *Sample {
	d := rigs[rapid.IntRange(0, len(rigs)-1).Draw(t, "rig")]
	flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
	r := &measured.Run{
		ID: "drawn", Model: d.model, GPU: "H100", TP: d.tp, Engine: "vLLM 0.15.1", DataParallel: 1,
		MaxNumSeqs:         rapid.SampledFrom([]int32{1, 3, 8, 16, 64}).Draw(t, "seats"),
		MaxModelLen:        rapid.SampledFrom([]int32{0, 700}).Draw(t, "max len"),
		BlockSize:          rapid.SampledFrom([]int32{0, 16, 32}).Draw(t, "block size"),
		KVBlocks:           rapid.SampledFrom([]int64{0, 30, 60, 150}).Draw(t, "blocks"),
		PrefixCaching:      flag("prefix caching"),
		ChunkedPrefill:     flag("chunked prefill"),
		AsyncScheduling:    new(flag("async")),
		ReserveFullISL:     flag("reserve"),
		SystemPromptTokens: rapid.SampledFrom([]int{0, 50, 400}).Draw(t, "system"),
	}
	r.MaxNumBatchedTokens = max(r.MaxNumSeqs, rapid.SampledFrom([]int32{24, 100, 512, 4096}).Draw(t, "budget"))
	gap := rapid.SampledFrom([]int{0, 5_000, 60_000, 500_000}).Draw(t, "gap")
	longest := rapid.SampledFrom([]int32{30, 100, 300, 900}).Draw(t, "longest")
	// Requests come from a seed: rapid prefers what is small, the cache what is long.
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
	at := vtime.Time(0)
	for i := range rapid.IntRange(0, 70).Draw(t, "more requests") + 1 {
		q := measured.Request{Arrival: at, Prompt: random.Int32N(12) - 1, Input: 1 + random.Int32N(longest), Output: random.Int32N(150)}
		if random.IntN(10) == 0 {
			q.Failed, q.Input = true, 0
		}
		r.Requests = append(r.Requests, q)
		if i%7 > 0 { // some arrive together
			at = at.Add(vtime.Duration(random.IntN(gap + 1)))
		}
	}
	timeout := rapid.SampledFrom([]vtime.Duration{0, 0, 400_000, 5_000_000}).Draw(t, "timeout")
	return mustSample(t, r, timeout)
}

// drawCoefficients are random ones, all that there are: also those that fits
// leave out.
func drawCoefficients(t *rapid.T) *Coefficients {
	var list []float64
	for i, b := range physicsBounds {
		high := b.upper
		if high == 0 { // seconds, but for the queue's
			high = 0.01
		}
		list = append(list, rapid.Float64Range(b.lower, high).Draw(t, fmt.Sprint("coefficient ", i)))
	}
	return coefficientsOf(list)
}

// synthetic is a run of a rig with n requests at a rate: log-uniform lengths,
// prompts like no other unless there are system tokens, then of so many kinds.
type synthetic struct {
	rig           rig
	n             int
	rate          float64
	input, output [2]int
	seats, budget int32
	system, kinds int
	seed          uint64
}

func (x *synthetic) run() *measured.Run {
	random := rand.New(rand.NewPCG(x.seed, 2))
	between := func(r [2]int) int32 {
		a, b := math.Log(float64(r[0])), math.Log(float64(r[1]))
		return int32(math.Round(math.Exp(a + float64((b-a)*random.Float64()))))
	}
	r := &measured.Run{
		ID: fmt.Sprintf("%s-%g-%d", x.rig.model, x.rate, x.seed), Model: x.rig.model, GPU: "H100", TP: x.rig.tp, Engine: "vLLM 0.15.1", DataParallel: 1,
		MaxNumSeqs: x.seats, MaxNumBatchedTokens: x.budget, PrefixCaching: x.kinds > 0, ChunkedPrefill: true, AsyncScheduling: new(true),
		SystemPromptTokens: x.system,
	}
	lengths := make([]int32, x.kinds)
	for k := range lengths {
		lengths[k] = int32(x.system) + between(x.input)
	}
	at := 0.0
	for range x.n {
		q := measured.Request{Arrival: vtime.Time(at * 1e6), Prompt: -1, Input: between(x.input), Output: between(x.output)}
		if x.kinds > 0 {
			q.Prompt = int32(random.IntN(x.kinds))
			q.Input = lengths[q.Prompt]
		}
		r.Requests = append(r.Requests, q)
		at += random.ExpFloat64() / x.rate
	}
	return r
}
