package policy

import (
	"fmt"
	"strings"

	"blis/kv"
)

// scorerKind is a way to rate an instance for a request, from 0 to 1: an index in
// scorerTable. Only kinds that the code treats in a way of their own have a name.
type scorerKind uint8

const (
	prefixAffinity   scorerKind = iota // matched / full blocks of the prompt in the router's index, by medium; 0 without a full block
	queueDepth                         // (max − load)/(max − min) of effective load over the candidates; 1 when all are equal
	waitingQueue                       // the same over queue depth alone
	kvUtilization                      // 1 − used/total KV blocks
	loadBalance                        // 1/(1 + effective load)
	activeRequests                     // (max − in-flight)/max over the candidates; 1 when max is 0
	sessionAffinity                    // 1 for the instance that served the request's session last, else 0
	cacheHitRate                       // share of prompt tokens that the instance found in its prefix cache so far
	prefixMatch                        // 1 for an instance that has any block of the prompt in the router's index, else 0
	noHitLRU                           // by the order of cold requests; see noHitRow
	firstWithoutName                   // from here on: rows in files of their own, and those of other modules
)

// perRequest reports whether a scorer gives scores above 0 to a few instances
// only, which differ with every request.
func (k scorerKind) perRequest() bool {
	return k == prefixAffinity || k == sessionAffinity || k == prefixMatch
}

// scorerRow describes a scorer. One with score rates each instance alone, one with
// count compares the candidates.
type scorerRow struct {
	name, weight, help string // weight is the default
	observes           Signals
	score              func(view *View, i int) float64 // 0 to 1
	count              func(s *Slot) int64             // what a spread compares, from 0 to 2⁴⁰; it reads observes alone
	fromZero           bool                            // of a count: the score is 1 at 0, not at the smallest count
}

// scorerTable is indexed by scorerKind; see RegisterScorer for more of them.
var scorerTable = []scorerRow{
	prefixAffinity: {name: "prefix-affinity", weight: "3", observes: Prefixes,
		help: "share of the prompt's full blocks that the instance is expected to have cached; those in a lower tier count less"},
	queueDepth: {name: "queue-depth", weight: "2", observes: effectiveLoad, count: (*Slot).load,
		help: "1 at the smallest effective load, 0 at the largest, linear between"},
	waitingQueue: {name: "waiting-queue", weight: "0", observes: QueueDepth, count: func(s *Slot) int64 { return int64(s.Queue) },
		help: "the same over the wait queue alone"},
	kvUtilization: {name: "kv-utilization", weight: "2", observes: KVUse,
		help: "share of KV blocks that are free"},
	loadBalance: {name: "load-balance", weight: "0", observes: effectiveLoad,
		help: "1/(1 + effective load)"},
	activeRequests: {name: "active-requests", weight: "0", observes: InFlight, count: func(s *Slot) int64 { return int64(s.InFlight) }, fromZero: true,
		help: "1 without requests in flight, 0 at the most that any instance has, linear between"},
	sessionAffinity: {name: "session-affinity", weight: "0",
		help: "1 for the instance that served the request's session last, if it is among the last 2^20 sessions; 0 without a session"},
	cacheHitRate: {name: "cache-hit-rate", weight: "0", observes: HitRate,
		help: "share of prompt tokens that the instance found in its prefix cache so far; 0 before the first"},
	prefixMatch: {name: "prefix-match", weight: "0", observes: Prefixes,
		help: "1 where any block of the prompt is expected in cache, else 0: a bonus on a match, however long"},
	noHitLRU:         noHitRow,
	firstWithoutName: runningRequests,
	vllmDP, loadAware,
}

// weightedParameters returns the parameters of weighted: a weight for each scorer, and
// what all have.
func weightedParameters() []Parameter {
	var list []Parameter
	for _, s := range scorerTable {
		list = append(list, s.parameter())
	}
	return append(list, tie, cpuWeight, storageWeight, sessionTTL)
}

// What a block counts in prefix-affinity that the GPU does not have. The default of the
// CPU tier is that of llm-d's KV cache indexer, which knows no storage.
var (
	cpuWeight = Parameter{Name: "cpu_weight", Type: Number, Default: "0.8", Min: 0, Max: 1, Quiet: true,
		Help: "what a block counts in prefix-affinity that is expected in the CPU tier and not in the GPU, where a block counts 1; with prefix_index: events"}
	storageWeight = Parameter{Name: "storage_weight", Type: Number, Default: "0.5", Min: 0, Max: 1, Quiet: true,
		Help: "the same of a block that is expected in storage alone; the router does not hear of storage yet"}
)

// sessionTTL bounds the memory of session-affinity in time.
var sessionTTL = Parameter{Name: "session_ttl", Type: Duration, Default: "0", Max: LongestDuration, Quiet: true,
	Help: "session-affinity forgets a session so long after its last request was routed; 0: never"}

