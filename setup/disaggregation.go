package setup

import (
	"fmt"

	"blis/engine"
	"blis/latency"
	"blis/vtime"
)

// DisaggregationSettings is what a user sets of prefill/decode disaggregation. The tags are as
// those of Config.
type DisaggregationSettings struct {
	Architecture    string    `json:"architecture" default:"monolithic" enum:"monolithic,pd" group:"Prefill/decode" help:"monolithic: instances serve requests from the first token to the last; pd: prefill instances compute prompts, decode instances pull their KV and go on, as with vLLM's NixlConnector."`
	PrefillReplicas int       `json:"prefill-replicas" default:"2" aliases:"prefill-instances" group:"Prefill/decode" help:"With architecture pd: prefill instances, in place of num-instances."`
	DecodeReplicas  int       `json:"decode-replicas" default:"2" aliases:"decode-instances" group:"Prefill/decode" help:"With architecture pd: decode instances."`
	PDRatio         PDRatio   `json:"pd-ratio" name:"pd-ratio" placeholder:"P:D" group:"Prefill/decode" help:"With architecture pd: shares num-instances among both pools in place of prefill-replicas and decode-replicas: 1:3, one prefill instance for three decode instances, rounded, at least one of each."`
	Prefill         Overrides `json:"prefill" placeholder:"SETTINGS" group:"Prefill/decode" help:"Settings of the prefill instances that are not those of the run: {tp: 4, hardware: H200}. Each is a flag too: --prefill-tp 4. See docs/disaggregation.md."`
	Decode          Overrides `json:"decode" placeholder:"SETTINGS" group:"Prefill/decode" help:"The same of the decode instances: --decode-tp 8."`

	PDDecider               string         `json:"pd-decider" name:"pd-decider" default:"always" enum:"always,never,prefix-threshold,direct-to-decode" group:"Prefill/decode" help:"Which requests are disaggregated; the others run on a decode instance alone: always, never, prefix-threshold (prompts of which more than pd-prefix-threshold tokens are not expected in the cache of the decode instance, as llm-d) or direct-to-decode (prompts of pd-direct-decode-threshold tokens and more)."`
	PDPrefixThreshold       int32          `json:"pd-prefix-threshold" name:"pd-prefix-threshold" default:"512" group:"Prefill/decode" want:"0 or more" help:"Tokens for pd-decider prefix-threshold."`
	PDDirectDecodeThreshold int32          `json:"pd-direct-decode-threshold" name:"pd-direct-decode-threshold" default:"256" group:"Prefill/decode" want:"0 or more" help:"Tokens for pd-decider direct-to-decode."`
	PDDecodeChoice          string         `json:"pd-decode-choice" name:"pd-decode-choice" default:"arrival" enum:"arrival,handoff" group:"Prefill/decode" help:"When the decode instance is chosen: arrival, before the prefill instance, as llm-d; handoff, when the prefill has ended, as vLLM's proxy."`
	PDTransferBandwidth     PullBandwidth  `json:"pd-transfer-bandwidth" name:"pd-transfer-bandwidth" default:"35GB/s" group:"Prefill/decode" help:"Rate of a pull per GPU, of the pool with fewer GPUs per instance: 35GB/s (400 Gb/s RDMA), or nvlink (three quarters of the GPU's link), pcie-peer (49 GB/s) or tcp (0.5 GB/s)."`
	PDTransferLatency       vtime.Duration `json:"pd-transfer-latency" name:"pd-transfer-latency" default:"450us" aliases:"pd-transfer-base-latency" group:"Prefill/decode" help:"What each pull takes besides."`
	PDKVBytesPerToken       latency.Bytes  `json:"pd-kv-bytes-per-token" name:"pd-kv-bytes-per-token" default:"0" group:"Prefill/decode" help:"Bytes that a pull moves per token, on all GPUs of a decode instance; 0: as the model says."`
	PDHandoffLatency        vtime.Duration `json:"pd-handoff-latency" name:"pd-handoff-latency" default:"1ms" group:"Prefill/decode" help:"From the end of a prefill to the decode instance, or to its choice: the way through the proxy; at least 1us."`
	PDNotifyLatency         vtime.Duration `json:"pd-notify-latency" name:"pd-notify-latency" default:"0" group:"Prefill/decode" help:"From the end of a pull to the knowledge of the prefill instance."`
	PDLink                  string         `json:"pd-link" name:"pd-link" default:"independent" enum:"independent,fifo" group:"Prefill/decode" help:"independent: pulls do not slow each other down, as ledgers of NIXL show; fifo: one at a time per prefill instance, in the order in which they begin."`
	PDPipeline              float64        `json:"pd-pipeline" name:"pd-pipeline" default:"1" group:"Prefill/decode" help:"Share of the blocks of a pull with which its request may start, above 0 and at most 1; 1: all, as vLLM."`
	PDMaxHeld               int            `json:"pd-max-held" name:"pd-max-held" default:"0" group:"Prefill/decode" want:"0 (no limit) or more" help:"Prefills whose KV awaits its pull, from which on a prefill instance admits no request; 0: no limit."`
	PDBackpressureThreshold int            `json:"pd-backpressure-threshold" name:"pd-backpressure-threshold" default:"16" group:"Prefill/decode" help:"Prefills of an instance that await their pull, from which on a hand-over counts as the anomaly pd_backpressure."`
	PDHoldTimeout           vtime.Duration `json:"pd-hold-timeout" name:"pd-hold-timeout" default:"480s" group:"Prefill/decode" help:"Time after which a prefill instance gives up KV that nobody pulled."`
	PDFailureRate           float64        `json:"pd-failure-rate" name:"pd-failure-rate" default:"0" group:"Prefill/decode" help:"Share of pulls that fail, by chance."`
	KVLoadFailurePolicy     string         `json:"kv-load-failure-policy" name:"kv-load-failure-policy" default:"fail" enum:"fail,recompute" group:"Prefill/decode" help:"What becomes of a request whose pull failed, as in vLLM: fail, or recompute, the decode instance computes what did not come."`
}

