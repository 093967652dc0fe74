package policy

import (
	"blis/internal/keytable"
	"blis/vtime"
)

// sessionCapacity is the number of sessions that a policy remembers.
const sessionCapacity = 1 << 20

// sessionMemory is an LRU cache: session → the instance that served it last. It
// holds exactly the capacity sessions used last. Once full it takes no more memory.
type sessionMemory struct {
	capacity int
	ttl      vtime.Duration // a session is forgotten so long after its last use; 0: never
	where    keytable.Table // session → index in visits
	visits   []visit        // a ring in order of use; 0 is its anchor, between the newest and the oldest
}

// visit is the last use of a session.
type visit struct {
	session      uint64
	at           vtime.Time
	instance     int32
	newer, older int32
}

func newSessionMemory(capacity int, ttl vtime.Duration) *sessionMemory {
	return &sessionMemory{capacity: capacity, ttl: ttl, visits: make([]visit, 1)}
}

// last returns the instance that served a session last, −1 if that is not known at now.
// The call is no use of the session.
func (m *sessionMemory) last(session uint64, now vtime.Time) int32 {
	n := m.where.Find(session)
	if n < 0 || m.ttl > 0 && now.Sub(m.visits[n].at) >= m.ttl {
		return -1
	}
	return m.visits[n].instance
}

// record notes that an instance serves a session from now on.
func (m *sessionMemory) record(session uint64, instance int, now vtime.Time) {
	n := m.where.Find(session)
	if n >= 0 {
		m.unlink(n)
	} else {
		n = m.vacate()
		m.where.Insert(session, n)
	}
	v := &m.visits[n]
	v.session, v.instance, v.at = session, int32(instance), now
	m.link(n)
}

// vacate returns an index in visits for another session: a new one, or the index of
// the session used least recently, which is forgotten.
func (m *sessionMemory) vacate() int32 {
	if len(m.visits) <= m.capacity {
		m.visits = append(m.visits, visit{})
		return int32(len(m.visits) - 1)
	}
	oldest := m.visits[0].newer
	m.where.Remove(m.visits[oldest].session)
	m.unlink(oldest)
	return oldest
}

// link makes n, which is not in the ring, the newest.
func (m *sessionMemory) link(n int32) {
	newest := m.visits[0].older
	m.visits[n].newer, m.visits[n].older = 0, newest
	m.visits[newest].newer, m.visits[0].older = n, n
}

func (m *sessionMemory) unlink(n int32) {
	newer, older := m.visits[n].newer, m.visits[n].older
	m.visits[newer].older, m.visits[older].newer = older, newer
}
