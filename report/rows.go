package report

import (
	"bufio"
	"encoding/json"
	"strconv"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/vtime"
)

// rowColumns are the columns of a row. Times are in µs of virtual
// time; those that are not durations are absolute.
var rowColumns = [...]struct {
	name string
	in   rowKind
}{
	{"request", everyRow}, {"arrival_us", everyRow}, {"state", everyRow}, {"instance", everyRow}, {"tenant", everyRow}, {"slo_class", everyRow},
	{"model", everyRow}, {"session", everyRow}, {"round", everyRow}, {"input_tokens", everyRow}, {"cached_tokens", everyRow}, {"output_tokens", everyRow},
	{"queued_us", everyRow}, {"scheduled_us", everyRow}, {"first_token_us", everyRow}, {"completed_us", everyRow}, {"ttft_us", everyRow}, {"tpot_us", everyRow},
	{"e2e_us", everyRow}, {"scheduling_delay_us", everyRow}, {"preemptions", everyRow},
	{"cpu_tokens", tieredRow}, {"storage_tokens", storedRow}, {"retries", failingRow},
	{"band", gatedRow}, {"flow", gatedRow}, {"gateway_us", gatedRow}, {"dispatched_us", gatedRow},
	{"deployment", deployedRow}, {"pool", pooledRow}, {"node", placedRow},
	{"prefill_instance", disaggregatedRow}, {"prefill_queued_us", disaggregatedRow}, {"prefill_scheduled_us", disaggregatedRow}, {"handoff_us", disaggregatedRow},
	{"decode_queued_us", disaggregatedRow}, {"pull_start_us", disaggregatedRow}, {"pull_end_us", disaggregatedRow}, {"remote_tokens", disaggregatedRow},
}

// rowKind is what a run must have for a column.
type rowKind uint8

const (
	everyRow rowKind = iota
	tieredRow
	storedRow
	failingRow
	gatedRow
	deployedRow
	pooledRow
	placedRow
	disaggregatedRow
)

// Rows says which columns rows have beside those that all have.
type Rows struct {
	Tiers         int  // kinds of tiers below the GPU: none, a CPU tier, and storage tiers
	Fails         bool // instances may fail
	Gated         bool // there is a gateway
	Deployments   bool // deployments have names
	Pools         bool // there are several pools
	Nodes         bool // instances are on nodes
	Disaggregates bool // instances hand requests over to others
}

// shows reports whether rows have column i.
func (r Rows) shows(i int) bool {
	switch rowColumns[i].in {
	case tieredRow:
		return r.Tiers > 0
	case storedRow:
		return r.Tiers > 1
	case failingRow:
		return r.Fails
	case gatedRow:
		return r.Gated
	case deployedRow:
		return r.Deployments
	case pooledRow:
		return r.Pools
	case placedRow:
		return r.Nodes
	case disaggregatedRow:
		return r.Disaggregates
	}
	return true
}

// Columns are the columns of CSVRows and the keys of JSONRows, in order.
func (r Rows) Columns() (list []string) {
	for i := range rowColumns {
		if r.shows(i) {
			list = append(list, rowColumns[i].name)
		}
	}
	return list
}

// cell is a number or a text, or nothing.
type cell struct {
	kind   cellKind
	number int64
	text   string
}

type cellKind uint8

const (
	nothing cellKind = iota
	number
	text
)

func numberCell(n int64) cell { return cell{kind: number, number: n} }

// textCell is nothing for an empty text.
func textCell(s string) cell {
	if s == "" {
		return cell{}
	}
	return cell{kind: text, text: s}
}

func timeCell(t vtime.Time) cell {
	if t == vtime.Never {
		return cell{}
	}
	return numberCell(int64(t))
}

func durationCell(d vtime.Duration, ok bool) cell {
	if !ok {
		return cell{}
	}
	return numberCell(int64(d))
}

