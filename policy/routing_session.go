package policy

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"blis/vtime"
)

// sessionHash keeps a session on one instance without remembering anything, by rendezvous
// hashing: the candidate with the largest hash of session and instance. A new instance
// takes its share of the sessions from all others, and one that is gone leaves its own to
// all others; no other session moves. A request without a session goes where the fewest
// requests are in flight. The session routing of vLLM's production-stack does so with a
// ring of hashes.
type sessionHash struct {
	tie   tieBreak
	least []int32 // candidates with the fewest requests in flight, of the last request without a session
}

func (*sessionHash) Observes() Signals { return InFlight }

func (p *sessionHash) Route(req *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	d := RoutingDecision{Target: foremost(req.Session, view), Reason: BySession}
	if req.Session == 0 {
		d = RoutingDecision{Target: p.leastInFlight(req, view), Reason: LeastLoad}
	}
	if d.Target < 0 {
		return noTarget
	}
	return d
}

// foremost returns the candidate with the largest hash of session and instance, of equal
// hashes the lowest index; −1 without a candidate.
func foremost(session uint64, view *View) int {
	target, largest := -1, uint64(0)
	for _, i := range view.present {
		if !view.Routable(int(i)) {
			continue
		}
		if h := rendezvous(session, uint64(i)); target < 0 || h > largest {
			target, largest = int(i), h
		}
	}
	return target
}

// rendezvous is the xxhash of both numbers, in little endian.
func rendezvous(session, instance uint64) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], session)
	binary.LittleEndian.PutUint64(b[8:], instance)
	return xxhash.Sum64(b[:])
}

// leastInFlight returns one of the candidates with the fewest requests in flight, −1
// without any.
func (p *sessionHash) leastInFlight(req *Request, view *View) int {
	p.least = p.least[:0]
	fewest := int64(0)
	for _, i := range view.present {
		if !view.Routable(int(i)) {
			continue
		}
		n := view.InFlight(int(i))
		if len(p.least) == 0 || n < fewest {
			p.least, fewest = p.least[:0], n
		}
		if n == fewest {
			p.least = append(p.least, i)
		}
	}
	if len(p.least) == 0 {
		return -1
	}
	return int(p.least[p.tie.draw(req, len(p.least))])
}
