package metrics

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Report is the result of a run in numbers. What could not be measured is nil
// and prints as null; nothing is ever NaN or infinite. Times are in µs, rates
// per second of virtual time, shares from 0 to 1. With a measured window all
// but Injected, Load, KVUse, KVTiers and Resources is of the requests that arrived in it.
type Report struct {
	Injected int64  `json:"injected_requests"` // in the whole run
	Window   Window `json:"window"`
	Overall  Scope  `json:"overall"`

	OfferedPerSecond *float64            `json:"offered_requests_per_second"` // (n−1) / (last − first arrival)
	JainIndex        *float64            `json:"jain_index"`                  // of output tokens of completed requests over tenants with traffic
	Busiest          *InstanceUse        `json:"busiest_instance"`
	Idlest           *InstanceUse        `json:"idlest_instance"`
	Load             Load                `json:"load"`
	KVUse            *KVUse              `json:"kv_use"`                  // null unless Run.Lives is given
	KVTiers          *KVTiers            `json:"kv_tiers"`                // null unless Run.Tiers is given
	PD               *PDReport           `json:"pd,omitempty"`            // null unless Run.Disaggregated is given
	DataParallel     *DataParallelReport `json:"data_parallel,omitempty"` // null unless Run.DataParallel is given
	Anomalies        Anomalies           `json:"anomalies"`

	PerClass    Scopes `json:"per_class"`
	PerTenant   Scopes `json:"per_tenant"`
	PerModel    Scopes `json:"per_model"`
	PerInstance Scopes `json:"per_instance"`

	PerDeployment DeploymentReports `json:"per_deployment,omitempty"` // where there are several
	PerPool       PoolReports       `json:"per_pool,omitempty"`       // where there are several

	Curves *Curves `json:"-"` // of latencies; nil unless the caller of Collect sets them: see NewCurves
}

// Window is the time over which throughput and goodput are computed in every
// scope: from the first arrival to the last completion, or to the end of the
// run if that cut it. One window for all scopes, so that the rates of the
// parts add up to the rate of the whole.
type Window struct {
	Start   *int64   `json:"start_us"`
	End     *int64   `json:"end_us"`
	Seconds *float64 `json:"seconds"` // null when nothing completed
	Cut     bool     `json:"cut"`     // the run ended with work left
}

// Scope is the numbers of a part of the requests.
type Scope struct {
	Injected int64        `json:"injected_requests"`
	States   StateCounts  `json:"states"`
	Reasons  ReasonCounts `json:"reasons"`

	Admitted      int64    `json:"admitted_requests"`
	AdmissionRate *float64 `json:"admission_rate"` // admitted / decided on: admitted, or rejected by admission
	RejectedShare *float64 `json:"rejected_share"` // rejected, by admission or for want of an instance / injected

	InputTokens     int64 `json:"input_tokens"`
	CompletedInput  int64 `json:"completed_input_tokens"` // input tokens of completed requests
	OutputTokens    int64 `json:"output_tokens"`          // of completed requests
	GeneratedTokens int64 `json:"generated_tokens"`       // of all requests

	RequestsPerSecond *float64 `json:"requests_per_second"` // completed
	TokensPerSecond   *float64 `json:"tokens_per_second"`   // output tokens of completed requests

	TTFT            *Summary `json:"ttft_us"`
	TPOT            *Summary `json:"tpot_us"`
	ITL             *Summary `json:"itl_us"` // null per tenant, where there are only the next two
	ITLMean         *float64 `json:"itl_mean_us"`
	ITLSamples      int64    `json:"itl_samples"`
	E2E             *Summary `json:"e2e_us"`
	SchedulingDelay *Summary `json:"scheduling_delay_us"`
	QueueWait       *Summary `json:"queue_wait_us"`
	Split           *Split   `json:"e2e_split_us"`

	TailBlowUp TailBlowUp `json:"tail_blowup"`

	SLOAttainment *float64 `json:"slo_attainment"` // of the requests whose tenant or class has targets
	Goodput       *float64 `json:"goodput_per_second"`
	JainIndex     *float64 `json:"jain_index"` // of output tokens over tenants; null per tenant and per instance

	Preemptions      int64    `json:"preemptions"`
	PreemptionRate   *float64 `json:"preemption_rate"` // per completed request, may exceed 1
	RecomputedTokens int64    `json:"recomputed_tokens"`
	CachedTokens     int64    `json:"cached_tokens"`  // at first admissions
	CacheHitRate     *float64 `json:"cache_hit_rate"` // of the input tokens of scheduled requests
	// What the router expected of the last two when it sent the requests; null
	// unless a policy reads its prefix index.
	ExpectedTokens  *int64   `json:"expected_cached_tokens"`
	ExpectedHitRate *float64 `json:"expected_hit_rate"`

	Resources *Resources `json:"resources"` // overall and per instance, else null
}