// Architectures of deployments.
const (
	Monolith = "monolithic" // instances serve requests from the first token to the last
	PD       = "pd"         // with prefill and decode instances
)

// Disaggregates reports whether prefill and decode instances share the work.
func (s *DisaggregationSettings) Disaggregates() bool { return s.Architecture == PD }

// handOffSettings are the settings that count only with architecture pd.
var handOffSettings = []string{"prefill-replicas", "decode-replicas", "pd-ratio", "prefill", "decode", "pd-decider", "pd-prefix-threshold", "pd-direct-decode-threshold", "pd-decode-choice",
	"pd-transfer-bandwidth", "pd-transfer-latency", "pd-kv-bytes-per-token", "pd-handoff-latency", "pd-notify-latency", "pd-link", "pd-pipeline", "pd-max-held",
	"pd-backpressure-threshold", "pd-hold-timeout", "pd-failure-rate", "kv-load-failure-policy"}

func unusedOfDisaggregation(c *Config) []unused {
	switch {
	case !c.Deployments.Empty():
		return []unused{{!c.Deployments.disaggregates(), handOffSettings, "no deployment has architecture pd"}}
	case !c.Disaggregates():
		return []unused{{true, handOffSettings, "architecture is monolithic"}}
	}
	var both []string
	for _, name := range c.Prefill.Names() {
		if _, found := c.Decode.Get(name); found && name != PoliciesSetting {
			both = append(both, name)
		}
	}
	return []unused{
		{true, both, "prefill and decode have their own"},
		{c.PDDecider != DecidePrefixThreshold, []string{"pd-prefix-threshold"}, "pd-decider is " + c.PDDecider},
		{c.PDDecider != DecideDirect, []string{"pd-direct-decode-threshold"}, "pd-decider is " + c.PDDecider},
		{c.PDFailureRate == 0 && c.KVLoadFailurePolicy != "fail" && !c.Fails() && !Scales(c), []string{"kv-load-failure-policy"}, "pd-failure-rate is 0, and no instance goes"},
	}
}

// Bounds of settings of pulls.
const (
	leastHandOff    = vtime.Microsecond
	mostPullTime    = 365 * 24 * vtime.Hour // so that sums of a few fit
	mostBytesPerTok = 1 << 30
)

