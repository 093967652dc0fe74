package latency

import (
	"math"
	"testing"

	"blis/vtime"

	"pgregory.net/rapid"
)

// The model and workload of `blis bench`: 44 requests/s keep it about 75 % busy.
var benchmarkBlackbox = Blackbox{Alpha: [3]float64{1601.35, 3.51, 1805.54}, Beta: [3]float64{6910.42, 17.67, 2.84}}

func TestCapacityOfTheBenchmarkWorkload(t *testing.T) {
	got := Capacity(benchmarkBlackbox, CapacityInput{Input: 512, Output: 256, MaxSeqs: 256, Tokens: 2048, Blocks: 29205, BlockSize: 16})
	// 256 in the batch: one arrives per step, 255 decode: 6910.42 + 512·17.67 + 255·2.84 = 16681.66 µs.
	if got.Requests != 256 || got.Binds != MaxSeqs || math.Abs(got.StepTime-16681.66) > 1e-9 || math.Abs(got.Rate-1e6/16681.66) > 1e-9 {
		t.Errorf("%+v, want 59.946 requests/s", got)
	}
	if busy := 44 / got.Rate; busy < 0.70 || busy > 0.80 {
		t.Errorf("44 requests/s are %.0f %% of the capacity, about 75 expected", 100*busy)
	}
}

func TestWhatBindsTheCapacity(t *testing.T) {
	base := CapacityInput{Input: 512, Output: 256, MaxSeqs: 256, Tokens: 2048, Blocks: 29205, BlockSize: 16}
	with := func(change func(*CapacityInput)) CapacityInput { in := base; change(&in); return in }
	slowerTogether := Blackbox{Beta: [3]float64{1000, 0, 0}}
	for name, c := range map[string]struct {
		model Model
		in    CapacityInput
		binds Limit
		n     int64
	}{
		"seats":        {benchmarkBlackbox, base, MaxSeqs, 256},
		"KV":           {benchmarkBlackbox, with(func(in *CapacityInput) { in.Blocks = 4000 }), KVCache, 100},    // 40 blocks each
		"token budget": {benchmarkBlackbox, with(func(in *CapacityInput) { in.Tokens = 300 }), TokenBudget, 100}, // 767/256 tokens each
		"latency":      {quadratic{}, base, LatencyItself, 100},
		"constant":     {slowerTogether, base, MaxSeqs, 256},
		"prefill only": {benchmarkBlackbox, with(func(in *CapacityInput) { in.Output = 0 }), TokenBudget, 4},
		"nothing fits": {benchmarkBlackbox, with(func(in *CapacityInput) { in.Blocks = 1 }), KVCache, 1},
	} {
		got := Capacity(c.model, c.in)
		if got.Binds != c.binds || got.Requests != c.n {
			t.Errorf("%s: %+v, want %s at %d", name, got, c.binds, c.n)
		}
	}
}

// A prefill instance computes prompts, a decode instance their last tokens and the output.
func TestCapacityOfTheTwoSides(t *testing.T) {
	const step, perPrefill, perDecode = 6910.42, 17.67, 2.84
	for name, c := range map[string]struct {
		in   CapacityInput
		want float64 // requests per second
	}{
		"prefill": {CapacityInput{Input: 512, Output: 1, MaxSeqs: 256, Tokens: 2048, Blocks: 29205, BlockSize: 16}, 4e6 / (step + 2048*perPrefill)},
		// 4,000 tokens in steps of 2,048.
		"long prefill": {CapacityInput{Input: 4000, Output: 1, MaxSeqs: 256, Tokens: 2048, Blocks: 29205, BlockSize: 16}, 1e6 / (step + 2048*perPrefill) * 2048 / 4000},
		// 256 in the batch: one of them with its first token, that of its prompt.
		"decode": {CapacityInput{Input: 512, Output: 256, MaxSeqs: 256, Tokens: 2048, Blocks: 29205, BlockSize: 16, Computed: 1}, 1e6 / (step + perPrefill + 255*perDecode)},
		// 40 blocks of each request, half-way through its output: 100 requests.
		"decode with little memory": {CapacityInput{Input: 512, Output: 256, MaxSeqs: 256, Tokens: 2048, Blocks: 4000, BlockSize: 16, Computed: 1}, 100. / 256 * 1e6 / (step + 100./256*perPrefill + 100*255./256*perDecode)},
	} {
		if got := Capacity(benchmarkBlackbox, c.in); math.Abs(got.Rate/c.want-1) > 2e-3 { // requests are whole in a step
			t.Errorf("%s: %+v, want %v requests/s", name, got, c.want)
		}
	}
	r, err := NewRoofline(deployment(t, "llama-3.1-8b", "H100", 1), DefaultRoofline(nil))
	if err != nil {
		t.Fatal(err)
	}
	in := CapacityInput{Input: 4000, Output: 200, MaxSeqs: 256, Tokens: 8192, Blocks: 29205, BlockSize: 16}
	whole := Capacity(r, in).Rate
	in.Computed = 1
	decode := Capacity(r, in).Rate
	in.Output, in.Computed = 1, 0
	prefill := Capacity(r, in).Rate
	if one := 1 / (1/decode + 1/prefill); !(whole < decode && whole < prefill && math.Abs(one/whole-1) < 0.2) {
		t.Errorf("%v requests/s of both, %v of prefill, %v of decode", whole, prefill, decode)
	}
}

// quadratic takes 10,000 + n² µs for n decodes: the rate is highest at n = 100.
type quadratic struct{ Blackbox }

func (quadratic) Step(b *Batch) float64 {
	n := float64(b.SampledRows)
	return 10000 + float64(n*n)
}

