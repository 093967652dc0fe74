package setup

import (
	"slices"
	"strings"
	"testing"

	"blis/engine"
)

// ranked returns the plan of a run with these settings.
func ranked(t *testing.T, pairs ...string) (*Plan, error) {
	t.Helper()
	c := DefaultConfig()
	for i := 0; i < len(pairs); i += 2 {
		if err := c.Set(pairs[i], pairs[i+1]); err != nil {
			return nil, err
		}
	}
	return Resolve(c)
}

const expertModel = "qwen/qwen3-30b-a3b"

// What a user says of ranks is what an engine gets: endpoints by the load balancing, front ends as many as
// the ranks behind one, lock-step with experts.
func TestRanksOfAPlan(t *testing.T) {
	for _, x := range []struct {
		settings string
		want     engine.RanksConfig
	}{
		{"", engine.RanksConfig{Ranks: 1, Local: 1, FrontEnds: 1}},
		{"data-parallel-size 4", engine.RanksConfig{Ranks: 4, Local: 4, FrontEnds: 4}},
		{"data-parallel-size 4 api-server-count 2", engine.RanksConfig{Ranks: 4, Local: 4, FrontEnds: 2}},
		{"data-parallel-size 4 data-parallel-lb external", engine.RanksConfig{Ranks: 4, Local: 1, FrontEnds: 1}},
		{"data-parallel-size 8 data-parallel-lb hybrid data-parallel-size-local 2", engine.RanksConfig{Ranks: 8, Local: 2, FrontEnds: 2}},
		{"model " + expertModel, engine.RanksConfig{Ranks: 1, Local: 1, FrontEnds: 1}},
		{"model " + expertModel + " data-parallel-size 2", engine.RanksConfig{Ranks: 2, LockStep: true, Local: 2, FrontEnds: 2}},
	} {
		p, err := ranked(t, strings.Fields(x.settings)...)
		if err != nil {
			t.Errorf("%s: %v", x.settings, err)
			continue
		}
		if got := p.Pools[0].Ranks; got != x.want {
			t.Errorf("%s: %+v, want %+v", x.settings, got, x.want)
		}
		again, err := Resolve(p.Config)
		if err != nil || again.Pools[0].Ranks != x.want {
			t.Errorf("%s: resolved again %+v, %v", x.settings, again, err)
		}
	}
}

// Ranks that share experts leave room for more KV blocks; the latency model knows how they do.
func TestSharedExpertsOfAPlan(t *testing.T) {
	alone, err := ranked(t, "model", expertModel)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ranked(t, "model", expertModel, "data-parallel-size", "16", "enable-expert-parallel", "true", "ep-imbalance", "1.5", "dp-link", "25GB/s")
	if err != nil {
		t.Fatal(err)
	}
	d := p.Pools[0].DataParallel
	if d.Ranks != 16 || d.Imbalance != 1.5 || d.NodeLink != 25e9 || p.Pools[0].Blocks <= alone.Pools[0].Blocks {
		t.Errorf("%+v, %d blocks, %d alone", d, p.Pools[0].Blocks, alone.Pools[0].Blocks)
	}
	if dense, err := ranked(t, "data-parallel-size", "16"); err != nil || dense.Pools[0].DataParallel.Ranks != 0 {
		t.Errorf("dense: %v", err)
	}
}

// Prefill and decode instances have ranks of their own.
func TestRanksOfPools(t *testing.T) {
	p, err := ranked(t, "architecture", "pd", "data-parallel-size", "2", "decode-data-parallel-size", "4", "decode-data-parallel-lb", "external")
	if err != nil {
		t.Fatal(err)
	}
	want := []engine.RanksConfig{{Ranks: 2, Local: 2, FrontEnds: 2}, {Ranks: 4, Local: 1, FrontEnds: 1}}
	if got := []engine.RanksConfig{p.Pools[0].Ranks, p.Pools[1].Ranks}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if gpus := GPUs(&p.Config); gpus != 2*2+2*4 {
		t.Errorf("%d GPUs, want 12", gpus)
	}
}

