package study

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"blis/actors"
	"blis/setup"
)

// TestSizeOfDeployments: with the sizes a run keeps the bounds, and with one instance less of any pool it
// does not, unless it has one. The numbers are the same on any number of workers, and however large those
// of the file are; too small ones are multiplied.
func TestSizeOfDeployments(t *testing.T) {
	small := deployed(t)
	if err := setup.OpenDeployments(&small.Config); err != nil {
		t.Fatal(err)
	}
	for _, name := range setup.ReplicaSettings(&small.Config) {
		id, setting, _ := strings.Cut(name, "/")
		if err := setup.SetReplicas(&small.Config, id, setting, 1); err != nil {
			t.Fatal(err)
		}
	}
	want := ""
	for _, x := range []struct {
		cfg            actors.Config
		workers, start int
	}{{deployed(t), 1, 1}, {deployed(t), 3, 1}, {small, 2, 4}} {
		z := NewSizing(x.cfg, bounds(t, "p99_ttft=115ms,p99_tpot=14ms")...)
		z.Search.Pool.Workers = x.workers
		r, err := z.FindDeployments(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range r.Pools {
			got += fmt.Sprintf("%s %d, %d GPUs; ", p.Name, p.Instances, p.GPUs)
		}
		if want == "" {
			want = got
			t.Log(got)
		}
		if got != want || r.Factor != x.start || !r.Certified() || r.Price != nil {
			t.Errorf("%s after %d times the file, certified %v, want %s", got, r.Factor, r.Certified(), want)
		}
		keeps := func(cfg setup.Config) bool {
			result, err := actors.Run(t.Context(), actors.Config{Config: cfg})
			if err != nil {
				t.Fatal(err)
			}
			for i := range z.Search.SLOs {
				if !z.Search.SLOs[i].Constraint.Of(result.Figures()).Pass {
					return false
				}
			}
			return true
		}
		sized := r.Last.Holds.Repeat
		if !keeps(sized) || setup.GPUs(&sized) != r.GPUs {
			t.Errorf("a run with %s does not keep the bounds, or has other than %d GPUs", got, r.GPUs)
		}
		for _, p := range r.Pools {
			if p.Instances == 1 {
				continue
			}
			less := sized
			id, setting, _ := strings.Cut(p.Name, "/")
			if err := setup.SetReplicas(&less, id, setting, p.Instances-1); err != nil {
				t.Fatal(err)
			}
			if keeps(less) {
				t.Errorf("a run with %s but one less of %s keeps the bounds", got, p.Name)
			}
		}
	}
}

// TestDeploymentsThatCannotBeSized: no answer with so few GPUs, and lists of what deployments have
// themselves.
func TestDeploymentsThatCannotBeSized(t *testing.T) {
	z := NewSizing(deployed(t), bounds(t, "p99_ttft=1ms")...)
	z.MaxGPUs = 20
	if r, err := z.FindDeployments(t.Context()); err != nil || r.Factor != 0 || len(r.Pools) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	z.MaxGPUs = 8
	if _, err := z.FindDeployments(t.Context()); err == nil || !strings.Contains(err.Error(), "have 9 GPUs: want at most --max-gpus 8") {
		t.Errorf("error %v", err)
	}
	z.MaxGPUs, z.Prices = 20, map[string]float64{"H100": 2}
	if _, err := z.FindDeployments(t.Context()); err == nil || !strings.Contains(err.Error(), "--prices: want gpu-hour-price") {
		t.Errorf("error %v", err)
	}
	z.Prices = nil
	for c, want := range map[float64]string{1.5: "want from 0.5 to 0.9999", 0.2: "want from 0.5", 0.9999: "want at most 0.9997, for there are 3 pools"} {
		z.Search.Confidence = c
		if _, err := z.FindDeployments(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	z.Search.Confidence = DefaultConfidence
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := z.FindDeployments(cancelled); r == nil || !r.Partial || r.GPUs != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", r, err)
	}
	z.TP = []int{1, 2}
	if _, err := z.FindDeployments(t.Context()); err == nil || !strings.Contains(err.Error(), "want no lists") {
		t.Errorf("error %v", err)
	}
}
