package actors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"blis/engine"
	"blis/internal/testsize"
	"blis/trace"
)

// traced runs x on one executor with a trace. The result is nil if the run ends
// as a livelock.
func (x *trial) traced(e Executor, t Tracing) (*Result, []byte, error) {
	cfg, err := x.config()
	if err != nil {
		return nil, nil, err
	}
	var file bytes.Buffer
	w := trace.NewWriter(&file, trace.JSONLines)
	cfg.Execution = e.Execution
	if cfg.Tracing = t; t.Level != trace.None {
		cfg.Tracing.Consumer = w
	}
	ctx, cancel := untilTheEnd()
	defer cancel()
	r, err := Run(ctx, cfg)
	var livelock *engine.Livelock
	if errors.As(err, &livelock) {
		return nil, nil, nil
	}
	if err == nil {
		err = w.Flush()
	}
	return r, file.Bytes(), err
}

// TestEqualityOfTraces: a trace changes nothing, and is the same bytes on every
// executor; what it says agrees with the report.
func TestEqualityOfTraces(t *testing.T) {
	cases, first := budget(t, testsize.Of(30, 60, 200))
	n, met := 0, map[string]int64{}
	for seed := first; n < cases; seed++ {
		x := drawTrial(seed)
		d := rand.New(rand.NewPCG(seed, 5))
		tracing := Tracing{Level: trace.Level(1 + d.IntN(2)), Counterfactual: [...]int{0, 1, 3, 1000}[d.IntN(4)]}
		if err := x.compareTraces(seed, tracing, met); err != nil {
			t.Fatalf("seed %d, level %v, k %d: %v\n%s", seed, tracing.Level, tracing.Counterfactual, err, x.describe())
		}
		n++
	}
	t.Logf("seeds %d to %d: %d trials; records and anomalies %v", first, first+uint64(n)-1, n, met)
	for _, kind := range []string{"admission", "priority", "routing", "scale", "batch", "preemption", "kv_transfer", "outcome", "slo_violation", "priority_inversion", "class_inversion"} {
		if n >= 100 && met[kind] == 0 {
			t.Errorf("no %s in any trace", kind)
		}
	}
}

// compareTraces traces x on every executor, and runs it without a trace.
func (x *trial) compareTraces(seed uint64, tracing Tracing, met map[string]int64) error {
	executors := everyExecutor(seed)
	plain, _, err := x.traced(executors[1+seed%9], Tracing{})
	if err != nil || plain == nil {
		return err
	}
	var first []byte
	for i, e := range executors {
		r, file, err := x.traced(e, tracing)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", e.Name, err)
		case r == nil:
			return fmt.Errorf("%s: a livelock, with a trace alone", e.Name)
		case r.Digest != plain.Digest:
			return fmt.Errorf("%s: digest %s, without a trace %s", e.Name, r.Digest, plain.Digest)
		case i == 0:
			first = file
			if err := agrees(file, r, tracing, met); err != nil {
				return err
			}
		case !bytes.Equal(file, first):
			return fmt.Errorf("%s: trace\n got %s\nwant %s", e.Name, excerpt(file, first), excerpt(first, file))
		}
	}
	return nil
}

// TestInterruptedTraceIsTheBeginning: wherever a run is cancelled, its trace is
// the beginning of that of the whole run, of whole records.
func TestInterruptedTraceIsTheBeginning(t *testing.T) {
	for _, routing := range []string{"round-robin", "least-loaded"} {
		x := benchmark(routing)
		_, whole, err := x.traced(Executors(1)[0], Tracing{Level: trace.Decisions})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range everyExecutor(3) {
			for _, after := range []int64{1, 10, 400, 1400} {
				ctx, cancel := context.WithCancel(context.Background())
				var file bytes.Buffer
				w := trace.NewWriter(&file, trace.JSONLines)
				cfg := x.Config
				cfg.Execution = e.Execution
				cfg.Tracing = Tracing{Level: trace.Decisions, Consumer: w}
				cfg.Custom.Source = &countdown{Source: mustSource(t, cfg), left: after, stop: cancel}
				result, err := Run(ctx, cfg)
				cancel()
				w.Flush()
				if err == nil { // it was over before it heard of that
					continue
				}
				if result == nil || !result.Partial || !errors.Is(err, context.Canceled) {
					t.Fatalf("%s, %s, after %d: result %v, error %v", routing, e.Name, after, result, err)
				}
				if got := file.Bytes(); !bytes.HasPrefix(whole, got) || len(got) == 0 || got[len(got)-1] != '\n' {
					t.Errorf("%s, %s, after %d: not the beginning of the whole: %s", routing, e.Name, after, excerpt(got, whole))
				} else if e.Workers == 1 && routing == "least-loaded" && after >= 400 && len(got) < 100*int(after) {
					t.Errorf("%s, %s: %d bytes after %d requests", routing, e.Name, len(got), after)
				} else if e.Sequential && after == 1400 && 4*len(got) < len(whole) { // others read far ahead
					t.Errorf("%s, %s: %d bytes of %d, of a run that was nearly over", routing, e.Name, len(got), len(whole))
				}
			}
		}
	}
}
