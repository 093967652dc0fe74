package html

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// timePart writes what happened over time, and on which instance.
type timePart struct{ *sheet }

// loads are the charts over time that every run has.
func (s timePart) loads() {
	d := s.doc
	s.section("load", "Load over time")
	marks := s.marks()
	load := d.get("load")
	step := load.get("bin_us").float() / 1e6
	arrivals, departed, backlog := load.get("arrivals").floats(), load.get("departed").floats(), load.get("backlog").floats()
	if len(arrivals) > 0 && step > 0 {
		rate := func(counts []float64) (all floats) {
			for _, x := range counts {
				all = append(all, x/step)
			}
			return all
		}
		s.lines("<b>Requests a second</b>: arrivals and ends of requests", "requests/s", step, []timeSeries{{Name: "arrived", Mean: rate(arrivals)}, {Name: "ended", Mean: rate(departed)}}, marks)
		s.lines("<b>Requests in the system</b> at the end of each bin, "+s.trend(load), "requests", step, []timeSeries{{Name: "in the system", Mean: backlog}}, marks)
	}
	use := d.get("kv_use")
	if step := use.get("bin_us").float() / 1e6; step > 0 {
		s.share("<b>KV cache in use</b>: mean share of the blocks of all instances", "% of blocks", step, []timeSeries{{Name: "all instances", Mean: use.get("share").floats()}}, marks)
	}
	s.loadTable(step, arrivals, departed, backlog, use)
}

// trend says whether the backlog grew.
func (s timePart) trend(load value) string {
	slope := load.get("backlog_slope_per_second").float()
	if math.IsNaN(slope) {
		return "queued or running"
	}
	sign := ""
	if slope > 0 {
		sign = "+"
	}
	return "queued or running; trend over the second half of the arrivals " + sign + figure(slope) + " a second"
}

// marks are the moments that all charts over time show.
func (s timePart) marks() (list []mark) {
	d := s.doc
	if m := d.get("measured"); m.has() {
		if from := m.get("from_us").float(); from > 0 {
			list = append(list, mark{from / 1e6, "measured from here"})
		}
		if to := m.get("to_us").float(); !math.IsNaN(to) {
			list = append(list, mark{to / 1e6, "measured until here"})
		}
	}
	if d.get("partial").isTrue() {
		list = append(list, mark{d.get("vllm_estimated_duration_s").float(), "interrupted"})
	}
	for _, e := range d.get("scaling", "events").items() {
		list = append(list, mark{e.get("at_us").float() / 1e6, "scaled " + e.get("from").words() + " → " + e.get("to").words()})
	}
	pools := d.get("pool_scaling")
	for i, k := range pools.keys {
		for _, e := range pools.members[i].get("events").items() {
			list = append(list, mark{e.get("at_us").float() / 1e6, clean(k, 20) + " " + e.get("from").words() + " → " + e.get("to").words()})
		}
	}
	list = slices.DeleteFunc(list, func(m mark) bool { return math.IsNaN(m.At) })
	if len(list) > mostMarks {
		list = list[:mostMarks]
	}
	return list
}

// lines adds a chart over time, with the width of a bin in its caption.
func (s timePart) lines(caption, unit string, step float64, series []timeSeries, marks []mark) {
	s.timed(caption, unit, step, series, marks, false)
}

// share is lines of shares, in percent.
func (s timePart) share(caption, unit string, step float64, series []timeSeries, marks []mark) {
	s.timed(caption, unit, step, series, marks, true)
}

func (s timePart) timed(caption, unit string, step float64, series []timeSeries, marks []mark, share bool) {
	merged := float64(thinned(series))
	step *= merged
	bins := 0
	for _, one := range series {
		bins = max(bins, len(one.Mean))
	}
	caption += fmt.Sprintf(". Bins of %s.", duration(step*1e6))
	s.chart(caption, stripped(caption), func(id string) any {
		return &timeChart{"time", id, s.id, unit, share, step, bins, endOf(s.doc, step*float64(bins)), series, marks}
	})
}

// loadTable has the same in numbers, thinned to what one reads.
func (s timePart) loadTable(step float64, arrivals, departed, backlog []float64, use value) {
	const rows = 16
	n := len(arrivals)
	if n == 0 {
		return
	}
	each := (n + rows - 1) / rows
	s.folded("The same in numbers")
	t := s.table("", "#From, s", "#Arrived", "#Ended", "#In the system, at the end", "#KV in use")
	blocks, wide := use.get("share").floats(), use.get("bin_us").float()/1e6
	for i := 0; i < n; i += each {
		last := min(i+each, n)
		from, to := placeOf(float64(i)*step/wide, blocks), placeOf(math.Ceil(float64(last)*step/wide), blocks)
		inSystem := math.NaN()
		if last <= len(backlog) {
			inSystem = backlog[last-1]
		}
		t.row(fixed(float64(i)*step, 2), count(sum(arrivals[i:last])), count(sum(departed[min(i, len(departed)):min(last, len(departed))])), count(inSystem), percent(average(blocks[from:max(from, to)])))
	}
	t.end()
	s.unfold()
}

