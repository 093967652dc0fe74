package engine

import "blis/vtime"

// Release gives the memory of an instance back that holds no request, has no
// event to come and will get no more requests. Counters, Now, Fold and Check
// stay as they were.
func (e *Engine) Release() {
	if at, _ := e.Next(); at != vtime.Never || e.requests.running() > 0 || e.requests.waiting() > 0 {
		panic("engine: an instance is released that has something to do")
	}
	e.verdict = e.Check()
	e.folded = e.cache.Fold()
	*e = Engine{
		index: e.index, now: e.now, integratedTo: e.integratedTo, agenda: agenda{at: e.agenda.at}, warm: e.warm, stepState: e.stepState,
		Counters: e.Counters, Blocks: e.Blocks, released: true, verdict: e.verdict, folded: e.folded,
	}
}
