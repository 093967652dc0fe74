package llmd

import (
	"blis/bundle"
	"blis/setup"
)

// Plugins that know what instances have in cache.
const (
	approximate  = "approx-prefix-cache-producer"  // by the prompts routed there
	precise      = "precise-prefix-cache-producer" // by KV events
	producerName = "prefixMatchInfoProducerName"   // the parameter of those who ask them
)

// Limits of the approximate producer.
const (
	leastBlock   = 64      // tokens: smaller blocks are made so large
	usualMatched = 131_072 // tokens of a prompt that it looks at
)

// prefixScorer scores instances by what they have of the prompt.
func (e *exporter) prefixScorer(s *bundle.Selection, weight float64) {
	p := Plugin{Type: "prefix-cache-scorer"}
	if name := e.prefixProducer(); name != "" {
		p.Parameters = map[string]any{producerName: name}
	}
	e.score(p, weight)
	if cpu := value(s, "cpu_weight"); cpu != "" && e.pool.CPUTier != nil {
		e.differ("routing.params.cpu_weight", "%s: the weights of media are those of the KV cache indexer, 1 of gpu and 0.8 of cpu", cpu)
	}
	if storage := value(s, "storage_weight"); storage != "" {
		e.differ("routing.params.storage_weight", "%s: left out", storage)
	}
}

// prefixFilter leaves instances with enough of the prompt.
func (e *exporter) prefixFilter(parameters map[string]any) {
	if name := e.prefixProducer(); name != "" {
		parameters[producerName] = name
	}
	e.refer(Plugin{Type: "prefix-cache-affinity-filter", Parameters: parameters})
}

// noHitScorer spreads prompts that no instance has anything of.
func (e *exporter) noHitScorer(weight float64) {
	p := Plugin{Type: "no-hit-lru-scorer"}
	if name := e.prefixProducer(); name != "" {
		p.Parameters = map[string]any{producerName: name}
	}
	e.score(p, weight)
}

// prefixProducer makes the plugin that says what instances have of a prompt, and returns
// its name; empty for the one that scorers ask by default.
func (e *exporter) prefixProducer() string {
	if e.pool.Observability.IndexEvents {
		return e.preciseProducer()
	}
	o, block := &e.pool.Observability, e.pool.BlockSize
	parameters := map[string]any{}
	if o.IndexedBlocks > 0 {
		size := max(block, leastBlock)
		parameters["autoTune"] = false
		parameters["blockSizeTokens"] = int(size)
		parameters["lruCapacityPerServer"] = max(1, int(int64(o.IndexedBlocks)*int64(block)/int64(size)))
	}
	if n := longest(&e.pool.Server); n > usualMatched {
		parameters["maxPrefixTokensToMatch"] = n
	}
	if block < leastBlock {
		e.differ("block-size-in-tokens", "llm-d compares prompts in blocks of %d tokens at least, here of %d: shorter common beginnings do not count there", leastBlock, block)
	}
	e.differ("observability.prefix_index", "without a token-producer llm-d estimates tokens from characters, about four each; here prompts are compared token by token")
	if len(parameters) == 0 {
		return ""
	}
	if name := e.add(Plugin{Type: approximate, Parameters: parameters}); name != approximate {
		return name
	}
	return ""
}

// preciseProducer makes the plugin that follows KV events, with what it needs.
func (e *exporter) preciseProducer() string {
	e.add(Plugin{Type: "token-producer", Parameters: map[string]any{"modelName": e.Model, "vllm": map[string]any{"url": "http://localhost:8000"}}})
	e.need("the address of a vLLM server that tokenizes prompts, in place of http://localhost:8000 (token-producer)")
	e.need("vllm serve with --kv-events-config, published on port 5557")
	name := e.add(Plugin{Type: precise, Parameters: map[string]any{"tokenProcessorConfig": map[string]any{"blockSizeTokens": int(e.pool.BlockSize)}}})
	e.extract(e.add(Plugin{Type: "endpoint-notification-source"}), name)
	if d := e.pool.Observability.KVEventDelay; d > 0 {
		e.differ("observability.kv_event_delay", "%v: events come as fast as the network brings them", d)
	}
	return name
}

// extract lets a plugin read a source of the data layer.
func (e *exporter) extract(source, extractor string) {
	if e.Config.DataLayer == nil {
		e.Config.DataLayer = &DataLayer{}
	}
	list := &e.Config.DataLayer.Sources
	for i := range *list {
		if s := &(*list)[i]; s.Plugin == source {
			for _, r := range s.Extractors {
				if r.Plugin == extractor {
					return
				}
			}
			s.Extractors = append(s.Extractors, Ref{Plugin: extractor})
			return
		}
	}
	*list = append(*list, Source{source, []Ref{{Plugin: extractor}}})
}

// longest returns the most tokens that a prompt may have.
func longest(s *setup.Server) int64 {
	if s.MaxModelLen > 0 {
		return int64(s.MaxModelLen)
	}
	return s.Model.MaxPosition
}