// placeOf is a place within a list, its end for what is beyond.
func placeOf(x float64, list []float64) int {
	if !(x >= 0 && x < float64(len(list))) {
		return len(list)
	}
	return int(x)
}

func sum(list []float64) (total float64) {
	for _, x := range list {
		total += x
	}
	return total
}

// instances are charts over time of instances, the heat map, and their table.
func (s timePart) instances() {
	s.section("instances", "Instances")
	t := newInstanceTimes(s.doc)
	if t == nil {
		s.absent("Queue, running requests and KV cache of each instance over time, and the heat map of instances, are in a result of " + code("blis run --timeseries FILE --step 1s") + ".")
	} else {
		s.instanceCharts(t)
	}
	s.instanceTable()
	s.pools()
}

func (s timePart) instanceCharts(t *instanceTimes) {
	marks := s.marks()
	what := "line: mean over the instances"
	if len(t.pools) > 1 {
		what = "a line for each pool: mean over its instances"
	}
	if len(t.pools) > mostLines {
		what += fmt.Sprintf(", of the first %d of %d pools", mostLines, len(t.pools))
	}
	all := measures()
	for i := range all {
		m := &all[i]
		series := t.lines(m)
		if isEmpty(series) && m.key != "waiting" {
			continue
		}
		caption := "<b>" + m.title + "</b>; " + what + ", band: the least and the most of any instance within the bin"
		switch {
		case m.summed:
			caption = "<b>" + m.title + "</b> a second, over all instances of a pool"
		case m.counts:
			caption = "<b>" + m.title + "</b>; " + what + ", band: the least and the most busy instance"
		}
		s.timed(caption, m.unit, t.step, series, marks, m.share)
	}
	if h := t.heat("", ""); len(h.Layers) > 0 {
		caption := fmt.Sprintf("<b>Instances over time</b>: a row for each instance, a column for %s", duration(h.Step*1e6))
		if h.Of > 1 {
			caption = fmt.Sprintf("<b>Instances over time</b>: a row for %d instances, a column for %s; a cell shows the worst (highest) of its instances", h.Of, duration(h.Step*1e6))
		}
		s.chart(caption+". Empty: the instance was not there.", "Heat map of instances over time", func(id string) any {
			h.ID, h.Group = id, s.id
			return h
		})
	}
}

// instanceTable lists the instances; where they are many, the busiest.
func (s timePart) instanceTable() {
	scopes := s.doc.get("per_instance")
	if len(scopes.keys) == 0 {
		return
	}
	where := s.doc.get("instance_nodes")
	heads := []string{"Instance", "#Completed", "#Output tokens/s", "#Busy", "", "#Running, mean", "#Waiting, mean", "#Waiting, peak", "#KV, mean", "#KV, peak", "#Preemptions", "Waited for"}
	if where.has() {
		heads = append(heads, "Node")
	}
	t := s.table("", heads...)
	for i, k := range scopes.keys[:min(len(scopes.keys), mostScopes)] {
		v, r := scopes.members[i], scopes.members[i].get("resources")
		busy := r.get("utilisation").float()
		cells := []string{name(k), count(v.get("states", "completed").float()), figure(v.get("tokens_per_second").float()), percent(busy), bar("s0", axis{0, 1, false}, 0, busy),
			fixed(r.get("mean_running").float(), 1), fixed(r.get("mean_waiting").float(), 1), count(r.get("counters", "peak_waiting").float()),
			percent(r.get("kv_mean").float()), percent(r.get("kv_peak").float()), count(v.get("preemptions").float()), words(limitWords(r.get("limit").words()))}
		if where.has() {
			cells = append(cells, name(where.get(k).words()))
		}
		t.row(cells...)
	}
	t.end()
	s.leftOut("instances", len(scopes.keys))
}

// pools is a table of pools, where there are several.
func (s timePart) pools() {
	list := s.doc.get("per_pool")
	if len(list.keys) < 2 {
		return
	}
	t := s.table("Pools", "Pool", "Role", "Model", "GPU", "#TP", "#Instances", "#Completed", "#Prefills", "#Queue wait p99, ms", "#Busy", "#KV, mean", "#GPU-hours", "#Cost")
	for i, k := range list.keys {
		v := list.members[i]
		t.row(name(k), words(v.get("role").words()), name(shortModel(v.get("model").words())), name(v.get("gpu").words()), count(v.get("tp").float()), count(v.get("instances").float()), count(v.get("states", "completed").float()),
			count(v.get("prefills").float()), millis(v.get("queue_wait_us", "p99").float()), percent(v.get("resources", "utilisation").float()), percent(v.get("resources", "kv_mean").float()), figure(v.get("gpu_hours").float()), figure(v.get("cost").float()))
	}
	t.end()
}

// shortModel is a model without its owner.
func shortModel(model string) string {
	if i := strings.LastIndex(model, "/"); i >= 0 && i+1 < len(model) {
		return model[i+1:]
	}
	return model
}
