package setup

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"blis/engine"
)

// This file lists the flags of vllm serve 0.19, and older ones that still stand in
// scripts. A part of docs/flags.md is made from it, see TestVLLMFlagsPage. The fields of
// engine.Args need no entry: BLIS has these flags by their own name.

// flagUse is the effect of a flag of vLLM on a simulation.
type flagUse int

const (
	sameThing  flagUse = iota // BLIS has the flag, maybe by another name
	translated                // BLIS has flags that say the same
	noEffect                  // nothing in the model depends on the flag
	unmeasured                // the flag has an effect on a server, which was not measured
	refused                   // the flag asks for something that is not modelled
)

// arity is the number of values behind a flag.
type arity int

const (
	noValue arity = iota
	oneValue
	perhaps   // one value or none
	someWords // all arguments up to the next flag
)

// serveFlag is a flag of vllm serve.
type serveFlag struct {
	name   string   // without dashes
	shorts []string // other spellings, with their dash
	takes  arity
	use    flagUse
	as     string   // sameThing: the flag of BLIS
	why    string   // of the group: what it is about, or why it is refused
	usual  []string // refused: values that ask for nothing
}

// serveGroup is flags with one use. A flag reads name|-short=usual/usual:
// "=" takes a value, "=+" several, "=?" one or none.
type serveGroup struct {
	use   flagUse
	why   string
	flags string
}

