package policy

import (
	"math"

	"blis/vtime"
)

var saturationShedTemplate = template[Admission]{
	Template: Template{
		Kind: AdmissionKind, Name: "saturation-shed",
		Help: "rejects requests of the class sheddable while the mean over instances of max(queue depth / queue_depth, KV use / kv) is at the threshold or above",
		Parameters: []Parameter{
			{Name: "queue_depth", Type: Number, Default: "5", Min: 0.01, Max: 1e5, Help: "waiting requests with which an instance is saturated"},
			{Name: "kv", Type: Number, Default: "0.8", Min: 0.01, Max: 1, Help: "share of its KV blocks in use with which an instance is saturated"},
			{Name: "threshold", Type: Number, Default: "1", Max: 100, Help: "mean saturation from which requests are rejected"},
		},
	},
	build: func(v values, env Env) (Admission, error) {
		depth := v.number("queue_depth")
		return &saturationShed{
			sheddable: byLabel[bool]{names: env.classes(), value: func(class string) bool { return class == "sheddable" }},
			full:      float64(depth*1e6) / v.number("kv"),
			limit:     int64(millionths(float64(depth * v.number("threshold")))),
		}, nil
	},
}

// saturationShed keeps the sum of the weights of all instances and follows the view:
// only the weights of changed instances are computed anew. The sum must not depend
// on the order of changes, so a weight is an integer: the saturation times
// queue_depth, in millionths. A waiting request weighs a million, exactly; KV use
// is rounded to a millionth of a waiting request.
type saturationShed struct {
	sheddable byLabel[bool]
	full      float64 // weight of an instance whose KV blocks are all in use
	limit     int64   // mean weight from which requests are rejected

	rows     denseIndex
	weights  []int64 // by row; outside for instances that are not routable
	sum      int64   // of the weights of routable instances
	routable int64   // number of routable instances
}

func (*saturationShed) Observes() Signals { return QueueDepth | KVUse }

// Decide admits everything when no instance is routable: routing will say so.
func (p *saturationShed) Decide(req *Request, st *RouterState, _ vtime.Time) AdmissionDecision {
	if !p.sheddable.of(req.Class) {
		return AdmissionDecision{Verdict: Admit}
	}
	p.sync(st.View)
	if p.routable > 0 && p.sum >= p.limit*p.routable {
		return AdmissionDecision{Verdict: Reject, Reason: Saturated}
	}
	return AdmissionDecision{Verdict: Admit}
}

// sync brings the sum up to date.
func (p *saturationShed) sync(view *View) {
	slots := view.read(QueueDepth | KVUse)
	first, all := p.rows.sync(view)
	if !all {
		for c := first; c < view.changes; c++ {
			i := view.changed(c)
			if k := p.rows.row(i); k >= 0 {
				p.enter(k, p.weigh(&slots[i]))
			}
		}
		return
	}
	p.weights, p.sum, p.routable = resize(p.weights, len(p.rows.instances)), 0, 0
	for k, i := range p.rows.instances {
		p.weights[k] = outside
		p.enter(k, p.weigh(&slots[i]))
	}
}

// enter gives the instance in a row a weight.
func (p *saturationShed) enter(row int, weight int64) {
	if was := p.weights[row]; was != outside {
		p.sum -= was
		p.routable--
	}
	if weight != outside {
		p.sum += weight
		p.routable++
	}
	p.weights[row] = weight
}

// weigh returns the weight of an instance. An instance without KV blocks counts as
// one whose blocks are all in use.
func (p *saturationShed) weigh(s *Slot) int64 {
	if !s.Routable {
		return outside
	}
	kv := p.full
	if s.Used < s.Total {
		kv = float64(float64(s.Used)*p.full) / float64(s.Total)
	}
	return max(int64(s.Queue)*1e6, int64(math.Round(kv)))
}
