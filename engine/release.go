package engine

import "blis/vtime"

// remains is what an instance still answers once it is released.
type remains struct {
	verdict error  // of Check
	folded  uint64 // Fold
}

// Release gives the memory of an instance back. The instance holds no request,
// has no event before it and will get no more requests. Counters, Now, Fold and
// Check stay as they were.
func (e *Engine) Release() {
	if at, _ := e.Next(); at != vtime.Never || e.Running() > 0 || e.Waiting() > 0 {
		panic("engine: an instance is released that has something to do")
	}
	r := &remains{e.Check(), e.Fold()}
	*e = Engine{index: e.index, now: e.now, agenda: agenda{at: e.agenda.at}, books: e.books, stepState: e.stepState, released: r, Counters: e.Counters, Blocks: e.Blocks}
}
