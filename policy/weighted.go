package policy

import (
	"math"
	"slices"

	"blis/vtime"
)

// weighted takes the largest Σ weight·score, summed in the order in which the
// scorers were given.
//
// It follows the view: a changed instance is scored anew, all of them only
// when an extreme of a spread has moved. What it keeps are the scores without
// the affinities, to a prefix or a session, which are others with every
// request: an instance that has one is given its true score for that one
// decision. To add 0 for the others is exact, wherever an affinity stands in
// the sum.
type weighted struct {
	scorers  []scorer
	observes Signals
	tie      tieBreak
	seating  seating
	scores   []float64  // by seat
	public   []float64  // the same by instance, when some are gone
	best     tournament // by seat, of the scores without affinities

	index    *PrefixIndex   // nil without the scorers prefix-affinity and prefix-match
	prefix   int            // which scorer prefix-affinity is, −1: none
	bonus    int            // which prefix-match is
	sessions *sessionMemory // nil without the scorer session-affinity
	session  int            // which scorer that is
	matched  []int32        // seats of instances that have scores with an affinity, in order
	foremost []int32        // those of them with the largest score, in order
}

func newWeighted(v values, env Env) (Routing, error) {
	w := &weighted{tie: newTieBreak(v, env), prefix: -1, bonus: -1}
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
		case sessionAffinity:
			w.session, w.sessions = len(w.scorers), newSessionMemory(sessionCapacity)
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

// chosen lists the parameters that are weights, in the order given; all of
// them with their defaults when none is given.
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

func (w *weighted) Route(req *Request, _ float64, _ *RouterState, view *View, _ vtime.Time) RoutingDecision {
	w.unmatch()
	w.follow(view)
	target := w.seating.instance(w.choose(req, w.match(req)))
	if target < 0 {
		return nowhere
	}
	return RoutingDecision{Target: target, Reason: BestScore, Scores: w.published()}
}

// Routed implements Witness.
func (w *weighted) Routed(req *Request, target int) {
	if w.sessions != nil && req.Session != 0 {
		w.sessions.record(req.Session, target)
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
	seat := w.seating.seat(i)
	for k := range w.scorers {
		shares = append(shares, w.scorers[k].shares[seat])
	}
	return shares
}

// published is the scores by instance.
func (w *weighted) published() []float64 {
	if w.seating.whole {
		return w.scores
	}
	for k, i := range w.seating.taken {
		w.public[i] = w.scores[k]
	}
	return w.public
}

// follow brings the scores without affinities up to the view.
func (w *weighted) follow(view *View) {
	slots := view.read(w.observes)
	first, anew := w.seating.catchUp(view)
	if anew {
		w.begin(view)
		return
	}
	for c := first; c < view.changes; c++ {
		i := view.changed(c)
		seat := w.seating.seat(i)
		if seat < 0 {
			continue
		}
		for k := range w.scorers {
			w.scorers[k].enter(view, i, seat)
		}
	}
	if w.settle() {
		w.scoreAll(slots)
		return
	}
	for c := first; c < view.changes; c++ {
		i := view.changed(c)
		seat := w.seating.seat(i)
		if seat < 0 {
			continue
		}
		w.scores[seat] = -1
		if slots[i].Routable {
			w.scores[seat] = w.sum(seat)
		}
		w.best.set(seat, strength(w.scores[seat]))
	}
}

// begin takes in all instances.
func (w *weighted) begin(view *View) {
	taken := w.seating.taken
	for k := range w.scorers {
		w.scorers[k].begin(view, taken)
	}
	w.scores = resize(w.scores, len(taken))
	w.best.reset(len(taken), !w.tie.lowest)
	w.scoreAll(view.slots)
	if w.seating.whole {
		return
	}
	for _, i := range w.seating.before {
		if int(i) < len(w.public) {
			w.public[i] = -1
		}
	}
	w.public = w.public[:min(len(w.public), view.Len())]
	for len(w.public) < view.Len() {
		w.public = append(w.public, -1)
	}
}

// settle reports whether shares of instances have changed that have not.
func (w *weighted) settle() bool {
	moved := false
	for k := range w.scorers {
		moved = w.scorers[k].settle() || moved
	}
	return moved
}

// scoreAll sums for every instance, scorer by scorer.
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
	players := w.best.players()[:len(scores)]
	for k, i := range w.seating.taken[:len(scores)] {
		if slots[i].Routable {
			players[k] = strength(scores[k])
		} else {
			scores[k], players[k] = -1, 0
		}
	}
	w.best.survey()
}

// sum is the score of the instance in a seat.
func (w *weighted) sum(seat int) float64 {
	score := 0.0
	for k := range w.scorers {
		score += w.scorers[k].shares[seat]
	}
	return score
}

// strength of a score: bits of floats from 0 on are ordered as they are. One
// below 0 is that of an instance which is not routable.
func strength(score float64) uint64 {
	if score < 0 {
		return 0
	}
	return math.Float64bits(score) + 1
}

// match gives the candidates to which the request has an affinity their scores
// with it, and returns the strength of the foremost of them, 0 without any.
func (w *weighted) match(req *Request) uint64 {
	if w.index != nil {
		w.matchPrefix(w.index.holders())
	}
	if w.sessions != nil { // which never hold session 0, that is none
		w.matchSession(int(w.sessions.last(req.Session)))
	}
	top := uint64(0)
	for _, i := range w.matched {
		w.scores[i] = w.sum(int(i))
		switch x := strength(w.scores[i]); {
		case x > top:
			top = x
			w.foremost = append(w.foremost[:0], i)
		case x == top:
			w.foremost = append(w.foremost, i)
		}
	}
	return top
}

// candidate is the seat of an instance that may be chosen, −1 if i is none.
func (w *weighted) candidate(i int) int {
	if seat := w.seating.seat(i); seat >= 0 && w.scores[seat] >= 0 {
		return seat
	}
	return -1
}

// matchPrefix matches the candidates that the index expects to have the
// beginning of the prompt.
func (w *weighted) matchPrefix(holders []holder) {
	for _, h := range holders {
		seat := w.candidate(int(h.instance))
		if seat < 0 {
			continue
		}
		if w.prefix >= 0 {
			s := &w.scorers[w.prefix]
			s.shares[seat] = float64(s.weight * w.index.affinity(h.blocks))
		}
		if w.bonus >= 0 {
			s := &w.scorers[w.bonus]
			s.shares[seat] = s.weight
		}
		w.matched = append(w.matched, int32(seat))
	}
}

// matchSession matches the instance that served the session last, −1 for none.
func (w *weighted) matchSession(i int) {
	if i < 0 {
		return
	}
	seat := w.candidate(i)
	if seat < 0 {
		return
	}
	w.scorers[w.session].shares[seat] = w.scorers[w.session].weight
	if at, matched := slices.BinarySearch(w.matched, int32(seat)); !matched {
		w.matched = slices.Insert(w.matched, at, int32(seat))
	}
}

// unmatch takes back what match did.
func (w *weighted) unmatch() {
	if len(w.matched) == 0 {
		return
	}
	for k := range w.scorers {
		if w.scorers[k].kind.perRequest() {
			w.scorers[k].withdraw(w.matched)
		}
	}
	for _, i := range w.matched {
		w.scores[i] = w.sum(int(i))
	}
	for _, i := range w.foremost { // choose may have let them in
		w.best.set(int(i), strength(w.scores[i]))
	}
	w.matched, w.foremost = w.matched[:0], w.foremost[:0]
}

// choose is the seat of one of the instances with the largest score, −1 when none
// is routable; top is the strength of the foremost.
//
// An affinity makes no score smaller. So if the foremost are stronger than the
// tournament's best, only they are the best. If they are as strong, those of
// them that got there by an affinity belong to the tournament's best for now. If
// they are weaker, none of them is among those.
func (w *weighted) choose(req *Request, top uint64) int {
	switch best := w.best.best(); {
	case top > best:
		return int(w.foremost[w.tie.draw(req, len(w.foremost))])
	case top < best || best == 0:
		return w.tie.choose(req, &w.best)
	}
	for _, i := range w.foremost {
		w.best.set(int(i), top)
	}
	return w.tie.choose(req, &w.best)
}
