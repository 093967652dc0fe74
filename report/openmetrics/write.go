package openmetrics

import (
	"bufio"
	"strconv"
	"strings"
	"time"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// Options say when samples are taken.
type Options struct {
	Epoch time.Time      // when virtual time began
	Step  vtime.Duration // between two samples, at least 1 ms

	// MostSamples is how many samples a file has at most: with more, only every second, third, …
	// one is written. 0: no limit.
	MostSamples int
}

// Write writes the metrics of a run whose k-th time series have histograms and the width of o.Step. There is a
// sample every so many steps as it returns: 1, unless o.MostSamples asks for fewer. Errors of w show when it is flushed.
func Write(w *bufio.Writer, r *actors.Result, k int, q *Requests, o Options) (every int) {
	t := &text{w: w, o: o, of: k, every: 1, end: r.End}
	list := r.TimeSeries()
	for i := range list {
		s := newSeries(&list[i], k)
		if s.requests = (&ofInstance{}); i < len(q.instances) {
			s.requests = q.instances[i]
		}
		t.series = append(t.series, s)
	}
	for o.MostSamples > 0 && t.samples() > o.MostSamples {
		t.every++
	}
	for _, g := range gauges {
		t.family(g.family, func(s *series) { t.gauge(s, g.name, g.kind, g.share) })
	}
	for _, c := range counters {
		t.family(c.family, func(s *series) { t.counter(s, c.name, "", valueAt(s.Series[k].Counts[c.kind].Bins)) })
	}
	t.family(prompt, func(s *series) { t.counter(s, prompt.name, "", s.requests.prompt.row) })
	t.family(generation, func(s *series) {
		gaps := fixed(s.Series[k].ITL)
		t.counter(s, generation.name, "", func(i int) int64 {
			row, _ := gaps.row(i)
			sum := s.requests.tokens.row(i)
			for _, n := range row {
				sum += n
			}
			return sum
		})
	})
	t.family(success, func(s *series) {
		for i, reason := range reasons {
			t.counter(s, success.name, `,finished_reason="`+reason+`"`, s.requests.finished[i].row)
		}
	})
	t.family(iteration, func(s *series) { t.histogram(s, iteration, fixed(s.Series[k].StepTokens)) })
	t.family(itl, func(s *series) { t.histogram(s, itl, fixed(s.Series[k].ITL)) })
	for i, h := range requestHistograms {
		t.family(h.family, func(s *series) { t.histogram(s, h.family, ofRequests(h.bounds, &s.requests.histograms[i])) })
	}
	w.WriteString("# EOF\n")
	return t.every
}

// series are those of one instance.
type series struct {
	*actors.InstanceSeries
	requests *ofInstance
	labels   string
	bins     int
}

// newSeries returns the series of an instance. Data-parallel ranks are engines of one server.
func newSeries(of *actors.InstanceSeries, k int) *series {
	server, rank, ranks := strings.Cut(of.Name, "-rank-")
	if !ranks {
		rank = "0"
	}
	labels := `engine="` + rank + `",instance="` + escape(server) + `",model_name="` + escape(of.Model) + `"`
	if of.Pool != "" {
		labels += `,pool="` + escape(of.Pool) + `"`
	}
	return &series{InstanceSeries: of, labels: labels, bins: len(of.Series[k].Counts[metrics.StepsCount].Bins)}
}

// escape makes a text the value of a label.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "\uFFFD"))
}

// text is the text that is written.
type text struct {
	w      *bufio.Writer
	o      Options
	of     int // among the time series of the run
	series []*series
	every  int // sample that is written
	end    vtime.Time
	line   []byte
}

// samples is about how many samples the text has.
func (t *text) samples() (n int) {
	perPoint := len(gauges) + len(counters) + 2 + len(reasons) + len(metrics.StepTokenBounds) + len(metrics.ITLBounds) + 6
	for _, h := range requestHistograms {
		perPoint += len(h.bounds) + 3
	}
	for _, s := range t.series {
		n += (s.bins/t.every + 2) * perPoint
	}
	return n
}

// family writes a family: what it is, and its series by instance.
func (t *text) family(f family, of func(*series)) {
	t.w.WriteString("# HELP " + f.name + " " + f.help + "\n# TYPE " + f.name + " " + f.kind + "\n")
	if f.unit != "" {
		t.w.WriteString("# UNIT " + f.name + " " + f.unit + "\n")
	}
	for _, s := range t.series {
		of(s)
	}
}

