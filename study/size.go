package study

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"blis/actors"
	"blis/setup"
)

// Sizing asks for the smallest cluster that keeps SLOs under given traffic: which GPU, how
// many of them per instance, how many instances. Start from NewSizing.
type Sizing struct {
	// Search is what a window is and when it passes, with the cluster and its traffic as
	// Base. Its Over is not used; the number of instances of Base is replaced.
	Search Capacity

	// The candidates are all combinations. Empty: as in Base.
	Hardware []string
	TP       []int
	Budgets  []int32         // max-num-batched-tokens
	Ratios   []setup.PDRatio // of prefill to decode instances, with architecture pd

	MaxGPUs int // of a cluster
	// Prices are of a GPU per hour, by its name; a GPU that is not among them has that of
	// Base.
	Prices map[string]float64

	// Observe is told how many candidates are done; nil: nobody is. Calls do not overlap.
	Observe func(done, all int)
}

// DefaultMaxGPUs is the most GPUs of a cluster unless another number is given.
const DefaultMaxGPUs = 64

// NewSizing is a sizing with the defaults.
func NewSizing(base actors.Config, slos ...SLO) Sizing {
	return Sizing{Search: NewCapacity(base, SearchAxis{}, slos...), MaxGPUs: DefaultMaxGPUs}
}

// SizeResult is the answer to a Sizing.
type SizeResult struct {
	Partial bool // interrupted: candidates are those that were done

	// Candidates are ranked, the best first: those that keep the SLOs by cost, or by GPUs
	// where there is no price, then the others.
	Candidates []SizeCandidate
	Refused    []RefusedCandidate
	Latency    LatencyChoice

	// Winner is the first candidate as a capacity over the number of instances: exact, or
	// certified. Nil if no candidate keeps the SLOs.
	Winner *CapacityResult
	Asked  Capacity // of Winner
}

// SizeCandidate is one GPU, TP, token budget and ratio, with the fewest instances that keep the SLOs.
type SizeCandidate struct {
	Hardware string
	TP       int
	Budget   int32
	Ratio    setup.PDRatio // zero: instances serve requests alone

	// Instances is 0 if not even MaxGPUs keep the SLOs; what follows is of MaxGPUs then.
	Instances int
	Certified bool // by fresh windows, or exact; else of one window
	GPUs      int
	Measured  []float64 // of the SLOs
	Margins   []float64 // by which each is kept, as a share of its bound; below 0: it is not
	// Edge says which SLOs are kept by less than the stated error of the latency model.
	Edge []bool

	CostPerHour    *float64 // nil: no price
	CostPerMillion *float64 // output tokens
}

// RefusedCandidate is a candidate that cannot run.
type RefusedCandidate struct {
	Name string
	Err  error
}

// sizer is the state of Sizing.Find.
type sizer struct {
	*Sizing
	list   []*sized
	result SizeResult
}

// Find carries the sizing out. Errors are those of Capacity.Find; one that all candidates have
// is the error of the first. When ctx is cancelled the error is ctx's, and the result has the
// candidates that were done.
func (s Sizing) Find(ctx context.Context) (*SizeResult, error) {
	z := &sizer{Sizing: &s}
	if err := z.prepare(); err != nil {
		return nil, err
	}
	pool := s.Search.Pool
	pool.Progress = s.Observe
	_, err := pool.Each(ctx, len(z.list), func(ctx context.Context, i int) error { return z.list[i].tryFind(ctx) })
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	interrupted := err
	z.list = slices.DeleteFunc(z.list, func(c *sized) bool {
		if c.refused != nil {
			z.result.Refused = append(z.result.Refused, RefusedCandidate{c.Name(), c.refused})
		}
		return c.Measured == nil
	})
	if len(z.list) == 0 && interrupted == nil {
		return nil, z.result.Refused[0].Err
	}
	if interrupted == nil {
		interrupted = z.certify(ctx)
		if interrupted != nil && ctx.Err() == nil {
			return nil, interrupted
		}
	}
	z.rank()
	seen := map[string]bool{}
	for _, c := range z.list {
		if cluster := c.cluster(); !seen[cluster] {
			seen[cluster] = true
			z.result.Candidates = append(z.result.Candidates, c.SizeCandidate)
		}
	}
	z.result.Partial = interrupted != nil
	return &z.result, interrupted
}

