package html

import (
	"math"
	"strconv"
)

// mostBins is how many bins a line on the page has; more are put together.
const mostBins = 2000

// mostLines is how many lines a chart has: as many as there are colours with dashes.
const mostLines = 8

// floats are numbers for the script: five significant digits are more than a screen
// shows; NaN is null.
type floats []float64

// MarshalJSON implements json.Marshaler.
func (f floats) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, x := range f {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			b = append(b, "null"...)
		} else {
			b = appendRounded(b, x)
		}
	}
	return append(b, ']'), nil
}

func appendRounded(b []byte, x float64) []byte {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.AppendFloat(b, x, 'f', -1, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	return strconv.AppendFloat(b, rounded, 'g', -1, 64)
}

// timeChart is a chart of lines over the time of a run, in seconds.
type timeChart struct {
	Kind   string       `json:"kind"` // time
	ID     string       `json:"id"`
	Group  string       `json:"group"` // charts whose cursor and zoom go together
	Unit   string       `json:"unit"`
	Share  bool         `json:"share,omitempty"` // values are shares, shown in percent
	Step   float64      `json:"step"`            // seconds of a bin
	Bins   int          `json:"bins"`
	End    float64      `json:"end"` // of the run, in seconds
	Series []timeSeries `json:"series"`
	Marks  []mark       `json:"marks,omitempty"`
}

// timeSeries is a line, with a band where there is one.
type timeSeries struct {
	Name string `json:"name"`
	Mean floats `json:"mean"`
	Low  floats `json:"low,omitempty"`
	High floats `json:"high,omitempty"`
}

// mark is a moment that charts over time show.
type mark struct {
	At   float64 `json:"at"` // seconds
	Text string  `json:"text"`
}

// mostMarks is how many moments charts show.
const mostMarks = 60

// thinned puts bins together so that there are at most mostBins. It returns how many
// became one.
func thinned(list []timeSeries) (merged int) {
	longest := 0
	for _, s := range list {
		longest = max(longest, len(s.Mean))
	}
	merged = max(1, (longest+mostBins-1)/mostBins)
	for i := range list {
		s := &list[i]
		s.Mean, s.Low, s.High = merge(s.Mean, merged, average), merge(s.Low, merged, least), merge(s.High, merged, most)
	}
	return merged
}

// merge puts n neighbours together. NaN is left out; NaN alone stays.
func merge(values []float64, n int, together func([]float64) float64) []float64 {
	if n == 1 {
		return values
	}
	var all []float64
	for i := 0; i < len(values); i += n {
		all = append(all, together(values[i:min(i+n, len(values))]))
	}
	return all
}

func average(values []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range values {
		if !math.IsNaN(x) {
			sum, n = sum+x, n+1
		}
	}
	return sum / float64(n) // NaN of none
}

func least(values []float64) float64 {
	return extreme(values, func(a, b float64) bool { return a < b })
}
func most(values []float64) float64 { return extreme(values, func(a, b float64) bool { return a > b }) }

func extreme(values []float64, better func(a, b float64) bool) float64 {
	best := math.NaN()
	for _, x := range values {
		if math.IsNaN(best) || better(x, best) {
			best = x
		}
	}
	return best
}

// instance is what a run says of an instance over time.
type instance struct {
	name   string
	pool   string
	blocks float64
	doc    value
}

// instanceTimes are the time series of a run.
type instanceTimes struct {
	step  float64 // seconds
	end   float64 // of the run, in seconds
	bins  int
	list  []instance
	pools []string
}

// newInstanceTimes reads the key timeseries; nil without it.
func newInstanceTimes(doc value) *instanceTimes {
	at := doc.get("timeseries")
	t := &instanceTimes{step: at.get("step_us").float() / 1e6}
	seen := map[string]bool{}
	for _, v := range at.get("instances").items() {
		i := instance{v.get("name").words(), v.get("pool").words(), v.get("total_blocks").float(), v}
		t.list = append(t.list, i)
		if !seen[i.pool] {
			seen[i.pool] = true
			t.pools = append(t.pools, i.pool)
		}
		t.bins = max(t.bins, len(v.get("running", "mean").floats()), len(v.get("busy").floats()))
	}
	if len(t.list) == 0 || t.bins == 0 || !(t.step > 0) {
		return nil
	}
	t.end = endOf(doc, t.step*float64(t.bins))
	return t
}

// endOf is the end of a run in seconds; that of its last bin where it is not known.
func endOf(doc value, lastBin float64) float64 {
	if end := doc.get("vllm_estimated_duration_s").float(); end > 0 {
		return end
	}
	return lastBin
}

// width is the length of a bin in seconds: the last ends with the run.
func (t *instanceTimes) width(bin int) float64 {
	if bin == t.bins-1 && t.end > float64(bin)*t.step && t.end < float64(bin+1)*t.step {
		return t.end - float64(bin)*t.step
	}
	return t.step
}

// of are the values of an instance in every bin: a part of a level, divided by scale, or a
// count for each second where part is empty.
func (t *instanceTimes) of(i *instance, m *measure, part string) []float64 {
	path := []string{m.key}
	if part != "" && !m.counts {
		path = append(path, part)
	}
	given := i.doc.get(path...).floats()
	all := make([]float64, t.bins)
	for k := range all {
		all[k] = math.NaN()
		if k < len(given) {
			all[k] = given[k] / m.scale(i, t.width(k))
			if math.IsInf(all[k], 0) { // of no blocks
				all[k] = math.NaN()
			}
		}
	}
	return all
}

// measure is something that instances have over time.
type measure struct {
	key    string
	title  string // of the chart
	unit   string
	share  bool
	counts bool // the document has a number for each bin, without extremes
	summed bool // the line is the sum over instances, without a band
	scale  func(i *instance, width float64) float64
}

func unscaled(*instance, float64) float64         { return 1 }
func byWidth(_ *instance, width float64) float64  { return width }
func ofBlocks(i *instance, width float64) float64 { return i.blocks }
func (m *measure) together(values []float64) float64 {
	if m.summed {
		sum, any := 0.0, false
		for _, x := range values {
			if !math.IsNaN(x) {
				sum, any = sum+x, true
			}
		}
		if any {
			return sum
		}
		return math.NaN()
	}
	return average(values)
}

// measures are the charts over time of instances.
func measures() []measure {
	return []measure{
		{key: "running", title: "Running requests", unit: "requests", scale: unscaled},
		{key: "waiting", title: "Queue of instances", unit: "requests", scale: unscaled},
		{key: "kv_blocks", title: "KV cache in use", unit: "% of blocks", share: true, scale: ofBlocks},
		{key: "cpu_entries", title: "Entries of the CPU tier", unit: "entries", scale: unscaled},
		{key: "held_blocks", title: "Blocks held for transfers", unit: "blocks", scale: unscaled},
		{key: "busy", title: "Time with a step running", unit: "% of time", share: true, counts: true, scale: unscaled},
		{key: "prefill_tokens", title: "Prefill tokens", unit: "tokens/s", counts: true, summed: true, scale: byWidth},
		{key: "decode_tokens", title: "Decode tokens", unit: "tokens/s", counts: true, summed: true, scale: byWidth},
		{key: "cached_tokens", title: "Prompt tokens from caches", unit: "tokens/s", counts: true, summed: true, scale: byWidth},
		{key: "preemptions", title: "Preemptions", unit: "per s", counts: true, summed: true, scale: byWidth},
	}
}

// lines are the series of a measure: one for each pool.
func (t *instanceTimes) lines(m *measure) (list []timeSeries) {
	for _, pool := range t.pools[:min(len(t.pools), mostLines)] {
		var means, lows, highs [][]float64
		for i := range t.list {
			if p := &t.list[i]; p.pool == pool {
				means = append(means, t.of(p, m, "mean"))
				if !m.summed {
					lows, highs = append(lows, t.of(p, m, "min")), append(highs, t.of(p, m, "max"))
				}
			}
		}
		s := timeSeries{Name: clean(pool, mostShown), Mean: across(means, t.bins, m.together)}
		if pool == "" {
			s.Name = "all instances"
		}
		if !m.summed {
			s.Low, s.High = across(lows, t.bins, least), across(highs, t.bins, most)
		}
		list = append(list, s)
	}
	return list
}

// across puts the values of instances together, bin by bin.
func across(rows [][]float64, bins int, together func([]float64) float64) floats {
	all, column := make(floats, bins), make([]float64, len(rows))
	for k := range all {
		for i := range rows {
			column[i] = rows[i][k]
		}
		all[k] = together(column)
	}
	return all
}

// isEmpty reports whether no series has anything but zeros.
func isEmpty(list []timeSeries) bool {
	for _, s := range list {
		for _, x := range s.Mean {
			if x != 0 && !math.IsNaN(x) {
				return false
			}
		}
	}
	return true
}
