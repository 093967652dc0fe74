package spec

import (
	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// profile is how a rate varies over time: by what it is multiplied.
type profile struct {
	place
	constant float64 // the multiplier, when nothing else is given
	pieces   []draw.Piece
	repeat   bool
	spikes   *spikes
	waves    *waves
}

const maxMultiplier = 1e6

// profile reads a load profile, nil when it is not given.
func (o *object) profile(name string) *profile {
	v, at := o.get(name)
	if v == nil {
		return nil
	}
	forms := []struct {
		name   string
		fields []string
	}{
		{"constant", []string{"multiplier"}},
		{"step", []string{"segments", "repeat"}},
		{"ramp", []string{"segments", "repeat", "start"}},
		{"diurnal", []string{"period", "peak_to_trough", "peak_at"}},
		{"spike", []string{"every", "duration", "factor", "first"}},
	}
	all, names := []string{"type"}, []string(nil)
	for _, f := range forms {
		names, all = append(names, f.name), append(all, f.fields...)
	}
	in := o.object(v, at, unique(all))
	kind := in.choice("type", names...)
	if !kind.set {
		o.fail(kind.place, "not given, want one of constant, step, ramp, diurnal, spike")
	}
	for _, f := range forms {
		if f.name == kind.value {
			in = o.object(v, at, append([]string{"type"}, f.fields...))
		}
	}
	p := &profile{place: at, constant: 1}
	multiplier := in.number("multiplier", 0, maxMultiplier, "a factor from 0 to 1e6")
	switch kind.value {
	case "constant":
		p.constant = multiplier.or(1)
	case "step", "ramp":
		p.readSegments(&in, kind.value == "ramp")
	case "diurnal":
		p.waves = readWaves(&in)
	case "spike":
		p.spikes = readSpikes(&in)
	}
	return p
}

// readSegments reads stretches one after the other, each with the multiplier
// it has (step) or arrives at (ramp).
func (p *profile) readSegments(o *object, ramp bool) {
	items, at := o.items("segments", "segments like {duration: 10m, multiplier: 2}")
	if len(items) == 0 {
		o.fail(at, "no segments, want at least one like {duration: 10m, multiplier: 2}")
	}
	last := o.number("start", 0, maxMultiplier, "a factor from 0 to 1e6").or(1)
	total := vtime.Time(0)
	for i, v := range items {
		s := o.object(v, at.Item(i, v.Line), []string{"duration", "multiplier"})
		length, to := s.longDuration("duration"), s.number("multiplier", 0, maxMultiplier, "a factor from 0 to 1e6")
		if !length.set || !to.set {
			o.fail(s.place, "want duration and multiplier")
			return
		}
		if total += vtime.Time(length.value); total > workload.Latest {
			o.fail(length.place, "%v: the segments pass the end of virtual time, want less", length.value)
			return
		}
		piece := draw.Piece{Length: length.value, From: to.value, To: to.value}
		if ramp {
			piece.From = last
		}
		last = to.value
		p.pieces = append(p.pieces, piece)
	}
	p.repeat = o.flag("repeat").value
}

// curve is the profile times rate per second.
func (p *profile) curve(rate float64) draw.RateCurve {
	if p == nil {
		return draw.Flat(rate)
	}
	if p.pieces == nil {
		return vary(float64(p.constant*rate), p.spikes, p.waves)
	}
	c := draw.RateCurve{Pieces: p.pieces, Repeat: p.repeat}
	return c.Scale(rate)
}
