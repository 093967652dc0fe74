package report

import (
	"encoding/json"

	"blis/trace"
)

// Worst are the requests with the largest TTFT, each with the routing decision about it: in
// the form of records of the decision trace.
type Worst []WorstRequest

// WorstRequest is one of them.
type WorstRequest struct {
	Outcome json.RawMessage `json:"outcome"`
	Routing json.RawMessage `json:"routing"` // null: nothing routed it
}

// NewWorst is what was kept of a trace.
func NewWorst(w *trace.Worst) *Worst {
	list := Worst{}
	for _, r := range w.Requests() {
		one := WorstRequest{Outcome: trace.AppendJSON(nil, &r.Outcome), Routing: json.RawMessage("null")}
		if r.Routing != nil {
			one.Routing = trace.AppendJSON(nil, r.Routing)
		}
		list = append(list, one)
	}
	return &list
}
