package lookahead

// script is a process put together in a test.
type script struct {
	events   []Key // local, in order
	periodic []Key
	promise  Key // zero: right after the next event
	receive  func(m *Message, out *Outbox)
	event    func(k Key, out *Outbox)
	observe  func() Observation
	log      []Key // what it executed
}

func (s *script) Next() Key {
	if len(s.events) == 0 {
		return NeverKey
	}
	return s.events[0]
}

func (s *script) NextPeriodic() Key {
	if len(s.periodic) == 0 {
		return NeverKey
	}
	return s.periodic[0]
}

func (s *script) Promise() Key {
	if s.promise != (Key{}) {
		return s.promise
	}
	return Earliest(s.Next(), s.NextPeriodic()).Next()
}

func (s *script) Observation() Observation {
	if s.observe == nil {
		return Observation{At: NeverKey}
	}
	return s.observe()
}

func (s *script) Receive(m *Message, out *Outbox) {
	s.log = append(s.log, m.Stamp.Key())
	if s.receive != nil {
		s.receive(m, out)
	}
}

func (s *script) Advance(_ Key, out *Outbox) {
	for {
		k := Earliest(s.Next(), s.NextPeriodic())
		if !out.Execute(k) {
			return
		}
		if k == s.Next() {
			s.events = s.events[1:]
		} else {
			s.periodic = s.periodic[1:]
		}
		s.log = append(s.log, k)
		if s.event != nil {
			s.event(k, out)
		}
	}
}

// unanswered is a kind of notice that no leaf sends because of a message.
func unanswered() (list [NoticeKinds]Notice) {
	list[0].Reply = func(Key) Key { return NeverKey }
	return list
}

// send sends an empty message.
func send(out *Outbox, to ProcessID, at Key) {
	out.Begin(to, at, 0, 0)
	out.End()
}

// at is a Key of class c.
func at(us int64, c uint8) Key { return Key{At: vtimeOf(us), Class: c} }
