package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"blis/vtime"
)

// heldAt is who had the beginning of a prompt at the decision about it.
type heldAt struct {
	known          bool
	at             vtime.Time
	reason         string
	target, holder int   // instances; −1: none
	most           int32 // prompt tokens that the holder had
	here           int32 // that the target had
}

// heldBy copies what is needed of a routing record; ok is false for one that does not say.
func heldBy(r *Routing) (h heldAt, ok bool) {
	if r.Held == nil || r.Target == nil {
		return h, false
	}
	h = heldAt{known: true, at: r.At, reason: r.Reason, target: *r.Target, holder: -1, most: r.Held.Most, here: r.Held.Target}
	if r.Held.Instance != nil {
		h.holder = *r.Held.Instance
	}
	return h, true
}

// misses are the prefix cache misses of a Summary, summed up.
type misses struct {
	AvoidableFact
	reasons table[string, AvoidableReason]
}

func newMisses() misses { return misses{reasons: newTable[string, AvoidableReason](mostNames)} }

// add counts a request that was scheduled.
func (m *misses) add(r *Outcome, h *heldAt, input int32, most int) {
	if !h.known || r.ActualHit == nil {
		return
	}
	found := *r.ActualHit
	m.Requests++
	m.Missed += int64(input - found)
	lost := int64(h.most - found)
	if h.holder < 0 || h.most <= h.here || lost <= 0 {
		return
	}
	m.Away++
	m.Tokens += lost
	of := m.reasons.at(h.reason)
	of.Away++
	of.Tokens += lost
	e := AvoidableExample{int64(h.at), r.Request, h.target, h.holder, h.most, found}
	at := len(m.Worst)
	for at > 0 && e.lost() > m.Worst[at-1].lost() {
		at--
	}
	if at < most {
		m.Worst = slices.Insert(m.Worst, at, e)
		m.Worst = m.Worst[:min(len(m.Worst), most)]
	}
}

// facts returns what was counted; nil where records do not say who had prefixes.
func (m *misses) facts() *AvoidableFact {
	if m.Requests == 0 {
		return nil
	}
	f := m.AvoidableFact
	f.Worst, f.Reasons = append([]AvoidableExample{}, m.Worst...), []AvoidableReason{}
	for i, reason := range m.reasons.keys {
		one := m.reasons.values[i]
		one.Reason = reason
		f.Reasons = append(f.Reasons, one)
	}
	slices.SortStableFunc(f.Reasons, func(a, b AvoidableReason) int { return cmp.Compare(b.Tokens, a.Tokens) })
	if m.reasons.full {
		one := m.reasons.others
		one.Reason = "others"
		f.Reasons = append(f.Reasons, one)
	}
	return &f
}

// AvoidableFact counts the prefix cache misses that another choice of instance would have
// avoided: requests that went away from an instance that had more of their prompt.
type AvoidableFact struct {
	Requests int64              `json:"requests"`      // that were scheduled, and of which the trace knows who had their prefix
	Missed   int64              `json:"missed_tokens"` // prompt tokens of these that were not found in the cache
	Away     int64              `json:"away"`          // of the requests: another routable instance had more, and less was found
	Tokens   int64              `json:"away_tokens"`   // that Away computed and the other instance had
	Reasons  []AvoidableReason  `json:"reasons"`       // of the routing decisions of Away, the most tokens first
	Worst    []AvoidableExample `json:"worst"`         // by tokens, the most first
}

// AvoidableReason is a part of AvoidableFact by the reason of the routing decision.
type AvoidableReason struct {
	Reason string `json:"reason"`
	Away   int64  `json:"away"`
	Tokens int64  `json:"away_tokens"`
}

// AvoidableExample is one request of AvoidableFact.
type AvoidableExample struct {
	At      int64 `json:"at_us"` // of the routing decision
	Request int64 `json:"request"`
	Target  int   `json:"target"`
	Holder  int   `json:"holder"`        // the instance that had most of the prompt
	Held    int32 `json:"holder_tokens"` // that it had
	Found   int32 `json:"found_tokens"`  // in the cache of the target
}

func (e *AvoidableExample) lost() int32 { return e.Held - e.Found }

// prefixText says which misses another choice would have avoided. With all it says too that
// there were none.
func (r *Report) prefixText(most int, all bool) section {
	p := section{name: "prefix cache", title: "PREFIX CACHE: MISSES THAT ANOTHER CHOICE WOULD HAVE AVOIDED"}
	f := r.Avoidable
	if f == nil {
		if all {
			p.add("Not known: the trace does not say who had the prefixes of prompts.")
		}
		return p
	}
	if f.Away == 0 {
		if all {
			p.add("None: no instance had more of a prompt than the target, of %s.", plural(f.Requests, "request"))
		}
		return p
	}
	p.add("%s of %s went away from an instance that had their prefix (%s recomputed, %s of all prompt tokens that were not cached).",
		grouped(f.Away), plural(f.Requests, "request"), plural(f.Tokens, "token"), percent(f.Tokens, f.Missed))
	var parts []string
	for _, one := range f.Reasons {
		parts = append(parts, fmt.Sprintf("%s %s (%s)", orNone(one.Reason), grouped(one.Away), plural(one.Tokens, "token")))
	}
	p.add("By reason of the decision: %s.", listed(parts, most))
	parts = nil
	for _, e := range f.Worst {
		parts = append(parts, fmt.Sprintf("request %d to instance %d at %s, where %s of its tokens were found; instance %d had %s", e.Request, e.Target, moment(e.At),
			grouped(int64(e.Found)), e.Holder, grouped(int64(e.Held))))
	}
	p.add("The most: %s.", strings.Join(parts[:min(most, len(parts))], "; "))
	return p
}