// Settings without an effect are noted, and that a latency model knows own tokens alone.
func TestNotesOfRanks(t *testing.T) {
	for _, x := range []struct{ settings, note string }{
		{"data-parallel-lb external api-server-count 2", "data-parallel-lb, api-server-count have no effect: data-parallel-size is 1"},
		{"data-parallel-size 2 data-parallel-size-local 2", "data-parallel-size-local has no effect: data-parallel-lb is internal"},
		{"data-parallel-size 2 data-parallel-lb external api-server-count 2", "api-server-count has no effect: each endpoint has one rank"},
		{"data-parallel-size 2 ep-imbalance 2", "ep-imbalance has no effect: meta-llama/Llama-3.1-8B-Instruct has no experts"},
		{"data-parallel-size 2 dp-link 1GB/s", "dp-link has no effect: meta-llama/Llama-3.1-8B-Instruct has no experts, so its ranks exchange nothing"},
		{"model " + expertModel + " data-parallel-size 2 ep-imbalance 2", "ep-imbalance has no effect: without enable-expert-parallel each GPU has a slice of every expert"},
		{"model " + expertModel + " data-parallel-size 2 dp-link 1GB/s", "dp-link has no effect: the 2 GPUs of the ranks are taken to be of one node"},
		{"model " + expertModel + " data-parallel-size 2 alpha-coeffs 1,1,1 beta-coeffs 1,1,1", "blackbox knows the tokens of a rank alone: a step takes as long as its slowest rank, but experts and the exchange between ranks are not those of all 2"},
	} {
		p, err := ranked(t, strings.Fields(x.settings)...)
		if err != nil {
			t.Errorf("%s: %v", x.settings, err)
		} else if !slices.Contains(p.Summary.Notes, x.note) {
			t.Errorf("%s: %q, want %q", x.settings, p.Summary.Notes, x.note)
		}
	}
}

// Each fault is one line that says what would be right.
func TestBadRanks(t *testing.T) {
	for settings, want := range map[string]string{
		"data-parallel-size 0":                                                    "--data-parallel-size is 0: want 1 (no ranks) to 1024",
		"data-parallel-size 1025":                                                 "--data-parallel-size is 1025: want 1 (no ranks) to 1024",
		"data-parallel-size 1024 num-instances 1025":                              "--data-parallel-size is 1024: want at most 1048576 ranks of all instances together",
		"data-parallel-size 8 data-parallel-lb hybrid":                            "--data-parallel-size-local is 0: want a divisor of --data-parallel-size 8 with --data-parallel-lb hybrid: the ranks behind an endpoint",
		"data-parallel-size 8 data-parallel-lb hybrid data-parallel-size-local 3": "--data-parallel-size-local is 3: want a divisor of --data-parallel-size 8 with --data-parallel-lb hybrid: the ranks behind an endpoint",
		"data-parallel-lb nearest":                                                `--data-parallel-lb: "nearest": want one of internal, external, hybrid`,
		"data-parallel-size-local -1":                                             "--data-parallel-size-local is -1: want a divisor of --data-parallel-size, with --data-parallel-lb hybrid",
		"api-server-count -1":                                                     "--api-server-count is -1: want 1 to 1024, 0 for as many as ranks",
		"ep-imbalance 0.5":                                                        "--ep-imbalance is 0.5: want 1 (all GPUs alike) to 1024",
		"ep-imbalance NaN":                                                        "--ep-imbalance is NaN: want 1 (all GPUs alike) to 1024",
		"dp-link 0":                                                               "--dp-link is 0: want a rate like 50GB/s",
		"dp-link 50":                                                              `--dp-link: "50" is not a rate: want 48GB/s, 30GiB/s or 500MB/s, at least 1kB/s`,
		"architecture pd decode-data-parallel-size 0":                             "decode pool: --decode-data-parallel-size is 0: want 1 (no ranks) to 1024",
	} {
		if _, err := ranked(t, strings.Fields(settings)...); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", settings, err, want)
		}
	}
}