// serve is the dumb twin of Capacity: an instance with requests always waiting
// runs steps of continuous batching with chunked prefill, first come, first
// served, and counts what completes. Outputs are uniform in [1, 2O − 1], so that
// requests that came together do not leave together. KV is counted in blocks,
// with the mean need reserved at admission.
func serve(m Model, in CapacityInput, steps int) float64 {
	type request struct{ computed, yielded, output int64 }
	random := vtime.NewStream(1, "serve")
	input := int64(in.Input)
	blocks := func(r request) int64 { return (max(r.computed, input) + in.BlockSize) / in.BlockSize }
	var running []request
	var now, from float64
	completed := 0
	for step := range steps {
		if step == steps/4 { // warmed up
			from, completed = now, 0
		}
		var b Batch
		budget, used := in.Tokens, int64(0)
		for _, r := range running {
			used += blocks(r)
		}
		give := func(r *request) {
			n := min(budget, max(1, input-r.computed))
			if n == 0 {
				return
			}
			budget -= n
			if r.computed >= input {
				b.DecodeTokens++
				b.DecodeRequests++
				b.DecodeContext += r.computed + 1
			} else {
				b.PrefillTokens += n
				b.PrefillRequests++
				b.PrefillPairs += n*r.computed + n*(n+1)/2
				b.PrefillContext += r.computed
			}
			r.computed += n
			if r.computed >= input {
				b.SampledRows++
				r.yielded++
			}
		}
		for i := range running {
			give(&running[i])
		}
		mean := int64(math.Ceil((in.Input + in.Output/2) / float64(in.BlockSize)))
		for int64(len(running)) < in.MaxSeqs && budget > 0 && used+mean <= in.Blocks {
			running = append(running, request{output: 1 + random.Int64N(2*int64(in.Output)-1)})
			give(&running[len(running)-1])
			used += mean
		}
		now += max(1, m.Step(&b))
		left := running[:0]
		for _, r := range running {
			if r.yielded >= r.output {
				completed++
				continue
			}
			left = append(left, r)
		}
		running = left
	}
	return float64(completed) / (now - from) * 1e6
}

// Within 9 % of a served backlog, over loads whose prompts fit a step. Most of
// the difference is that requests with long outputs are in the batch longer, so
// that the mean progress is above O/2.
func TestCapacityAgreesWithServingABacklog(t *testing.T) {
	roofline := func(model string, tp int) Model {
		r, err := NewRoofline(deployment(t, model, "H100", tp), DefaultRoofline(nil))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	models := map[string]Model{"blackbox": benchmarkBlackbox, "roofline 8B": roofline("llama-3.1-8b", 1), "roofline Mixtral": roofline("mixtral-8x7b", 2)}
	loads := map[string]CapacityInput{
		"usual":         {512, 256, 256, 2048, 29205, 16, 0},
		"H100 limits":   {512, 256, 1024, 8192, 28355, 16, 0},
		"KV bound":      {1000, 200, 256, 2048, 5000, 16, 0},
		"long outputs":  {100, 1000, 128, 2048, 29205, 16, 0},
		"short outputs": {800, 16, 64, 8192, 29205, 16, 0},
		"budget bound":  {900, 10, 256, 2048, 29205, 16, 0},
	}
	for model, m := range models {
		for load, in := range loads {
			got, want := Capacity(m, in), serve(m, in, 8000)
			t.Logf("%-17s %-14s %7.2f requests/s (%s, n = %d), served %7.2f (%+.1f %%)", model, load, got.Rate, got.Binds, got.Requests, want, 100*(got.Rate/want-1))
			if math.Abs(got.Rate/want-1) > 0.09 {
				t.Errorf("%s, %s: %.2f requests/s, served %.2f", model, load, got.Rate, want)
			}
		}
	}
}

func TestCapacityIsFinitePositiveAndPure(t *testing.T) {
	r, err := NewRoofline(deployment(t, "mixtral-8x7b", "H100", 4), DefaultRoofline(nil))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.SampledFrom([]float64{0, -1, 0.5, 1, 1.5, 512, 1e5, 1e300, math.Inf(1), math.NaN()})
		count := rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, 16, 2048, 1 << 31, math.MaxInt64})
		in := CapacityInput{odd.Draw(t, "L"), odd.Draw(t, "O"), count.Draw(t, "seats"), count.Draw(t, "tokens"), count.Draw(t, "blocks"), count.Draw(t, "block size"), odd.Draw(t, "computed")}
		m := rapid.SampledFrom([]Model{r, benchmarkBlackbox, Blackbox{}}).Draw(t, "model")
		got := Capacity(m, in)
		if !(got.Rate > 0) || math.IsInf(got.Rate, 0) || got.Requests < 1 || !(got.StepTime >= 1) || got.Binds == "" {
			t.Fatalf("%+v: %+v", in, got)
		}
		if again := Capacity(m, in); again != got {
			t.Fatalf("%+v, then %+v", got, again)
		}
	})
}

func BenchmarkCapacity(b *testing.B) {
	r, err := NewRoofline(deployment(b, "llama-3.1-8b", "H100", 1), DefaultRoofline(nil))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		sink = Capacity(r, CapacityInput{512, 256, 1024, 8192, 28355, 16, 0}).Rate
	}
}

// What a run pays for descriptions at its start: an entry each of the lists.
func BenchmarkParseEmbedded(b *testing.B) {
	run := func(name string, parse func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := parse(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("hardware", func() error {
		embeddedList(hardwareYAML, "hardware.yaml", ParseHardware)[0].values()
		return nil
	})
	run("models", func() error {
		embeddedList(modelsYAML, "models.yaml", parseModels)[0].values()
		return nil
	})
	run("coefficients", func() error {
		fitDocuments()[3].fits()
		return nil
	})
}
