package lookahead

import "sync"

// stock holds spent frames for reuse. Each worker has one of its own; what
// one has too many of goes through the depot to one that has none, a batch at
// a time, so that a receiver far from its sender does not drain the pool.
type stock struct {
	depot *depot
	free  []*frame

	// Of the leaves that the worker ran since the coordinator asked.
	executed int // messages
	work     int // messages and events

	holders []*node // who may hold messages to sinks; see Outbox.aside

	done uint64 // messages executed, messages sent and events, of everybody it ran

	_ [64]byte // workers write to their stocks at the same time
}

const stockBatch = 32

type depot struct {
	mu   sync.Mutex
	free []*frame
}

func (s *stock) take() *frame {
	if len(s.free) == 0 {
		s.depot.mu.Lock()
		from := max(0, len(s.depot.free)-stockBatch)
		s.free = append(s.free, s.depot.free[from:]...)
		s.depot.free = s.depot.free[:from]
		s.depot.mu.Unlock()
		if len(s.free) == 0 {
			return &frame{}
		}
	}
	f := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return f
}

func (s *stock) put(f *frame) {
	s.free = append(s.free, f)
	if len(s.free) >= 2*stockBatch {
		s.depot.mu.Lock()
		s.depot.free = append(s.depot.free, s.free[stockBatch:]...)
		s.depot.mu.Unlock()
		s.free = s.free[:stockBatch]
	}
}
