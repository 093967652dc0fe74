package report

import (
	"encoding/json"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"blis/actors"
	"blis/bundle"
	"blis/metrics"
	"blis/setup"
)

// resultSchema names the form of the JSON result; docs/run.schema.json
// describes it.
const resultSchema = "blis.run/v1"

// result is the JSON result of a run, in its order. The first part has the
// names and units that scripts already read; the rest is ours. Missing values
// are null.
type result struct {
	Schema  string `json:"schema"`
	Partial bool   `json:"partial"`

	Completed    int64    `json:"completed_requests"`
	StillQueued  int64    `json:"still_queued"`
	StillRunning int64    `json:"still_running"`
	StillPending int64    `json:"still_pending"`
	Injected     int64    `json:"injected_requests"`
	InputTokens  int64    `json:"total_input_tokens"`
	OutputTokens int64    `json:"total_output_tokens"`
	EndSeconds   float64  `json:"vllm_estimated_duration_s"`
	Responses    *float64 `json:"responses_per_sec"`
	Tokens       *float64 `json:"tokens_per_sec"`
	latencies
	PreemptionCount    int64 `json:"preemption_count"`
	AllocationFailures int64 `json:"kv_allocation_failures"`
	Dropped            int64 `json:"dropped_unservable"`
	LengthCapped       int64 `json:"length_capped_requests"`
	TimedOut           int64 `json:"timed_out_requests"`
	Rejected           int64 `json:"rejected_requests"`
	Aborted            int64 `json:"aborted_requests"`

	GatewayWaiting  *int64 `json:"gateway_queue_depth,omitempty"` // with flow control; at the end
	GatewayShed     *int64 `json:"gateway_queue_shed,omitempty"`
	GatewayRejected *int64 `json:"gateway_queue_rejected,omitempty"`
	GatewayExpired  *int64 `json:"gateway_expired,omitempty"`
	GatewayEvicted  *int64 `json:"gateway_evicted,omitempty"`

	Offered       *float64 `json:"offered_per_sec"`
	Goodput       *float64 `json:"goodput"`
	SLOAttainment *float64 `json:"slo_attainment"`
	JainIndex     *float64 `json:"jain_index"`

	Fitness    *metrics.FitnessScore      `json:"fitness"`
	Objectives []metrics.Objective        `json:"objectives"`
	Checks     []metrics.ConstraintResult `json:"checks"`
	Replicas   replicas                   `json:"replicas"`

	Capacity  capacity             `json:"capacity"`
	Cache     cache                `json:"cache"`
	KV        kv                   `json:"kv"`
	Anomalies metrics.Anomalies    `json:"anomalies"`
	Limit     string               `json:"limit"`
	Busiest   *metrics.InstanceUse `json:"busiest_instance"`
	Idlest    *metrics.InstanceUse `json:"idlest_instance"`
	Warnings  []string             `json:"warnings"`

	Window      metrics.Window  `json:"window"`
	Measured    *measuredWindow `json:"measured"`
	Overall     metrics.Scope   `json:"overall"`
	PerClass    metrics.Scopes  `json:"per_class"`
	PerTenant   metrics.Scopes  `json:"per_tenant"`
	PerModel    metrics.Scopes  `json:"per_model"`
	PerInstance metrics.Scopes  `json:"per_instance"`

	PerDeployment metrics.DeploymentReports `json:"per_deployment,omitempty"` // where there are several
	PerPool       metrics.PoolReports       `json:"per_pool,omitempty"`       // where there are several

	Load    metrics.Load      `json:"load"`
	KVUse   *metrics.KVUse    `json:"kv_use"`
	KVTiers *metrics.KVTiers  `json:"kv_tiers"`
	PD      *metrics.PDReport `json:"pd,omitempty"` // where instances hand requests over

	DataParallel *metrics.DataParallelReport `json:"data_parallel,omitempty"` // where data-parallel ranks step together

	Setup    derived        `json:"setup"`
	Policies bundle.Bundle  `json:"policies"`
	Scaling  *scaling       `json:"scaling"`
	Pools    poolScaling    `json:"pool_scaling,omitempty"`   // where there are several
	Nodes    nodePools      `json:"node_pools,omitempty"`     // where GPUs are limited
	OnNodes  *instanceNodes `json:"instance_nodes,omitempty"` // where GPUs are limited
	Failures *failures      `json:"failures,omitempty"`       // where something may fail
	Gateway  *gateways      `json:"gateway,omitempty"`        // with flow control
	Sessions *sessions      `json:"sessions"`
	Key      key            `json:"key"`
	Config   actors.Config  `json:"config"`
	Digest   *string        `json:"digest"`
}