func (s *Sizing) checkMaxGPUs() error {
	if s.MaxGPUs < 1 || s.MaxGPUs > setup.MostInstances {
		return &actors.InputError{Text: fmt.Sprintf("--max-gpus is %d: want 1 to %d", s.MaxGPUs, setup.MostInstances)}
	}
	return nil
}

// prepare makes the candidates that can run, with one latency model.
func (z *sizer) prepare() error {
	if err := z.checkMaxGPUs(); err != nil {
		return err
	}
	_, prefill := z.Search.Base.Prefill.Get("hardware")
	_, decode := z.Search.Base.Decode.Get("hardware")
	switch base := &z.Search.Base; {
	case len(z.Prices) > 0 && base.Disaggregates() && (prefill || decode):
		return &actors.InputError{Text: "--prices: a pool has hardware of its own: want --prefill-gpu-hour-price and --decode-gpu-hour-price"}
	case !base.Deployments.Empty():
		return &actors.InputError{Text: "size: deployments are sized by FindDeployments"}
	case len(z.Ratios) > 0 && !base.Disaggregates():
		return &actors.InputError{Text: "--pd-ratio: want --architecture pd"}
	}
	all := z.combinations()
	var first error
	for _, c := range all {
		if c.refused = z.check(c); c.refused != nil {
			first = cmp.Or(first, c.refused)
			z.result.Refused = append(z.result.Refused, RefusedCandidate{c.Name(), c.refused})
			continue
		}
		z.list = append(z.list, c)
	}
	if len(z.list) == 0 {
		return first
	}
	var configs []setup.Config
	for _, c := range z.list {
		configs = append(configs, c.search.Base.Config)
	}
	choice, err := ChooseLatency(configs, func(i int) string { return z.list[i].Name() })
	if err != nil {
		return err
	}
	z.result.Latency = choice
	for _, c := range z.list {
		choice.Apply(&c.search.Base.Config)
		if _, c.setup, err = actors.Check(c.search.Base); err != nil {
			return err
		}
	}
	return nil
}

// combinations are all candidates, in the order of the lists.
func (z *sizer) combinations() (list []*sized) {
	base := &z.Search.Base
	for _, gpu := range orBase(z.Hardware, base.Hardware) {
		for _, tp := range orBase(z.TP, base.TP) {
			for _, budget := range orBase(z.Budgets, base.MaxNumBatchedTokens) {
				for _, ratio := range z.ratios() {
					list = append(list, z.newSized(SizeCandidate{Hardware: gpu, TP: tp, Budget: budget, Ratio: ratio}))
				}
			}
		}
	}
	return list
}

// newSized makes the search of a candidate.
func (z *sizer) newSized(c SizeCandidate) *sized {
	s := &sized{SizeCandidate: c, search: z.Search}
	b := &s.search.Base
	b.Hardware, b.TP, b.MaxNumBatchedTokens, b.PDRatio, b.NumInstances = c.Hardware, c.TP, c.Budget, c.Ratio, fewest(&b.Config)
	if price := z.priceOf(c.Hardware); price > 0 {
		b.GPUHourPrice, b.CostPerReplicaHour = price, 0
	}
	s.search.Pool, s.search.Observe = Pool{Workers: 1}, nil
	return s
}

// fewest is the smallest number of instances of a cluster: one, or one of each pool.
func fewest(c *setup.Config) int {
	if c.Disaggregates() {
		return 2
	}
	return 1
}

