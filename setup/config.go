package setup

import (
	"io"

	"blis/bundle"
	"blis/engine"
	"blis/latency"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// Config is every setting of a run that its result depends on. The tags are the one definition of each
// setting's name (as flag, in configuration files, in results), default and
// help. Start from DefaultConfig. Settings whose default is 0 or empty are
// derived from others, as their help says; the configuration in a Result has
// the values that were derived.
type Config struct {
	Model             string    `json:"model" default:"Llama-3.1-8B-Instruct" group:"Model" help:"Model name or Hugging Face id; see blis models."`
	Hardware          string    `json:"hardware" default:"H100" group:"Model" help:"GPU of every instance; see blis hardware."`
	TP                int       `json:"tp" default:"1" aliases:"tensor-parallel-size" group:"Model" help:"GPUs per instance (tensor parallelism)."`
	LatencyModel      string    `json:"latency-model" default:"auto" enum:"auto,blackbox,roofline,physics" group:"Model" help:"auto, blackbox, roofline or physics. auto is the one with the lowest expected error for the run, or blackbox when its coefficients are given."`
	Coefficients      string    `json:"coefficients" group:"Model" help:"Coefficients of physics: a file that blis train wrote, or the name of a shipped set. Empty: the shipped set with the lowest expected error."`
	AlphaCoeffs       []float64 `json:"alpha-coeffs" group:"Model" help:"Blackbox α₀,α₁,α₂ in µs: queueing delay, per prompt token, client overhead per output token; or the 11 of physics (docs/latency.md). Empty: those of the set or publication."`
	BetaCoeffs        []float64 `json:"beta-coeffs" group:"Model" help:"Blackbox β₀,β₁,β₂ in µs: step, per prefill token, per decode token; or the 28 of physics, or its first 16. Empty: as for alpha-coeffs."`
	PreemptionGamma   float64   `json:"preemption-ema-gamma" name:"preemption-ema-gamma" group:"Model" help:"Weight of the newest step in the average of preemptions that physics reads, above 0 and at most 1; 0: the one that its coefficients were fitted with."`
	ModelConfigFolder string    `json:"model-config-folder" type:"path" group:"Model" help:"Folder with a Hugging Face config.json (or such a file) that describes the model."`
	HardwareConfig    string    `json:"hardware-config" type:"path" group:"Model" help:"File with GPUs of your own: YAML, or JSON of the public simulator; see docs/models.md."`

	Dtype        string `json:"dtype" default:"auto" group:"Model" help:"Type of weights and activations that are not quantised, as in vLLM: auto, bfloat16, float16 or half; all are 16 bits."`
	Quantization string `json:"quantization" group:"Model" help:"Quantisation of the weights of a 16-bit model, by vLLM's name: fp8, awq, gptq, bitsandbytes and others. Empty: as the model is described."`
	KVCacheDtype string `json:"kv-cache-dtype" name:"kv-cache-dtype" default:"auto" group:"Model" help:"Type of the KV cache, as in vLLM: auto, bfloat16, fp8, fp8_e4m3 or fp8_e5m2; with fp8 twice as many tokens fit."`

	EnableExpertParallel bool `json:"enable-expert-parallel" negatable:"" group:"Model" help:"Each GPU holds whole experts of an MoE model, in place of a slice of every expert, as in vLLM; without an effect on dense models and where the ranks of an instance have one GPU."`

	NumInstances         int           `json:"num-instances" default:"4" group:"Instances" help:"Serving instances."`
	TotalKVBlocks        int64         `json:"total-kv-blocks" group:"Instances" help:"KV blocks per instance; 0: what fits next to the weights."`
	NumGPUBlocksOverride int64         `json:"num-gpu-blocks-override" group:"Instances" help:"The same as vLLM counts it, with its null block: one more. 0: not given."`
	BlockSizeInTokens    int32         `json:"block-size-in-tokens" default:"16" aliases:"block-size" group:"Instances" help:"Tokens per KV block."`
	GPUMemoryUtilization float64       `json:"gpu-memory-utilization" default:"0.9" group:"Instances" help:"Fraction of GPU memory that the engine may use, as in vLLM."`
	ActivationMemory     latency.Bytes `json:"activation-memory" default:"1GB" group:"Instances" help:"GPU memory set aside per GPU for activations and other buffers: 1GB, 800MiB or a number of bytes."`
	engine.Args
	DataParallelSettings
	KVTier
	AsyncScheduling  *bool  `json:"async-scheduling" negatable:"" group:"Instances" help:"Form the next batch while one executes. Not given: on, as vLLM does since 0.14; but off with coefficients fitted to servers that did not."`
	Scheduler        string `json:"scheduler" bundle:"scheduler.type" default:"fcfs" aliases:"scheduling-policy" group:"Instances" help:"Order of the wait queue: fcfs, priority-fcfs (also: priority), sjf; see blis policies scheduler."`
	PreemptionPolicy string `json:"preemption-policy" bundle:"scheduler.params.preemption" default:"auto" group:"Instances" help:"Which request to preempt for KV: auto (the scheduler's own), fcfs or priority."`

	Policies                bundle.Bundle  `json:"policies" group:"Policies" placeholder:"BUNDLE" help:"Policies and their parameters as a bundle file has them, in one argument; the flags below change single fields of it."`
	AdmissionPolicy         string         `json:"admission-policy" bundle:"admission.type" default:"always-admit" group:"Policies" help:"Which requests enter; see blis policies admission."`
	TokenBucketCapacity     float64        `json:"token-bucket-capacity" bundle:"admission.params.capacity" default:"10000" group:"Policies" help:"Tokens that the bucket holds."`
	TokenBucketRefillRate   float64        `json:"token-bucket-refill-rate" bundle:"admission.params.refill_rate" default:"1000" group:"Policies" help:"Tokens per second."`
	AdmissionLatency        vtime.Duration `json:"admission-latency" default:"0" group:"Policies" help:"From arrival to the admission decision."`
	PriorityPolicy          string         `json:"priority-policy" bundle:"priority.type" default:"constant" group:"Policies" help:"How urgent requests are; see blis policies priority."`
	RoutingPolicy           string         `json:"routing-policy" bundle:"routing.type" default:"round-robin" group:"Policies" help:"Which instance gets a request; see blis policies routing."`
	RoutingScorers          string         `json:"routing-scorers" bundle:"routing.params" group:"Policies" help:"Scorers of weighted routing, name:weight,…; empty: prefix-affinity:3,queue-depth:2,kv-utilization:2."`
	RoutingLatency          vtime.Duration `json:"routing-latency" default:"0" group:"Policies" help:"From the admission decision to the routing decision."`
	SnapshotRefreshInterval vtime.Duration `json:"snapshot-refresh-interval" bundle:"observability.refresh" default:"0" group:"Policies" help:"Age of what the router sees: instance signals are refreshed at multiples of this; 0: always fresh."`
	Signals                 string         `json:"signals" default:"live" enum:"live,per-step" group:"Policies" help:"When instances publish: live, at every change; per-step, at the ends of steps, as a server's metrics do."`
	InFlight                string         `json:"in-flight" bundle:"observability.in_flight" default:"immediate" enum:"immediate,periodic" group:"Policies" help:"When the router learns that a request ended: immediate, or periodic at the refresh."`
	PrefixIndex             string         `json:"prefix-index" bundle:"observability.prefix_index" default:"routed" enum:"routed,events" group:"Policies" help:"What the router expects in prefix caches: routed, by where it sent prompts; events, by the blocks that instances say they store and remove."`
	PrefixIndexBlocks       string         `json:"prefix-index-blocks" bundle:"observability.prefix_index_blocks" default:"auto" group:"Policies" help:"With prefix-index routed: blocks that the router remembers per instance, at most; auto: as many tokens as the cache of that instance holds, its CPU tier included."`
	KVEventDelay            vtime.Duration `json:"kv-event-delay" bundle:"observability.kv_event_delay" default:"0" group:"Policies" help:"With prefix-index events: from the end of a step to the router's knowledge of its blocks."`
	ForceRouting            string         `json:"force-routing" group:"Policies" help:"Requests to send to given instances whatever the policy chooses, 17=3,40=0: numbers in order of arrival, and indices."`

	AutoscalePolicy    string         `json:"autoscale-policy" bundle:"autoscale.type" default:"none" aliases:"autoscaler-policy" group:"Autoscaling" help:"none: the number of instances stays; others: blis policies autoscale."`
	AutoscaleInterval  vtime.Duration `json:"autoscale-interval" bundle:"autoscale.interval" default:"15s" aliases:"autoscaler-interval" group:"Autoscaling" help:"Time between scale checks; with trigger event at least."`
	AutoscaleTrigger   string         `json:"autoscale-trigger" bundle:"autoscale.trigger" default:"periodic" placeholder:"periodic|event|CONDITIONS" group:"Autoscaling" help:"What scale checks come by: periodic, at multiples of the interval; event, when a request arrived or ended, at most once per interval; or conditions, one of which must hold then: queue>5, attainment<0.9, load>0.8 for 30s, rate-change>0.5."`
	MinReplicas        int            `json:"min-replicas" bundle:"autoscale.min" default:"1" aliases:"autoscaler-min-replicas,autoscaler-min" group:"Autoscaling" help:"Minimum number of instances."`
	MaxReplicas        int            `json:"max-replicas" bundle:"autoscale.max" aliases:"autoscaler-max-replicas,autoscaler-max" group:"Autoscaling" help:"Most instances; 0: twice num-instances."`
	ProvisioningDelay  RandomDuration `json:"provisioning-delay" bundle:"autoscale.actuation.provisioning" default:"30s" group:"Autoscaling" help:"Time from a scale decision to a machine, from when on it costs: 30s, or 30s,cv=0.2 for a lognormal."`
	ModelLoadTime      RandomDuration `json:"model-load-time" bundle:"autoscale.actuation.model_load" default:"40s" group:"Autoscaling" help:"Time to load the model on a new instance: 40s, or 40s,cv=0.2 for a lognormal distribution."`
	WarmupDuration     vtime.Duration `json:"warmup-duration" bundle:"autoscale.actuation.warmup.duration" default:"0" group:"Autoscaling" help:"Time in which the steps of a new instance take longer; 0: none."`
	WarmupCurve        string         `json:"warmup-curve" bundle:"autoscale.actuation.warmup.curve" default:"linear" enum:"linear,exponential,step" group:"Autoscaling" help:"How the warm-up penalty fades: linear, exponential (halves every eighth of the duration) or step."`
	WarmupPenalty      float64        `json:"warmup-penalty" bundle:"autoscale.actuation.warmup.penalty" default:"1.5" group:"Autoscaling" help:"Factor on step times at its start."`
	WarmupRoutable     bool           `json:"warmup-routable" bundle:"autoscale.actuation.warmup.routable" default:"true" negatable:"" group:"Autoscaling" help:"Send requests to instances that are warming."`
	DrainPolicy        string         `json:"drain-policy" bundle:"autoscale.actuation.drain" default:"wait" enum:"wait,immediate,redirect" group:"Autoscaling" help:"What becomes of the requests of an instance that goes: wait (served), immediate (aborted) or redirect (routed again)."`
	DrainTimeout       vtime.Duration `json:"drain-timeout" bundle:"autoscale.actuation.drain_timeout" default:"0" group:"Autoscaling" help:"With wait: after this they are aborted; 0: never."`
	CostPerReplicaHour float64        `json:"cost-per-replica-hour" group:"Autoscaling" help:"Price of an instance per hour, in any currency, at most 1e15; 0: no costs are given. Or give --gpu-hour-price."`
	GPUHourPrice       float64        `json:"gpu-hour-price" group:"Autoscaling" help:"Price of a GPU per hour, in any currency, at most 1e15: an instance costs it tp times, for each data-parallel rank. 0: no costs are given."`

	GatewaySettings
	DisaggregationSettings
	Deployments DeploymentList `json:"deployments" placeholder:"FILE" group:"Prefill/decode" help:"YAML file with several deployments, each a model with its own instances, or prefill and decode instances; in place of model and num-instances. What it leaves out the other flags say. See docs/deployments.md."`
	ClusterSettings
	FailureSettings

	WorkloadSpec      string         `json:"workload-spec" type:"path" group:"Workload" help:"YAML specification of the workload; see docs/workloads.md."`
	Scenario          string         `json:"scenario" group:"Workload" help:"A built-in specification; see blis workload scenarios."`
	Rate              float64        `json:"rate" group:"Workload" help:"Mean arrivals per second over the cluster; 0: 80 % of the capacity that the latency model gives, or what the specification or the trace says. A trace is stretched or squeezed to it."`
	Concurrency       int32          `json:"concurrency" group:"Workload" help:"A closed loop in place of a rate: the number of users who each wait for an answer, think, and ask again."`
	ThinkTime         vtime.Duration `json:"think-time" default:"0" group:"Workload" help:"Time of users between an answer and the next request."`
	RefusalPause      vtime.Duration `json:"refusal-pause" default:"1s" group:"Workload" help:"Minimum time of users after a request that was rejected, dropped or timed out; from 1ms. The next request follows: the lost one is not sent again."`
	NumRequests       int64          `json:"num-requests" aliases:"max-prompts" group:"Workload" help:"Requests to generate; 0: 1000, or what the specification says."`
	Arrival           string         `json:"arrival" default:"poisson" enum:"poisson,constant,gamma,weibull" group:"Workload" help:"Arrival process."`
	CV                float64        `json:"cv" group:"Workload" help:"Coefficient of variation of the gaps, for gamma and weibull."`
	PromptTokens      float64        `json:"prompt-tokens" default:"512" group:"Workload" help:"Mean prompt length, tokens."`
	PromptTokensStdev float64        `json:"prompt-tokens-stdev" default:"256" group:"Workload" help:"Its standard deviation; 0: constant."`
	PromptTokensMin   int32          `json:"prompt-tokens-min" default:"2" group:"Workload" help:"Shortest prompt."`
	PromptTokensMax   int32          `json:"prompt-tokens-max" default:"7000" group:"Workload" help:"Longest prompt."`
	OutputTokens      float64        `json:"output-tokens" default:"256" group:"Workload" help:"Mean output length, tokens."`
	OutputTokensStdev float64        `json:"output-tokens-stdev" default:"128" group:"Workload" help:"Its standard deviation; 0: constant."`
	OutputTokensMin   int32          `json:"output-tokens-min" default:"2" group:"Workload" help:"Shortest output."`
	OutputTokensMax   int32          `json:"output-tokens-max" default:"7000" group:"Workload" help:"Longest output."`
	PrefixTokens      int32          `json:"prefix-tokens" group:"Workload" help:"Tokens that all prompts share, in front of prompt-tokens."`
	Timeout           vtime.Duration `json:"timeout" type:"timeout" default:"0" group:"Workload" help:"Requests give up this long after arrival, like 300s; 0 or negative: never. A number without a unit is refused."`
	Trace             string         `json:"trace" type:"path" aliases:"workload-traces-filepath" group:"Workload" help:"Trace to replay in place of generated requests: own CSV, Azure, Mooncake, BurstGPT, inference-sim and more, results of load generators, gzip too; a folder of ServeGen data. See docs/formats.md."`
	TraceFormat       string         `json:"trace-format" group:"Workload" help:"blis, azure, mooncake, burstgpt, tokens, inference-sim, vidur, lengths, vllm-bench, guidellm, aiperf, genai-perf, inference-perf, otlp or servegen; empty: by content."`
	TraceIgnore       string         `json:"trace-ignore-columns" name:"trace-ignore-columns" group:"Workload" help:"Columns of a CSV trace to leave out, a,b."`
	TraceBlockSize    int32          `json:"trace-block-size" default:"512" group:"Workload" help:"Tokens per hash id of a Mooncake trace."`
	TraceSpeedup      float64        `json:"trace-speedup" default:"1" group:"Workload" help:"Factor on the arrival rate of a trace."`
	TraceLimit        int64          `json:"trace-limit" group:"Workload" help:"Replay at most this many requests; 0: all."`
	TraceOffset       int64          `json:"trace-offset" group:"Workload" help:"Skip this many requests."`
	SpreadTies        bool           `json:"spread-ties" group:"Workload" help:"Move requests with equal coarse timestamps apart."`
	SkipBadRows       bool           `json:"skip-bad-rows" group:"Workload" help:"Leave out bad rows of a trace and count them."`

	Seed         uint64         `json:"seed" default:"42" group:"Run" help:"Seed of everything random."`
	WorkloadSeed *uint64        `json:"workload-seed" group:"Run" help:"Seed of the traffic alone; not given: --seed where that is given, else the specification's."`
	Horizon      vtime.Duration `json:"horizon" default:"0" group:"Run" help:"End of the run in virtual time; 0: when all work is done."`
	MeasureFrom  vtime.Duration `json:"measure-from" type:"warmup" default:"0" group:"Run" help:"Measure only requests that arrive at this time or later; auto: after five times the mean E2E of a pilot run, when the queues have built up."`
	MeasureTo    vtime.Duration `json:"measure-to" default:"0" group:"Run" help:"Measure only requests that arrive before this time; 0: to the end."`
	SLOTargets   string         `json:"slo-targets" group:"Run" help:"Latency targets of requests, ttft=500ms,tpot=50ms, or per class, standard:ttft=500ms;batch:e2e=30s, or of a tenant in place of its classes, tenant/gold:ttft=200ms."`

	FitnessWeights string `json:"fitness-weights" group:"Run" help:"Measures and weights of the fitness, one number for the run: throughput:0.5,p99_ttft@200ms:0.3 (@: target); see docs/metrics.md."`

	SlowWithinClass bool `json:"slow-within-class" group:"Run" help:"Count pairs of one class in which the request that arrived earlier took more than twice as long; keeps 16 bytes per request."`

	// SeedGiven says that the user gave Seed: the traffic of a specification follows
	// it then, and not the specification's own seed. WorkloadSeed of the effective
	// configuration is the seed that the traffic has.
	SeedGiven bool `json:"-" kong:"-"`

	// Custom replaces named parts by objects; see there.
	Custom `json:"-" kong:"-"`
}

// Custom replaces parts that Config names, for library users. Nil fields replace
// nothing. A result with custom parts cannot be repeated from its configuration
// alone. Functions that make policies are called once per run, Scheduler once per
// instance.
type Custom struct {
	Source    workload.Source
	Open      func(path string) (io.ReadCloser, error) // opens files that the configuration names, but not those named in them; nil: os.Open
	Latency   latency.Model
	Admission func(policy.Env) policy.Admission
	Priority  func(policy.Env) policy.Priority
	Routing   func(policy.Env) policy.Routing
	Scheduler func(policy.Env) policy.Scheduler
	Autoscale func(policy.Env) policy.Autoscale
}
