package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"blis/calibrate/measured"
	"blis/latency"
	"blis/vtime"
)

// plantedSubject is the physics model with the coefficients that the samples were made
// with, for all but the runs of one model.
func plantedSubject(except string) Subject {
	return Subject{"planted", func(s *Server) (*ChosenModel, error) {
		if s.Deployment.Model.Name == except {
			return nil, errors.New("nobody planted it")
		}
		f, err := latency.NewFeatures(s.Deployment, s.Limits)
		if err != nil {
			return nil, err
		}
		m, err := latency.NewPhysics(f, truth().Alpha, truth().Beta)
		return &ChosenModel{m, nil, "the truth"}, err
	}}
}

func TestValidationOfTheTruth(t *testing.T) {
	list := trainable(t)
	for i, s := range list {
		measure(t, s, truth(), 0, 0)
		if i == 1 {
			s.Run.Stages = []measured.Stage{{Rate: 4, Duration: 5 * vtime.Second}, {Rate: 4, Duration: 3 * vtime.Second}, {Rate: 4, Duration: 999 * vtime.Second}, {Rate: 4, Duration: 1}}
		}
	}
	var asked []string
	got, err := Validate(t.Context(), list, []Subject{plantedSubject(""), plantedSubject(rigs[0].model)}, 2, func(done, of int, what string) {
		asked = append(asked, fmt.Sprintf("%d/%d %s", done, of, what))
	})
	if err != nil || len(got) != 2 || !slices.Equal(asked, []string{"0/2 planted", "1/2 planted"}) {
		t.Fatalf("%d validations, %q, %v", len(got), asked, err)
	}
	v := &got[0]
	for i := range v.Runs {
		r := &v.Runs[i]
		if r.Sample != list[i] || r.Missing != "" || r.Description != "the truth" || r.Overloaded != (i == 3) {
			t.Errorf("%s: by %q, missing %q, overloaded %v", r.Sample.Run.ID, r.Description, r.Missing, r.Overloaded)
		}
		if e := r.Throughput.Error(); math.Abs(e) > 1e-6 && i != 3 || math.Abs(e) > 0.04 {
			t.Errorf("%s: throughput %+v", r.Sample.Run.ID, r.Throughput)
		}
		for _, s := range slices.Concat(r.All.Scores, r.Cold.Scores) {
			if math.Abs(s.Error()) > 1e-3 {
				t.Errorf("%s: %+v", r.Sample.Run.ID, s)
			}
		}
	}
	// Stages end by the clock, the last with the run.
	requests := v.Runs[1].Sample.Run.Requests
	counts := make([]int, 4)
	for i := range requests {
		switch at := requests[i].Arrival; {
		case at < 5_000_000:
			counts[0]++
		case at < 8_000_000:
			counts[1]++
		default:
			counts[2]++
		}
	}
	var stages []int
	for i := range v.Runs[1].Stages {
		stages = append(stages, v.Runs[1].Stages[i].Requests)
	}
	if !slices.Equal(stages, counts) || counts[0] == 0 || counts[1] == 0 || counts[2] == 0 {
		t.Errorf("stages of %v requests, want %v", stages, counts)
	}
	if len(v.Summary) != 12 || v.Summary[0].Runs != 3 || len(v.Cold) == 0 || len(v.Rankings) != 3 || v.Rankings[0].Cells != 5 || v.Rankings[0].Ordered != v.Rankings[0].Pairs {
		t.Errorf("summary of %+v, rankings %+v", v.Summary, v.Rankings)
	}
	// What has no model is left out.
	v = &got[1]
	if v.Runs[0].Missing != "nobody planted it" || v.Runs[0].All.Requests > 0 || v.Runs[2].Missing != "" || v.Summary[0].Runs != 1 || len(v.Rankings) > 0 {
		t.Errorf("%+v", v)
	}
}

