package actors

import (
	"fmt"

	"blis/lookahead"
	"blis/policy"
	"blis/prefixindex"
	"blis/setup"
	"blis/trace"
)

// What a routing record has besides the decision: who holds the beginning of the prompt,
// what the prompt begins with, and what the router counts.

// holdingsOf returns an index of what was sent to each endpoint, for the trace of a run whose
// policies expect no prefixes, or remember fewer blocks than the caches have. nil: what policies
// expect will do, or it is of no use.
func holdingsOf(at *endpoints) *prefixindex.Index {
	o := &at.plan.Observability
	if at.holdings != nil || !at.plan.EnablePrefixCaching || at.prefixes != nil && (o.IndexEvents || o.IndexedBlocks == 0) {
		return at.holdings
	}
	return prefixindex.NewRouted(at.plan.BlockSize, 0)
}

// held is who has the beginning of a prompt in its prefix cache, by seat.
type held struct {
	known        bool
	target, most int32 // prompt tokens
	at           int   // seat with the most, −1: none
}

// look returns who has the beginning of the prompt of ask, which goes to target or, with −1,
// to nobody. The index of the trace notes that it goes there.
func (t *tracing) look(at *endpoints, ask *policy.Request, target int) held {
	index := at.holdings
	switch {
	case !at.plan.EnablePrefixCaching || len(at.places) == 0 || at.places[0].pool.role == setup.DecodeRole:
		return held{}
	case index != nil:
		index.Cover(&at.cluster.view)
		index.Look(ask.Input, ask.Spans)
	default:
		index = at.prefixes // which was asked already
	}
	h := held{known: true, at: -1}
	block := index.BlockSize()
	for _, holder := range index.Holders() {
		seat, tokens := int(holder.Instance), min(holder.Blocks*block, (ask.Input-1)/block*block)
		if seat == target {
			h.target = tokens
		}
		if at.cluster.view.Routable(seat) && tokens > h.most {
			h.most, h.at = tokens, seat
		}
	}
	if at.holdings != nil && target >= 0 {
		index.Record(target)
	}
	return h
}

// heldFields is the number of fields of a held in a message.
const heldFields = 3

func (h *held) write(out *lookahead.Outbox, at *endpoints) {
	out.Int(int64(h.target))
	out.Int(int64(h.most))
	out.Int(int64(at.instance(h.at)))
}

// knownState has the values that a record points to.
type knownState struct {
	held   trace.Held
	most   int
	prefix trace.Prefix
	state  trace.RouterState

	active, tenantActive, tenantRequests int64
	rate, tenantRate                     float64
	burst                                bool
}

func (k *knownState) readHeld(b *lookahead.Decoder) *trace.Held {
	k.held = trace.Held{Target: int32(b.Int()), Most: int32(b.Int())}
	if k.most = int(b.Int()); k.most >= 0 {
		k.held.Instance = &k.most
	}
	return &k.held
}

// stateFields is the number of fields that writeState writes.
func (t *tracedRouting) stateFields() int {
	n := 1 + 3 + 1
	if len(t.keys) > 0 {
		n += 2
	}
	if t.kept.Tracked&policy.Active != 0 {
		n += 2
	}
	if t.kept.Tracked&policy.Rates != 0 {
		n += 4
	}
	return n
}

func (t *tracedRouting) writeState(out *lookahead.Outbox) {
	out.Int(int64(len(t.keys)))
	if n := len(t.keys); n > 0 {
		out.Uint(t.keys[0])
		out.Uint(t.keys[n-1])
	}
	out.Int(t.state.Arrived)
	out.Int(t.state.Admitted)
	out.Int(t.state.Rejected)
	k := &t.kept
	out.Uint(uint64(k.Tracked))
	if k.Tracked&policy.Active != 0 {
		out.Int(k.Active)
		out.Int(k.TenantActive)
	}
	if k.Tracked&policy.Rates != 0 {
		out.Float(k.Rate)
		out.Int(k.TenantRequests)
		out.Float(k.TenantRate)
		out.Uint(bit(k.TenantBurst))
	}
}

// readState is the inverse of writeState.
func (k *knownState) readState(b *lookahead.Decoder) (*trace.Prefix, *trace.RouterState) {
	var prefix *trace.Prefix
	if n := int32(b.Int()); n > 0 {
		k.prefix = trace.Prefix{Blocks: n, First: fmt.Sprintf("%016x", b.Uint()), Last: fmt.Sprintf("%016x", b.Uint())}
		prefix = &k.prefix
	}
	s := &k.state
	*s = trace.RouterState{Arrived: b.Int(), Admitted: b.Int(), Rejected: b.Int()}
	tracked := policy.Signals(b.Uint())
	if tracked&policy.Active != 0 {
		k.active, k.tenantActive = b.Int(), b.Int()
		s.Active, s.TenantActive = &k.active, &k.tenantActive
	}
	if tracked&policy.Rates != 0 {
		k.rate, k.tenantRequests, k.tenantRate, k.burst = b.Float(), b.Int(), b.Float(), b.Uint() == 1
		s.Rate, s.TenantRequests, s.TenantRate, s.TenantBurst = &k.rate, &k.tenantRequests, &k.tenantRate, &k.burst
	}
	return prefix, s
}
