package spec

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"blis/vtime"
	"blis/workload"
)

// What tenants are is counted in the requests that they send. Half of the 8
// requests per second are those of tenant x; prompts have 100 tokens in the mean
// and begin with a prefix of 40 of the tenant's own.
const twoTenants = `
tenants: [{id: x, prefix: {length: 40}%s}, {id: y}]
correlations: {%s}
clients:
- {id: api, rate: 8, input_distribution: {type: gaussian, params: {mean: 100, std_dev: 20}}, output_distribution: {type: constant, params: {value: 5}}%s}
`

// tenantX are the requests of tenant x, which is the first of its client.
func tenantX(t *testing.T, tenant, correlations, client string, seed uint64, limit int64) (all []workload.Request) {
	t.Helper()
	for _, r := range requestsOf(t, fmt.Sprintf(twoTenants, tenant, correlations, client), seed, limit) {
		if r.Source == workload.FirstSource {
			all = append(all, r)
		}
	}
	return all
}

// own are the tokens of a prompt that nobody else can have.
func own(r *workload.Request) float64 { return float64(r.Input - r.Shared()) }

// Requests of all seeds together are compared: a rate, a mean prompt and a share
// with the prefix within five standard errors, gaps by their distribution.
func TestTenantsSendWhatTheyAre(t *testing.T) {
	gammaGaps := func(cv, mean float64) func(float64) float64 {
		return distuv.Gamma{Alpha: 1 / (cv * cv), Beta: 1 / (cv * cv * mean)}.CDF
	}
	poisson := func(mean float64) func(float64) float64 { return distuv.Exponential{Rate: 1 / mean}.CDF }
	const usual = 250_000.0
	for _, c := range []struct {
		name, tenant, correlations string
		gaps                       func(float64) float64
		mean, cv                   float64 // of gaps, in µs
		prompt, deviation, prefix  float64 // own tokens; share with the prefix
	}{
		{"normal", "", "", poisson(usual), usual, 1, 100, 20, 1},
		{"bursty", ", behavior: bursty", "", gammaGaps(3, usual), usual, 3, 100, 20, 1},
		{"abusive", ", behavior: abusive", "", poisson(usual / 4), usual / 4, 1, 400, 80, 0},
		{"prompt_tokens", ", archetype: {prompt_tokens: 30}", "", poisson(usual), usual, 1, 30, 6, 1},
		{"reuse_affinity", ", archetype: {reuse_affinity: 0.3}", "", poisson(usual), usual, 1, 100, 20, 0.3},
		{"burst_propensity", ", archetype: {burst_propensity: 2}", "", gammaGaps(2, usual), usual, 2, 100, 20, 1},
		{"prefix_reuse", "", "prefix_reuse: 0.6", poisson(usual), usual, 1, 100, 20, 0.6},
		{"burst_propensity of all", "", "burst_propensity: 1.5", gammaGaps(1.5, usual), usual, 1.5, 100, 20, 1},
		{"burst_size", ", behavior: bursty", "burst_size: 1", gammaGaps(3, usual), usual, 3, 100, 20, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			sets := make([][]float64, statisticSeeds)
			n, prompts, shared := 0.0, 0.0, 0.0
			for seed := range sets {
				last := vtime.Time(0)
				for _, r := range tenantX(t, c.tenant, c.correlations, "", uint64(seed), 1000) {
					sets[seed] = append(sets[seed], float64(r.Arrival-last))
					last = r.Arrival
					n, prompts = n+1, prompts+own(&r)
					if r.Shared() == 40 {
						shared++
					}
				}
			}
			follows(t, sets, rounded(c.gaps), c.mean, c.mean*c.mean*c.cv*c.cv)
			if bound := 5 * c.deviation / math.Sqrt(n); math.Abs(prompts/n-c.prompt) > bound {
				t.Errorf("prompts have %v tokens, want %v ± %v", prompts/n, c.prompt, bound)
			}
			if bound := 5 * math.Sqrt(c.prefix*(1-c.prefix)/n); math.Abs(shared/n-c.prefix) > bound {
				t.Errorf("%v have the prefix, want %v ± %v", shared/n, c.prefix, bound)
			}
		})
	}
}

// Requests in a burst, which come soon after the one before, have longer prompts
// than others; how much says burst_size.
func TestRequestsInABurstHaveLargerPrompts(t *testing.T) {
	ratio := func(tenant, correlations string) float64 {
		var sum, count [2]float64 // outside a burst, inside
		for seed := range uint64(20) {
			last := vtime.Time(0)
			for i, r := range tenantX(t, tenant, correlations, "", seed, 1000) {
				in := 0
				if r.Arrival-last < 125_000 { // half of the mean gap
					in = 1
				}
				if last = r.Arrival; i > 0 {
					sum[in] += own(&r)
					count[in]++
				}
			}
		}
		return sum[1] / count[1] / (sum[0] / count[0])
	}
	for _, tenant := range []string{"", ", behavior: bursty"} {
		none, half, whole := ratio(tenant, "burst_size: 0"), ratio(tenant, "burst_size: 0.5"), ratio(tenant, "burst_size: 1")
		if math.Abs(none-1) > 0.02 || half < 1.05 || whole < half+0.05 {
			t.Errorf("%q: prompts in a burst are %.3f, %.3f and %.3f times as long as others", tenant, none, half, whole)
		}
	}
}

