package actors

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"testing"

	"blis/metrics"
	"blis/vtime"
	"blis/workload"
	"blis/workload/traffic"
)

// file writes a file for a test and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A rate of 0 as a setting asks for one that fits the capacity; nothing else
// that is not a finite number above 0 is a rate.
func TestRate(t *testing.T) {
	c := plain()
	c.Rate, c.NumRequests = 0, 50
	c.PromptTokens, c.PromptTokensStdev, c.PromptTokensMax = 100, 20, 200
	c.OutputTokens, c.OutputTokensStdev, c.OutputTokensMax = 10, 5, 20
	s := serve(t, c)
	if !(s.Config.Rate > 0) || math.IsInf(s.Config.Rate, 0) || s.count(metrics.Completed) != 50 {
		t.Errorf("derived rate %v, %d completed; want a rate above 0 and 50", s.Config.Rate, s.count(metrics.Completed))
	}
	c.Rate = s.Config.Rate
	if again := serve(t, c); again.Digest != s.Digest {
		t.Error("the derived rate, given, makes another run")
	}
	for _, rate := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		c.Rate = rate
		refusal(t, c, "--rate", "above 0")
	}
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := traffic.NewSynthetic(traffic.SyntheticConfig{Rate: rate, Requests: 1,
			Input: traffic.Normal{Mean: 1, Min: 1, Max: 1}, Output: traffic.Normal{Mean: 1, Min: 1, Max: 1}})
		if err == nil {
			t.Errorf("a synthetic source of rate %v was accepted", rate)
		}
	}
}

// One error names every coefficient that cannot be, heads and TP.
func TestOneErrorListsAllThatIsWrongWithTheModel(t *testing.T) {
	bad := plain()
	bad.AlphaCoeffs = []float64{math.NaN(), math.Inf(1), -1}
	bad.BetaCoeffs = []float64{-2, math.Inf(-1), math.NaN()}
	coefficients := []string{"alpha[0] is NaN", "alpha[1] is +Inf", "alpha[2] is -1", "beta[0] is -2", "beta[1] is -Inf", "beta[2] is NaN"}
	t.Run("coefficients", func(t *testing.T) { refusal(t, bad, coefficients...) })

	headless := file(t, "config.json", `{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":4096,
		"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":0,"num_key_value_heads":0,
		"vocab_size":128256,"max_position_embeddings":8192,"torch_dtype":"bfloat16"}`)
	c := plain()
	c.ModelConfigFolder = headless
	t.Run("heads 0", func(t *testing.T) { refusal(t, c, headless, "num_attention_heads", "num_key_value_heads") })
	c = plain()
	c.TP = 0
	t.Run("TP 0", func(t *testing.T) { refusal(t, c, "tp", "is 0", "1 to 1024") })
	bad.ModelConfigFolder, bad.TP = headless, 0
	t.Run("all at once", func(t *testing.T) {
		refusal(t, bad, append(coefficients, headless, "num_attention_heads", "num_key_value_heads", "--tp is 0")...)
	})
}

