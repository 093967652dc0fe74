package lookahead

import (
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// callerDispatcher runs an actor on the goroutine of the caller, which is the
// worker that gives it a turn. It is the dispatcher of every actor.
type callerDispatcher struct{}

func (callerDispatcher) Schedule(fn func()) { fn() }
func (callerDispatcher) Throughput() int    { return 1 << 30 }

// mailbox is where the protocol meets protoactor. Workers post frames at the
// same time; posting schedules nothing. The one worker that has the process's
// turn, or the coordinator between windows, does everything else.
//
//	PostUserMessage → posted ─ absorb ┬→ queue  frames one after the other
//	                                  └→ heap   frames that overlap the queue
//	                                     top: the frame with the earliest message
//
// A frame whose first message is later than the last one of the queue joins the
// queue. Every other frame goes into the heap. With one sender, or with senders
// in step, the heap stays empty and reading costs no comparisons.
type mailbox struct {
	node       *node
	invoker    actor.MessageInvoker
	dispatcher actor.Dispatcher
	dispatch   func() // node.dispatch, bound once: a method value allocates

	mu     sync.Mutex // of posted and system
	posted []*frame
	system []any

	fresh   atomic.Int32 // frames in posted
	waiting atomic.Int64 // messages posted and not executed

	absorbed []*frame // empty between calls of absorb: swapped with posted there
	queue    []*frame // sorted and without overlap from index read on
	read     int
	heap     []*frame // binary heap by the stamp of the next message
}

var _ actor.Mailbox = (*mailbox)(nil)

// PostUserMessage adds a frame.
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

// UserMessageCount returns the number of messages that have not been executed.
func (m *mailbox) UserMessageCount() int { return int(m.waiting.Load()) }

// handleSystem gives the actor its system messages. Only the coordinator calls
// it, between windows.
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
func (m *mailbox) run() { m.dispatcher.Schedule(m.dispatch) }

// absorb moves the posted frames into queue and heap.
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
			m.siftUp(len(m.heap) - 1)
		}
	}
}

// enqueue appends to the queue. It reuses the room before index read.
func (m *mailbox) enqueue(f *frame) {
	if m.read > 0 && len(m.queue) == cap(m.queue) {
		m.queue = m.queue[:copy(m.queue, m.queue[m.read:])]
		m.read = 0
	}
	m.queue = append(m.queue, f)
}

// top returns the absorbed frame with the earliest message, nil if there is none.
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

// head returns the Key of the earliest message that has been absorbed.
func (m *mailbox) head() Key {
	if f := m.top(); f != nil {
		return f.head.stamp.Key()
	}
	return NeverKey
}

// loud returns the Key of an absorbed message that is not silent, NeverKey if there is none.
func (m *mailbox) loud() Key {
	k := NeverKey
	for _, f := range m.queue[m.read:] {
		k = Earliest(k, f.unreadLoud())
	}
	for _, f := range m.heap {
		k = Earliest(k, f.unreadLoud())
	}
	return k
}

// effectAt returns the Key before which no absorbed message takes effect on
// other processes (see Outbox.BeginWithEffectAt), NeverKey if there is none. It
// may be too early when a frame has been read in part.
func (m *mailbox) effectAt() Key {
	k := NeverKey
	for _, f := range m.queue[m.read:] {
		k = Earliest(k, f.effectAt)
	}
	for _, f := range m.heap {
		k = Earliest(k, f.effectAt)
	}
	return k
}

// advance moves past the next message of f, which is the top. The message ends
// at end. A frame without further messages goes back to the frame pool.
func (m *mailbox) advance(f *frame, end int) {
	if err := f.step(end); err != nil {
		panic(&Trap{ruleFrame + ": " + err.Error(), m.node.name, f.first, f.last})
	}
	inHeap := len(m.heap) > 0 && m.heap[0] == f
	if f.unread > 0 {
		if inHeap {
			m.siftDown()
		}
		return
	}
	if inHeap {
		last := len(m.heap) - 1
		m.heap[0], m.heap[last] = m.heap[last], nil
		m.heap = m.heap[:last]
		m.siftDown()
	} else if m.read++; m.read == len(m.queue) {
		m.queue, m.read = m.queue[:0], 0
	}
	m.node.worker.frames.put(f)
}

// The heap is not vtime/heap: with its comparisons through a type parameter a
// message costs 15 to 20 % more here (4, 32, 256 frames: 18, 42, 71 ns against
// 21, 50, 85 ns).

// siftUp restores the heap after an append at i.
func (m *mailbox) siftUp(i int) {
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

// siftDown restores the heap after its root changed.
func (m *mailbox) siftDown() {
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