// Prompts of the adversarial are long and come 32 at one instant, every 8 s.
func TestAdversarialComeTogether(t *testing.T) {
	all := tenantX(t, ", behavior: adversarial", "", "", 3, 4000)
	prompts := 0.0
	for i, r := range all {
		if want := vtime.Time(i/32+1) * vtime.Time(8*vtime.Second); r.Arrival != want {
			t.Fatalf("request %d at %v, want %v", i, r.Arrival, want)
		}
		prompts += own(&r)
	}
	n := float64(len(all))
	if bound := 5 * 80 / math.Sqrt(n); n < 1900 || math.Abs(prompts/n-400) > bound {
		t.Errorf("%v requests of %v tokens, want 400 ± %v", n, prompts/n, bound)
	}
}

// Sessions have the lengths that the archetype says, here uniform from 2 to 6,
// and grow as the correlation says.
func TestSessionsOfTenants(t *testing.T) {
	const chat = ", request_types: [{type: chat, rounds: 9, think_time: 2s}]"
	all := tenantX(t, ", archetype: {session_length: {type: uniform, params: {min: 2, max: 6}}}", "", chat, 4, 40_000)
	rounds := map[uint64]int32{}
	for _, r := range all {
		rounds[r.Session] = max(rounds[r.Session], r.Round+1)
	}
	counts := map[int32]int{}
	for _, n := range rounds { // any order: counts
		counts[n]++
	}
	for n := int32(2); n <= 6; n++ {
		partOf(t, fmt.Sprintf("sessions of %d rounds", n), counts[n], len(rounds), 0.2)
	}
	if len(counts) != 5 || len(rounds) < 1000 {
		t.Errorf("%d sessions, of so many rounds %v", len(rounds), counts)
	}
	// A prompt of 100 new tokens: what round k adds is 100/√k.
	text := fmt.Sprintf("tenants: [{id: x}]\ncorrelations: {session_growth: sublinear}\nclients: [{id: c, rate: 1, %s%s}]", lengths, chat)
	for _, r := range requestsOf(t, text, 1, 900) {
		want, answers := 0.0, 0.0
		for k := 1; k <= int(r.Round)+1; k++ {
			want += math.Floor(100 / math.Sqrt(float64(k)))
			if k <= int(r.Round) {
				answers += math.Floor(10 / math.Sqrt(float64(k)))
			}
		}
		if float64(r.Input) != want+answers {
			t.Fatalf("round %d has %d tokens, want %v and answers of %v", r.Round, r.Input, want, answers)
		}
	}
}

// The types of an arrival have their shares; a tool runs with its probability
// each time, three times at most; a chain of thought has steps times their tokens.
func TestTypesHaveTheirShares(t *testing.T) {
	const text = `clients:
- id: mix
  rate: 5
  input_distribution: {type: constant, params: {value: 50}}
  output_distribution: {type: constant, params: {value: 7}}
  request_types:
  - {type: completion, share: 0.5}
  - {type: agentic, share: 0.3, tools: {probability: 0.4, calls: 3, latency: 100ms, result_tokens: 20}}
  - {type: reasoning, share: 0.2, reasoning: {steps: {type: uniform, params: {min: 1, max: 4}}, tokens_per_step: 100}}
`
	completions, steps := 0, [5]int{}
	calls := map[uint64]int32{} // of agents
	for _, r := range requestsOf(t, text, 11, 40_000) {
		switch {
		case r.Output > 7:
			if r.Output%100 != 7 || r.Output > 407 {
				t.Fatalf("a chain of thought of %d tokens", r.Output)
			}
			steps[r.Output/100]++
		case r.Session == 0:
			completions++
		default:
			calls[r.Session] = max(calls[r.Session], r.Round)
		}
	}
	reasoning := steps[1] + steps[2] + steps[3] + steps[4]
	begun := completions + len(calls) + reasoning
	partOf(t, "completions", completions, begun, 0.5)
	partOf(t, "agents", len(calls), begun, 0.3)
	partOf(t, "reasoning", reasoning, begun, 0.2)
	for n := 1; n <= 4; n++ {
		partOf(t, fmt.Sprintf("chains of %d steps", n), steps[n], reasoning, 0.25)
	}
	ran := [4]int{}
	for _, n := range calls { // any order: counts
		ran[n]++
	}
	for n, p := range []float64{0.6, 0.4 * 0.6, 0.4 * 0.4 * 0.6, 0.4 * 0.4 * 0.4} {
		partOf(t, fmt.Sprintf("agents with %d calls", n), ran[n], len(calls), p)
	}
}
