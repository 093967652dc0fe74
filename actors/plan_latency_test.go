package actors

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blis/latency"
)

func TestLatencyModelOfARun(t *testing.T) {
	set, err := latency.FindPhysicsSet("h100")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mine.yaml")
	mine := *set
	mine.Name = "mine"
	if err := os.WriteFile(file, mine.Format(), 0o644); err != nil {
		t.Fatal(err)
	}
	synchronous := mine
	synchronous.TrainedOn.AsyncScheduling = false
	slow := filepath.Join(t.TempDir(), "slow.yaml")
	if err := os.WriteFile(slow, synchronous.Format(), 0o644); err != nil {
		t.Fatal(err)
	}
	serve := func(line string) func(*Config) {
		return func(c *Config) {
			if _, err := c.Serve(strings.Fields(line)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		change  func(*Config)
		latency string  // the beginning of what is said of it
		e2e     float64 // expected error of E2E, else of TPOT; 0: not stated
		async   bool
		beyond  string // among what was not measured of the run
	}{
		"by default":            {func(*Config) {}, "physics h100 (vLLM 0.15.1); runner-up roofline, E2E 20.1 %", 1.98, true, "this model"},
		"physics on request":    {func(c *Config) { c.LatencyModel = "physics" }, "physics h100 (vLLM 0.15.1); runner-up roofline, E2E 20.1 %", 1.98, true, "max_num_seqs 1,024 (measured: 128)"},
		"on a GPU nobody":       {func(c *Config) { c.Hardware = "A100" }, "roofline", 0, true, "GPU A100-80"},
		"roofline on request":   {func(c *Config) { c.LatencyModel = "roofline" }, "roofline", 20.13, true, "contexts above 1,059 tokens"},
		"blackbox on request":   {func(c *Config) { c.LatencyModel = "blackbox" }, "blackbox meta-llama/llama-3.1-8b-instruct on H100, TP 1", 0, true, ""},
		"a custom model":        {func(c *Config) { c.Custom.Latency = latency.Blackbox{Beta: [3]float64{1, 0, 0}} }, "custom", 0, true, ""},
		"a file":                {func(c *Config) { c.Coefficients = file }, "physics mine (vLLM 0.15.1)", 1.98, true, "this model"},
		"a file without async":  {func(c *Config) { c.Coefficients = slow }, "physics mine", 1.98, false, "this model"},
		"async against the set": {func(c *Config) { c.Coefficients, c.AsyncScheduling = file, new(false) }, "physics mine", 1.98, false, "async scheduling off"},
		"async with the set":    {func(c *Config) { c.Coefficients, c.AsyncScheduling = file, new(true) }, "physics mine", 1.98, true, "this model"},
		"beyond the set":        {func(c *Config) { c.Coefficients, c.Hardware, c.TP = "h100", "A100", 8 }, "physics h100 (vLLM 0.15.1)", 0, true, "GPU A100-80"},
		"given coefficients":    {func(c *Config) { c.AlphaCoeffs, c.BetaCoeffs = []float64{1, 2, 3}, []float64{4, 5, 6} }, "blackbox with given", 0, true, ""},
		"given vectors":         {func(c *Config) { c.AlphaCoeffs, c.BetaCoeffs = set.Alpha[:], set.Beta[:] }, "physics with given", 0, true, ""},
		"without a set":         {func(c *Config) { c.LatencyModel, c.AsyncScheduling = "roofline", new(false) }, "roofline", 20.13, false, "async scheduling off"},
		"not without the set":   {func(c *Config) { c.Coefficients, c.AsyncScheduling = slow, new(true) }, "physics mine", 1.98, true, "async scheduling on"},
		"as vLLM was started":   {serve("--no-async-scheduling"), "physics h100", 1.98, false, "async scheduling off"},
		"as vLLM does":          {serve("--tensor-parallel-size 8"), "roofline", 13.12, true, "this model"},
	} {
		cfg := DefaultConfig()
		c.change(&cfg)
		got, setup, err := Check(cfg)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasPrefix(setup.Latency, c.latency) || got.AsyncScheduling == nil || *got.AsyncScheduling != c.async {
			t.Errorf("%s: %q, async %v; want %q, %v", name, setup.Latency, *got.AsyncScheduling, c.latency, c.async)
		}
		e2e, beyond := 0.0, []string{}
		if a := setup.Accuracy; a != nil {
			if a.Stated != nil {
				_, d := a.Stated.Ranked()
				e2e = d.Expected
			}
			for _, n := range a.NotMeasured {
				beyond = append(beyond, n.Text)
			}
		}
		if e2e != c.e2e || c.beyond == "" && setup.Accuracy != nil || c.beyond != "" && !slices.Contains(beyond, c.beyond) {
			t.Errorf("%s: expected error %v, not measured %q; want %v, %q", name, e2e, beyond, c.e2e, c.beyond)
		}
		// What a run says of its configuration repeats it.
		again, other, err := Check(got)
		if err != nil || other.Latency != setup.Latency || *again.AsyncScheduling != c.async {
			t.Errorf("%s, fed back: %q, %v", name, other.Latency, err)
		}
	}
}

func TestCoefficientsThatCannotBe(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("schema: blis.physics/v1\nname: x\nspecification: 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	vectors := file(t, "vectors.yaml", "alpha_coeffs: [1, 2]\nbeta_coeffs: [3]\n")
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"with blackbox": {func(c *Config) { c.LatencyModel, c.Coefficients = "blackbox", "h100" }, "--coefficients is h100: want none with blackbox or roofline"},
		"with blackbox's own": {func(c *Config) {
			c.Coefficients, c.AlphaCoeffs, c.BetaCoeffs = "h100", []float64{1, 2, 3}, []float64{4, 5, 6}
		}, "--coefficients is h100: want none with blackbox"},
		"physics with blackbox's": {func(c *Config) {
			c.LatencyModel, c.AlphaCoeffs, c.BetaCoeffs = "physics", []float64{1, 2, 3}, []float64{4, 5, 6}
		}, "--alpha-coeffs is [1 2 3] and --beta-coeffs [4 5 6], 3 and 3 numbers: want 11 numbers with --beta-coeffs of 16 or 28: that is physics"},
		"no file":               {func(c *Config) { c.Coefficients = "no/such.yaml" }, "--coefficients: no/such.yaml: no such file or directory"},
		"vectors alone":         {func(c *Config) { c.Coefficients = vectors }, "vectors.yaml does not say what its coefficients were fitted to (schema blis.physics/v1): give vectors alone as --alpha-coeffs"},
		"no set":                {func(c *Config) { c.Coefficients = "h1000" }, `--coefficients: unknown coefficient set "h1000"; nearest: h100; `},
		"another specification": {func(c *Config) { c.Coefficients = bad }, "specification is 3, want 1 or 2"},
		"physics where none is": {func(c *Config) { c.LatencyModel, c.Hardware = "physics", "A100" }, "--latency-model physics: no shipped coefficients cover meta-llama/Llama-3.1-8B-Instruct on A100-80 at TP 1: give --coefficients"},
	} {
		cfg := DefaultConfig()
		c.change(&cfg)
		if _, _, err := Check(cfg); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}
