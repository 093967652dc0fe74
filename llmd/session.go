package llmd

import (
	"blis/bundle"
	"blis/vtime"
)

// Plugins that know where a session was served. Here a session is known by its number,
// there by a header that the client sends.

const (
	sessionFilter = "session-affinity-filter"
	usesHeader    = "clients that send the session in the header x-session-id, and the flag --allow-experimental-plugins of the endpoint picker "
)

// bySession are the parameters of a plugin that forgets a session when it was idle for ttl,
// or with 0 when llm-d does by default.
func bySession(ttl vtime.Duration) map[string]any {
	parameters := map[string]any{"strategy": "session_id"}
	if ttl > 0 {
		parameters["sessionIdConfig"] = map[string]any{"evictionTtlSeconds": float64(ttl) / float64(vtime.Second)}
	}
	return parameters
}

// durationOf returns a parameter that is a duration, 0 if the selection has none.
func durationOf(s *bundle.Selection, name string) vtime.Duration {
	d, _ := vtime.ParseDuration(value(s, name)) // checked before, or not there
	return d
}

// sessionScorer keeps a session where it was.
func (e *exporter) sessionScorer(s *bundle.Selection, weight float64) {
	ttl := durationOf(s, "session_ttl")
	e.score(Plugin{Type: "session-affinity-scorer", Parameters: bySession(ttl)}, weight)
	e.need(usesHeader + "(session-affinity-scorer is alpha)")
	if ttl > 0 {
		return
	}
	e.differ("routing.params.session-affinity", "llm-d forgets a session that was idle for 300 s (evictionTtlSeconds); here the last 1,048,576 sessions are known, however long idle")
}

// sessionHash keeps a session where it began.
func (e *exporter) sessionHash() {
	e.refer(Plugin{Type: sessionFilter, Parameters: bySession(0)})
	e.need(usesHeader + "(session-affinity-filter is alpha)")
	e.score(Plugin{Type: activeRequests}, 1)
	e.differ("routing.type", "session-hash chooses by a hash of session and instance; session-affinity-filter keeps a session where it began, with the fewest requests in flight, and forgets it when it was idle for 300 s")
}