// mediaWeights returns what a block counts in prefix-affinity by medium.
func mediaWeights(v values) [kv.Media]float64 {
	return [kv.Media]float64{kv.GPU: 1, kv.CPU: v.number(cpuWeight.Name), kv.Storage: v.number(storageWeight.Name)}
}

// parameter returns the weight of the scorer.
func (s *scorerRow) parameter() Parameter {
	return Parameter{Name: s.name, Type: Weight, Default: s.weight, Min: 0, Max: 1e9,
		Help: s.help + "; the defaults hold when no weight is given, else those not given are 0"}
}

// ParseScorers reads "prefix-affinity:3,queue-depth:2" as settings for
// weighted, in that order. Names and weights are checked by NewRouting.
func ParseScorers(text string) ([]Setting, error) {
	var settings []Setting
	for i, entry := range strings.Split(text, ",") {
		name, weight, found := strings.Cut(strings.TrimSpace(entry), ":")
		name, weight = strings.TrimSpace(name), strings.TrimSpace(weight)
		if !found || name == "" || weight == "" {
			return nil, &Error{Field: "routing.params", Problem: fmt.Sprintf("scorer %d of %q is %q, want name:weight", i+1, text, strings.TrimSpace(entry))}
		}
		settings = append(settings, Setting{Name: name, Value: weight})
	}
	return settings, nil
}

// scorer is one of the scorers of a policy, with its scores of all instances.
type scorer struct {
	kind   scorerKind
	weight float64   // share of the sum of weights
	shares []float64 // by row: weight · score; perRequest: 0 but for weighted.matched
	spread *spread   // nil: the scorer does not compare counts
	noHit  *noHit    // of no-hit-lru, whose shares are those of the last request; else nil
}

func newScorer(kind scorerKind, weight float64) scorer {
	s := scorer{kind: kind, weight: weight}
	if r := &scorerTable[kind]; r.count != nil {
		s.spread = newSpread(r)
	}
	if kind == noHitLRU {
		s.noHit = &noHit{}
	}
	return s
}

// reset scores all instances.
func (s *scorer) reset(view *View, instances []int32) {
	s.shares = resize(s.shares, len(instances))
	switch {
	case s.kind.perRequest():
		clear(s.shares)
	case s.noHit != nil:
		s.noHit.reset(view, instances)
	case s.spread != nil:
		s.spread.reset(view, instances)
		s.spread.rescale()
		s.shareAll()
	default:
		for k, i := range instances {
			s.shares[k] = s.share(view, int(i))
		}
	}
}

// update scores instance i, which changed and has a row. When an extreme of a
// spread moved, the shares are right only after updateScale.
func (s *scorer) update(view *View, i, row int) {
	switch {
	case s.kind.perRequest():
	case s.noHit != nil:
		s.noHit.update(row, view.Routable(i))
	case s.spread != nil:
		s.spread.update(row, s.spread.of(view, i))
		s.shares[row] = s.spread.scale.share(s.weight, s.spread.counts[row])
	default:
		s.shares[row] = s.share(view, i)
	}
}

// share returns weight · score of instance i, for scorers that look at one
// instance only.
func (s *scorer) share(view *View, i int) float64 {
	slot := &view.slots[i]
	switch s.kind {
	case loadBalance:
		return float64(s.weight * (1 / float64(1+slot.load())))
	case cacheHitRate:
		return float64(s.weight * view.services[i].hitRate())
	case kvUtilization:
		return float64(s.weight * freeShare(slot.Used, slot.Total))
	}
	score := scorerTable[s.kind].score(view, i)
	if !(score >= 0 && score <= 1) {
		panic(fmt.Sprintf("policy: the scorer %q is %v: want 0 to 1", scorerTable[s.kind].name, score))
	}
	return float64(s.weight * score)
}

// unset makes the shares of rows 0, for a perRequest scorer.
func (s *scorer) unset(rows []int32) {
	for _, k := range rows {
		s.shares[k] = 0
	}
}

// updateScale recomputes all shares if an extreme of the spread has moved since
// they were computed, and reports whether it did.
func (s *scorer) updateScale() bool {
	if s.spread == nil || !s.spread.rescale() {
		return false
	}
	s.shareAll()
	return true
}

// shareAll computes all shares from the spread.
func (s *scorer) shareAll() {
	scale, weight, shares := s.spread.scale, s.weight, s.shares
	for i, x := range s.spread.counts[:len(shares)] {
		shares[i] = scale.share(weight, x)
	}
}

// freeShare returns 1 − used/total, 0 for an instance without blocks.
func freeShare(used, total int64) float64 {
	if used >= total {
		return 0
	}
	return 1 - float64(used)/float64(total)
}

// resize returns list with n elements, in its memory if they fit. The caller
// writes the elements.
func resize[T any](list []T, n int) []T {
	if n > cap(list) {
		return make([]T, n)
	}
	return list[:n]
}
