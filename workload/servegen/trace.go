package servegen

import (
	"fmt"
	"strings"

	"blis/suggest"
	"blis/workload/draw"
)

// window is one row of a trace file: how a client sent from start to the start
// of the next.
type window struct {
	line       int
	start, end int64   // s
	rate       float64 // requests per second, from 0
	cv         float64 // of the gaps, as measured
	process    draw.ProcessKind
	shape      float64 // Gamma, Weibull with a rate: of the fitted distribution
	scale      float64 // s, of the same
}

// columns of a trace file, which has no header.
var columns = [...]string{"start", "rate", "cv", "family", "param1", "param2"}

// Bounds of the numbers, beyond any that can be measured in ten minutes.
const (
	maxRate  = 1e6 // requests per second: one per tick of virtual time
	maxCV    = 1e6 // and its inverse the least with a family
	maxParam = 1e9 // and its inverse the least scale
)

// usualWidth is the width in s of the windows of all published traces.
const usualWidth = 600

// parseTrace reads the rows of a trace file. Starts ascend, so windows neither
// overlap nor go back.
func parseTrace(name string, text []byte) ([]window, error) {
	var all []window
	line := 0
	for rest := string(text); rest != ""; {
		var row string
		row, rest, _ = strings.Cut(rest, "\n")
		line++
		if row = strings.TrimSuffix(row, "\r"); strings.TrimSpace(row) == "" {
			continue
		}
		w := window{line: line}
		if err := w.parse(row); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if n := len(all); n > 0 && w.start <= all[n-1].start {
			return nil, fmt.Errorf("%s:%d: start: \"%d\": want more than %d of line %d: windows ascend and do not overlap", name, line, w.start, all[n-1].start, all[n-1].line)
		}
		all = append(all, w)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no windows: want rows %s", name, strings.Join(columns[:], ","))
	}
	starts := make([]int64, len(all))
	for i, w := range all {
		starts[i] = w.start
	}
	for i := range all[:len(all)-1] {
		all[i].end = starts[i+1]
	}
	all[len(all)-1].end = starts[len(all)-1] + width(starts, usualWidth)
	return all, nil
}

// width is the most common difference of neighbouring starts, the smallest of
// several; none if there are no neighbours.
func width(starts []int64, none int64) int64 {
	counts := map[int64]int{}
	best := none
	for i := 1; i < len(starts); i++ {
		counts[starts[i]-starts[i-1]]++
	}
	most := 0
	for i := 1; i < len(starts); i++ {
		d := starts[i] - starts[i-1]
		if n := counts[d]; n > most || n == most && d < best {
			best, most = d, n
		}
	}
	return best
}

func (w *window) parse(row string) error {
	f := strings.Split(row, ",")
	if len(f) != len(columns) {
		return fmt.Errorf("row: %s: want %d fields %s, not %d", quote(row), len(columns), strings.Join(columns[:], ","), len(f))
	}
	bad := func(i int, want string, args ...any) error {
		return fmt.Errorf("%s: %s: want %s", columns[i], quote(f[i]), fmt.Sprintf(want, args...))
	}
	var ok bool
	if w.start, ok = seconds(f[0]); !ok {
		return bad(0, "a whole number of seconds from 0 to %d", maxStart)
	}
	if w.rate, ok = number(f[1]); !ok || w.rate > maxRate {
		return bad(1, "requests per second from 0 to %g", maxRate)
	}
	if w.cv, ok = number(f[2]); !ok || w.cv > maxCV {
		return bad(2, "a number from 0 to %g", maxCV)
	}
	switch f[3] {
	case "Gamma":
		w.process = draw.Gamma
	case "Weibull":
		w.process = draw.Weibull
	case "":
		w.process = draw.Poisson
	default:
		return bad(3, "Gamma, Weibull or nothing%s", suggest.Hint(f[3], []string{"Gamma", "Weibull"}))
	}
	for i, p := range []*float64{&w.shape, &w.scale} {
		if *p, ok = number(f[4+i]); !ok || *p > maxParam {
			return bad(4+i, "a number from 0 to %g", maxParam)
		}
		if w.process == draw.Poisson && *p != 0 {
			return bad(4+i, "0 without a family")
		}
	}
	if w.process == draw.Poisson || w.rate == 0 {
		return nil
	}
	if w.cv < 1/maxCV {
		return bad(2, "at least %g with a family", 1/maxCV)
	}
	if v := variation(w.process, w.shape); !(v >= draw.MinCV && v <= draw.MaxCV) {
		return bad(4, "a shape that gives gaps a CV from %v to %v", draw.MinCV, draw.MaxCV)
	}
	if w.scale < 1/maxParam {
		return bad(5, "a scale of at least %g s", 1/maxParam)
	}
	return nil
}