// points calls f for every sample of a series: with the number of whole bins before it, and when it is
// taken. What happens at the very time of a sample is in the next one; the last sample, at the end of the run or
// when the instance is gone, has all.
func (t *text) points(s *series, f func(bins int, at []byte)) {
	step := vtime.Time(t.o.Step)
	last := min(s.Gone, t.end)
	var stamp [32]byte
	for k := 0; ; k += t.every {
		at := vtime.Time(k) * step
		if at < s.Ready {
			continue
		}
		if millis(at) >= millis(last) {
			break
		}
		f(k, t.stamp(stamp[:0], at))
	}
	if s.Ready <= last {
		f(s.bins, t.stamp(stamp[:0], last))
	}
}

// millis is a time in ms, the next whole one: Prometheus keeps no more.
func millis(t vtime.Time) int64 { return (int64(t) + 999) / 1000 }

// stamp adds the time of a sample in seconds since 1970.
func (t *text) stamp(b []byte, at vtime.Time) []byte {
	ms := t.o.Epoch.UnixMilli() + millis(at)
	b = strconv.AppendInt(b, ms/1000, 10)
	return append(b, '.', byte('0'+ms/100%10), byte('0'+ms/10%10), byte('0'+ms%10))
}

// sample writes a sample.
func (t *text) sample(name, suffix, labels string, value []byte, at []byte) {
	b := append(t.line[:0], name...)
	b = append(b, suffix...)
	b = append(append(append(b, '{'), labels...), '}', ' ')
	b = append(append(append(append(b, value...), ' '), at...), '\n')
	t.w.Write(b)
	t.line = b
}

// gauge writes the samples of a level: what it is at the time.
func (t *text) gauge(s *series, name string, kind metrics.GaugeKind, share bool) {
	bins := s.Series[t.of].Gauges[kind].Bins
	var number [32]byte
	t.points(s, func(k int, at []byte) {
		level := int32(0)
		if k > 0 && k <= len(bins) {
			level = bins[k-1].Last
		}
		value := strconv.AppendInt(number[:0], int64(level), 10)
		if share {
			value = appendFloat(number[:0], float64(level)/float64(s.TotalBlocks))
		}
		t.sample(name, "", s.labels, value, at)
	})
}

// counter writes the samples of a counter that grows by grown(i) in bin i.
func (t *text) counter(s *series, name, label string, grown func(i int) int64) {
	sum, next := int64(0), 0
	var number [32]byte
	t.points(s, func(k int, at []byte) {
		for ; next < k; next++ {
			sum += grown(next)
		}
		t.sample(name, "_total", s.labels+label, strconv.AppendInt(number[:0], sum, 10), at)
	})
}

// buckets is a histogram by bin.
type buckets struct {
	bounds []int64
	row    func(i int) (counts []int64, sum int64) // of bin i; nil: nothing
}

// fixed is a histogram of a time series.
func fixed(h *metrics.HistogramSeries) buckets {
	n := len(h.Bounds) + 1
	return buckets{h.Bounds, func(i int) ([]int64, int64) {
		if i >= len(h.Sums) {
			return nil, 0
		}
		return h.Counts[i*n : (i+1)*n], h.Sums[i]
	}}
}

// ofRequests is a histogram of requests.
func ofRequests(bounds []int64, g *growth) buckets {
	return buckets{bounds, func(i int) ([]int64, int64) {
		if i >= len(g.rows) || g.rows[i] == nil {
			return nil, 0
		}
		return g.rows[i][:len(bounds)+1], g.rows[i][len(bounds)+1]
	}}
}

// histogram writes the samples of a histogram. Values in seconds were observed in µs.
func (t *text) histogram(s *series, f family, h buckets) {
	counts, sum, next := make([]int64, len(h.bounds)+1), int64(0), 0
	per := 1.0
	if f.unit == "seconds" {
		per = 1e6
	}
	labels := make([]string, len(counts))
	for i := range labels {
		labels[i] = s.labels + `,le="+Inf"`
		if i < len(h.bounds) {
			labels[i] = s.labels + `,le="` + boundText(float64(h.bounds[i])/per) + `"`
		}
	}
	var number [32]byte
	t.points(s, func(k int, at []byte) {
		for ; next < k; next++ {
			row, grown := h.row(next)
			for i, n := range row {
				counts[i] += n
			}
			sum += grown
		}
		upto := int64(0)
		for i, n := range counts {
			upto += n
			t.sample(f.name, "_bucket", labels[i], strconv.AppendInt(number[:0], upto, 10), at)
		}
		t.sample(f.name, "_count", s.labels, strconv.AppendInt(number[:0], upto, 10), at)
		t.sample(f.name, "_sum", s.labels, appendFloat(number[:0], float64(sum)/per), at)
	})
}

func appendFloat(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'g', -1, 64) }

// boundText is a bound as Prometheus clients write it: with a point, also where it is whole.
func boundText(x float64) string {
	text := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// valueAt returns the values of a list by index, 0 behind its end.
func valueAt(list []int64) func(i int) int64 {
	return func(i int) int64 {
		if i >= len(list) {
			return 0
		}
		return list[i]
	}
}
