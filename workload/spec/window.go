package spec

import (
	"slices"

	"blis/vtime"
	"blis/yamldoc"
)

// lifecycle reads the windows in which a client sends, nil for always.
func (r *reader) lifecycle(o *object) []window {
	v, at := o.get("lifecycle")
	if v == nil {
		return nil
	}
	in := o.object(v, at, []string{"windows"})
	items, where := in.items("windows", "windows like {start_us: 0, end_us: 1000000}")
	var windows []window
	plain := true
	for i, item := range items {
		w := r.window(item, where.Item(i, item.Line))
		plain = plain && !w.rate.set && w.arrival == nil && w.input == nil && w.output == nil
		windows = append(windows, w)
	}
	slices.SortStableFunc(windows, func(a, b window) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return 1
		}
		return 0
	})
	var out []window
	for _, w := range windows {
		n := len(out) - 1
		switch {
		case n < 0 || w.start >= out[n].end:
			out = append(out, w)
		case plain: // overlapping windows without settings of their own are one
			out[n].end = max(out[n].end, w.end)
		default:
			r.fail(w.place, "begins at %v, before %s ends at %v; want windows that do not overlap", w.start, out[n].Field, out[n].end)
		}
	}
	return out
}

func (r *reader) window(v *yamldoc.Node, at place) window {
	in := r.object(v, at, []string{"start_us", "end_us", "trace_rate", "arrival", "input_distribution", "output_distribution"})
	w := window{place: at, start: vtime.Time(in.duration("start_us").value)}
	end := in.duration("end_us")
	w.end = vtime.Time(end.value)
	if !end.set {
		r.fail(end.place, "not given, want a time after start_us %v", int64(w.start))
	}
	if w.end <= w.start {
		r.fail(end.place, "%d: want a time after start_us %d", int64(w.end), int64(w.start))
	}
	w.rate = in.number("trace_rate", 0, maxRate, "requests per second, or a weight, from 0 to 1e9")
	if in.has("arrival") {
		a := in.arrival("arrival")
		if a.shapesRate() || a.process == traced || a.process == adversarial && !a.size.set {
			r.fail(a.place, "%s is not for a window, want a process whose rate does not vary", a.process)
		}
		w.arrival = &a
	}
	w.input, w.output = in.distribution("input_distribution", inputTokens), in.distribution("output_distribution", outputTokens)
	return w
}

// active returns the windows in which a client sends, nil for always. A cohort
// whose pattern is only a spike sends only in the spike.
func (c *client) active() []window {
	if p := &c.pattern; p.spike != nil && p.waves == nil && !p.drain {
		return []window{*p.spike}
	}
	return c.windows
}

// cohorts reads populations of equal clients.
func (r *reader) cohorts(o *object) {
	items, at := o.items("cohorts", "cohorts like {id: users, population: 100, rate_fraction: 1, …}")
	for i, v := range items {
		in := r.object(v, at.Item(i, v.Line), cohortFields)
		c := r.client(&in, "cohort-"+itoa(i))
		population := in.whole("population", 1, maxClients, "clients from 1 to 100000")
		if !population.set {
			r.fail(population.place, "not given, want how many clients the cohort has, from 1 to 100000")
		}
		c.members = population.value
		c.perMember = in.choice("prefix_sharing", "shared", "per_member").value == "per_member"
		r.readPattern(&in, &c)
		if c.arrival.process == traced {
			r.fail(c.arrival.place, "trace: want it for a client, as all of a cohort would send at the same times")
		}
		r.spec.cohorts = append(r.spec.cohorts, c)
		if !r.ok() {
			return
		}
	}
}

// readPattern reads diurnal, spike and drain of a cohort.
func (r *reader) readPattern(o *object, c *client) {
	p := &c.pattern
	if v, at := o.get("diurnal"); v != nil {
		in := r.object(v, at, []string{"peak_hour", "peak_to_trough_ratio"})
		hour := in.whole("peak_hour", 0, 23, "an hour from 0 to 23")
		ratio := in.number("peak_to_trough_ratio", 1, 1e6, "a ratio from 1 to 1e6")
		if !ratio.set {
			r.fail(ratio.place, "not given, want the ratio of the highest rate to the lowest, like 4")
		}
		p.waves = &waves{period: 24 * vtime.Hour, peak: vtime.Duration(hour.value) * vtime.Hour, ratio: ratio.value}
	}
	if v, at := o.get("spike"); v != nil {
		in := r.object(v, at, []string{"start_time_us", "duration_us", "trace_rate"})
		start, length := in.duration("start_time_us"), in.longDuration("duration_us")
		if !length.set {
			r.fail(length.place, "not given, want how long the spike is")
		}
		p.spike = &window{place: at, start: vtime.Time(start.value), end: vtime.Time(start.value).Add(length.value)}
		p.spike.rate = in.number("trace_rate", 0, maxRate, "requests per second of the cohort, or a weight, from 0 to 1e9")
	}
	if v, at := o.get("drain"); v != nil {
		in := r.object(v, at, []string{"start_time_us", "ramp_duration_us"})
		ramp := in.longDuration("ramp_duration_us")
		if !ramp.set {
			r.fail(ramp.place, "not given, want how long the rate falls")
		}
		p.drain, p.start, p.ramp = true, in.duration("start_time_us").value, ramp.value
		if p.waves != nil {
			r.fail(at, "given beside diurnal; want one of them, or two cohorts")
		}
	}
	if c.profile != nil && (p.waves != nil || p.spike != nil || p.drain) {
		r.fail(c.profile.place, "given beside diurnal, spike or drain, want one of them")
	}
	if (p.waves != nil || p.drain) && c.arrival.shapesRate() {
		r.fail(c.arrival.place, "%s: given beside diurnal or drain, want one of them", c.arrival.process)
	}
}