// Split is the parts of the mean E2E of completed requests. They add up to it.
type Split struct {
	FrontEnd  float64 `json:"front_end"` // arrival to queued, and the overheads of the client
	Queue     float64 `json:"queue"`     // queued to scheduled
	Prefill   float64 `json:"prefill"`   // scheduled to first token, without recompute
	Decode    float64 `json:"decode"`    // first to last token, without recompute
	Recompute float64 `json:"recompute"` // lost to preemption

	// From the end of the prefill on one instance to the queue of the next, and from the admission there to
	// the first step. 0: no request was handed over.
	HandOver float64 `json:"hand_over,omitempty"`
}

// TailBlowUp is how much longer than usual the slowest requests take: p99 over
// p50. Null without samples, or when p50 is 0.
type TailBlowUp struct {
	TTFT *float64 `json:"ttft"`
	TPOT *float64 `json:"tpot"`
	E2E  *float64 `json:"e2e"`
}

// Resources is the use of the hardware of one instance, or of all together, over
// the time in which they existed.
type Resources struct {
	Utilisation *float64 `json:"utilisation"` // share of time in which a step was executing
	MeanRunning *float64 `json:"mean_running"`
	MeanWaiting *float64 `json:"mean_waiting"`

	KVMean *float64 `json:"kv_mean"` // share of blocks in use, mean over time
	KVPeak *float64 `json:"kv_peak"` // the same at its highest; of all instances the highest

	CacheHitRate       *float64 `json:"cache_hit_rate"`       // tokens found / looked up, first admissions
	ReadmissionHitRate *float64 `json:"readmission_hit_rate"` // the same after preemptions

	LimitMaxSeqs *float64 `json:"limit_seats"` // share of time in which requests waited because the batch had max_num_seqs requests
	LimitKV      *float64 `json:"limit_kv"`
	LimitBudget  *float64 `json:"limit_token_budget"`
	Limit        string   `json:"limit"` // the largest of these: "seats", "KV", "token budget"; "none" below limitFloor

	Counters Counters `json:"counters"`
}

// limitFloor is the share of time below which waiting counts as the ordinary
// jostle of arrivals and not as a limit.
const limitFloor = 0.05

// InstanceUse names an instance and its utilisation.
type InstanceUse struct {
	Name        string  `json:"name"`
	Utilisation float64 `json:"utilisation"`
}

// StateCounts is the number of requests by State.
type StateCounts [States]int64

// MarshalJSON prints an object with every state, in the order of the states; rare ones only where there
// are any.
func (c StateCounts) MarshalJSON() ([]byte, error) {
	var names []string
	var counts []int64
	for s := range State(States) {
		if !s.Rare() || c[s] > 0 {
			names, counts = append(names, s.String()), append(counts, c[s])
		}
	}
	return Object(names, func(i int) any { return counts[i] })
}

// ReasonCounts is the number of requests by Reason.
type ReasonCounts [Reasons]int64

// MarshalJSON prints an object with every reason but NoReason, in their order; those from InstanceLost on
// only where there are any.
func (c ReasonCounts) MarshalJSON() ([]byte, error) {
	var names []string
	var counts []int64
	for r := NoReason + 1; int(r) < Reasons; r++ {
		if r < InstanceLost || c[r] > 0 {
			names, counts = append(names, reasonKeys.Replace(r.String())), append(counts, c[r])
		}
	}
	return Object(names, func(i int) any { return counts[i] })
}

var reasonKeys = strings.NewReplacer(" + ", "_plus_", " ", "_", "-", "_")

// Named is a scope with the name of its class, tenant, model or instance.
type Named struct {
	Name string
	Scope
}

// Scopes are in the order of their labels; names are distinct.
type Scopes []Named

// MarshalJSON prints an object from name to scope that keeps the order.
func (s Scopes) MarshalJSON() ([]byte, error) {
	names := make([]string, len(s))
	for i := range s {
		names[i] = s[i].Name
	}
	return Object(names, func(i int) any { return &s[i].Scope })
}

// Object prints a JSON object with these keys in this order.
func Object(names []string, value func(i int) any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(value(i))
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
