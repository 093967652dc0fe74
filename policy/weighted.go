package policy

import (
	"math"
	"slices"

	"blis/kv"
	"blis/prefixindex"
	"blis/vtime"
)

// weighted takes the largest Σ weight·score, summed in the order in which the
// scorers were given.
//
// It keeps the scores of all instances and follows the view: only a changed
// instance is scored anew, all of them when an extreme of a spread has moved.
//
// Affinities, to a prefix or a session, differ with every request. The kept
// scores are without them. For each decision the few instances that have an
// affinity are given their true scores, and afterwards the kept ones again. All
// others have affinity 0, and to add 0 is exact wherever it stands in the sum.
type weighted struct {
	scorers  []scorer
	observes Signals
	tie      tieBreak
	rows     denseIndex
	scores   []float64 // by row
	public   []float64 // the same by instance; kept only while some are gone
	tree     maxTree   // by row, of the kept scores; during a decision see choose

	index       *prefixindex.Index // nil without the scorers prefix-affinity, prefix-match and no-hit-lru
	prefix      int                // index in scorers of prefix-affinity, −1: none
	media       [kv.Media]float64  // what a block counts in prefix-affinity
	bonus       int                // index in scorers of prefix-match, −1: none
	noHit       int                // index in scorers of no-hit-lru, −1: none
	sessions    *sessionMemory     // nil without the scorer session-affinity
	now         vtime.Time         // of the last decision
	session     int                // index in scorers of session-affinity, if sessions is not nil
	matched     []int32            // rows of instances with an affinity to the last request, ascending
	bestMatched []int32            // rows in matched with the largest score, ascending
}

func newWeighted(v values, env Env) (Routing, error) {
	w := &weighted{tie: newTieBreak(v, env), prefix: -1, bonus: -1, noHit: -1, media: mediaWeights(v)}
	sum := 0.0
	for _, i := range chosen(v) {
		weight := v.list[i].number
		if weight == 0 {
			continue // adds nothing and need not be read
		}
		sum += weight
		switch scorerKind(i) {
		case prefixAffinity:
			w.prefix, w.index = len(w.scorers), env.Prefixes
		case prefixMatch:
			w.bonus, w.index = len(w.scorers), env.Prefixes
		case noHitLRU:
			w.noHit, w.index = len(w.scorers), env.Prefixes
		case sessionAffinity:
			w.session, w.sessions = len(w.scorers), newSessionMemory(sessionCapacity, v.duration(sessionTTL.Name))
		}
		w.scorers = append(w.scorers, newScorer(scorerKind(i), weight))
		w.observes |= scorerTable[i].observes
	}
	if len(w.scorers) == 0 {
		return nil, &Error{Field: "routing.params", Problem: "the weight of every scorer is 0, want at least one above"}
	}
	for i := range w.scorers {
		w.scorers[i].weight /= sum
	}
	return w, nil
}

// chosen lists the parameters that are weights, in the order given. When none is
// given it lists all of them, with their defaults.
func chosen(v values) []int {
	var weights []int
	for _, i := range v.given {
		if v.parameters[i].Type == Weight {
			weights = append(weights, i)
		}
	}
	if weights == nil {
		for i := range v.parameters {
			if v.parameters[i].Type == Weight {
				weights = append(weights, i)
			}
		}
	}
	return weights
}

func (w *weighted) Observes() Signals { return w.observes }

func (w *weighted) Route(req *Request, _ float64, _ *RouterState, view *View, now vtime.Time) RoutingDecision {
	w.now = now
	w.clearAffinity()
	w.sync(view)
	if w.noHit >= 0 {
		w.scoreNoHit(view)
	}
	target := w.rows.instance(w.choose(req, w.scoreAffinity(req)))
	if target < 0 {
		return noTarget
	}
	return RoutingDecision{Target: target, Reason: BestScore, Scores: w.published()}
}

// OnRouted implements RouteObserver.
func (w *weighted) OnRouted(req *Request, target int) {
	if w.sessions != nil && req.Session != 0 {
		w.sessions.record(req.Session, target, w.now)
	}
	if w.noHit >= 0 {
		w.scorers[w.noHit].noHit.routed(target, w.rows.row(target))
	}
}

// Scorers implements Explainer.
func (w *weighted) Scorers() []string {
	var names []string
	for k := range w.scorers {
		names = append(names, scorerTable[w.scorers[k].kind].name)
	}
	return names
}

// Explain implements Explainer.
func (w *weighted) Explain(i int, shares []float64) []float64 {
	row := w.rows.row(i)
	for k := range w.scorers {
		shares = append(shares, w.scorers[k].shares[row])
	}
	return shares
}

// published returns the scores by instance.
func (w *weighted) published() []float64 {
	if w.rows.identity {
		return w.scores
	}
	for k, i := range w.rows.instances {
		w.public[i] = w.scores[k]
	}
	return w.public
}

// sync brings the kept scores up to the view.
func (w *weighted) sync(view *View) {
	slots := view.read(w.observes)
	first, all := w.rows.sync(view)
	if all {
		w.reset(view)
		return
	}
	for c := first; c < view.changes; c++ {
		i := view.changed(c)
		row := w.rows.row(i)
		if row < 0 {
			continue
		}
		for k := range w.scorers {
			w.scorers[k].update(view, i, row)
		}
	}
	if w.updateScales() {
		w.scoreAll(slots)
		return
	}
	for c := first; c < view.changes; c++ {
		i := view.changed(c)
		row := w.rows.row(i)
		if row < 0 {
			continue
		}
		w.scores[row] = -1
		if slots[i].Routable {
			w.scores[row] = w.sum(row)
		}
		w.tree.set(row, scoreKey(w.scores[row]))
	}
}