// capacity is how much of what the instances could do was used; see actors.Load.
type capacity struct {
	Load     *float64 `json:"load"`
	Requests *float64 `json:"requests_per_second"`
	Seats    *float64 `json:"max_num_seqs"`
	KV       *float64 `json:"kv"`
	Budget   *float64 `json:"token_budget"`
}

func newCapacity(l actors.Load) capacity {
	return capacity{l.Share, l.Capacity, l.MaxSeqs, l.KV, l.Budget}
}

// cache holds the effect of prefix caching. Shares are of tokens.
type cache struct {
	HitRate            *float64 `json:"hit_rate"`
	CachedTokens       int64    `json:"cached_tokens"`
	LookedUpTokens     int64    `json:"looked_up_tokens"`
	ReadmissionHitRate *float64 `json:"readmission_hit_rate"`
}

// kv is how full the KV caches were.
type kv struct {
	BlocksPerInstance int64    `json:"blocks_per_instance"`
	BlockSize         int32    `json:"block_size_in_tokens"`
	Mean              *float64 `json:"mean"`
	Peak              *float64 `json:"peak"`
}

// measuredWindow is the window of --measure-from and --measure-to.
type measuredWindow struct {
	From     int64  `json:"from_us"`
	To       *int64 `json:"to_us"`
	Requests int64  `json:"requests"`
}

// derived holds the values that a plan derived from the configuration.
type derived struct {
	Model       string        `json:"model"`
	Hardware    string        `json:"hardware"`
	TP          int           `json:"tp"`
	Latency     string        `json:"latency"`
	Ruler       string        `json:"latency_model"`
	Coefficient *string       `json:"coefficient_set"` // null: the model has none
	Error       *latencyError `json:"latency_error"`   // null: nothing is known of the model
	MaxModelLen int32         `json:"max_model_len"`
	Capacity    *float64      `json:"capacity_requests_per_second"`
	CapacityBy  *string       `json:"capacity_limit"`
	Workload    string        `json:"workload"`
	Policies    string        `json:"policies"`
	Notes       []string      `json:"notes"`
	Version     Version       `json:"version"`
}

// key says what a result is a sample of: runs with equal policies and other
// seeds, or equal traffic and other policies, belong together.
type key struct {
	Policies     string `json:"policies"`
	WorkloadSeed uint64 `json:"workload_seed"`
	Seed         uint64 `json:"seed"`
}

func newResult(r *actors.Result) *result {
	report, cfg := r.Report, &r.Config
	all := &report.Overall
	use := all.Resources
	j := &result{
		Schema: resultSchema, Partial: r.Partial,
		Completed: all.States[metrics.Completed], StillQueued: all.States[metrics.Queued], StillRunning: all.States[metrics.Running],
		StillPending: all.States[metrics.Pending], Injected: report.Injected,
		InputTokens: all.InputTokens, OutputTokens: all.OutputTokens, EndSeconds: r.End.Seconds(),
		Responses: all.RequestsPerSecond, Tokens: all.TokensPerSecond, latencies: newLatencies(all),
		PreemptionCount: all.Preemptions, AllocationFailures: use.Counters.AllocationFailures,
		Dropped: all.States[metrics.Dropped], LengthCapped: all.Reasons[metrics.LengthCapped],
		TimedOut: all.States[metrics.TimedOut], Rejected: all.States[metrics.Rejected], Aborted: all.States[metrics.Aborted],
		GatewayWaiting:  gatewayPart(r, func(c *metrics.GatewayCounts) int64 { return c.Waiting }),
		GatewayShed:     gatewayPart(r, func(c *metrics.GatewayCounts) int64 { return c.Shed }),
		GatewayRejected: gatewayPart(r, func(c *metrics.GatewayCounts) int64 { return c.Rejected }),
		GatewayExpired:  gatewayPart(r, func(c *metrics.GatewayCounts) int64 { return c.Expired }),
		GatewayEvicted:  gatewayPart(r, func(c *metrics.GatewayCounts) int64 { return c.Evicted }),
		Offered:         report.OfferedPerSecond, Goodput: all.Goodput, SLOAttainment: all.SLOAttainment, JainIndex: report.JainIndex,
		Fitness: r.Fitness, Objectives: r.Objectives, Checks: []metrics.ConstraintResult{}, Replicas: newReplicas(r),
		Capacity:  newCapacity(r.Load()),
		Cache:     cache{use.CacheHitRate, use.Counters.CachedTokens, use.Counters.LookedUpTokens, use.ReadmissionHitRate},
		KV:        kv{r.Setup.KVBlocks, cfg.BlockSizeInTokens, use.KVMean, use.KVPeak},
		Anomalies: report.Anomalies,
		Limit:     use.Limit, Busiest: report.Busiest, Idlest: report.Idlest, Warnings: append([]string{}, Warnings(r)...),
		Window: report.Window, Measured: newMeasured(r), Overall: *all,
		PerClass: report.PerClass, PerTenant: report.PerTenant, PerModel: report.PerModel, PerInstance: report.PerInstance, PerDeployment: report.PerDeployment, PerPool: report.PerPool, PD: report.PD, DataParallel: report.DataParallel, Load: report.Load, KVUse: report.KVUse, KVTiers: report.KVTiers,
		Setup: newSetup(&r.Setup), Policies: cfg.Policies, Scaling: newScaling(r), Pools: newPoolScaling(r), Nodes: r.NodePools(), OnNodes: newInstanceNodes(r), Failures: newFailures(r), Gateway: newGateways(r), Sessions: newSessions(r), Config: *cfg,
	}
	j.Key = key{policiesKey(cfg), cfg.Seed, cfg.Seed}
	if cfg.WorkloadSeed != nil {
		j.Key.WorkloadSeed = *cfg.WorkloadSeed
	}
	if r.Digest != "" {
		j.Digest = &r.Digest
	}
	return j
}

