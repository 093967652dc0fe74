package report

import (
	"bufio"
	"fmt"
	"math"
	"slices"
	"strconv"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// TimeSeries is what each instance did over time, in bins of equal width from 0, as JSON has it. The last
// bin ends with the run. Lists have a value for each bin, null where the instance was not in service.
type TimeSeries struct {
	StepMicros int64            `json:"step_us"`
	Instances  []instanceSeries `json:"instances"`
	Storage    []storageSeries  `json:"storage,omitempty"`
}

// storageSeries is one place of a storage tier over time.
type storageSeries struct {
	Tier    string      `json:"tier"`
	Pool    string      `json:"pool"`  // empty: there is one
	Scope   string      `json:"scope"` // local, or who shares it
	Place   int         `json:"place"` // number among the places of the tier
	From    int64       `json:"from_us"`
	To      *int64      `json:"to_us"` // null: to the end
	Total   int64       `json:"total_entries"`
	Entries gaugeSeries `json:"entries"` // in use
}

// instanceSeries is what one instance did.
type instanceSeries struct {
	Name        string `json:"name"`
	Pool        string `json:"pool"`    // empty: there is one
	From        int64  `json:"from_us"` // when it was in service
	To          *int64 `json:"to_us"`   // null: to the end
	TotalBlocks int64  `json:"total_blocks"`
	Entries     int64  `json:"total_cpu_entries,omitempty"`

	Running gaugeSeries  `json:"running"`
	Waiting gaugeSeries  `json:"waiting"`
	Blocks  gaugeSeries  `json:"kv_blocks"`
	CPU     *gaugeSeries `json:"cpu_entries,omitempty"`
	Held    *gaugeSeries `json:"held_blocks,omitempty"` // for transfers of requests that ended there
	Busy    []*short     `json:"busy"`                  // share of the time in which a step with requests executed

	// Steps and their tokens are in the bin in which the step began.
	Steps         []*int64 `json:"steps"`
	PrefillTokens []*int64 `json:"prefill_tokens"`
	DecodeTokens  []*int64 `json:"decode_tokens"`
	LookedUp      []*int64 `json:"looked_up_tokens"`
	Cached        []*int64 `json:"cached_tokens"`
	Preemptions   []*int64 `json:"preemptions"`
}

// gaugeSeries is a level over time: its mean over time, extremes, and value at the end of each bin.
type gaugeSeries struct {
	Mean []*short `json:"mean"`
	Min  []*int32 `json:"min"`
	Max  []*int32 `json:"max"`
	Last []*int32 `json:"last"`
}

// short is a number that is printed with six digits.
type short float64

// MarshalJSON implements json.Marshaler.
func (x short) MarshalJSON() ([]byte, error) { return x.append(nil), nil }

func (x short) append(b []byte) []byte {
	f, digits := math.Abs(float64(x)), 6
	if f >= 1 {
		digits = max(0, 5-int(math.Log10(f)))
	}
	text := strconv.AppendFloat(nil, float64(x), 'f', digits, 64)
	if slices.Contains(text, '.') {
		for text[len(text)-1] == '0' {
			text = text[:len(text)-1]
		}
		if text[len(text)-1] == '.' {
			text = text[:len(text)-1]
		}
	}
	return append(b, text...)
}

// NewTimeSeries returns the k-th of the time series that a run was asked for.
func NewTimeSeries(r *actors.Result, k int) *TimeSeries {
	t := &TimeSeries{StepMicros: int64(r.Config.TimeSeries[k].Step), Instances: []instanceSeries{}}
	holds := r.Report.PD != nil || r.Report.KVTiers != nil
	list := r.TimeSeries()
	for i := range list {
		of := &list[i]
		s := of.Series[k]
		t.StepMicros = int64(s.Width())
		in := newBounds(of.Ready, of.Gone, r.End, s.Width())
		j := instanceSeries{
			Name: of.Name, Pool: of.Pool, From: int64(of.Ready), TotalBlocks: of.TotalBlocks, Entries: of.Entries,
			To: in.end(r.End), Running: in.gauge(&s.Gauges[metrics.RunningGauge]), Waiting: in.gauge(&s.Gauges[metrics.WaitingGauge]), Blocks: in.gauge(&s.Gauges[metrics.BlocksGauge]),
			Busy:  in.means(s.Gauges[metrics.ExecutingGauge].Bins),
			Steps: in.count(s, metrics.StepsCount), PrefillTokens: in.count(s, metrics.PrefillTokensCount), DecodeTokens: in.count(s, metrics.DecodeTokensCount),
			LookedUp: in.count(s, metrics.LookedUpTokensCount), Cached: in.count(s, metrics.CachedTokensCount), Preemptions: in.count(s, metrics.PreemptionsCount),
		}
		if of.Entries > 0 {
			g := in.gauge(&s.Gauges[metrics.EntriesGauge])
			j.CPU = &g
		}
		if holds {
			g := in.gauge(&s.Gauges[metrics.HeldGauge])
			j.Held = &g
		}
		t.Instances = append(t.Instances, j)
	}
	for _, of := range r.StorageSeries() {
		in := newBounds(of.Ready, of.Gone, r.End, of.Used[k].Width())
		t.Storage = append(t.Storage, storageSeries{of.Tier, of.Pool, of.Scope, of.Place, int64(of.Ready), in.end(r.End), of.Entries, in.gauge(of.Used[k])})
	}
	return t
}

// JSON writes the time series with a line for each instance.
func (t *TimeSeries) JSON(w *bufio.Writer) error {
	fmt.Fprintf(w, "{\n  \"step_us\": %d,\n  \"instances\": [", t.StepMicros)
	open := "\n    "
	for i := range t.Instances {
		text, err := marshal(&t.Instances[i])
		if err != nil {
			return err
		}
		w.WriteString(open)
		w.Write(text)
		open = ",\n    "
	}
	open = "\n  ],\n  \"storage\": [\n    "
	for i := range t.Storage {
		text, err := marshal(&t.Storage[i])
		if err != nil {
			return err
		}
		w.WriteString(open)
		w.Write(text)
		open = ",\n    "
	}
	_, err := w.WriteString("\n  ]\n}\n")
	return err
}

// bounds is the time in which an instance was in service, and the width of bins, in µs.
type bounds struct{ from, to, width int64 }

func newBounds(ready, gone, end vtime.Time, width vtime.Duration) bounds {
	return bounds{int64(ready), int64(min(gone, end)), int64(width)}
}

// end is when it was gone; nil: it was there at the end.
func (b bounds) end(of vtime.Time) *int64 {
	if b.to >= int64(of) {
		return nil
	}
	return &b.to
}

// micros is how long the instance was in service in bin k; 0: it was not.
func (b bounds) micros(k int) int64 {
	return max(0, min(b.to, int64(k+1)*b.width)-max(b.from, int64(k)*b.width))
}

func (b bounds) means(bins []metrics.GaugeBin) []*short {
	list := make([]*short, len(bins))
	for k := range bins {
		if n := b.micros(k); n > 0 {
			mean := short(float64(bins[k].Micros) / float64(n))
			list[k] = &mean
		}
	}
	return list
}

func (b bounds) gauge(of *metrics.Gauge) gaugeSeries {
	bins := of.Bins
	n := len(bins)
	g := gaugeSeries{Mean: b.means(bins), Min: make([]*int32, n), Max: make([]*int32, n), Last: make([]*int32, n)}
	for k := range bins {
		if b.micros(k) > 0 {
			g.Min[k], g.Max[k], g.Last[k] = &bins[k].Min, &bins[k].Max, &bins[k].Last
		}
	}
	return g
}

func (b bounds) count(s *metrics.TimeSeries, kind metrics.CountKind) []*int64 {
	bins := s.Counts[kind].Bins
	list := make([]*int64, len(bins))
	for k := range bins {
		if b.micros(k) > 0 {
			list[k] = &bins[k]
		}
	}
	return list
}
