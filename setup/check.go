package setup

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"blis/latency"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload/traffic"
)

// checkInputs makes the checks that do not depend on each other, so that one error
// lists all faults.
func (p *resolver) checkInputs() error {
	var bad []string
	checks := []func() error{func() error { return checkNumbers(&p.Config) }}
	checks = append(checks, p.checks...)
	checks = append(checks, func() error { return checkCoefficients(&p.Config) })
	if !SeveralPools(&p.Config) { // which have models on GPUs of their own
		checks = append(checks, p.resolveModel)
	}
	checks = append(checks, p.resolveFitness)
	for _, check := range checks {
		if err := check(); err != nil {
			bad = append(bad, err.Error())
		}
	}
	if len(bad) > 0 {
		return inputErrorf("%s", strings.Join(bad, "; "))
	}
	return nil
}

// checkNumbers refuses what no later step would explain as well.
func checkNumbers(c *Config) error {
	var bad []string
	check := func(ok bool, name string, value any, want string) {
		if !ok {
			bad = append(bad, wrong(c, name, value, want))
		}
	}
	check(SeveralPools(c) || c.NumInstances >= 1 && c.NumInstances <= MostInstances, "num-instances", c.NumInstances, fmt.Sprintf("1 to %d", MostInstances))
	check(validTP(c.TP), "tp", c.TP, "1 to 1024")
	check(c.TotalKVBlocks >= 0 && c.TotalKVBlocks < 1<<31, "total-kv-blocks", c.TotalKVBlocks, "1 to 2147483647, 0 to derive it")
	check(c.NumGPUBlocksOverride == 0 || c.NumGPUBlocksOverride >= 2 && c.NumGPUBlocksOverride <= 1<<31, "num-gpu-blocks-override", c.NumGPUBlocksOverride, "at least 2: vLLM's count includes its null block")
	check(c.TotalKVBlocks == 0 || c.NumGPUBlocksOverride == 0 || c.NumGPUBlocksOverride == c.TotalKVBlocks+1, "num-gpu-blocks-override", c.NumGPUBlocksOverride, "one of it and --total-kv-blocks")
	check(c.BlockSizeInTokens >= 1 && c.BlockSizeInTokens <= 1<<20, "block-size-in-tokens", c.BlockSizeInTokens, "1 to 1048576")
	v := reflect.ValueOf(c).Elem()
	for _, s := range countSettings() {
		n := v.FieldByIndex(s.Index)
		check(n.Int() >= 0, s.Name, n, s.Tag.Get("want"))
	}
	check(c.MaxNumBatchedTokens == 0 || c.MaxNumBatchedTokens >= c.MaxNumSeqs, "max-num-batched-tokens", c.MaxNumBatchedTokens, fmt.Sprintf("at least --max-num-seqs %d", c.MaxNumSeqs))
	check(finite(c.Rate) && c.Rate >= 0, "rate", c.Rate, "a finite number above 0, 0 to derive it")
	for _, d := range []struct {
		name  string
		value vtime.Duration
	}{{"admission-latency", c.AdmissionLatency}, {"routing-latency", c.RoutingLatency}, {"snapshot-refresh-interval", c.SnapshotRefreshInterval},
		{"autoscale-interval", c.AutoscaleInterval}, {"kv-event-delay", c.KVEventDelay}, {"timeout", c.Timeout}, {"horizon", c.Horizon}, {"measure-from", c.MeasureFrom}, {"measure-to", c.MeasureTo}} {
		check(d.value >= 0, d.name, d.value, "0 or more")
	}
	check(c.RefusalPause >= traffic.LeastPause, "refusal-pause", c.RefusalPause, fmt.Sprintf("%v or more", traffic.LeastPause))
	check(c.MeasureTo == 0 || c.MeasureTo > c.MeasureFrom, "measure-to", c.MeasureTo, "later than --measure-from")
	check(c.InFlight != "periodic" || c.SnapshotRefreshInterval > 0, "in-flight", c.InFlight, "immediate, or a --snapshot-refresh-interval above 0 with it")
	for _, f := range []struct {
		name  string
		value float64
	}{{"gpu-memory-utilization", c.GPUMemoryUtilization}, {"token-bucket-capacity", c.TokenBucketCapacity}, {"token-bucket-refill-rate", c.TokenBucketRefillRate},
		{"cv", c.CV}, {"cost-per-replica-hour", c.CostPerReplicaHour}, {"gpu-hour-price", c.GPUHourPrice}, {"prompt-tokens", c.PromptTokens}, {"prompt-tokens-stdev", c.PromptTokensStdev}, {"output-tokens", c.OutputTokens},
		{"output-tokens-stdev", c.OutputTokensStdev}, {"trace-speedup", c.TraceSpeedup}} {
		check(finite(f.value), f.name, f.value, "a finite number") // even where it is not used: results print it
	}
	check(!(c.CostPerReplicaHour < 0 || c.CostPerReplicaHour > mostCost), "cost-per-replica-hour", c.CostPerReplicaHour, fmt.Sprintf("0 (not given) to %v", mostCost))
	check(!(c.GPUHourPrice < 0 || c.GPUHourPrice > mostCost), "gpu-hour-price", c.GPUHourPrice, fmt.Sprintf("0 (not given) to %v", mostCost))
	check(c.GPUHourPrice == 0 || c.CostPerReplicaHour == 0, "gpu-hour-price", c.GPUHourPrice, "one of it and --cost-per-replica-hour")
	checkVectors(c, check)
	checkDataParallel(c, check)
	checkKVTier(c, check)
	checkDisaggregation(c, check)
	checkFailures(c, check)
	checkGateway(c, check)
	check(c.Coefficients == "" || (c.LatencyModel == "auto" || c.LatencyModel == "physics") && len(c.AlphaCoeffs) == 0, "coefficients", c.Coefficients, "none with blackbox or roofline: they are those of --latency-model physics")
	check(c.LatencyModel != "roofline" || len(c.AlphaCoeffs) == 0, "alpha-coeffs", c.AlphaCoeffs, "none with --latency-model roofline")
	check(c.PreemptionGamma >= 0 && c.PreemptionGamma <= 1, "preemption-ema-gamma", c.PreemptionGamma, "above 0 and at most 1, 0 for the one of the coefficients")
	if len(bad) > 0 {
		return inputErrorf("%s", strings.Join(bad, "; "))
	}
	return nil
}