func TestValidationDoesNotDependOnWorkers(t *testing.T) {
	list := trainable(t)
	var first []Validation
	for _, workers := range []int{1, 2, 8} {
		got, err := Validate(t.Context(), list, []Subject{NewSubject("roofline", nil), plantedSubject("")}, workers, func(int, int, string) {})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		}
		if !reflect.DeepEqual(got, first) {
			t.Errorf("%d workers differ", workers)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := Validate(ctx, list, []Subject{plantedSubject("")}, 2, func(int, int, string) {}); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// Throughput is of what completed, until the last request ended, those that gave
// up included.
func TestThroughput(t *testing.T) {
	s := &Sample{Timeout: 30 * vtime.Second, Run: &measured.Run{Requests: []measured.Request{
		{Arrival: 0, E2E: 8 * vtime.Second, TTFT: 1}, {Arrival: 2_000_000, Failed: true}, {Arrival: 3_000_000, E2E: 1 * vtime.Second, TTFT: 1},
	}}}
	predicted := []Predicted{{Completed: true, Finished: 9_000_000}, {Completed: true, Finished: 12_000_000}, {Completed: true, Finished: 24_000_000}}
	if got := s.throughput(predicted); got != (Throughput{2.0 / 32, 3.0 / 24}) || got.Error() != 1 {
		t.Errorf("%+v", got)
	}
	for i := range s.Run.Requests {
		s.Run.Requests[i].Failed = true
		predicted[i] = Predicted{Finished: vtime.Time(1+i) * 1_000_000}
	}
	if got := s.throughput(predicted); got != (Throughput{0, 0}) {
		t.Errorf("none completed: %+v", got)
	}
}

// Subjects by name: what stands behind each, and what it says where there is
// nothing.
func TestSubjects(t *testing.T) {
	on := func(model, gpu string, tp int) *Server {
		server, err := NewServer(&measured.Run{ID: "x", Model: model, GPU: gpu, TP: tp, DataParallel: 1, PrefixCaching: true, ChunkedPrefill: true, AsyncScheduling: new(true)}, Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		return server
	}
	seven, unknown, rare := on("meta-llama/Llama-2-7b-hf", "H100", 1), on("Llama-3.1-8B", "MI300X", 1), on("Mistral-Nemo", "L40S", 1)
	mine := &latency.PhysicsSet{Name: "mine", Alpha: truth().Alpha, Beta: truth().Beta}
	for _, c := range []struct {
		name   string
		set    *latency.PhysicsSet
		server *Server
		want   string // of the description, or the error
		fails  bool
	}{
		{"auto", nil, seven, "physics h100-llama-2-7b", false},
		{"physics", nil, seven, "physics h100-llama-2-7b", false},
		{"auto", nil, unknown, "roofline", false},
		{"physics", nil, unknown, "no shipped coefficients cover meta-llama/Llama-3.1-8B on MI300X at TP 1", true},
		{"roofline", nil, unknown, "roofline", false},
		{"blackbox", nil, rare, "no published coefficients of mistralai/Mistral-Nemo-Instruct-2407 on L40S at TP 1", true},
		{"auto", mine, seven, "physics mine (dense models not measured, only ; GPU H100 is not among ; TP 1 is outside 0 to 0; async scheduling is on, measured off; chunked prefill is on, measured off)", false},
	} {
		m, err := NewSubject(c.name, c.set).ModelFor(c.server)
		if c.fails {
			if err == nil || err.Error() != c.want || m != nil {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
			continue
		}
		if err != nil || m.Description != c.want || m.Model == nil {
			t.Errorf("%s: %+v, %v, want %q", c.name, m, err, c.want)
		}
	}
	if m, err := NewSubject("blackbox", nil).ModelFor(on("Llama-3.1-8B", "H100", 1)); err != nil || m.Model == nil || !strings.HasPrefix(m.Description, "meta-llama/llama-3.1-8b-instruct on H100, TP 1 (") {
		t.Errorf("blackbox: %+v, %v", m, err)
	}
}
