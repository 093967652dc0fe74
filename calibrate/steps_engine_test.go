package calibrate

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"blis/calibrate/measured"
	"blis/engine"
	"blis/latency"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// planted is the truth that the traces of these tests were made with: what a
// server might have. Only decode_attention is far more than any server's: at a
// usual 0.3 the whole microseconds of the engine would hide it.
var planted = latency.BetaVector{
	0: 1.7, 1: 2.2, 2: 1.35, 3: 6, 4: 1.25, 5: 0.003, 6: 0.0012, 7: 0.002, 8: 1.4, 9: 0.0015, 10: 0.0011, 11: 0.03, 14: 0.0009, 15: 0.0014,
}

// load is what a synthetic configuration serves.
type stepLoad struct {
	name             string
	model, gpu       string
	tp               int
	requests         int
	seconds          float64 // between arrivals, on average
	input            [2]int  // log-uniform
	output           [2]int
	budget, seats    int32
	blocks           int64
	shared           int // tokens of system prompts; 0: none
	async, unchunked bool
}

// stepLoads are the configurations of most tests: dense models and a mixture of
// experts, one to four GPUs of two kinds; long contexts, cold prefills beside
// decodes, caches that are too small.
var stepLoads = []stepLoad{
	{name: "8B chat", model: "meta-llama/Llama-3.1-8B", gpu: "H100", tp: 1, requests: 90, seconds: 0.05, input: [2]int{50, 4000}, output: [2]int{20, 200}, budget: 2048, seats: 128},
	{name: "8B long", model: "meta-llama/Llama-3.1-8B", gpu: "H100", tp: 1, requests: 14, seconds: 0.7, input: [2]int{4000, 60000}, output: [2]int{20, 100}, budget: 8192, seats: 64, shared: 2000},
	{name: "70B", model: "meta-llama/Llama-2-70b-hf", gpu: "H100", tp: 4, requests: 70, seconds: 0.1, input: [2]int{30, 3000}, output: [2]int{20, 200}, budget: 1024, seats: 64, shared: 500},
	{name: "Mixtral", model: "mistralai/Mixtral-8x7B-v0.1", gpu: "H100", tp: 2, requests: 80, seconds: 0.15, input: [2]int{20, 6000}, output: [2]int{20, 300}, budget: 4096, seats: 32},
	{name: "7B full cache", model: "meta-llama/Llama-2-7b-hf", gpu: "A100-80", tp: 1, requests: 200, seconds: 0.05, input: [2]int{50, 400}, output: [2]int{50, 200}, budget: 2048, seats: 64, blocks: 200},
}

// stepRecorder is a latency model, tracer and sink that keeps what a server would
// have traced.
type stepRecorder struct {
	latency.Model
	batches  []latency.Batch
	formed   []vtime.Time
	counts   []engine.Step
	finished []int64
	done     int64
}

func (r *stepRecorder) Step(b *latency.Batch) float64 {
	r.batches = append(r.batches, *b)
	return r.Model.Step(b)
}

func (r *stepRecorder) Formed(now vtime.Time, f *engine.Formation) {
	if f.Empty() {
		return
	}
	r.formed = append(r.formed, now)
	r.counts = append(r.counts, f.Step)
	r.finished = append(r.finished, r.done)
	r.done = 0
}

func (*stepRecorder) Preempted(vtime.Time, engine.Preemption)              {}
func (*stepRecorder) Transferred(vtime.Time, engine.Transfer)              {}
func (*stepRecorder) Expired(vtime.Time, int64, int32)                     {}
func (*stepRecorder) Anomaly(vtime.Time, engine.Anomaly)                   {}
func (*stepRecorder) Group(workload.Label, workload.Label, vtime.Time) int { return -1 }
func (*stepRecorder) ITL(int, vtime.Duration, int)                         {}
func (r *stepRecorder) Done(o *metrics.Outcome, now vtime.Time)            { r.done++ }

