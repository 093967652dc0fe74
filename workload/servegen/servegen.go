package servegen

import (
	"fmt"
	"math"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// Options say what of the data to read. Names in errors are from, to and
// rate-scale.
type Options struct {
	// From and To, in s, choose the windows that are wholly between them. Time
	// 0 of the traffic is From. To 0: to the end.
	From, To int64

	// ByShape takes the gaps of a window from param1, the shape that was fitted to
	// them, in place of the column cv, which was measured. The two agree for
	// gamma; for Weibull they mostly do not, as the gaps are not of that family.
	ByShape bool

	RateScale float64 // all rates are multiplied by it; above 0; 0: 1
}

// check also sets what is left open.
func (o *Options) check() error {
	var bad workload.Faults
	if o.From < 0 || o.From > maxStart {
		bad.Add("from", o.From, "want seconds from 0 to %d", maxStart)
	}
	if o.To != 0 && o.To <= o.From {
		bad.Add("to", o.To, "want seconds, more than from %d, or 0 for the end", o.From)
	}
	if o.RateScale == 0 {
		o.RateScale = 1
	}
	if !(o.RateScale > 0) || math.IsInf(o.RateScale, 0) {
		bad.Add("rate-scale", o.RateScale, "want a finite factor above 0")
	}
	if o.To == 0 {
		o.To = math.MaxInt64
	}
	return bad.Err("")
}

// Read reads the clients of a folder, in the order of their numbers, or the one
// client of a trace file with its dataset beside it. Files are plain or gzip,
// named NAME-trace.csv and NAME-dataset.json, with .gz or without.
//
// A client's id and tenant are NAME. It has a window for every row of its trace
// that has a rate: from its start to the next (the last lasts as long as is
// usual in the file, or ten minutes), with the file's rate and with gaps of its
// family and shape (param1), Poisson where it names none. The scale (param2)
// says nothing more: the rate gives the mean. Lengths are the measured
// distributions of the dataset's window in which the trace's begins.
//
// The error is one line that names the file and the place in it, or the option.
func Read(path string, o Options) ([]traffic.Client, Notes, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	pairs, err := find(path)
	if err != nil {
		return nil, nil, err
	}
	var clients []traffic.Client
	f := facts{used: "cv"}
	if o.ByShape {
		f.used = "param1"
	}
	for _, p := range pairs {
		c, err := p.read(&o, &f)
		if err != nil {
			return nil, nil, err
		}
		if len(c.Rate.Windows) == 0 {
			f.idle++
			continue
		}
		clients = append(clients, c)
	}
	if f.clients = len(clients); f.clients == 0 {
		return nil, nil, fmt.Errorf("%s: no traffic: want windows with a rate above 0 wholly inside the span; %d are without rate, %d outside", path, f.silent, f.outside)
	}
	return clients, f.notes(), nil
}

// read loads and reads the files of one client.
func (p *pair) read(o *Options, f *facts) (c traffic.Client, err error) {
	text, err := load(p.trace)
	if err != nil {
		return c, err
	}
	windows, err := parseTrace(p.trace, text)
	if err != nil {
		return c, err
	}
	if text, err = load(p.dataset); err != nil {
		return c, err
	}
	periods, reasons, err := parseDataset(p.dataset, text)
	if err != nil {
		return c, err
	}
	f.reasons = f.reasons || reasons
	return p.client(windows, periods, o, f)
}

// client joins windows with the lengths of their periods.
func (p *pair) client(windows []window, periods []period, o *Options, f *facts) (traffic.Client, error) {
	c := traffic.Client{
		ID: p.name, Tenant: p.name, Class: workload.DefaultClass,
		Process: draw.ArrivalProcess{Kind: draw.Poisson}, Rate: draw.Flat(1),
	}
	last := windows[len(windows)-1]
	usual := float64(last.end - last.start)
	var input, output prepared
	k := -1 // the period in which a window begins
	for i := range windows {
		w := &windows[i]
		for k+1 < len(periods) && periods[k+1].start <= w.start {
			k++
		}
		f.unequal.add(float64(w.end-w.start)/usual, p.trace, w.line)
		switch {
		case w.rate == 0:
			f.silent++
			continue
		case w.start < o.From || w.end > o.To:
			f.outside++
			continue
		}
		rate := float64(w.rate * o.RateScale)
		if !(rate > 0 && rate <= maxRate) {
			return c, fmt.Errorf("%s:%d: rate: %v: want at most %g requests per second, and above 0, after rate-scale %v", p.trace, w.line, w.rate, maxRate, o.RateScale)
		}
		change, err := p.change(w, periods, k, &input, &output)
		if err != nil {
			return c, err
		}
		f.consider(w, p.trace)
		c.Rate.Windows = append(c.Rate.Windows, draw.Window{
			Start: microseconds(w.start - o.From), End: microseconds(w.end - o.From), Factor: rate, Process: w.arrivals(o.ByShape),
		})
		c.Changes = append(c.Changes, change)
	}
	if len(c.Changes) > 0 {
		c.Input, c.Output = *c.Changes[0].Input, *c.Changes[0].Output
	}
	return c, nil
}

// arrivals is the arrival process of a window, nil for the process of the
// client, which is Poisson.
func (w *window) arrivals(byShape bool) *draw.ArrivalProcess {
	switch {
	case w.process == draw.Poisson:
		return nil
	case byShape:
		return &draw.ArrivalProcess{Kind: w.process, Shape: w.shape}
	}
	return &draw.ArrivalProcess{Kind: w.process, CV: min(max(w.cv, draw.MinCV), draw.MaxCV)}
}

// change is the lengths of a window that begins in period k.
func (p *pair) change(w *window, periods []period, k int, input, output *prepared) (traffic.Change, error) {
	missing := func(format string, args ...any) error {
		return fmt.Errorf("%s%s: want lengths for line %d of %s, which has rate %v", p.dataset, fmt.Sprintf(format, args...), w.line, p.trace, w.rate)
	}
	if k < 0 || w.start >= periods[k].end {
		return traffic.Change{}, missing(": no window holds second %d", w.start)
	}
	q := &periods[k]
	for _, t := range []struct {
		*table
		key string
	}{{q.input, inputKey}, {q.output, outputKey}} {
		if t.table == nil {
			return traffic.Change{}, missing(":%d: window %d: %s: empty", q.line, q.start, t.key)
		}
	}
	in, err := input.of(q.input)
	if err != nil {
		return traffic.Change{}, fmt.Errorf("%s:%d: window %d: %s: %w", p.dataset, q.line, q.start, inputKey, err)
	}
	out, err := output.of(q.output)
	if err != nil {
		return traffic.Change{}, fmt.Errorf("%s:%d: window %d: %s: %w", p.dataset, q.line, q.start, outputKey, err)
	}
	return traffic.Change{Input: in, Output: out}, nil
}

// prepared is the distribution made of a table last: windows that follow each
// other mostly share theirs.
type prepared struct {
	table  *table
	length *draw.Length
}

func (p *prepared) of(t *table) (*draw.Length, error) {
	if p.table == t {
		return p.length, nil
	}
	d, err := draw.NewEmpirical(t.lengths, t.weights)
	if err != nil {
		return nil, err
	}
	p.table = t
	p.length = &draw.Length{Dist: d, Min: int32(t.lengths[0]), Max: int32(t.lengths[len(t.lengths)-1])}
	return p.length, nil
}

func microseconds(s int64) vtime.Time { return vtime.Time(s * int64(vtime.Second)) }
