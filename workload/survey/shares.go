package survey

import (
	"cmp"
	"fmt"
	"slices"

	"blis/workload"
)

// Share is what one tenant, class or model has of the requests.
type Share struct {
	Name         string `json:"name"`
	Requests     int64  `json:"requests"`
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
}

// shares counts by label. Its memory grows with the number of labels.
type shares []Share

func (s *shares) add(l workload.Label, r *workload.Request) {
	for int(l) >= len(*s) {
		*s = append(*s, Share{})
	}
	one := &(*s)[l]
	one.Requests++
	one.InputTokens += int64(r.Input)
	one.OutputTokens += int64(r.Output)
}

// named gives the shares their names: those with requests, the most requests
// first, equal ones by name.
func (s shares) named(names *workload.Names, kind string) ([]Share, error) {
	list := []Share{}
	for l, one := range s {
		if one.Requests == 0 {
			continue
		}
		if l >= names.Len() {
			return nil, fmt.Errorf("the workload yields the %s %d: want a label of the table, below %d", kind, l, names.Len())
		}
		one.Name = names.Name(workload.Label(l))
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}