// checkDisaggregation checks the settings of prefill/decode disaggregation one by one.
func checkDisaggregation(c *Config, check func(ok bool, name string, value any, want string)) {
	for _, d := range []struct {
		name         string
		value, least vtime.Duration
		want         string
	}{
		{"pd-transfer-latency", c.PDTransferLatency, 0, "0 or more"}, {"pd-handoff-latency", c.PDHandoffLatency, leastHandOff, "1us or more"},
		{"pd-notify-latency", c.PDNotifyLatency, 0, "0 or more"}, {"pd-hold-timeout", c.PDHoldTimeout, 1, "1us or more"},
	} {
		check(d.value >= d.least && d.value <= mostPullTime, d.name, d.value, d.want+", at most a year")
	}
	check(c.PDKVBytesPerToken >= 0 && c.PDKVBytesPerToken <= mostBytesPerTok, "pd-kv-bytes-per-token", c.PDKVBytesPerToken, "0 (as the model says) to 1GiB")
	check(c.PDPipeline > 0 && c.PDPipeline <= 1, "pd-pipeline", c.PDPipeline, "a share of the blocks of a pull, above 0 and at most 1")
	check(c.PDBackpressureThreshold >= 1, "pd-backpressure-threshold", c.PDBackpressureThreshold, "at least 1")
	check(c.PDFailureRate >= 0 && c.PDFailureRate <= 1, "pd-failure-rate", c.PDFailureRate, "a share of the pulls, 0 to 1")
	checkSeveral(c, check)
	if !c.Disaggregates() {
		return
	}
	replicas := func(n int, name string) {
		check(n >= 1 && n <= MostInstances, name, n, fmt.Sprintf("1 to %d", MostInstances))
	}
	checkRatio(c, check)
	replicas(c.PrefillReplicas, "prefill-replicas")
	replicas(c.DecodeReplicas, "decode-replicas")
	check(c.PrefillReplicas+c.DecodeReplicas <= MostInstances || c.PrefillReplicas > MostInstances || c.DecodeReplicas > MostInstances, "decode-replicas", c.DecodeReplicas, fmt.Sprintf("at most %d with those of prefill", MostInstances))
	check(c.PDDecider != DecidePrefixThreshold || c.PDDecodeChoice != "handoff", "pd-decode-choice", c.PDDecodeChoice, "arrival with --pd-decider prefix-threshold, which looks at the cache of the decode instance")
	check(c.PDLink != "fifo" || c.PDPipeline == 1, "pd-pipeline", c.PDPipeline, "1 with --pd-link fifo: a pull that waits for others has no blocks yet")
}

// checkSeveral refuses settings that several pools do not have, or not yet.
func checkSeveral(c *Config, check func(ok bool, name string, value any, want string)) {
	if !SeveralPools(c) {
		return
	}
	usual := defaults().Interface().(Config)
	with, instead := "--architecture pd", "its pools have --prefill-replicas and --decode-replicas, or --pd-ratio"
	if list := &c.Deployments; !list.Empty() {
		with, instead = "--deployments", "each deployment has replicas"
		check(c.Model == "" || c.Model == usual.Model, "model", c.Model, "none with --deployments: each deployment has a model")
		check(c.ModelConfigFolder == "", "model-config-folder", c.ModelConfigFolder, "none with --deployments: each deployment has a model")
		check(c.Architecture == Monolith, "architecture", c.Architecture, "none with --deployments: each deployment has an architecture")
		check(c.PrefillReplicas == usual.PrefillReplicas, "prefill-replicas", c.PrefillReplicas, "none with --deployments: each deployment has its own")
		check(c.DecodeReplicas == usual.DecodeReplicas, "decode-replicas", c.DecodeReplicas, "none with --deployments: each deployment has its own")
		check(!c.PDRatio.given(), "pd-ratio", c.PDRatio, "none with --deployments: their pools have replicas")
		check(len(c.Prefill.list) == 0, "prefill", c.Prefill, "none with --deployments: pools are set in their deployments")
		check(len(c.Decode.list) == 0, "decode", c.Decode, "none with --deployments: pools are set in their deployments")
	}
	check(c.PDRatio.given() || c.NumInstances == 0 || c.NumInstances == usual.NumInstances, "num-instances", c.NumInstances, "none with "+with+": "+instead)
	const notYet = ", which is not modelled yet"
	check(c.ForceRouting == "", "force-routing", c.ForceRouting, "none with "+with+notYet)
}

