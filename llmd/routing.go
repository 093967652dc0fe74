package llmd

import (
	"slices"
	"strconv"
	"strings"

	"blis/bundle"
)

// Plugins of llm-d that several rules use.
const (
	activeRequests = "active-request-scorer"
	queueScorer    = "queue-scorer"
	kvScorer       = "kv-cache-utilization-scorer"
	maxScore       = "max-score-picker"
)

// route adds the plugins that come nearest to a routing policy.
func (e *exporter) route(s *bundle.Selection) error {
	e.filters(s)
	switch s.Type {
	case "weighted":
		if err := e.weighted(s); err != nil {
			return err
		}
	case "least-loaded":
		e.active("routing.type", 1)
	case "prefix-affinity":
		e.prefixAffinity(s)
	case "power-of-two":
		e.active("routing.type", 1)
		e.differ("routing.type", "power-of-two takes the less loaded of two drawn instances; weighted-random-picker draws one of all, those with fewer requests in flight more often")
		e.refer(Plugin{Type: "weighted-random-picker"})
		return nil
	case "session-hash":
		e.sessionHash()
	case "round-robin":
		e.differ("routing.type", "llm-d has no round-robin; random-picker gives every instance the same share in the long run, but not in turn")
		e.refer(Plugin{Type: "random-picker"})
		return nil
	default:
		return inputErrorf("routing.type: %s has no counterpart in llm-d, which adds up scores of instances: want weighted, least-loaded, prefix-affinity, power-of-two, session-hash or round-robin", s.Type)
	}
	if value(s, "tie") == "lowest" {
		e.differ("routing.params.tie", "lowest takes the first of equally good instances; max-score-picker draws one, as tie: random does")
	}
	e.refer(Plugin{Type: maxScore})
	return nil
}

// filters leave out instances that are full, that did not serve the session, or that have little of the prompt, unless
// all are left out.
func (e *exporter) filters(s *bundle.Selection) {
	e.fullOnes(s)
	if ttl := durationOf(s, "sticky_session"); ttl > 0 {
		e.refer(Plugin{Type: sessionFilter, Parameters: bySession(ttl)})
		e.need(usesHeader + "(session-affinity-filter is alpha)")
	}
	if least, err := strconv.ParseFloat(value(s, "min_prefix"), 64); err == nil && least > 0 {
		e.prefixFilter(map[string]any{"affinityThreshold": least, "maxTTFTPenaltyMs": 0})
	}
}

// fullOnes leaves out instances above limits, unless all are.
func (e *exporter) fullOnes(s *bundle.Selection) {
	var conditions []map[string]any
	for _, f := range []struct {
		parameter, metric string
		unlimited         float64
		scrape            bool
	}{{"max_queue", "waiting-queue", 1e9, true}, {"max_kv", "kv-cache-utilization", 1, true},
		{"max_in_flight", "active-requests", 1e9, false}, {"max_running", "running-requests", 1e9, true}} {
		if most, err := strconv.ParseFloat(value(s, f.parameter), 64); err == nil && most < f.unlimited {
			conditions = append(conditions, map[string]any{"metric": f.metric, "maxValue": most})
			e.scrapes = e.scrapes || f.scrape
		}
	}
	if conditions == nil {
		return
	}
	e.refer(Plugin{Type: "utilization-filter", Parameters: map[string]any{"conditions": conditions, "fallbackOnEmpty": true}})
	e.need("the flag --allow-experimental-plugins of the endpoint picker (utilization-filter is alpha)")
}

// scorerRule is the counterpart of a scorer.
type scorerRule struct {
	plugin string // empty: none
	scrape bool   // it reads metrics that llm-d scrapes
	note   string // what is otherwise; empty: nothing
}