// usualRatios are those of prefill to decode instances that are tried if none are given.
var usualRatios = []setup.PDRatio{{Prefill: 1, Decode: 3}, {Prefill: 1, Decode: 2}, {Prefill: 2, Decode: 3}, {Prefill: 1, Decode: 1}, {Prefill: 3, Decode: 2}, {Prefill: 2, Decode: 1}, {Prefill: 3, Decode: 1}}

// ratios are those of the candidates.
func (z *sizer) ratios() []setup.PDRatio {
	base := &z.Search.Base
	if base.Disaggregates() && base.PDRatio == (setup.PDRatio{}) {
		return orBase(z.Ratios, usualRatios...)
	}
	return orBase(z.Ratios, base.PDRatio)
}

// orBase returns the list, or what is in its place if it is empty.
func orBase[T any](list []T, base ...T) []T {
	if len(list) == 0 {
		return base
	}
	return list
}

// priceOf is the price of a GPU per hour; 0: none is known.
func (z *sizer) priceOf(gpu string) float64 {
	for name, price := range z.Prices { // in any order: at most one has the name
		if strings.EqualFold(name, gpu) {
			return price
		}
	}
	return z.Search.Base.GPUHourPrice
}

// check refuses a candidate that cannot run.
func (z *sizer) check(c *sized) error {
	var err error
	if _, c.setup, err = actors.Check(c.search.Base); err != nil {
		return err
	}
	least := c.search.Base.NumInstances
	if gpus := c.gpus(least); gpus > z.MaxGPUs {
		return &actors.InputError{Text: fmt.Sprintf("the smallest cluster has %d GPUs, --max-gpus is %d", gpus, z.MaxGPUs)}
	}
	more := sort.Search(z.MaxGPUs-least, func(i int) bool { return c.gpus(least+1+i) > z.MaxGPUs })
	c.search.Over, err = ParseSearchAxis(fmt.Sprintf("num-instances=%d..%d", least, least+more), c.search.Precision)
	return err
}

// onePerRung finds the fewest instances by one window for each number, as the pilot does.
func (s *capacitySearch) onePerRung(ctx context.Context) (w *Window, holds bool, err error) {
	if s.Base.Trace == "" {
		err = s.pilot(ctx)
	}
	if err == nil {
		w, err = s.knee(ctx)
	}
	if err != nil {
		return nil, false, err
	}
	return w, w.Pass, nil
}

// certify certifies the first candidate, and the next that comes first once the answer for the
// one before turned out to be larger.
func (z *sizer) certify(ctx context.Context) error {
	for {
		z.result.Winner = nil // it was of another candidate
		z.rank()
		if len(z.list) == 0 || z.list[0].Instances == 0 {
			return nil
		}
		best := z.list[0]
		z.result.Asked = best.search
		if best.exact != nil {
			z.result.Winner = best.exact
			return nil
		}
		search := best.search
		search.Pool, search.Observe = z.Search.Pool, z.Search.Observe
		r, err := search.Find(ctx)
		if r != nil {
			z.result.Winner = r
		}
		if err != nil {
			return err
		}
		best.exact = r
		if r.Holds == nil {
			best.Instances = 0
			continue
		}
		best.Certified = r.Outcome == CapacityFound
		if err := best.takeEnds(r); err != nil {
			return err
		}
	}
}

// rank orders the candidates.
func (z *sizer) rank() {
	slices.SortStableFunc(z.list, func(a, b *sized) int {
		if (a.Instances == 0) != (b.Instances == 0) {
			return map[bool]int{true: 1, false: -1}[a.Instances == 0]
		}
		if a.CostPerHour != nil && b.CostPerHour != nil && *a.CostPerHour != *b.CostPerHour {
			return cmp.Compare(*a.CostPerHour, *b.CostPerHour)
		}
		return cmp.Or(cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(b.least(), a.least()), cmp.Compare(a.TP, b.TP))
	})
}
