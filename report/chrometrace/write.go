package chrometrace

import (
	"io"
	"math"
	"strconv"

	"blis/vtime"
)

// Schema names the form of otherData.
const Schema = "blis.chrome-trace/v1"

// End is what is known of a run when it has ended.
type End struct {
	At      vtime.Time
	Partial bool // it was interrupted

	Instances []string // names by index
	// Names by label.
	Tenants, Classes, Models []string
}

// labels are the names of End as JSON.
type labels struct{ tenants, classes, models []string }

// pieceSize is the size in bytes from which on a piece is written.
const pieceSize = 1 << 18

// Write writes the trace. Requests that have not ended end where the run does. The Recorder must take
// nothing more.
func (r *Recorder) Write(to io.Writer, end End) error {
	window := r.options.To
	if end.Partial {
		r.cutAt(end.At)
	}
	m := &maker{of: r, end: min(max(end.At, r.last), r.options.To)}
	for {
		m.make()
		m.describe()
		if n := len(m.events) + len(m.meta); n <= r.options.Events || !r.thinOnce(r.options.Events) {
			break
		}
	}
	m.labels = labels{quoteAll(end.Tenants), quoteAll(end.Classes), quoteAll(end.Models)}
	l := &line{b: make([]byte, 0, pieceSize+1<<12)}
	m.head(l, &end, window)
	flush := func() error {
		n, err := to.Write(l.b)
		if err == nil && n < len(l.b) {
			err = io.ErrShortWrite
		}
		l.b = l.b[:0]
		return err
	}
	between := "\n"
	next := func() {
		l.b = append(l.b, between...)
		between = ",\n"
	}
	for i := range m.meta {
		next()
		m.encodeMeta(l, &m.meta[i], end.Instances)
	}
	for i := range m.events {
		next()
		m.encode(l, &m.events[i])
		if len(l.b) >= pieceSize {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	l.b = append(l.b, "\n]}\n"...)
	return flush()
}

// cutAt ends the trace of an interrupted run where its instances are: the router may be far ahead.
func (r *Recorder) cutAt(end vtime.Time) {
	r.options.To = min(r.options.To, end)
	r.requests.keep(func(q *request) bool {
		in := r.inWindow(q.arrival, q.finished)
		if !in {
			r.seen.requests--
		}
		return in
	})
	r.instants.keep(func(i *instant) bool {
		in := r.inWindow(i.at, i.at)
		if !in {
			r.seen.instants[i.kind]--
		}
		return in
	})
}

func quoteAll(list []string) []string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return quoted
}

// meta is metadata about a process or a thread.
type meta struct {
	where    uint64
	instance int32
	lane     int32 // −1: of the process
	order    bool  // where it stands among the others
}

// describe makes the metadata of what has events.
func (m *maker) describe() {
	m.meta = m.meta[:0]
	lanes := make([]int32, len(m.of.seats)+1) // by instance + 1; lanes that have events + 1
	for i := range m.events {
		where := m.events[i].where
		p := int(where>>32) - control
		lane := int32((where&math.MaxUint32 - where>>32) / laneStride)
		lanes[p] = max(lanes[p], lane+1)
	}
	for p, n := range lanes {
		i := int32(p) - 1
		if n > 0 {
			m.meta = append(m.meta, meta{thread(i, 0), i, -1, false}, meta{thread(i, 0), i, -1, true})
		}
		for lane := range n {
			m.meta = append(m.meta, meta{thread(i, lane), i, lane, false})
		}
	}
}

// encodeMeta appends metadata. They have no time.
func (m *maker) encodeMeta(l *line, x *meta, names []string) {
	kind := "thread_name"
	switch {
	case x.order:
		kind = "process_sort_index"
	case x.lane < 0:
		kind = "process_name"
	}
	l.b = append(append(append(l.b, `{"name":"`...), kind...), `","ph":"M"`...)
	l.number(`,"pid":`, int64(x.where>>32))
	l.number(`,"tid":`, int64(x.where&math.MaxUint32))
	l.args = 0
	switch {
	case x.order:
		l.count("sort_index", int64(x.where>>32))
	case x.lane > 0:
		l.word("name", "KV transfers "+strconv.Itoa(int(x.lane)))
	case x.lane == 0 && x.instance < 0:
		l.word("name", "decisions")
	case x.lane == 0:
		l.word("name", "steps")
	case x.instance < 0:
		l.word("name", "control plane")
	case int(x.instance) < len(names):
		l.text("name", quote(names[x.instance]))
	default:
		l.word("name", "instance "+strconv.Itoa(int(x.instance)))
	}
	l.finish()
}