// scorerRules are the scorers of weighted. Those of prompts and sessions have rules of their own.
var scorerRules = map[string]scorerRule{
	"waiting-queue":  {queueScorer, true, ""},
	"kv-utilization": {kvScorer, true, ""},
	"queue-depth": {queueScorer, true, "queue-scorer looks at waiting requests alone; here running ones and those in flight count too. " +
		"The scorer waiting-queue is what llm-d computes"},
	"active-requests": {activeRequests, false, ""},
	"load-balance": {activeRequests, false, "active-request-scorer is (max − n)/max over requests in flight, where load-balance is 1/(1 + load). " +
		"The scorer active-requests is what llm-d computes"},
	"running-requests": {"running-requests-size-scorer", true, ""},
	"vllm-dp":          {queueScorer, true, "queue-scorer looks at waiting requests alone; here running ones count too, a quarter each"},
	"load-aware":       {"load-aware-scorer", true, ""},
	"prefix-match":     {"", false, "llm-d has no bonus for a match of any length: left out"},
	"cache-hit-rate":   {"", false, "llm-d has no scorer for the hit rate of an instance: left out"},
}

// noScorers are the parameters of weighted that are no scorers: see route, prefixScorer and filters.
var noScorers = []string{"tie", "cpu_weight", "storage_weight", "session_ttl", "max_queue", "max_kv", "max_in_flight", "max_running", "sticky_session", "min_prefix"}

// weighted adds a scorer for each weight above 0.
func (e *exporter) weighted(s *bundle.Selection) error {
	exported := false
	var missing []string
	for _, p := range s.Params {
		weight, err := strconv.ParseFloat(p.Value, 64)
		if err != nil || weight == 0 || slices.Contains(noScorers, p.Name) {
			continue
		}
		if e.scorer(s, p.Name, weight) {
			exported = true
		} else {
			missing = append(missing, p.Name)
		}
	}
	if !exported {
		return inputErrorf("routing.params: llm-d has no counterpart of any scorer with a weight (%s): want one of prefix-affinity, no-hit-lru, queue-depth, waiting-queue, kv-utilization, active-requests, running-requests, load-aware, vllm-dp, load-balance, session-affinity", strings.Join(missing, ", "))
	}
	return nil
}

// scorer adds the counterpart of a scorer of weighted, and names what is otherwise. It reports whether there is one.
func (e *exporter) scorer(s *bundle.Selection, name string, weight float64) bool {
	switch name {
	case "prefix-affinity":
		e.prefixScorer(s, weight)
		return true
	case "no-hit-lru":
		e.noHitScorer(weight)
		return true
	case "session-affinity":
		e.sessionScorer(s, weight)
		return true
	}
	rule, known := scorerRules[name]
	if !known {
		rule.note = "llm-d does not know this scorer: left out"
	}
	if rule.note != "" {
		e.differ("routing.params."+name, "%s", rule.note)
	}
	if rule.plugin == "" {
		return false
	}
	e.score(Plugin{Type: rule.plugin}, weight)
	e.scrapes = e.scrapes || rule.scrape
	return true
}

// active scores instances by the requests in flight, as the nearest to the effective load.
func (e *exporter) active(field string, weight float64) {
	e.score(Plugin{Type: activeRequests}, weight)
	e.differ(field, "active-request-scorer counts the requests that the router has in flight; the effective load counts what instances report too: queue and batch")
}

// prefixAffinity filters instances by what they have of the prompt, and takes the least
// active of those left.
func (e *exporter) prefixAffinity(s *bundle.Selection) {
	const least = 0.0001 // any match: a prompt of a million tokens has fewer blocks of 64
	threshold, _ := strconv.ParseFloat(value(s, "min_match"), 64)
	e.prefixFilter(map[string]any{"affinityThreshold": max(threshold, least)})
	e.active("routing.type", 1)
	e.differ("routing.type", "prefix-affinity takes the longest match; prefix-cache-affinity-filter leaves all instances with affinityThreshold of the prompt, of which the one with the fewest requests in flight is taken")
	e.differ("routing.params.max_imbalance", "%s more in load than the least loaded instance has no counterpart; the filter gives way when the TTFT there is longer by maxTTFTPenaltyMs (18,000), estimated by peakPrefillThroughput (15,928 tokens/s): set both for your servers", value(s, "max_imbalance"))
}

// value returns a parameter of a complete selection, empty if it has none.
func value(s *bundle.Selection, name string) string {
	for _, p := range s.Params {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}