// countSettings are the settings that are a number from 0, as their tags say.
var countSettings = sync.OnceValue(func() []Setting {
	return slices.DeleteFunc(slices.Clone(settingFields()), func(s Setting) bool { return s.Tag.Get("want") == "" })
})

// checkVectors checks the numbers of coefficients: three and three for blackbox,
// eleven and sixteen or twenty-eight for physics.
func checkVectors(c *Config, check func(ok bool, name string, value any, want string)) {
	const blackbox, alphas, betas = 3, len(latency.AlphaVector{}), len(latency.BetaVector{})
	want := "3 numbers with --beta-coeffs of 3 (blackbox), or 11 with --beta-coeffs of 16 or 28 (physics)"
	switch c.LatencyModel {
	case "blackbox":
		want = "3 numbers with --beta-coeffs of 3: that is blackbox"
	case "physics":
		want = "11 numbers with --beta-coeffs of 16 or 28: that is physics; 3 and 3 are blackbox's"
	}
	if c.LatencyModel == "roofline" || len(c.AlphaCoeffs) == 0 && len(c.BetaCoeffs) == 0 {
		return
	}
	a, b := len(c.AlphaCoeffs), len(c.BetaCoeffs)
	isBlackbox := a == blackbox && b == blackbox && c.LatencyModel != "physics"
	isPhysics := a == alphas && (b == latency.BetasOfVersion1 || b == betas) && c.LatencyModel != "blackbox"
	check(isBlackbox || isPhysics, "alpha-coeffs", fmt.Sprintf("%v and --beta-coeffs %v, %d and %d numbers", c.AlphaCoeffs, c.BetaCoeffs, len(c.AlphaCoeffs), len(c.BetaCoeffs)), want)
}

// MostInstances is the largest number of instances of a run.
const MostInstances = 1 << 20

// mostCost is the highest price of an instance per hour: costs stay finite however
// long a run takes.
const mostCost = 1e15

// resolveFitness reads the weights.
func (p *resolver) resolveFitness() (err error) {
	if p.Fitness, err = metrics.ParseFitness(p.Config.FitnessWeights); err != nil {
		return inputErrorf("--fitness-weights: %v", err)
	}
	return nil
}

// wrong returns the error of a setting with a bad value: at its place in the bundle file,
// if it stands there, else by its flag.
func wrong(c *Config, flag string, value any, want string) string {
	if s := settingOf(flag); s != nil {
		fault := &policy.Error{Field: s.path, Problem: fmt.Sprintf("%v is not allowed, want %s", value, want)}
		if located := c.Policies.Locate(fault); located != error(fault) {
			return located.Error()
		}
	}
	return fmt.Sprintf("--%s is %v: want %s", flag, value, want)
}

func validTP(tp int) bool { return tp >= 1 && tp <= 1024 }

// checkCoefficients checks the values of complete coefficients.
func checkCoefficients(c *Config) error {
	if len(c.AlphaCoeffs) != 3 || len(c.BetaCoeffs) != 3 {
		return nil
	}
	m := given(c)
	if err := m.Validate(); err != nil {
		return err
	}
	maxSeqs, budget := c.MaxNumSeqs, c.MaxNumBatchedTokens
	step := m.Step(&latency.Batch{PrefillTokens: int64(max(budget, 1)), DecodeTokens: int64(max(maxSeqs, 1))})
	if step > mostStep {
		return inputErrorf("--beta-coeffs: a full step takes %g µs: want at most %g (11 days)", step, mostStep)
	}
	if wait := m.Queueing(latency.QueueInput{Input: 1}); wait > mostStep {
		return inputErrorf("--alpha-coeffs: a request of one token waits %g µs: want at most %g (11 days)", wait, mostStep)
	}
	return nil
}

// mostStep is the longest step in µs that coefficients may give: far beyond any
// server, and far from where books overflow.
const mostStep = 1e12

// given returns the blackbox model of the given coefficients.
func given(c *Config) latency.Blackbox {
	return latency.Blackbox{Alpha: [3]float64(c.AlphaCoeffs), Beta: [3]float64(c.BetaCoeffs)}
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// InputError is an error in the user's input: one line that says what is wrong,
// where, and what would be right. The command exits with 2 for it.
type InputError struct{ Text string }

// Error returns that line.
func (e *InputError) Error() string { return e.Text }

// causedError is an InputError that is another error too.
type causedError struct {
	input *InputError
	cause error
}

// Error implements error.
func (e *causedError) Error() string { return e.input.Text }

// Unwrap returns both.
func (e *causedError) Unwrap() []error { return []error{e.input, e.cause} }

// Caused returns an *InputError with the text of cause, which errors.As finds in it.
func Caused(cause error) error { return &causedError{&InputError{cause.Error()}, cause} }

func inputErrorf(format string, args ...any) error {
	return &InputError{fmt.Sprintf(format, args...)}
}
