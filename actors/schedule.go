package actors

import (
	"blis/lookahead"
	"blis/vtime"
)

// schedule holds what the router has to do at later times, in order of (time,
// request). Decisions come due in the order in which they are filed, except
// after a Delay, so filing is an insertion from the back of a queue.
type schedule struct {
	entries []entry
	head    int
}

type entry struct {
	at      vtime.Time
	request int64
	slot    int32
}

func (s *schedule) len() int { return len(s.entries) - s.head }

// at is the time of the first entry, vtime.Never if there is none.
func (s *schedule) at() vtime.Time {
	if s.len() == 0 {
		return vtime.Never
	}
	return s.entries[s.head].at
}

// key is the Key of the first entry as an event of the given class.
func (s *schedule) key(class uint8) lookahead.Key {
	if s.len() == 0 {
		return lookahead.NeverKey
	}
	return lookahead.Key{At: s.entries[s.head].at, Class: class}
}

func (s *schedule) push(e entry) {
	if s.head > 0 && len(s.entries) == cap(s.entries) {
		n := copy(s.entries, s.entries[s.head:])
		s.entries, s.head = s.entries[:n], 0
	}
	s.entries = append(s.entries, e)
	i := len(s.entries) - 1
	for ; i > s.head; i-- {
		if p := s.entries[i-1]; p.at < e.at || p.at == e.at && p.request < e.request {
			break
		}
		s.entries[i] = s.entries[i-1]
	}
	s.entries[i] = e
}

func (s *schedule) pop() int32 {
	slot := s.entries[s.head].slot
	if s.head++; s.head == len(s.entries) {
		s.entries, s.head = s.entries[:0], 0
	}
	return slot
}
