package lookahead

import "sync"

// framePool keeps spent frames of one worker for reuse. Frames are spent by the
// worker of the receiver and needed by the worker of the sender. So a pool with
// too many frames gives a batch to the shared pool, and an empty pool takes one
// from there.
type framePool struct {
	free   []*frame // fewer than 2*poolBatch
	shared *sharedPool
}

// poolBatch is the number of frames that move to or from the shared pool at once.
const poolBatch = 32

// sharedPool holds spare frames of all workers.
type sharedPool struct {
	mu   sync.Mutex
	free []*frame
}

// get returns a spent frame, or a new one if there is none.
func (p *framePool) get() *frame {
	if len(p.free) == 0 {
		p.shared.mu.Lock()
		from := max(0, len(p.shared.free)-poolBatch)
		p.free = append(p.free, p.shared.free[from:]...)
		p.shared.free = p.shared.free[:from]
		p.shared.mu.Unlock()
		if len(p.free) == 0 {
			return &frame{}
		}
	}
	f := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return f
}

// put keeps a spent frame.
func (p *framePool) put(f *frame) {
	p.free = append(p.free, f)
	if len(p.free) >= 2*poolBatch {
		p.shared.mu.Lock()
		p.shared.free = append(p.shared.free, p.free[poolBatch:]...)
		p.shared.mu.Unlock()
		p.free = p.free[:poolBatch]
	}
}
