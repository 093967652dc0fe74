package llmd

// Plugins that know where a session was served. Here a session is known by its number,
// there by a header that the client sends.

const usesHeader = "clients that send the session in the header x-session-id, and the flag --allow-experimental-plugins of the endpoint picker "

// bySession are the parameters of a plugin that remembers sessions.
func bySession() map[string]any { return map[string]any{"strategy": "session_id"} }

// sessionScorer keeps a session where it was.
func (e *exporter) sessionScorer(weight float64) {
	e.score(Plugin{Type: "session-affinity-scorer", Parameters: bySession()}, weight)
	e.need(usesHeader + "(session-affinity-scorer is alpha)")
	e.differ("routing.params.session-affinity", "llm-d forgets a session that was idle for 300 s (evictionTtlSeconds); here the last 1,048,576 sessions are known, however long idle")
}

// sessionHash keeps a session where it began.
func (e *exporter) sessionHash() {
	e.refer(Plugin{Type: "session-affinity-filter", Parameters: bySession()})
	e.need(usesHeader + "(session-affinity-filter is alpha)")
	e.score(Plugin{Type: activeRequests}, 1)
	e.differ("routing.type", "session-hash chooses by a hash of session and instance; session-affinity-filter keeps a session where it began, with the fewest requests in flight, and forgets it when it was idle for 300 s")
}
