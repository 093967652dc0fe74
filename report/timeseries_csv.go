package report

import (
	"bufio"
	"slices"
	"strconv"
)

// CSV writes a row for each bin and instance in service in it, by time. Columns about tiers and transfers
// are there where some instance has them. Errors of the writer show when it is flushed.
func (t *TimeSeries) CSV(w *bufio.Writer) {
	gauges, bins := t.csvGauges(), 0
	w.WriteString("from_us,instance,pool")
	for _, g := range gauges {
		for _, part := range []string{"mean", "min", "max", "last"} {
			w.WriteString("," + g.name + "_" + part)
		}
	}
	w.WriteString(",busy,steps,prefill_tokens,decode_tokens,looked_up_tokens,cached_tokens,preemptions\n")
	for i := range t.Instances {
		bins = max(bins, len(t.Instances[i].Steps))
	}
	for k := range bins {
		for i := range t.Instances {
			if s := &t.Instances[i]; s.Steps[k] != nil {
				w.Write(s.appendRow(strconv.AppendInt(w.AvailableBuffer(), int64(k)*t.StepMicros, 10), gauges, k))
			}
		}
	}
}

// csvGauge is a level with four columns.
type csvGauge struct {
	name string
	of   func(*instanceSeries) *gaugeSeries
}

// csvGauges are those that some instance has.
func (t *TimeSeries) csvGauges() []csvGauge {
	all := []csvGauge{
		{"running", func(s *instanceSeries) *gaugeSeries { return &s.Running }},
		{"waiting", func(s *instanceSeries) *gaugeSeries { return &s.Waiting }},
		{"kv_blocks", func(s *instanceSeries) *gaugeSeries { return &s.Blocks }},
		{"cpu_entries", func(s *instanceSeries) *gaugeSeries { return s.CPU }},
		{"held_blocks", func(s *instanceSeries) *gaugeSeries { return s.Held }},
	}
	return slices.DeleteFunc(all, func(g csvGauge) bool {
		return !slices.ContainsFunc(t.Instances, func(s instanceSeries) bool { return g.of(&s) != nil })
	})
}

// appendRow adds the row of bin k behind its time.
func (s *instanceSeries) appendRow(line []byte, gauges []csvGauge, k int) []byte {
	line = append(line, ',')
	line = append(line, csvField(s.Name)...)
	line = append(line, ',')
	line = append(line, csvField(s.Pool)...)
	for _, x := range gauges {
		g := x.of(s)
		if g == nil {
			line = append(line, ",,,,"...)
			continue
		}
		line = g.Mean[k].append(append(line, ','))
		for _, list := range [...][]*int32{g.Min, g.Max, g.Last} {
			line = strconv.AppendInt(append(line, ','), int64(*list[k]), 10)
		}
	}
	line = s.Busy[k].append(append(line, ','))
	for _, list := range [...][]*int64{s.Steps, s.PrefillTokens, s.DecodeTokens, s.LookedUp, s.Cached, s.Preemptions} {
		line = strconv.AppendInt(append(line, ','), *list[k], 10)
	}
	return append(line, '\n')
}