// rowCells is a row in the order of rowColumns.
func rowCells(r *actors.Row) [len(rowColumns)]cell {
	session, round, cached, fromCPU, fromStorage, completed := cell{}, cell{}, cell{}, cell{}, cell{}, cell{}
	if r.Session != 0 {
		session, round = textCell(strconv.FormatUint(r.Session, 10)), numberCell(int64(r.Round))
	}
	if r.Scheduled != vtime.Never {
		l := r.Lookup()
		cached, fromCPU, fromStorage = numberCell(int64(l.Cached)), numberCell(int64(l.CPU)), numberCell(int64(l.Storage))
	}
	if r.State == metrics.Completed {
		completed = timeCell(r.Finished)
	}
	deployment, pool := actors.Place(r)
	h, decodeQueued, remote := &r.HandOver, cell{}, cell{}
	if h.Made() {
		if decodeQueued = timeCell(r.Queued); r.Scheduled != vtime.Never {
			remote = numberCell(int64(h.RemoteTokens))
		}
	}
	var band, flow, waited, dispatched cell
	if g, ok := actors.AtGateway(r); ok {
		band, flow, waited, dispatched = numberCell(int64(g.Band)), textCell(g.Flow), durationCell(g.Wait, g.Wait >= 0), timeCell(g.At)
	}
	return [...]cell{
		numberCell(r.ID), timeCell(r.Arrival), textCell(r.State.String()), textCell(r.InstanceName()),
		textCell(r.TenantName()), textCell(r.ClassName()), textCell(r.ModelName()), session, round,
		numberCell(int64(r.Input)), cached, numberCell(int64(r.Generated)),
		timeCell(r.Queued), timeCell(r.Scheduled), timeCell(r.FirstToken), completed,
		durationCell(r.TTFT()), durationCell(r.TPOT()), durationCell(r.E2E()), durationCell(r.SchedulingDelay()),
		numberCell(int64(r.Preemptions + h.Preemptions)),
		fromCPU, fromStorage, numberCell(int64(r.Retries)), band, flow, waited, dispatched,
		textCell(deployment), textCell(pool), textCell(actors.NodeName(r)),
		textCell(actors.PrefillInstance(r)), timeCell(h.Queued), timeCell(h.Scheduled), timeCell(h.Ended),
		decodeQueued, timeCell(h.PullStart), timeCell(h.PullEnd), remote,
	}
}

// CSVRows writes a header now and a line for each row that the returned function
// is given, a field per column of docs/metrics.md, empty for nothing. Errors of
// the writer show when it is flushed. The function is for actors.Config.Row.
func CSVRows(w *bufio.Writer, which Rows) func(*actors.Row) {
	w.WriteString(strings.Join(which.Columns(), ",") + "\n")
	return func(row *actors.Row) {
		cells := rowCells(row)
		for i, c := range cells {
			if !which.shows(i) {
				continue
			}
			if i > 0 {
				w.WriteByte(',')
			}
			switch c.kind {
			case number:
				w.Write(strconv.AppendInt(w.AvailableBuffer(), c.number, 10))
			case text:
				w.WriteString(csvField(c.text))
			}
		}
		w.WriteByte('\n')
	}
}

// csvField quotes a text that would not read back as it is (RFC 4180).
func csvField(s string) string {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// JSONRows is CSVRows with an object on each line in place of fields, null for
// nothing.
func JSONRows(w *bufio.Writer, which Rows) func(*actors.Row) {
	return func(row *actors.Row) {
		open, cells := byte('{'), rowCells(row)
		for i, c := range cells {
			if !which.shows(i) {
				continue
			}
			w.WriteByte(open)
			open = ','
			w.WriteString(`"` + rowColumns[i].name + `":`)
			switch c.kind {
			case number:
				w.Write(strconv.AppendInt(w.AvailableBuffer(), c.number, 10))
			case text:
				quoted, _ := json.Marshal(c.text) // of a string: no error
				w.Write(quoted)
			default:
				w.WriteString("null")
			}
		}
		w.WriteString("}\n")
	}
}
