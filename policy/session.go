package policy

// sessionCapacity is how many sessions a policy remembers.
const sessionCapacity = 1 << 20

// sessionMemory knows which instance served each session last, of as many
// sessions as its capacity: those used last, exactly. Once it is full it takes
// no more memory.
type sessionMemory struct {
	capacity int
	where    table   // session → its visit
	visits   []visit // 0 is the anchor of the ring, between the newest and the oldest
}

// visit is the last use of a session.
type visit struct {
	session      uint64
	instance     int32
	newer, older int32
}

func newSessionMemory(capacity int) *sessionMemory {
	return &sessionMemory{capacity: capacity, visits: make([]visit, 1)}
}

// last is the instance that served a session last, −1 if that is not known.
// To ask is no use of the session.
func (m *sessionMemory) last(session uint64) int32 {
	n := m.where.find(session)
	if n < 0 {
		return -1
	}
	return m.visits[n].instance
}

// record notes that an instance serves a session.
func (m *sessionMemory) record(session uint64, instance int) {
	n := m.where.find(session)
	if n >= 0 {
		m.unlink(n)
	} else {
		n = m.vacate()
		m.where.insert(session, n)
	}
	m.visits[n].session, m.visits[n].instance = session, int32(instance)
	m.link(n)
}

// vacate is a place for another session: a new one, or that of the session
// used least recently.
func (m *sessionMemory) vacate() int32 {
	if len(m.visits) <= m.capacity {
		m.visits = append(m.visits, visit{})
		return int32(len(m.visits) - 1)
	}
	oldest := m.visits[0].newer
	m.where.remove(m.visits[oldest].session)
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