// reset scores all instances, whichever there are now.
func (w *weighted) reset(view *View) {
	instances := w.rows.instances
	for k := range w.scorers {
		w.scorers[k].reset(view, instances)
	}
	w.scores = resize(w.scores, len(instances))
	w.tree.reset(len(instances), !w.tie.lowest)
	w.scoreAll(view.slots)
	if w.rows.identity {
		return
	}
	for _, i := range w.rows.previous {
		if int(i) < len(w.public) {
			w.public[i] = -1
		}
	}
	w.public = w.public[:min(len(w.public), view.Len())]
	for len(w.public) < view.Len() {
		w.public = append(w.public, -1)
	}
}

// updateScales recomputes the shares of the scorers whose scale changed, and
// reports whether there was one. Then the scores of all instances are stale.
func (w *weighted) updateScales() bool {
	moved := false
	for k := range w.scorers {
		moved = w.scorers[k].updateScale() || moved
	}
	return moved
}

// scoreAll computes the kept scores of all instances, scorer by scorer.
func (w *weighted) scoreAll(slots []Slot) {
	scores := w.scores
	clear(scores)
	for k := range w.scorers {
		if w.scorers[k].kind.perRequest() {
			continue // nothing but zeros
		}
		for i, share := range w.scorers[k].shares[:len(scores)] {
			scores[i] += share
		}
	}
	leaves := w.tree.leaves()[:len(scores)]
	for k, i := range w.rows.instances[:len(scores)] {
		if slots[i].Routable {
			leaves[k] = scoreKey(scores[k])
		} else {
			scores[k], leaves[k] = -1, 0
		}
	}
	w.tree.rebuild()
}

// sum returns the score of the instance in a row, from the shares.
func (w *weighted) sum(row int) float64 {
	score := 0.0
	for k := range w.scorers {
		score += w.scorers[k].shares[row]
	}
	return score
}

// scoreKey returns the key of a score in a maxTree: the bits of floats ≥ 0 are
// ordered as the floats are. A score below 0 belongs to an instance that is not
// routable, and has key 0.
func scoreKey(score float64) uint64 {
	if score < 0 {
		return 0
	}
	return math.Float64bits(score) + 1
}

// scoreAffinity finds the candidates to which the request has an affinity, gives
// them their true scores, and returns the key of the best one, 0 without any.
func (w *weighted) scoreAffinity(req *Request) uint64 {
	if w.prefix >= 0 || w.bonus >= 0 {
		w.matchHolders(w.index.Holders())
	}
	if w.sessions != nil { // which never hold session 0, that is none
		w.matchSession(int(w.sessions.last(req.Session, w.now)))
	}
	top := uint64(0)
	for _, i := range w.matched {
		w.scores[i] = w.sum(int(i))
		switch x := scoreKey(w.scores[i]); {
		case x > top:
			top = x
			w.bestMatched = append(w.bestMatched[:0], i)
		case x == top:
			w.bestMatched = append(w.bestMatched, i)
		}
	}
	return top
}

// candidate returns the row of instance i if it may be chosen, else −1.
func (w *weighted) candidate(i int) int {
	if row := w.rows.row(i); row >= 0 && w.scores[row] >= 0 {
		return row
	}
	return -1
}

// matchHolders notes the candidates that are expected to have the beginning of the
// prompt in cache.
func (w *weighted) matchHolders(holders []prefixindex.Holder) {
	for k := range holders {
		h := &holders[k]
		row := w.candidate(int(h.Instance))
		if row < 0 {
			continue
		}
		if w.prefix >= 0 {
			s := &w.scorers[w.prefix]
			s.shares[row] = float64(s.weight * w.index.Weigh(h, &w.media))
		}
		if w.bonus >= 0 {
			s := &w.scorers[w.bonus]
			s.shares[row] = s.weight
		}
		w.matched = append(w.matched, int32(row))
	}
}

// matchSession notes instance i, which served the session last, −1 for none.
func (w *weighted) matchSession(i int) {
	if i < 0 {
		return
	}
	row := w.candidate(i)
	if row < 0 {
		return
	}
	w.scorers[w.session].shares[row] = w.scorers[w.session].weight
	if at, matched := slices.BinarySearch(w.matched, int32(row)); !matched {
		w.matched = slices.Insert(w.matched, at, int32(row))
	}
}

// clearAffinity undoes scoreAffinity and choose: the kept scores are back.
func (w *weighted) clearAffinity() {
	if len(w.matched) == 0 {
		return
	}
	for k := range w.scorers {
		if w.scorers[k].kind.perRequest() {
			w.scorers[k].unset(w.matched)
		}
	}
	for _, i := range w.matched {
		w.scores[i] = w.sum(int(i))
	}
	for _, i := range w.bestMatched { // choose may have let them in
		w.tree.set(int(i), scoreKey(w.scores[i]))
	}
	w.matched, w.bestMatched = w.matched[:0], w.bestMatched[:0]
}

// choose returns the row of one of the instances with the largest score, −1 when
// none is routable. top is the key of bestMatched, 0 when there is none.
//
// An affinity makes no score smaller. So if top is above the best of the tree,
// only bestMatched are the best. If they are equal, bestMatched are among the
// best and enter the tree until the next decision. If top is below, none of them
// is among the best.
func (w *weighted) choose(req *Request, top uint64) int {
	switch best := w.tree.best(); {
	case top > best:
		return int(w.bestMatched[w.tie.draw(req, len(w.bestMatched))])
	case top < best || best == 0:
		return w.tie.choose(req, &w.tree)
	}
	for _, i := range w.bestMatched {
		w.tree.set(int(i), top)
	}
	return w.tie.choose(req, &w.tree)
}