// serveGroups are the flags that BLIS does not have.
var serveGroups = []serveGroup{
	{translated, "the CPU tier, of the OffloadingConnector: becomes --kv-cpu-size, --kv-offload-block-size, --kv-eviction, --kv-store-threshold and --kv-offload-prompt-only; a NixlConnector becomes --architecture pd",
		`kv-transfer-config=`},
	{translated, "its size in GiB, over all GPUs of an instance: --kv-cpu-size", `kv-offloading-size=`},
	{translated, "native alone", `kv-offloading-backend=`},
	{translated, "of the public simulator: a file, YAML or JSON, with cpu_bytes_to_use, block_size, eviction_policy and offload_prompt_only", `kv-offload-config=`},

	{translated, "--data-parallel-lb external", `data-parallel-external-lb|-dpe`},
	{translated, "--data-parallel-lb hybrid", `data-parallel-hybrid-lb|-dph`},

	{noEffect, "how data-parallel ranks reach each other",
		`data-parallel-address|-dpa= data-parallel-rpc-port|-dpp= data-parallel-backend|-dpb= disable-nccl-for-dp-synchronization`},
	{noEffect, "how the server is reached",
		`host= port= uds= api-key=+ allow-credentials allowed-origins= allowed-methods= allowed-headers= root-path= middleware= ssl-keyfile= ssl-certfile= ssl-ca-certs=
		ssl-cert-reqs= ssl-ciphers= enable-ssl-refresh headless disable-frontend-multiprocessing enable-request-id-headers h11-max-incomplete-event-size=
		h11-max-header-count= disable-fastapi-docs enable-offline-docs enable-server-load-tracking enable-tokenizer-info-endpoint tokens-only shutdown-timeout= grpc`},
	{noEffect, "names, templates and parsers: texts are not simulated",
		`served-model-name=+ chat-template= chat-template-content-format= trust-request-chat-template default-chat-template-kwargs= response-role= enable-auto-tool-choice
		exclude-tools-when-tool-choice-none tool-call-parser= tool-parser-plugin= tool-server= reasoning-parser= reasoning-parser-plugin= enable-reasoning
		return-tokens-as-token-ids enable-prompt-tokens-details enable-force-include-usage structured-outputs-config= guided-decoding-backend=
		generation-config= override-generation-config= max-logprobs= logprobs-mode= logits-processors=+ logits-processor-pattern= io-processor-plugin= enable-prompt-embeds`},
	{noEffect, "logs, traces and metrics",
		`disable-log-requests enable-log-requests disable-log-stats enable-log-outputs enable-log-deltas disable-uvicorn-access-log disable-access-log-for-endpoints= uvicorn-log-level=
		log-config-file= log-error-stack max-log-len= aggregate-engine-logging show-hidden-metrics-for-version= otlp-traces-endpoint= collect-detailed-traces= kv-cache-metrics
		kv-cache-metrics-sample= cudagraph-metrics enable-layerwise-nvtx-tracing enable-mfu-metrics enable-logging-iteration-details profiler-config= kv-events-config=
		fail-on-environ-validation ray-workers-use-nsight`},
	{noEffect, "where the model comes from and how it is loaded",
		`tokenizer= tokenizer-mode= skip-tokenizer-init trust-remote-code revision= code-revision= tokenizer-revision= hf-config-path= hf-token=? config-format= load-format=
		download-dir= safetensors-load-strategy= model-loader-extra-config= ignore-patterns=+ use-tqdm-on-load pt-load-map-location= max-parallel-loading-workers= model-impl=
		allowed-local-media-path= allowed-media-domains=+ enable-sleep-mode weight-transfer-config= allow-deprecated-quantization tokenizer-pool-size= tokenizer-pool-type=
		tokenizer-pool-extra-config=`},
	{noEffect, "images and sound: prompts are tokens",
		`limit-mm-per-prompt= language-model-only enable-mm-embeds media-io-kwargs= mm-processor-kwargs= mm-processor-cache-gb= mm-processor-cache-type= mm-shm-cache-max-object-size-mb=
		mm-encoder-only mm-encoder-tp-mode= mm-encoder-attn-backend= interleave-mm-strings skip-mm-profiling video-pruning-rate= disable-chunked-mm-input
		disable-mm-preprocessor-cache`},
	{unmeasured, "kernels and processes: step times are of a server with the defaults, with CUDA graphs; what others cost was not measured",
		`enforce-eager compilation-config|-cc|-O= optimization-level= performance-mode= cudagraph-capture-sizes=+ max-cudagraph-capture-size= max-seq-len-to-capture=
		attention-backend= attention-config|-ac= override-attention-dtype= kernel-config= moe-backend= enable-flashinfer-autotune disable-custom-all-reduce disable-cascade-attn
		distributed-executor-backend= distributed-timeout-seconds= node-rank|-r= master-addr= master-port= worker-cls= worker-extension-cls= worker-use-ray engine-use-ray device=
		additional-config= calculate-kv-scales prefix-caching-hash-algo= kv-sharing-fast-prefill use-v2-block-manager enable-return-routed-experts disable-async-output-proc
		disable-hybrid-kv-cache-manager mamba-cache-dtype= mamba-ssm-cache-dtype= mamba-block-size= mamba-cache-mode= disable-sliding-window stream-interval=
		all2all-backend= enable-eplb eplb-config= expert-placement-strategy= hf-overrides= rope-scaling= rope-theta=`},

	{refused, "pipeline parallelism is not modelled", `pipeline-parallel-size|-pp=1`},
	{refused, "an instance is simulated with all of its data-parallel ranks: give the line of one that has them all, with --data-parallel-external-lb if each rank is reached on its own",
		`data-parallel-rank|-dpn= data-parallel-start-rank|-dpr=0`},
	{refused, "an instance lies within one node: links between nodes are not modelled", `nnodes|-n=1`},
	{refused, "splitting a context over GPUs is not modelled",
		`decode-context-parallel-size|-dcp=1 prefill-context-parallel-size|-pcp=1 dcp-comm-backend= dcp-kv-cache-interleave-size=1 cp-kv-cache-interleave-size=1`},
	{refused, "LoRA adapters are not modelled",
		`enable-lora lora-modules=+ max-loras= max-lora-rank= max-cpu-loras= lora-dtype= fully-sharded-loras default-mm-loras= enable-tower-connector-lora specialize-active-lora
		enable-lora-bias lora-extra-vocab-size= long-lora-scaling-factors= qlora-adapter-name-or-path= enable-prompt-adapter max-prompt-adapters= max-prompt-adapter-token=`},
	{refused, "speculative decoding is not modelled",
		`speculative-config|-sc= speculative-model= num-speculative-tokens= speculative-draft-tensor-parallel-size= ngram-prompt-lookup-max= ngram-prompt-lookup-min=
		num-lookahead-slots=0 spec-decoding-acceptance-method=`},
	{refused, "weights in host memory are not modelled",
		`cpu-offload-gb=0/0.0 cpu-offload-params=+ offload-backend= offload-group-size=0 offload-num-in-group= offload-prefetch-step= offload-params=+ moe-cpu-budget-gb=0/0.0
		moe-cpu-min-free-gb=`},
	{refused, "the transfer of encoder caches is not modelled", `ec-transfer-config=`},
	{refused, "the V1 engine has no swap space: preempted requests are computed again, here too; leave it out", `swap-space=0 preemption-mode=recompute`},
	{refused, "give the number of blocks, --num-gpu-blocks-override", `kv-cache-memory-bytes=`},
	{refused, "batches are formed as vLLM's own scheduler forms them; see --scheduler",
		`scheduler-cls= num-scheduler-steps=1 multi-step-stream-outputs=? scheduler-delay-factor=0/0.0 max-num-partial-prefills=1 max-long-partial-prefills=1`},
	{refused, "overlapping two half batches is not modelled", `enable-dbo ubatch-size=0 dbo-decode-token-threshold= dbo-prefill-token-threshold=`},
	{refused, "ranks that come and go are not modelled; see --autoscale-policy", `enable-elastic-ep`},
	{refused, "requests that generate are simulated, nothing else", `runner=auto/generate task=auto/generate convert=auto/none pooler-config= override-pooler-config=`},
}