// trace is what was recorded as a server writes it down: the period from the
// forming of one batch to that of the next, which the last step does not have.
func (r *stepRecorder) trace() (steps []measured.Step) {
	for n, b := range r.batches {
		s := measured.Step{
			ID: int64(n), PreviousInSample: n > 0, Running: int64(r.counts[n].Running), Waiting: int64(r.counts[n].Waiting),
			PrefillRequests: b.PrefillRequests, DecodeRequests: b.DecodeRequests, ScheduledTokens: b.Scheduled(),
			PrefillTokens: b.PrefillTokens, DecodeTokens: b.DecodeTokens, Finished: r.finished[n], Preempted: b.Preempted,
			HasSums: true, PrefillPairs: b.PrefillPairs, PrefillContext: b.PrefillContext, DecodeContext: b.DecodeContext, SampledRows: b.SampledRows,
		}
		if n+1 < len(r.formed) {
			s.Period = float64(r.formed[n+1].Sub(r.formed[n]))
		}
		steps = append(steps, s)
	}
	return steps
}

// run is the requests of a load, the same each time.
func (l *stepLoad) run() *measured.Run {
	random := rand.New(rand.NewPCG(1, uint64(len(l.name))))
	between := func(r [2]int) int32 {
		a, b := math.Log(float64(r[0])), math.Log(float64(r[1]))
		return int32(math.Exp(a + (b-a)*random.Float64()))
	}
	r := &measured.Run{
		ID: l.name, Model: l.model, GPU: l.gpu, TP: l.tp, MaxNumSeqs: l.seats, MaxNumBatchedTokens: l.budget, KVBlocks: l.blocks,
		PrefixCaching: l.shared > 0, ChunkedPrefill: !l.unchunked, AsyncScheduling: &l.async, SystemPromptTokens: l.shared,
	}
	at := 0.0
	for i := range l.requests {
		q := measured.Request{Arrival: vtime.Time(at * 1e6), Input: between(l.input), Output: between(l.output), Prompt: -1}
		if l.shared > 0 {
			q.Prompt = int32(i)
		}
		r.Requests = append(r.Requests, q)
		at += random.ExpFloat64() * l.seconds
	}
	return r
}

// data is the steps of the load, served with coefficients.
func (l *stepLoad) data(t *testing.T, beta latency.BetaVector) StepData {
	d, _ := l.serve(t, beta)
	return d
}

// serve also returns the batches as the engine had them.
func (l *stepLoad) serve(t *testing.T, beta latency.BetaVector) (StepData, []latency.Batch) {
	t.Helper()
	run := l.run()
	s, err := NewServer(run, Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := latency.NewFeatures(s.Deployment, s.Limits)
	if err != nil {
		t.Fatal(err)
	}
	m, err := latency.NewPhysics(f, latency.AlphaVector{3: 0.001}, beta)
	if err != nil {
		t.Fatal(err)
	}
	r := &stepRecorder{Model: m}
	e, err := s.engine(r, r, r)
	if err != nil {
		t.Fatal(err)
	}
	source := newSource(run, 0)
	var d engine.Delivery
	for i := range run.Requests {
		if _, err := source.Pull(&d.Request); err != nil {
			t.Fatal(err)
		}
		d.ID, d.Admitted = int64(i), d.Arrival
		e.Advance(d.Arrival, vtime.ClassDelivery)
		e.Deliver(&d, d.Arrival)
	}
	e.Advance(vtime.Never, 255)
	return StepData{Name: l.name, Features: f, Async: l.async, ChunkedPrefill: !l.unchunked, Steps: r.trace()}, r.batches
}

// syntheticSteps is the steps of all stepLoads without noise; the caller's, but for the
// Features.
func syntheticSteps(t *testing.T) (list []StepData) {
	t.Helper()
	syntheticOnce.Do(func() {
		for i := range stepLoads {
			syntheticData = append(syntheticData, stepLoads[i].data(t, planted))
		}
	})
	for _, d := range syntheticData {
		d.Steps = slices.Clone(d.Steps)
		list = append(list, d)
	}
	return list
}

var (
	syntheticOnce sync.Once
	syntheticData []StepData
)

// noisySteps multiplies every period with 1 + share·normal.
func noisySteps(list []StepData, share float64, seed uint64) []StepData {
	r := rand.New(rand.NewPCG(seed, 5))
	for _, d := range list {
		for n := range d.Steps {
			d.Steps[n].Period *= 1 + share*r.NormFloat64()
		}
	}
	return list
}
