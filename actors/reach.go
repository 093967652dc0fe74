package actors

import (
	"blis/engine"
	"blis/latency"
)

// How far a run went, against the data that its latency models were fitted to.

// reaches is how far the engines of each pool went.
type reaches struct {
	pools []*pool
	of    []engine.Reach
	most  []int64 // requests in a step
}

// add takes in an instance.
func (x *reaches) add(n *instance) {
	k := 0
	for k < len(x.pools) && x.pools[k] != n.server.pool {
		k++
	}
	if k == len(x.pools) {
		x.pools, x.of, x.most = append(x.pools, n.server.pool), append(x.of, engine.Reach{}), append(x.most, 0)
	}
	r := &x.of[k]
	for _, e := range n.engines.all() {
		r.Context, r.StepTokens = max(r.Context, e.Reach.Context), max(r.StepTokens, e.Reach.StepTokens)
		x.most[k] = max(x.most[k], e.Counters.PeakRunning)
	}
}

// beyond says where pools left the data behind their latency models.
func (x *reaches) beyond() (text string) {
	for k, s := range x.pools {
		of := beyondFit(s.plan.Fitted.Set, x.of[k], x.most[k])
		switch {
		case of == "":
			continue
		case s.name != "":
			of = s.name + ": " + of
		}
		if text != "" {
			text += "; "
		}
		text += of
	}
	return text
}

// beyondFit says where a run left the data behind its latency model: its longest
// context, the most requests and tokens in a step. Empty: nowhere, as far as is known.
func beyondFit(set *latency.PhysicsSet, reach engine.Reach, running int64) string {
	if set == nil {
		return ""
	}
	return set.Beyond(reach.Context, running, reach.StepTokens)
}
