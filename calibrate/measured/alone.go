package measured

import (
	"cmp"
	"slices"

	"blis/vtime"
)

// Alone are the requests, by start, whose time from Start to End, both included,
// has no instant in common with that time of another request: the server had no
// other work, so what they took is a prefill and decodes of batches of one. Requests
// that do not tell of their tokens and prefill are not among them, but keep
// others from being so. Of a trace that was sampled it says too much.
func Alone(requests []TracedRequest) []TracedRequest {
	list := slices.Clone(requests)
	slices.SortStableFunc(list, func(a, b TracedRequest) int { return cmp.Compare(a.Start, b.Start) })
	var alone []TracedRequest
	busy := vtime.Time(-1) // the last end of all before
	for i, r := range list {
		free := busy < r.Start && (i+1 == len(list) || r.End < list[i+1].Start)
		busy = max(busy, r.End)
		if free && r.Input > 0 && r.Output > 0 && r.Prefill != Unknown {
			alone = append(alone, r)
		}
	}
	return alone
}
