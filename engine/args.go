package engine

// Args are what a user sets of an engine's scheduler, by the names of vLLM's engine
// arguments. The tags are the one definition of each: its flag, default and help, and
// for numbers what the error for one below 0 wants. setup.Config has them, so that a
// new one is a field here and its use. There, 0 may stand for a value to derive; an
// engine has what was derived.
type Args struct {
	MaxNumSeqs                int32 `json:"max-num-seqs" aliases:"max-num-running-reqs" group:"Instances" want:"at least 1, 0 to derive it" help:"Maximum number of requests in a batch; 0: as vLLM's server chooses by GPU (1024, small GPUs and A100 256)."`
	MaxNumBatchedTokens       int32 `json:"max-num-batched-tokens" aliases:"max-num-scheduled-tokens" group:"Instances" want:"at least 1, 0 to derive it" help:"Token budget of a step; 0: as vLLM's server chooses by GPU (8192, small GPUs and A100 2048)."` // ≥ MaxNumSeqs
	LongPrefillTokenThreshold int32 `json:"long-prefill-token-threshold" group:"Instances" want:"0 (off) or more" help:"Most prefill tokens of one request in a step; 0: no limit."`
	MaxModelLen               int32 `json:"max-model-len" group:"Instances" want:"at least 1, 0 to derive it" help:"Longest prompt + output in tokens; 0: the model's, at most what the cache holds."` // in an engine 0 is what the cache holds
	EnablePrefixCaching       bool  `json:"enable-prefix-caching" default:"true" negatable:"" group:"Instances" help:"Reuse KV blocks of equal prefixes."`
	EnableChunkedPrefill      bool  `json:"enable-chunked-prefill" default:"true" negatable:"" group:"Instances" help:"Spread prompts over steps."`
	SchedulerReserveFullISL   bool  `json:"scheduler-reserve-full-isl" default:"true" negatable:"" group:"Instances" help:"Admit a request only when all of its prompt fits (vLLM 0.19)."`
}
