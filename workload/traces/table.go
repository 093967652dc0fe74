package traces

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"blis/vtime"
	"blis/workload"
)

// row is one request as a format's reader parsed it.
type row struct {
	arrival       int64 // in the format's unit
	input, output int32
	maxOutput     int32 // Absent when not given
	slack         int64 // deadline − arrival in µs; −1: no deadline
	session       uint64
	round         int32
	tags          workload.Tags
	hint          float64
	spans         []workload.Span
	outputContent workload.ContentID // 0: the request's own
}

// optional says which parts of a row a file has at all.
type optional struct{ maxOutput, deadline, session, labels, hint, spans, outputContent bool }

// table holds the rows of a trace by columns: 16 bytes a row, and more only
// for the columns that the file has. Traces are files of bounded size, and
// being held is what lets them be sorted, shifted to their first arrival and
// checked before the run starts.
type table struct {
	has     optional
	arrival []int64
	input   []int32
	output  []int32

	maxOutput     []int32
	slack         []int64
	session       []uint64
	round         []int32
	tags          []workload.Tags
	hint          []float64
	outputContent []workload.ContentID
	spans         []run
	pages         [][]workload.Span // what spans points into; never moved

	order []int32 // rows by arrival; nil when the file is in order
}

// maxRows is what order can index.
const maxRows = math.MaxInt32

func (t *table) add(r *row) {
	t.arrival = append(t.arrival, r.arrival)
	t.input = append(t.input, r.input)
	t.output = append(t.output, r.output)
	if t.has.maxOutput {
		t.maxOutput = append(t.maxOutput, r.maxOutput)
	}
	if t.has.deadline {
		t.slack = append(t.slack, r.slack)
	}
	if t.has.session {
		t.session = append(t.session, r.session)
		t.round = append(t.round, r.round)
	}
	if t.has.labels {
		t.tags = append(t.tags, r.tags)
	}
	if t.has.hint {
		t.hint = append(t.hint, r.hint)
	}
	if t.has.spans {
		t.spans = append(t.spans, t.keep(r.spans))
	}
	if t.has.outputContent {
		t.outputContent = append(t.outputContent, r.outputContent)
	}
}

// run is where the spans of one row are.
type run struct{ page, begin, count uint32 }

// keep copies spans into the last page, or into a new one when it is full.
func (t *table) keep(spans []workload.Span) run {
	const size = 4096 // spans of a page, 64 KiB
	last := len(t.pages) - 1
	if last < 0 || len(t.pages[last])+len(spans) > cap(t.pages[last]) {
		t.pages = append(t.pages, make([]workload.Span, 0, max(size, len(spans))))
		last++
	}
	begin := len(t.pages[last])
	t.pages[last] = append(t.pages[last], spans...)
	return run{uint32(last), uint32(begin), uint32(len(spans))}
}

func (t *table) rows() int { return len(t.arrival) }

// at is the row at place i of the order of arrival.
func (t *table) at(i int) int {
	if t.order == nil {
		return i
	}
	return int(t.order[i])
}

// sort orders the rows by arrival, equal ones as they stand in the file.
func (t *table) sort() {
	if slices.IsSorted(t.arrival) {
		return
	}
	t.order = make([]int32, t.rows())
	for i := range t.order {
		t.order[i] = int32(i)
	}
	slices.SortFunc(t.order, func(a, b int32) int {
		if c := cmp.Compare(t.arrival[a], t.arrival[b]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
}

// spread moves the n requests of each arrival time apart: the k-th of them
// (from 0) by k/n of the trace's resolution, the smallest difference between
// two arrival times of the file. So all stay before the next arrival time. A
// file with a single arrival time shows no resolution and stays as it is.
func (t *table) spread() {
	resolution := uint64(0)
	for i := 1; i < t.rows(); i++ {
		gap := uint64(t.arrival[t.at(i)] - t.arrival[t.at(i-1)])
		if gap > 0 && (resolution == 0 || gap < resolution) {
			resolution = gap
		}
	}
	for i := 0; i < t.rows(); {
		time, end := t.arrival[t.at(i)], i+1
		for end < t.rows() && t.arrival[t.at(end)] == time {
			end++
		}
		for k := i; k < end; k++ {
			high, low := bits.Mul64(uint64(k-i), resolution)
			part, _ := bits.Div64(high, low, uint64(end-i))
			t.arrival[t.at(k)] += int64(part)
		}
		i = end
	}
}

// fill writes what the table has of row i into r, but for its times.
func (t *table) fill(r *workload.Request, i int) {
	*r = workload.NewRequest(0, t.input[i], t.output[i])
	if t.has.maxOutput {
		r.MaxOutput = t.maxOutput[i]
	}
	if t.has.session {
		r.Session, r.Round = t.session[i], t.round[i]
	}
	if t.has.labels {
		r.Tags = t.tags[i]
	}
	if t.has.hint {
		r.Hint = t.hint[i]
	}
	if t.has.spans {
		r.Spans = t.spansOf(i)
	}
	if t.has.outputContent {
		r.OutputContent = t.outputContent[i]
	}
}

// spansOf is the spans of row i, in place.
func (t *table) spansOf(i int) []workload.Span {
	s := t.spans[i]
	return t.pages[s.page][s.begin : s.begin+s.count : s.begin+s.count]
}

// patience is deadline − arrival of row i; false when it has no deadline.
func (t *table) patience(i int) (vtime.Duration, bool) {
	if !t.has.deadline || t.slack[i] < 0 {
		return 0, false
	}
	return vtime.Duration(t.slack[i]), true
}
