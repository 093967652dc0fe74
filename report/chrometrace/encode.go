package chrometrace

import (
	"math"
	"strconv"
	"unicode/utf8"

	"blis/trace"
	"blis/vtime"
)

// longestName is the length in bytes at which names are cut off.
const longestName = 200

// cut cuts a long name off.
func cut(text string) string {
	if len(text) <= longestName {
		return text
	}
	n := longestName
	for n > longestName-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// quote is a name as JSON.
func quote(text string) string { return string(trace.AppendString(nil, cut(text))) }

// line is a line of the file: an event. Its methods append to it.
type line struct {
	b    []byte
	args int // members of args so far
}

// begin begins an event with the members that all have.
func (l *line) begin(name, category, phase string, e *event) {
	l.b = append(l.b, `{"name":"`...)
	l.b = append(l.b, name...)
	l.rest(category, phase, e)
}

// beginQuoted is begin with a name that is JSON.
func (l *line) beginQuoted(name, category, phase string, e *event) {
	l.b = append(l.b, `{"name":`...)
	l.b = append(l.b, name[:len(name)-1]...)
	l.rest(category, phase, e)
}

func (l *line) rest(category, phase string, e *event) {
	l.b = append(l.b, `","cat":"`...)
	l.b = append(l.b, category...)
	l.b = append(l.b, `","ph":"`...)
	l.b = append(l.b, phase...)
	l.at(e)
}

// at appends where and when an event is.
func (l *line) at(e *event) {
	l.number(`","pid":`, int64(e.where>>32))
	l.number(`,"tid":`, int64(e.where&math.MaxUint32))
	l.number(`,"ts":`, int64(e.ts))
	l.args = 0
}

// number appends a member and its comma, as key has it.
func (l *line) number(key string, v int64) {
	l.b = trace.AppendInt(append(l.b, key...), v)
}

// id appends the id of a request.
func (l *line) id(request int64) {
	l.number(`,"id":"`, request)
	l.b = append(l.b, '"')
}

// arg begins a member of args.
func (l *line) arg(key string) {
	if l.args++; l.args == 1 {
		l.b = append(l.b, `,"args":{"`...)
	} else {
		l.b = append(l.b, `,"`...)
	}
	l.b = append(append(l.b, key...), `":`...)
}

func (l *line) count(key string, v int64) {
	l.arg(key)
	l.b = trace.AppendInt(l.b, v)
}

// some is count of what is not 0.
func (l *line) some(key string, v int64) {
	if v != 0 {
		l.count(key, v)
	}
}

// text is an argument that is JSON already. What is empty is left out.
func (l *line) text(key, quoted string) {
	if len(quoted) > len(`""`) {
		l.arg(key)
		l.b = append(l.b, quoted...)
	}
}

// word is an argument that needs no escapes.
func (l *line) word(key, word string) {
	if word != "" {
		l.arg(key)
		l.b = append(append(append(l.b, '"'), word...), '"')
	}
}

// finish ends the event.
func (l *line) finish() {
	if l.args > 0 {
		l.b = append(l.b, '}')
	}
	l.b = append(l.b, '}')
}

// encode appends an event.
func (m *maker) encode(l *line, e *event) {
	i := e.index()
	switch e.kind() {
	case stepSlice:
		m.encodeStep(l, e, m.of.steps.at(i))
	case transferSlice:
		m.encodeTransfer(l, e, m.of.transfers.at(i))
	case requestsCounter:
		l.begin("requests", "step", "C", e)
		l.count("running", int64(m.of.steps.at(i).running))
		l.count("waiting", int64(m.of.steps.at(i).waiting))
	case idleCounter:
		l.begin("requests", "step", "C", e)
		l.count("running", 0)
		l.count("waiting", int64(m.of.steps.at(i).waiting))
	case crashCounter:
		l.begin("requests", "step", "C", e)
		l.count("running", 0)
		l.count("waiting", 0)
	case crashBlocksCounter:
		l.begin("KV blocks", "step", "C", e)
		l.count("used", 0)
	case blocksCounter:
		l.begin("KV blocks", "step", "C", e)
		l.count("used", m.of.steps.at(i).blocks)
	case instancesCounter:
		m.encodeInstances(l, e, m.of.instants.at(i))
	case mark:
		m.encodeMark(l, e, m.of.instants.at(i))
	case handOverStart, handOverEnd:
		flow(l, e, "hand_over", handOverStart, 2*m.of.requests.at(i).id)
	case transferFlowStart, transferFlowEnd:
		flow(l, e, "kv_transfer", transferFlowStart, 2*int64(i)+1)
	case main:
		m.encodeMain(l, e, m.of.requests.at(i))
	case prefills:
		m.encodePrefills(l, e, m.of.requests.at(i))
	}
	l.finish()
}

func (m *maker) encodeStep(l *line, e *event, s *step) {
	name := "prefill+decode"
	switch {
	case s.steps > 1 && s.prefill > 0:
		name = "steps"
	case s.prefill == 0:
		name = "decode"
	case s.decode == 0:
		name = "prefill"
	}
	l.begin(name, "step", "X", e)
	l.number(`,"dur":`, int64(m.clip(s.end)-e.ts))
	if s.steps > 1 {
		l.count("steps", int64(s.steps))
		if s.busy < s.end.Sub(s.start) {
			l.count("busy_us", int64(s.busy))
		}
	}
	l.count("running", int64(s.running))
	l.count("waiting", int64(s.waiting))
	l.count("prefill_tokens", s.prefill)
	l.count("decode_tokens", s.decode)
	l.count("kv_used_blocks", s.blocks)
}

func (m *maker) encodeTransfer(l *line, e *event, t *transfer) {
	l.beginQuoted(m.of.names.quoted[t.reason], "kv_transfer", "X", e)
	l.number(`,"dur":`, int64(m.clip(t.end)-e.ts))
	l.count("request", t.request)
	l.text("from", m.of.names.quoted[t.from])
	l.text("to", m.of.names.quoted[t.to])
	l.count("blocks", int64(t.blocks))
	l.count("bytes", t.bytes)
	l.count("submitted_us", int64(t.submitted))
	l.count("noticed_us", int64(t.noticed))
}

// encodeInstances is the number of instances of a pool.
func (m *maker) encodeInstances(l *line, e *event, i *instant) {
	if pool := m.of.names.quoted[i.name]; len(pool) > len(`""`) {
		l.beginQuoted(`"instances of `+pool[1:], "scale", "C", e)
	} else {
		l.begin("instances", "scale", "C", e)
	}
	l.count("wanted", int64(i.b))
}

// encodeMark is an instant.
func (m *maker) encodeMark(l *line, e *event, i *instant) {
	switch i.kind {
	case preempted:
		l.begin("preemption", "preemption", "i", e)
	case expired:
		l.begin("kv_expired", "kv_transfer", "i", e)
	case anomaly:
		l.beginQuoted(m.of.names.quoted[i.name], "anomaly", "i", e)
	case failed:
		l.beginQuoted(m.of.names.quoted[i.name], "failure", "i", e)
	case scaled:
		l.begin(scaleName(i), "scale", "i", e)
	}
	if i.instance < 0 || i.rare() {
		l.b = append(l.b, `,"s":"p"`...)
	} else {
		l.b = append(l.b, `,"s":"t"`...)
	}
	if i.request >= 0 {
		l.count("request", i.request)
	}
	switch i.kind {
	case preempted:
		l.count("computed_tokens", int64(i.a))
	case expired:
		l.count("blocks", int64(i.a))
	case anomaly:
		l.text("detail", m.of.names.quoted[i.detail])
		l.arg("severity")
		l.b = strconv.AppendFloat(l.b, i.severity, 'f', -1, 64)
	case failed:
		l.some("retries", int64(i.a))
		l.text("pool", m.of.names.quoted[i.detail])
	case scaled:
		l.text("pool", m.of.names.quoted[i.name])
		l.count("from", int64(i.a))
		l.count("to", int64(i.b))
		l.text("reason", m.of.names.quoted[i.detail])
	}
}

func scaleName(i *instant) string {
	switch {
	case i.severity != 0:
		return "no_capacity"
	case i.b > i.a:
		return "scale_up"
	}
	return "scale_down"
}

// flow is the beginning or end of an arrow.
func flow(l *line, e *event, name string, start eventKind, id int64) {
	if e.kind() == start {
		l.begin(name, "flow", "s", e)
		l.number(`,"id":`, id)
		return
	}
	l.begin(name, "flow", "f", e)
	l.number(`,"id":`, id)
	l.b = append(l.b, `,"bp":"e"`...)
}

// encodeMain is an event of a request on its last instance.
func (m *maker) encodeMain(l *line, e *event, q *request) {
	if e.place() > 0 {
		l.phase(&ofRequest, e, q.id)
		return
	}
	l.begin("request", "request", "b", e)
	l.id(q.id)
	l.count("request", q.id)
	l.text("tenant", label(m.labels.tenants, q.tenant))
	l.text("slo_class", label(m.labels.classes, q.class))
	l.text("model", label(m.labels.models, q.model))
	l.count("input_tokens", int64(q.input))
	l.count("output_tokens", int64(q.generated))
	l.some("cached_tokens", int64(q.cached))
	l.some("preemptions", int64(q.preempted))
	l.some("retries", int64(q.retries))
	l.word("state", q.state.String())
	l.word("reason", q.reason.String())
	if q.handed != nil {
		l.count("prefill_instance", int64(q.handed.from))
	}
	if q.finished == vtime.Never {
		l.arg("unfinished")
		l.b = append(l.b, "true"...)
	}
	if e.ts != q.arrival {
		l.count("arrival_us", int64(q.arrival))
	}
}

// encodePrefills is an event of a request on the instance that computes its prompt for another one.
func (m *maker) encodePrefills(l *line, e *event, q *request) {
	if e.place() > 0 {
		l.phase(&ofPrefill, e, q.id)
		return
	}
	l.begin("remote_prefill", "remote_prefill", "b", e)
	l.id(q.id)
	l.count("request", q.id)
	l.count("input_tokens", int64(q.input))
	if q.instance >= 0 {
		l.count("decode_instance", int64(q.instance))
	}
}

// phase is the beginning or end of a phase, or the end of all.
func (l *line) phase(category *beginnings, e *event, id int64) {
	l.b = append(l.b, category[e.place()]...)
	l.at(e)
	l.id(id)
}

// beginnings are the first members of the events of a request, by place. They are most of a trace.
type beginnings [lastPlace + 1]string

var ofRequest, ofPrefill = beginningsOf("request"), beginningsOf("remote_prefill")

func beginningsOf(category string) (list beginnings) {
	for place := range list {
		name, ph := category, "e"
		if k := place - 1; place > 0 && place < lastPlace {
			name = phaseNames[k/2]
			ph = "be"[k%2 : k%2+1]
		}
		list[place] = `{"name":"` + name + `","cat":"` + category + `","ph":"` + ph
	}
	return list
}

// label is a name by its label; labels that have none are empty.
func label(names []string, i int32) string {
	if i < 0 || int(i) >= len(names) {
		return ""
	}
	return names[i]
}