// checkPoolOfSeveral refuses what a pool of several cannot have yet.
func checkPoolOfSeveral(c *Config, r Role) error {
	if !c.HasCPUTier() {
		return nil
	}
	if c.MovesBlocks() && r != Monolithic {
		return inputErrorf("--kv-offload-policy is %s: want write-through or lazy with --architecture pd: what moves is nowhere to be pulled", c.KVOffloadPolicy)
	}
	return nil
}

// newDisaggregation returns how two pools share the work. maxModelLen is the effective
// max-model-len of decode.
func newDisaggregation(c *Config, prefill, decode *Server, maxModelLen int32) *Disaggregation {
	d := &Disaggregation{
		Decider: c.PDDecider, PrefixThreshold: c.PDPrefixThreshold, DirectThreshold: c.PDDirectDecodeThreshold, AtHandOver: c.PDDecodeChoice == "handoff",
		HandOffLatency: c.PDHandoffLatency, NotifyLatency: c.PDNotifyLatency, FailureRate: c.PDFailureRate, Backpressure: c.PDBackpressureThreshold,
		Disaggregation: engine.Disaggregation{
			Pull:       engine.Link{Base: float64(c.PDTransferLatency), PerBlock: pullTime(c, prefill, decode)},
			SharedLink: c.PDLink == "fifo", Recompute: c.KVLoadFailurePolicy == "recompute", HoldTimeout: c.PDHoldTimeout, MaxModelLen: maxModelLen, MaxHeld: c.PDMaxHeld,
		},
	}
	if c.PDPipeline < 1 {
		d.StartShare = c.PDPipeline
	}
	return d
}

// pullTime returns the time in µs that a block of decode takes. GPUs pull in pairs: those of
// the side with more GPUs share the links of the other.
func pullTime(c *Config, prefill, decode *Server) float64 {
	bytes := float64(decode.BlockBytes())
	if c.PDKVBytesPerToken > 0 {
		bytes = float64(int64(c.PDKVBytesPerToken) * int64(decode.BlockSize))
	}
	rate := float64(float64(c.PDTransferBandwidth.Rate) * float64(min(prefill.TP, decode.TP)))
	return bytes / rate * 1e6
}

// resolvePullBandwidth replaces a preset by the rate that it stands for.
func resolvePullBandwidth(c *Config, prefill, decode *Server) error {
	const usable = 0.75 // of the link, as of PCIe
	b := &c.PDTransferBandwidth
	switch b.preset {
	case "":
	case "nvlink":
		for _, d := range []*Server{prefill, decode} {
			if d.GPU.Link == 0 {
				return inputErrorf("--pd-transfer-bandwidth is nvlink: %s has none, want a rate like 35GB/s, or pcie-peer or tcp", d.GPU.Name)
			}
		}
		*b = PullBandwidth{Rate: latency.Rate(float64(usable * min(prefill.GPU.Link, decode.GPU.Link)))}
	default:
		*b = PullBandwidth{Rate: pullPresets[b.preset]}
	}
	return nil
}

// pullPresets are links between GPUs of known rate: a copy between GPUs of a node, and the way
// through the hosts (docs/disaggregation.md).
var pullPresets = map[string]latency.Rate{"pcie-peer": 49e9, "tcp": 0.5e9}

// PullBandwidth is the rate of pulls per GPU: "35GB/s", or the name of a link, "nvlink".
type PullBandwidth struct {
	latency.Rate        // 0 with a name
	preset       string // empty: the Rate holds
}

// Equal reports whether two bandwidths are set alike.
func (b PullBandwidth) Equal(o PullBandwidth) bool { return b == o }

// String is the bandwidth as UnmarshalText reads it.
func (b PullBandwidth) String() string {
	if b.preset != "" {
		return b.preset
	}
	return b.Rate.String()
}

// MarshalText prints the bandwidth as UnmarshalText reads it.
func (b PullBandwidth) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads a rate above 0, or the name of a link.
func (b *PullBandwidth) UnmarshalText(text []byte) error {
	name := string(text)
	if _, known := pullPresets[name]; known || name == "nvlink" {
		*b = PullBandwidth{preset: name}
		return nil
	}
	*b = PullBandwidth{}
	if err := b.Rate.UnmarshalText(text); err != nil || b.Rate == 0 {
		return fmt.Errorf("%q: want a rate like 35GB/s, or nvlink, pcie-peer or tcp", name)
	}
	return nil
}
