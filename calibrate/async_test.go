package calibrate

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"blis/actors"
	"blis/calibrate/measured"
	"blis/latency"
)

// synchronousSet returns the coefficients of h100 as if its servers had had no async
// scheduling.
func synchronousSet(t *testing.T) *latency.PhysicsSet {
	t.Helper()
	set, err := latency.FindPhysicsSet("h100")
	if err != nil {
		t.Fatal(err)
	}
	other := *set
	other.Name, other.TrainedOn.AsyncScheduling = "synchronous", false
	return &other
}

// A measured run is predicted with the async scheduling that blis run would have: what
// the run says, else on, but with coefficients of servers without it off.
func TestRunAndValidateAgreeOnAsyncScheduling(t *testing.T) {
	file := filepath.Join(t.TempDir(), "synchronous.yaml")
	synchronous := synchronousSet(t)
	if err := os.WriteFile(file, synchronous.Format(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model, gpu, latency string
		coefficients        string
		set                 *latency.PhysicsSet
		unsaid              bool // what it is if the run does not say
	}{
		{"meta-llama/Llama-2-7b-hf", "H100", "auto", "", nil, true},
		{"meta-llama/Llama-2-7b-hf", "H100", "physics", "", nil, true},
		{"meta-llama/Llama-2-7b-hf", "H100", "auto", file, synchronous, false},
		{"meta-llama/Llama-2-7b-hf", "H100", "physics", file, synchronous, false},
		{"meta-llama/Llama-2-7b-hf", "A100", "auto", "", nil, true}, // roofline
		{"meta-llama/Llama-2-7b-hf", "H100", "roofline", "", nil, true},
		{"meta-llama/Llama-3.1-8B-Instruct", "H100", "blackbox", "", nil, true},
	} {
		for _, said := range []*bool{nil, new(true), new(false)} {
			server, err := NewServer(&measured.Run{ID: "x", Model: c.model, GPU: c.gpu, TP: 1, DataParallel: 1, PrefixCaching: true, ChunkedPrefill: true, AsyncScheduling: said}, Overrides{})
			if err != nil {
				t.Fatal(err)
			}
			want := c.unsaid
			if said != nil {
				want = *said
			}
			chosen, err := NewSubject(c.latency, c.set).ModelFor(server)
			if err != nil {
				t.Fatal(err)
			}
			cfg := server.Config
			cfg.LatencyModel, cfg.Coefficients, cfg.NumRequests, cfg.Rate = c.latency, c.coefficients, 1, 1
			run, _, err := actors.Check(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if validated := *server.under(chosen.Set).Config.AsyncScheduling; validated != want || *run.AsyncScheduling != want {
				t.Errorf("%s on %s, %s %s: run %v, validate %v; want %v", c.model, c.gpu, c.latency, filepath.Base(c.coefficients), *run.AsyncScheduling, validated, want)
			}
		}
	}
}

// The replay of a run that says nothing is that of one that says what the coefficients
// were fitted to, and no other.
func TestValidationSchedulesAsTheCoefficientsDo(t *testing.T) {
	synchronous := synchronousSet(t)
	results := func(said *bool, set *latency.PhysicsSet) *RunResult {
		s := trainable(t)[0]
		measure(t, s, truth(), 0, 0)
		s.Server.Config.AsyncScheduling = said
		list, err := Validate(t.Context(), []*Sample{s}, []Subject{NewSubject("physics", set)}, 1, func(int, int, string) {})
		if err != nil {
			t.Fatal(err)
		}
		return &list[0].Runs[0]
	}
	on, off := results(new(true), synchronous), results(new(false), synchronous)
	if got := results(nil, synchronous); !reflect.DeepEqual(got.All, off.All) || got.Description != off.Description || reflect.DeepEqual(got.All, on.All) {
		t.Errorf("%s: %+v\nwithout async scheduling %+v\nwith it %+v", got.Description, got.All, off.All, on.All)
	}
	if got, on := results(nil, nil), results(new(true), nil); !reflect.DeepEqual(got.All, on.All) {
		t.Errorf("%s: %+v\nwith async scheduling %+v", got.Description, got.All, on.All)
	}
}
