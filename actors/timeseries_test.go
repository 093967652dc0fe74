package actors

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"

	"blis/metrics"
	"blis/vtime"
)

// timeSeries are those of a trial: bins that widen, and fixed ones with histograms, narrow where the trial is short.
func (x *trial) timeSeries() []metrics.TimeSeriesOptions {
	step := 997 * vtime.Millisecond
	if x.Config.Architecture != "pd" && x.FailureFile == "" {
		step = 97 * vtime.Millisecond
	}
	return []metrics.TimeSeriesOptions{{}, {Step: step, Histograms: true}}
}

// checkSeries is an error unless the time series of a run add up to what its instances counted.
func checkSeries(r *Result) error {
	itl := int64(0)
	for i, of := range r.TimeSeries() {
		c := &r.Report.PerInstance[i].Scope.Resources.Counters
		for k, s := range of.Series {
			bins := int((int64(r.End) + int64(s.Width()) - 1) / int64(s.Width()))
			for _, g := range []struct {
				kind metrics.GaugeKind
				want int64
			}{{metrics.RunningGauge, c.RunningMicros}, {metrics.WaitingGauge, c.WaitingMicros}, {metrics.BlocksGauge, c.BlockMicros}} {
				sum := int64(0)
				list := s.Gauges[g.kind].Bins
				for _, b := range list {
					sum += b.Micros
					if b.Min > b.Max || b.Last < b.Min || b.Last > b.Max {
						return fmt.Errorf("%s, series %d, gauge %d: %+v", of.Name, k, g.kind, b)
					}
				}
				if sum != g.want || len(list) != bins {
					return fmt.Errorf("%s, series %d, gauge %d: ∫ %d in %d bins, want %d in %d", of.Name, k, g.kind, sum, len(list), g.want, bins)
				}
			}
			for kind, want := range []int64{c.Steps, c.PrefillTokens, c.DecodeTokens, c.LookedUpTokens, c.CachedTokens, c.Preemptions} {
				sum := int64(0)
				for _, n := range s.Counts[kind].Bins {
					sum += n
				}
				if sum != want && bins > 0 || len(s.Counts[kind].Bins) != bins {
					return fmt.Errorf("%s, series %d, count %d: %d in %d bins, want %d in %d", of.Name, k, kind, sum, len(s.Counts[kind].Bins), want, bins)
				}
			}
			if s.ITL != nil {
				for _, n := range s.ITL.Counts {
					itl += n
				}
				steps := int64(0)
				for _, n := range s.StepTokens.Counts {
					steps += n
				}
				if steps != c.Steps {
					return fmt.Errorf("%s: the histogram of step tokens has %d steps, want %d", of.Name, steps, c.Steps)
				}
			}
		}
	}
	if err := checkStorageSeries(r); err != nil {
		return err
	}
	want := int64(0)
	if d := r.Report.Overall.ITL; d != nil {
		want = d.N
	}
	if itl != want {
		return fmt.Errorf("the histograms have %d inter-token latencies, want %d", itl, want)
	}
	return nil
}

// checkStorageSeries is checkSeries of storage tiers.
func checkStorageSeries(r *Result) error {
	for k := range r.Config.TimeSeries {
		sums, unsure := map[string]int64{}, map[string]int64{}
		for _, of := range r.StorageSeries() {
			g := of.Used[k]
			bins := int((int64(r.End) + int64(g.Width()) - 1) / int64(g.Width()))
			if len(g.Bins) != bins {
				return fmt.Errorf("storage %s %d, series %d: %d bins, want %d", of.Tier, of.Place, k, len(g.Bins), bins)
			}
			for i, b := range g.Bins { // what it still has when its instance is gone does not count
				from, to := int64(i)*int64(g.Width()), min(int64(i+1)*int64(g.Width()), int64(r.End))
				if to > int64(of.Gone) {
					rest := to - max(from, int64(of.Gone))
					b.Micros -= rest * int64(b.Last)
					unsure[of.Tier+"/"+of.Pool] += rest * int64(b.Max) // until the writes that were under way then have ended it does
				}
				sums[of.Tier+"/"+of.Pool] += b.Micros
			}
		}
		for i := range r.KVStorage {
			t, sum, off := &r.KVStorage[i], int64(0), int64(0)
			for name, n := range sums { // any order: a sum
				if strings.HasPrefix(name, t.Name+"/") {
					sum += n
					off += unsure[name]
				}
			}
			want := int64(0)
			for j := range r.KVStorage {
				if r.KVStorage[j].Name == t.Name {
					want += r.KVStorage[j].UsedMicros
				}
			}
			if sum < want-off || sum > want+off {
				return fmt.Errorf("storage %s, series %d: ∫ %d, want %d", t.Name, k, sum, want)
			}
		}
	}
	return nil
}

// foldSeries are hashes of all time series of a run.
func foldSeries(r *Result) (list []uint64) {
	var b []byte
	add := func(values ...int64) {
		for _, x := range values {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
	}
	gauge := func(g *metrics.Gauge) {
		add(int64(g.Width()))
		for _, x := range g.Bins {
			add(x.Micros, int64(x.Min), int64(x.Max), int64(x.Last))
		}
	}
	end := func() {
		list = append(list, xxhash.Sum64(b))
		b = b[:0]
	}
	for _, of := range r.TimeSeries() {
		for _, s := range of.Series {
			add(int64(of.Ready), int64(of.Gone), of.TotalBlocks, of.Entries)
			for i := range s.Gauges {
				gauge(&s.Gauges[i])
			}
			for i := range s.Counts {
				add(s.Counts[i].Bins...)
			}
			for _, h := range []*metrics.HistogramSeries{s.StepTokens, s.ITL} {
				if h != nil {
					add(h.Counts...)
					add(h.Sums...)
				}
			}
			end()
		}
	}
	for _, of := range r.StorageSeries() {
		for _, g := range of.Used {
			gauge(g)
		}
		end()
	}
	return list
}
