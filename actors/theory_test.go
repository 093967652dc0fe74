package actors

import (
	"context"
	"fmt"
	"math"
	"testing"

	"blis/internal/testsize"
	"blis/vtime"
	"blis/workload"
)

// One instance with one seat, no latency in front of it, and service times
// that do not depend on anything is a queue with one server, first come first
// served, of which theory knows the mean wait (scheduled − queued).
//
// The theory here is that of the simulated queue itself, in whole µs. Arrivals
// are a Poisson process of λ per µs, truncated to µs: the number in each µs is
// Poisson with mean λ, independent of the others. Let B be the service time, a
// whole number of µs, ρ = λ·E[B], N the arrivals in one µs and X their work.
// The work V before the arrivals of a µs follows V' = max(0, V + X − 1).
// Taking means of V' and of V'² in the steady state gives P(V+X = 0) = 1 − ρ
// and
//
//	E[V] = (E[X²] − ρ) / (2(1 − ρ)),  with E[X²] = λ·E[B²] + ρ²
//
// A request waits for V and for those before it in its own µs, λ/2 in the
// mean, ρ/2 of work. Together
//
//	E[wait] = λ·E[B²] / (2(1 − ρ))
//
// which is the formula of Pollaczek and Khinchine: truncation to µs leaves it
// exact. With B constant it is M/D/1; with B = s·G, G geometric with mean m
// and E[G²] = (2 − 1/m)·m², it is M/M/1 but for the step of s that it counts in.

// queue is one set-up.
type queue struct {
	name     string
	rho      float64 // utilisation
	requests int     // without the batch that warms up
	step     int32   // s: length of a step, µs
	mean     float64 // m: mean tokens (steps) of a request
	geometric
}

// geometric says whether tokens are geometric, or all the mean.
type geometric bool

func (q *queue) service() float64 { return q.mean * float64(q.step) }

// wait is the formula.
func (q *queue) wait() float64 {
	second := q.service() * q.service()
	if q.geometric {
		second *= 2 - 1/q.mean
	}
	rate := q.rho / q.service()
	return rate * second / (2 * (1 - q.rho))
}

// poisson is the source of such a queue. Its stream is its own: the same
// requests every time.
type poisson struct {
	queue
	stream *vtime.Stream
	left   int
	now    float64
	labels workload.Labels
}

func newPoisson(q queue) *poisson {
	p := &poisson{queue: q, stream: vtime.NewStream(theorySeed, fmt.Sprintf("theory/%s/%v", q.name, q.rho)), left: q.requests / theoryBatches * (theoryBatches + 1)}
	p.labels.Tenants.Label("")
	p.labels.Classes.Label(workload.DefaultClass)
	p.labels.Models.Label("")
	return p
}

func (p *poisson) Pull(r *workload.Request) (bool, error) {
	if p.left == 0 {
		return false, nil
	}
	p.left--
	p.now += p.stream.ExpFloat64() * p.service() / p.rho
	tokens := int32(p.mean)
	if p.geometric {
		tokens = 1 + int32(math.Log(1-p.stream.Float64())/math.Log(1-1/p.mean))
	}
	*r = workload.NewRequest(vtime.Time(p.now), 1, tokens)
	r.Index = uint64(-p.left) // counts up
	return true, nil
}

func (p *poisson) Labels() *workload.Labels { return &p.labels }

const (
	theorySeed    = 1
	theoryBatches = 50
)

// TestQueueingTheory wants the mean wait within 3 standard errors of the
// formula, from 50 batch means, and a standard error of at most 2 % of the
// mean. The number of requests follows from the second: near saturation waits
// hang together over hundreds of requests.
func TestQueueingTheory(t *testing.T) {
	testsize.Long(t)
	table := fmt.Sprintf("seed %d\n%-12s %4s %10s %12s %12s %8s %10s\n", theorySeed, "queue", "ρ", "requests", "formula µs", "mean µs", "error", "deviation")
	for _, q := range []queue{
		{"M/D/1", 0.3, 100_000, 1000, 1, false},
		{"M/D/1", 0.6, 100_000, 1000, 1, false},
		{"M/D/1", 0.9, 900_000, 1000, 1, false},
		{"M/D/1 decode", 0.6, 100_000, 50, 20, false},
		{"M/M/1", 0.3, 150_000, 50, 20, true},
		{"M/M/1", 0.6, 200_000, 50, 20, true},
		{"M/M/1", 0.9, 1_500_000, 50, 20, true},
	} {
		mean, se := batchMeans(t, q)
		off := (mean - q.wait()) / se
		table += fmt.Sprintf("%-12s %4.1f %10d %12.2f %12.2f %7.2f%% %+8.2f se\n", q.name, q.rho, q.requests, q.wait(), mean, 100*se/mean, off)
		if !(math.Abs(off) <= 3) {
			t.Errorf("%s at ρ = %v: mean wait %.2f µs, %.2f standard errors from %.2f", q.name, q.rho, mean, off, q.wait())
		}
		if !(se <= 0.02*mean) {
			t.Errorf("%s at ρ = %v: the standard error is %.2f %% of the mean, want at most 2", q.name, q.rho, 100*se/mean)
		}
	}
	t.Log(table)
}

// batchMeans runs q and returns the mean wait and its standard error. The
// first batch is left out: the queue starts empty.
func batchMeans(t *testing.T, q queue) (mean, se float64) {
	t.Helper()
	c := plain()
	c.MaxNumSeqs = 1
	c.BetaCoeffs = []float64{float64(q.step), 0, 0}
	c.Custom.Source = newPoisson(q)
	size := int64(q.requests / theoryBatches)
	var sums [theoryBatches + 1]int64
	c.Workers = 1
	c.Row = func(r *Row) {
		wait, ok := r.QueueWait()
		if !ok {
			t.Fatalf("request %d was not scheduled", r.ID)
		}
		sums[r.ID/size] += int64(wait)
	}
	if _, err := Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	var total, squares float64
	for _, sum := range sums[1:] {
		total += float64(sum) / float64(size)
	}
	mean = total / theoryBatches
	for _, sum := range sums[1:] {
		d := float64(sum)/float64(size) - mean
		squares += d * d
	}
	return mean, math.Sqrt(squares / (theoryBatches - 1) / theoryBatches)
}