// servedFlag is a flag of vLLM that BLIS has.
type servedFlag struct {
	name, shorts string // of vLLM
	as           string // the flag here
	remark       string // what differs
}

// servedAs are the flags that BLIS has, without those of engine.Args that have the same
// name and form in vLLM.
var servedAs = []servedFlag{
	{"model", "", "model", "also the word behind vllm serve; a folder with a config.json is --model-config-folder"},
	{"tensor-parallel-size", "-tp", "tp", ""},
	{"dtype", "", "dtype", "float32 is refused"},
	{"quantization", "-q", "quantization", "methods whose width is in the checkpoint want its config.json"},
	{"kv-cache-dtype", "", "kv-cache-dtype", "8 or 16 bits"},
	{"enable-expert-parallel", "-ep", "enable-expert-parallel", "of the GPUs of all data-parallel ranks of an instance"},
	{"data-parallel-size", "-dp", "data-parallel-size", ""},
	{"data-parallel-size-local", "-dpl", "data-parallel-size-local", "counts with --data-parallel-hybrid-lb alone"},
	{"api-server-count", "-asc", "api-server-count", ""},
	{"max-model-len", "", "max-model-len", "16k, 1M, auto and -1 too; a cache that is too small for it is a note, no error"},
	{"gpu-memory-utilization", "", "gpu-memory-utilization", ""},
	{"block-size", "", "block-size-in-tokens", ""},
	{"num-gpu-blocks-override", "", "num-gpu-blocks-override", "with the null block, as vLLM counts"},
	{"max-num-batched-tokens", "", "max-num-batched-tokens", "16k and the like too"},
	{"async-scheduling", "", "async-scheduling", ""},
	{"scheduling-policy", "", "scheduler", "priority is priority-fcfs"},
	{"seed", "", "seed", "seed of all that is random in the simulation"},
	{"config", "", "config", "a file with settings of BLIS"},
}

// engineArgs is the type engine.Args. BLIS has a flag of vLLM for each field.
var engineArgs = reflect.TypeFor[engine.Args]()

// sameFlags returns all flags of vLLM that BLIS has.
var sameFlags = sync.OnceValue(func() []servedFlag {
	list := slices.Clone(servedAs)
	for f := range engineArgs.Fields() {
		name := f.Tag.Get("json")
		if !slices.ContainsFunc(list, func(s servedFlag) bool { return s.name == name }) {
			list = append(list, servedFlag{name: name, as: name})
		}
	}
	return list
})

// list returns the flags of the group, without those of engine.Args: a new field there
// takes its name out of the group.
func (g *serveGroup) list() []*serveFlag {
	var list []*serveFlag
	for _, text := range strings.Fields(g.flags) {
		f := parseServeFlag(text, g.use, g.why)
		if !slices.ContainsFunc(sameFlags(), func(s servedFlag) bool { return s.name == f.name }) {
			list = append(list, f)
		}
	}
	return list
}

// serveFlags are the flags of all lists by every spelling, with dashes.
var serveFlags = sync.OnceValue(func() map[string]*serveFlag {
	all := map[string]*serveFlag{}
	add := func(f *serveFlag) {
		for _, name := range append([]string{"--" + f.name}, f.shorts...) {
			if all[name] != nil {
				panic("blis: " + name + " stands twice in the list of vLLM's flags")
			}
			all[name] = f
		}
	}
	for _, g := range serveGroups {
		for _, f := range g.list() {
			add(f)
		}
	}
	for _, s := range sameFlags() {
		add(&serveFlag{name: s.name, shorts: strings.Fields(s.shorts), takes: oneValue, use: sameThing, as: s.as, why: s.remark})
	}
	return all
})

// parseServeFlag reads an item of serveGroups.
func parseServeFlag(text string, use flagUse, why string) *serveFlag {
	names, value, takes := strings.Cut(text, "=")
	list := strings.Split(names, "|")
	f := &serveFlag{name: list[0], shorts: list[1:], use: use, why: why}
	switch {
	case !takes:
	case value == "+":
		f.takes = someWords
	case value == "?":
		f.takes = perhaps
	default:
		f.takes = oneValue
		if value != "" {
			f.usual = strings.Split(value, "/")
		}
	}
	return f
}

// asksForNothing reports whether a flag that is refused has a value with which it
// changes nothing.
func (f *serveFlag) asksForNothing(value string) bool { return slices.Contains(f.usual, value) }
