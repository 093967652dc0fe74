package spec

import (
	"path/filepath"
	"slices"

	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// servegenData is a folder of ServeGen data whose clients send.
type servegenData struct {
	path       given[string]
	start, end given[vtime.Duration]
}

func (r *reader) servegenData(o *object) {
	v, at := o.get("servegen_data")
	if v == nil {
		return
	}
	in := r.object(v, at, []string{"path", "span_start", "span_end"})
	g := &servegenData{path: in.path("path", "the path of a folder of ServeGen data")}
	if !g.path.set {
		r.fail(g.path.place, "not given, want the path of a folder of ServeGen data")
	}
	g.start, g.end = in.duration("span_start"), in.duration("span_end")
	if g.end.set && g.end.value <= g.start.value {
		r.fail(g.end.place, "%v: want after span_start %v", g.end.value, g.start.value)
	}
	if r.spec.rate.value > 0 {
		r.note(r.spec.rate.place, "has no effect with servegen_data, whose windows have their rates")
	}
	for _, g := range []struct {
		place
		set bool
	}{{r.spec.share.place, r.spec.share.set}, {r.profilePlace(), r.spec.profile != nil}} {
		if g.set {
			r.fail(g.place, "given beside servegen_data, whose windows have their rates")
		}
	}
	r.spec.servegen = g
}

func (r *reader) profilePlace() place {
	if r.spec.profile == nil {
		return place{}
	}
	return r.spec.profile.place
}

// servegenClients are the clients of the data, within the span asked for.
func (b *builder) servegenClients(g *servegenData) {
	if b.defaults.ServeGen == nil {
		b.fail(g.path.place, "ServeGen data are not read here")
		return
	}
	list, err := b.defaults.ServeGen(b.spec.path(g.path.value))
	if err != nil {
		b.fail(g.path.place, "%v", err)
		return
	}
	span := window{start: vtime.Time(g.start.value), end: vtime.Never}
	if g.end.set {
		span.end = vtime.Time(g.end.value)
	}
	for i := range list {
		if c, sends := cut(list[i], span); sends {
			b.config.Clients = append(b.config.Clients, c)
		}
	}
	if len(b.config.Clients) == 0 {
		b.fail(g.path.place, "no client sends from %v to %v, want another span", span.start, span.end)
	}
}

// cut is the client c within a span, and whether it sends there.
func cut(c traffic.Client, span window) (traffic.Client, bool) {
	var windows []draw.Window
	var changes []traffic.Change
	given := c.Rate.Windows
	if len(given) == 0 {
		if span.start == 0 && span.end == vtime.Never {
			return c, true
		}
		given = []draw.Window{{End: vtime.Never, Factor: 1}}
	}
	for i, w := range given {
		w.Start, w.End = max(w.Start, span.start), min(w.End, span.end)
		if w.Start >= w.End {
			continue
		}
		windows = append(windows, w)
		if i < len(c.Changes) {
			changes = append(changes, c.Changes[i])
		}
	}
	c.Rate.Windows, c.Changes = windows, changes
	return c, len(windows) > 0
}

// Files are the files and folders that the specification names, each once.
func (s *Spec) Files() (list []string) {
	for _, p := range s.named {
		if p = s.path(p); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// path is a path of the specification, from its folder.
func (s *Spec) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(s.dir, p)
}