func newMeasured(r *actors.Result) *measuredWindow {
	from, to := int64(r.Config.MeasureFrom), int64(r.Config.MeasureTo)
	if from == 0 && to == 0 {
		return nil
	}
	m := &measuredWindow{From: from, Requests: r.Report.Overall.Injected}
	if to > 0 {
		m.To = &to
	}
	return m
}

func newSetup(s *actors.Setup) derived {
	j := derived{
		Model: s.Model, Hardware: s.Hardware, TP: s.TP, Latency: s.Latency, Error: newLatencyError(s.Accuracy), MaxModelLen: s.MaxModelLen,
		Workload: s.Workload, Policies: s.Policies, Notes: append([]string{}, s.Notes...), Version: CurrentVersion(),
	}
	if j.Ruler = s.LatencyModel; s.CoefficientSet != "" {
		j.Coefficient = &s.CoefficientSet
	}
	if s.Capacity > 0 {
		binds := string(s.Binds)
		j.Capacity, j.CapacityBy = &s.Capacity, &binds
	}
	return j
}

// policiesKey names the policies of a run: the bundle, but for its metadata, the
// latencies of decisions, and what was decided by hand.
func policiesKey(cfg *actors.Config) string {
	b := cfg.Policies
	b.Metadata = nil
	all := []any{b, cfg.AdmissionLatency, cfg.RoutingLatency, cfg.Signals}
	if setup.SeveralPools(&cfg.Config) {
		all = append(all, cfg.Deployments, cfg.Prefill, cfg.Decode, cfg.PDDecider, cfg.PDPrefixThreshold, cfg.PDDirectDecodeThreshold, cfg.PDDecodeChoice)
	}
	if cfg.FlowControl {
		all = append(all, cfg.GatewaySettings)
	}
	if cfg.ForceRouting != "" {
		all = append(all, cfg.ForceRouting)
	}
	text, _ := json.Marshal(all) // names and finite numbers: no error
	return fmt.Sprintf("%016x", xxhash.Sum64(text))
}

// replicas are the costs and the yield of the instances, also of a constant number of
// them.
type replicas struct {
	Mean                    float64  `json:"mean"`
	Seconds                 float64  `json:"replica_seconds"`
	Cost                    *float64 `json:"cost"`
	ScaleEfficiency         *float64 `json:"scale_efficiency"`
	BusyShare               *float64 `json:"busy_share"`
	CompletedPerReplicaHour *float64 `json:"completed_per_replica_hour"`
	PerMillionInput         *float64 `json:"cost_per_mtok_input"`
	PerMillionOutput        *float64 `json:"cost_per_mtok_output"`
	PerMillion              *float64 `json:"cost_per_mtok"`
}

func newReplicas(r *actors.Result) replicas {
	run := r.Figures()
	all := &r.Report.Overall
	return replicas{
		run.MeanReplicas, r.ReplicaSeconds(), run.Cost, run.ScaleEfficiency(), run.BusyShare, run.CompletedPerReplicaHour(),
		run.CostPerMillion(all.CompletedInput), run.CostPerMillion(all.OutputTokens), run.CostPerMillion(all.CompletedInput + all.OutputTokens),
	}
}

// sessions counts the sessions of a workload by how they ended.
type sessions struct {
	Begun      int64 `json:"begun"`
	Completed  int64 `json:"completed"`
	EndedEarly int64 `json:"ended_early"`
	Unfinished int64 `json:"unfinished"`
	NotSent    int64 `json:"requests_not_sent"`
}

// newSessions returns nil for a workload without sessions.
func newSessions(r *actors.Result) *sessions {
	if r.Sessions == nil {
		return nil
	}
	s := sessions(*r.Sessions)
	return &s
}