// Every setting that cannot be is refused in one line that names the flag.
func TestBadSettingsAreRefused(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(*Config)
		want   []string
	}{
		{"no instance", func(c *Config) { c.NumInstances = 0 }, []string{"--num-instances is 0", "1 to"}},
		{"negative blocks", func(c *Config) { c.TotalKVBlocks = -1 }, []string{"--total-kv-blocks is -1"}},
		{"block size 0", func(c *Config) { c.BlockSizeInTokens = 0 }, []string{"--block-size-in-tokens is 0"}},
		{"two KV sizes", func(c *Config) { c.NumGPUBlocksOverride = 7 }, []string{"--num-gpu-blocks-override is 7", "--total-kv-blocks"}},
		{"seats above the budget", func(c *Config) { c.MaxNumSeqs, c.MaxNumBatchedTokens = 512, 256 }, []string{"512", "--max-num-seqs", "256"}},
		{"seats above the derived budget", func(c *Config) { c.MaxNumSeqs, c.MaxNumBatchedTokens = 10_000, 0 }, []string{"10000", "--max-num-seqs", "8192"}},
		{"negative budget", func(c *Config) { c.MaxNumBatchedTokens = -5 }, []string{"--max-num-batched-tokens is -5"}},
		{"negative threshold", func(c *Config) { c.LongPrefillTokenThreshold = -1 }, []string{"--long-prefill-token-threshold is -1"}},
		{"negative model length", func(c *Config) { c.MaxModelLen = -1 }, []string{"--max-model-len is -1"}},
		{"negative latency", func(c *Config) { c.RoutingLatency = -1 }, []string{"--routing-latency", "0 or more"}},
		{"negative horizon", func(c *Config) { c.Horizon = -1 }, []string{"--horizon"}},
		{"periodic in-flight without an interval", func(c *Config) { c.InFlight = "periodic" }, []string{"--in-flight is periodic", "--snapshot-refresh-interval"}},
		{"window that ends before it begins", func(c *Config) { c.MeasureFrom, c.MeasureTo = 10, 5 }, []string{"--measure-to", "--measure-from"}},
		{"two coefficients", func(c *Config) { c.AlphaCoeffs = []float64{1, 2} }, []string{"--alpha-coeffs is [1 2] and --beta-coeffs", "2 and 3 numbers", "3 numbers with --beta-coeffs of 3 (blackbox), or 11 with --beta-coeffs of 16 or 28 (physics)"}},
		{"α without β", func(c *Config) { c.BetaCoeffs = nil }, []string{"--beta-coeffs []", "3 and 0 numbers"}},
		{"unknown model", func(c *Config) { c.Model = "Llama-3.1-9B" }, []string{"Llama-3.1-9B", "Llama-3.1-8B"}},
		{"unknown GPU", func(c *Config) { c.Hardware = "H101" }, []string{"H101", "H100"}},
		{"unknown router", func(c *Config) { c.RoutingPolicy = "least-load" }, []string{"least-load", "least-loaded"}},
		{"unknown scheduler", func(c *Config) { c.Scheduler = "lifo" }, []string{"lifo", "fcfs"}},
		{"unknown admission", func(c *Config) { c.AdmissionPolicy = "no" }, []string{"no", "always-admit"}},
		{"negative weight", func(c *Config) { c.RoutingPolicy, c.RoutingScorers = "weighted", "queue-depth:-1" }, []string{"queue-depth", "-1"}},
		{"weight NaN", func(c *Config) { c.RoutingPolicy, c.RoutingScorers = "weighted", "queue-depth:NaN" }, []string{"queue-depth", "NaN"}},
		{"unknown scorer", func(c *Config) { c.RoutingPolicy, c.RoutingScorers = "weighted", "queue:1" }, []string{"queue", "queue-depth"}},
		{"scorers without weighted", func(c *Config) { c.RoutingScorers = "queue-depth:1" }, []string{"round-robin"}},
		{"bucket of NaN", func(c *Config) { c.AdmissionPolicy, c.TokenBucketCapacity = "token-bucket", math.NaN() }, []string{"capacity", "NaN"}},
		{"bucket that empties itself", func(c *Config) { c.AdmissionPolicy, c.TokenBucketRefillRate = "token-bucket", -1 }, []string{"refill", "-1"}},
		{"a cost that adds up to no number", func(c *Config) { c.CostPerReplicaHour = 1e300 }, []string{"--cost-per-replica-hour is 1e+300", "0 (not given) to 1e+15"}},
		{"a cost below 0", func(c *Config) { c.CostPerReplicaHour = -1 }, []string{"--cost-per-replica-hour is -1", "0 (not given) to 1e+15"}},
		{"no requests", func(c *Config) { c.NumRequests = -1 }, []string{"num-requests: -1"}},
		{"cv of poisson", func(c *Config) { c.CV = 2 }, []string{"cv: 2"}},
		{"prompts of no token", func(c *Config) { c.PromptTokensMin = 0 }, []string{"prompt-tokens-min"}},
		{"outputs NaN", func(c *Config) { c.OutputTokens = math.NaN() }, []string{"output-tokens", "NaN"}},
		{"memory share above 1", func(c *Config) { c.TotalKVBlocks, c.GPUMemoryUtilization = 0, 1.5 }, []string{"1.5"}},
		{"model that does not fit", func(c *Config) {
			c.TotalKVBlocks, c.Model, c.Hardware = 0, "Llama-3.1-70B-Instruct", "L40S"
		}, []string{"GiB"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := plain()
			x.change(&c)
			refusal(t, c, x.want...)
		})
	}
}

// Numbers that are wrong independently of each other are told together.
func TestIndependentFaultsAreToldTogether(t *testing.T) {
	c := plain()
	c.NumInstances, c.Rate, c.RoutingLatency, c.InFlight = 0, -1, -5, "periodic"
	refusal(t, c, "--num-instances", "--rate", "--routing-latency", "--in-flight")
}

