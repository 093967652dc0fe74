package lookahead

import (
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// inline is the dispatcher of every actor: the caller's goroutine, which is
// the worker to which the window gave the turn.
type inline struct{}

func (inline) Schedule(fn func()) { fn() }
func (inline) Throughput() int    { return 1 << 30 }

// mailbox is where the protocol meets protoactor. Posting files a frame and
// schedules nothing; it may happen from several workers at once. Everything
// else is done by the one worker that has the process's turn.
//
// Order of reading: frames that follow each other completely form a queue;
// frames that overlap it lie in a heap. With one sender in step the heap
// stays empty.
type mailbox struct {
	node       *node
	invoker    actor.MessageInvoker
	dispatcher actor.Dispatcher
	drain      func() // node.drain, bound once

	mu     sync.Mutex
	posted []*frame
	system []any

	fresh   atomic.Int32 // frames in posted
	waiting atomic.Int64 // messages not executed

	absorbed []*frame // the other half of the swap with posted
	queue    []*frame // from index read on
	read     int
	heap     []*frame // by stamp of the head
}

var _ actor.Mailbox = (*mailbox)(nil)

// PostUserMessage files a frame.
func (m *mailbox) PostUserMessage(message any) {
	f := message.(*frame)
	m.waiting.Add(int64(f.count))
	m.mu.Lock()
	m.posted = append(m.posted, f)
	m.mu.Unlock()
	m.fresh.Add(1)
}

// PostSystemMessage keeps the message for handleSystem.
func (m *mailbox) PostSystemMessage(message any) {
	m.mu.Lock()
	m.system = append(m.system, message)
	m.mu.Unlock()
}

// RegisterHandlers is called by protoactor's spawner.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, dispatcher actor.Dispatcher) {
	m.invoker, m.dispatcher = invoker, dispatcher
}

// Start has nothing to start.
func (m *mailbox) Start() {}

// UserMessageCount is the number of messages that wait.
func (m *mailbox) UserMessageCount() int { return int(m.waiting.Load()) }

// handleSystem gives the actor its system messages. It is called only between
// windows.
func (m *mailbox) handleSystem() {
	for {
		m.mu.Lock()
		pending := m.system
		m.system = nil
		m.mu.Unlock()
		if len(pending) == 0 {
			return
		}
		for _, message := range pending {
			m.invoker.InvokeSystemMessage(message)
		}
	}
}

// run gives the actor a turn on this goroutine.
func (m *mailbox) run() { m.dispatcher.Schedule(m.drain) }

// absorb sorts what was posted into the reading order.
func (m *mailbox) absorb() {
	if m.fresh.Load() == 0 {
		return
	}
	m.mu.Lock()
	m.absorbed, m.posted = m.posted, m.absorbed[:0]
	m.fresh.Store(0)
	m.mu.Unlock()
	for _, f := range m.absorbed {
		if err := f.rewind(); err != nil {
			panic(&Trap{ruleFrame + ": " + err.Error(), m.node.name, f.first, f.last})
		}
		if m.read == len(m.queue) || m.queue[len(m.queue)-1].last.Less(f.first) {
			m.enqueue(f)
		} else {
			m.heap = append(m.heap, f)
			m.up(len(m.heap) - 1)
		}
	}
}

// enqueue appends to the queue, reusing the room in front of read.
func (m *mailbox) enqueue(f *frame) {
	if m.read > 0 && len(m.queue) == cap(m.queue) {
		m.queue = m.queue[:copy(m.queue, m.queue[m.read:])]
		m.read = 0
	}
	m.queue = append(m.queue, f)
}

// top is the frame with the earliest message, nil if there is none.
func (m *mailbox) top() *frame {
	if m.read == len(m.queue) {
		if len(m.heap) == 0 {
			return nil
		}
		return m.heap[0]
	}
	f := m.queue[m.read]
	if len(m.heap) > 0 && m.heap[0].head.stamp.Less(f.head.stamp) {
		return m.heap[0]
	}
	return f
}

// head is the Key of the earliest message, as far as absorbed.
func (m *mailbox) head() Key {
	if f := m.top(); f != nil {
		return f.head.stamp.Key()
	}
	return NeverKey
}

// quiet is the Key until which what waits has no effect on others, NeverKey if
// nothing waits. Of a frame that was read in part it may be too early.
func (m *mailbox) quiet() Key {
	k := NeverKey
	for _, f := range m.queue[m.read:] {
		k = earliest(k, f.quiet)
	}
	for _, f := range m.heap {
		k = earliest(k, f.quiet)
	}
	return k
}

// advance moves past the first message of f, the top, which ends at end.
func (m *mailbox) advance(f *frame, end int) {
	if err := f.step(end); err != nil {
		panic(&Trap{ruleFrame + ": " + err.Error(), m.node.name, f.first, f.last})
	}
	inHeap := len(m.heap) > 0 && m.heap[0] == f
	if f.unread > 0 {
		if inHeap {
			m.down()
		}
		return
	}
	if inHeap {
		last := len(m.heap) - 1
		m.heap[0], m.heap[last] = m.heap[last], nil
		m.heap = m.heap[:last]
		m.down()
	} else if m.read++; m.read == len(m.queue) {
		m.queue, m.read = m.queue[:0], 0
	}
	m.node.stock.put(f)
}

func (m *mailbox) up(i int) {
	h := m.heap
	for i > 0 {
		parent := (i - 1) / 2
		if !h[i].head.stamp.Less(h[parent].head.stamp) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// down restores the heap after its root changed.
func (m *mailbox) down() {
	h, i := m.heap, 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if right := child + 1; right < len(h) && h[right].head.stamp.Less(h[child].head.stamp) {
			child = right
		}
		if !h[child].head.stamp.Less(h[i].head.stamp) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
