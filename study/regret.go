package study

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"blis/actors"
	"blis/trace"
	"blis/vtime"
)

// Regrets collects the routing decisions of a run with the largest regret, for a
// replay. It is a trace.Consumer for a run with candidates
// (actors.Tracing.Counterfactual at least 1). It keeps the worst decisions, and a
// number per request in flight.
//
// Two kinds of decisions are left out: forced ones, which are not the policy's, and
// those that route a request again, which cannot be forced.
type Regrets struct {
	limit  int         // length of worst
	worst  []Regretted // the worst first
	routed map[int64]struct{}
	count  int64 // decisions with regret
	all    int64 // decisions
}

// Regretted is a routing decision whose target was not the best by its policy's
// own scores.
type Regretted struct {
	Request      int64
	At           vtime.Time
	Chosen, Best int     // instances
	Score        float64 // of the chosen
	BestScore    float64
	Regret       float64         // BestScore − Score, above 0
	TTFT         *vtime.Duration // of the request in the run; nil: it got no first token
}

// NewRegrets returns a collector of the worst most decisions, at least 1.
func NewRegrets(most int) *Regrets {
	return &Regrets{limit: most, routed: map[int64]struct{}{}}
}

// Consume implements trace.Consumer.
func (g *Regrets) Consume(r trace.Record) error {
	switch r := r.(type) {
	case *trace.Routing:
		_, again := g.routed[r.Request]
		g.routed[r.Request] = struct{}{}
		if !again && !r.Forced && r.Target != nil {
			g.decision(r)
		}
	case *trace.Outcome:
		delete(g.routed, r.Request)
		for i := range g.worst {
			if g.worst[i].Request == r.Request && r.TTFT != nil {
				ttft := *r.TTFT
				g.worst[i].TTFT = &ttft
			}
		}
	}
	return nil
}

// decision records a routing decision.
func (g *Regrets) decision(r *trace.Routing) {
	g.all++
	if r.Regret == nil || *r.Regret <= 0 || len(r.Candidates) == 0 {
		return
	}
	g.count++
	d := Regretted{
		Request: r.Request, At: r.At, Chosen: *r.Target, Best: r.Candidates[0].Instance,
		Score: *r.Score, BestScore: *r.Best, Regret: *r.Regret,
	}
	at, _ := slices.BinarySearchFunc(g.worst, d, worse)
	if at == g.limit {
		return
	}
	if len(g.worst) == g.limit {
		g.worst = g.worst[:g.limit-1]
	}
	g.worst = slices.Insert(g.worst, at, d)
}

// worse orders decisions by regret, the largest first, then by request.
func worse(a, b Regretted) int {
	return cmp.Or(cmp.Compare(b.Regret, a.Regret), cmp.Compare(a.Request, b.Request))
}

// RegretReplay is the effect that other decisions would have had.
type RegretReplay struct {
	Partial   bool  // interrupted: some decisions were not replayed
	Decisions int64 // routing decisions of the run, without forced ones and requests routed again
	Regretted int64 // those of them with regret
	MeanTTFT  *float64
	Replayed  []Replayed // the worst first
}

// Replayed is a decision and a run in which the best instance was forced in its
// place, and nothing else.
type Replayed struct {
	Regretted
	Other    *vtime.Duration // TTFT of the request in that run; nil: it got no first token
	MeanTTFT *float64        // of all requests in that run, µs; nil: there was no first token
}

// Difference is the change of the request's TTFT by the other decision; below 0 the
// first token comes earlier. ok is false if one of the two runs has no first token.
func (r *Replayed) Difference() (d vtime.Duration, ok bool) {
	if r.TTFT == nil || r.Other == nil {
		return 0, false
	}
	return *r.Other - *r.TTFT, true
}

// Replay runs cfg, the configuration of the run whose decisions these are, once more
// for each of the worst decisions, with the best instance forced in place of the
// chosen one. All else, seeds included, stays. meanTTFT is the mean TTFT of the run
// itself in µs.
//
// Errors: *actors.InputError for a source that cannot be pulled twice, *RunError
// for a run that failed. When ctx is cancelled the error is ctx's and the
// replay, marked Partial, has the decisions that were replayed.
func (g *Regrets) Replay(ctx context.Context, cfg actors.Config, meanTTFT *float64, pool Pool) (*RegretReplay, error) {
	if cfg.Custom.Source != nil {
		return nil, &actors.InputError{Text: "a custom source cannot be replayed: it can be pulled once"}
	}
	replayed := make([]Replayed, len(g.worst))
	done, err := pool.Each(ctx, len(g.worst), func(ctx context.Context, i int) error {
		d := &g.worst[i]
		replayed[i].Regretted = *d
		result, err := actors.Run(ctx, forced(cfg, d, &replayed[i].Other))
		if err != nil {
			return &RunError{fmt.Sprintf("request %d forced to instance %d", d.Request, d.Best), err}
		}
		if s := result.Report.Overall.TTFT; s != nil {
			mean := s.Mean
			replayed[i].MeanTTFT = &mean
		}
		return nil
	})
	r := &RegretReplay{Decisions: g.all, Regretted: g.count, MeanTTFT: meanTTFT, Replayed: []Replayed{}}
	if err != nil && !interrupted(ctx, err) {
		return nil, err
	}
	for i, ended := range done {
		if ended {
			r.Replayed = append(r.Replayed, replayed[i])
		}
	}
	r.Partial = len(r.Replayed) < len(g.worst)
	return r, err
}

// forced is cfg with the best instance forced for a decision. The TTFT of its
// request is stored in *ttft.
func forced(cfg actors.Config, d *Regretted, ttft **vtime.Duration) actors.Config {
	entry := fmt.Sprintf("%d=%d", d.Request, d.Best)
	if cfg.ForceRouting != "" {
		entry = cfg.ForceRouting + "," + entry
	}
	cfg.ForceRouting = entry
	cfg.Execution = actors.Execution{Workers: 1, Row: func(row *actors.Row) {
		if t, ok := row.TTFT(); ok && row.ID == d.Request {
			*ttft = &t
		}
	}}
	return cfg
}