// Traces that cannot be read name file, line and column.
func TestBadTracesAreRefused(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte("TIMESTAMP,ContextTokens,GeneratedTokens\n"))
	for range 5000 {
		z.Write([]byte("2023-11-16 18:17:03.9799600,4808,10\n"))
	}
	z.Close()
	for _, x := range []struct {
		name, text string
		want       []string
	}{
		{"empty file", "", []string{"no requests"}},
		{"header alone", "arrival_us,input_tokens,output_tokens\n", []string{"no requests"}},
		{"Azure header alone", "TIMESTAMP,ContextTokens,GeneratedTokens\n", []string{"no requests"}},
		{"truncated gzip", zipped.String()[:zipped.Len()/2], []string{"gzip", "too early"}},
		{"gzip without content", zipped.String()[:9], []string{"gzip"}},
		{"negative number", "arrival_us,input_tokens,output_tokens\n0,10,5\n10,-10,5\n", []string{":3:", "input_tokens", `"-10"`}},
		{"missing number", "arrival_us,input_tokens,output_tokens\n0,10,5\n10,10,\n", []string{":3:", "output_tokens", `""`}},
		{"missing field", "arrival_us,input_tokens,output_tokens\n0,10\n", []string{":2:", "3 fields"}},
		{"missing column", "arrival_us,input_tokens\n0,10\n", []string{":1:", "missing output_tokens"}},
		{"negative number in Azure's", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,-5,10\n", []string{":2:", "ContextTokens", `"-5"`}},
		{"missing number in Azure's", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,5,\n", []string{":2:", "GeneratedTokens"}},
		{"negative number in Mooncake's", `{"timestamp":0,"input_length":-3,"output_length":1,"hash_ids":[1]}` + "\n", []string{":1:", "input_length", "-3"}},
		{"missing number in Mooncake's", `{"timestamp":0,"output_length":1,"hash_ids":[1]}` + "\n", []string{":1:", "input_length"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := plain()
			c.Trace = file(t, "trace.csv", x.text)
			refusal(t, c, append(x.want, "trace.csv")...)
		})
	}
	t.Run("no file", func(t *testing.T) {
		c := plain()
		c.Trace = filepath.Join(t.TempDir(), "nothing.csv")
		refusal(t, c, "nothing.csv", "no such file")
	})
}

// A list of no requests is a run in which nothing happens.
func TestSourceWithoutRequestsGivesACompleteReport(t *testing.T) {
	source, err := workload.NewSlice(nil, workload.Labels{})
	if err != nil {
		t.Fatal(err)
	}
	c := plain()
	c.Custom.Source = source
	s, err := serveOn(t, c, Execution{Workers: 1}, workload.Labels{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Report.Injected != 0 || s.End != 0 || s.Report.Overall.TTFT != nil || s.Digest == "" {
		t.Errorf("injected %d, end %v, TTFT %v, digest %q", s.Report.Injected, s.End, s.Report.Overall.TTFT, s.Digest)
	}
}

// Sources of a user's own are checked where their requests arrive: order, and
// what a request can be.
func TestBadSourceIsRefused(t *testing.T) {
	for _, x := range []struct {
		name     string
		requests []workload.Request
		want     string
	}{
		{"out of order", []workload.Request{workload.NewRequest(10, 5, 5), workload.NewRequest(9, 5, 5)}, "order of arrival"},
		{"no prompt", []workload.Request{workload.NewRequest(10, 0, 5)}, "input"},
		{"negative output", []workload.Request{workload.NewRequest(10, 5, 5), workload.NewRequest(10, 5, -5)}, "output"},
		{"negative arrival", []workload.Request{workload.NewRequest(-10, 5, 5)}, "arrival"},
		{"a tenant without a name", []workload.Request{{Identity: workload.Identity{Tags: workload.Tags{Tenant: 1}, Input: 1}, Terms: workload.Terms{Deadline: vtime.Never}, Source: workload.FirstSource}}, "tenant: 1: want a label below 1"},
		{"a class without a name", []workload.Request{{Identity: workload.Identity{Tags: workload.Tags{Class: 1}, Input: 1}, Terms: workload.Terms{Deadline: vtime.Never}, Source: workload.FirstSource}}, "class: 1: want a label below 1"},
		{"a model without a name", []workload.Request{{Identity: workload.Identity{Tags: workload.Tags{Model: 7}, Input: 1}, Terms: workload.Terms{Deadline: vtime.Never}, Source: workload.FirstSource}}, "model: 7: want a label below 1"},
		{"more content than prompt", []workload.Request{prompt(workload.NewRequest(0, 5, 5), workload.Span{Content: 1, Length: 6})}, "spans"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := plain()
			c.Custom.Source = &unchecked{requests: x.requests}
			refusal(t, c, x.want)
		})
	}
}

// unchecked is a source that yields what it is told.
type unchecked struct {
	requests []workload.Request
	labels   workload.Labels
}

func (u *unchecked) Pull(r *workload.Request) (bool, error) {
	if len(u.requests) == 0 {
		return false, nil
	}
	*r, u.requests = u.requests[0], u.requests[1:]
	return true, nil
}

func (u *unchecked) Labels() *workload.Labels {
	if u.labels.Tenants.Len() == 0 {
		u.labels.Tenants.Label("")
		u.labels.Classes.Label(workload.DefaultClass)
		u.labels.Models.Label("")
	}
	return &u.labels
}
