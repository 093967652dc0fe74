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
var rowColumns = [...]string{
	"request", "arrival_us", "state", "instance", "tenant", "slo_class", "model", "session", "round",
	"input_tokens", "cached_tokens", "output_tokens", "queued_us", "scheduled_us", "first_token_us", "completed_us",
	"ttft_us", "tpot_us", "e2e_us", "scheduling_delay_us", "preemptions",
	"cpu_tokens",     // with a CPU tier alone
	"storage_tokens", // with storage tiers alone
	"retries",        // where instances may fail
}

// Rows says which columns rows have beside those that all have.
type Rows struct {
	Tiers int  // kinds of tiers below the GPU: none, a CPU tier, and storage tiers
	Fails bool // instances may fail
}

// shows reports whether rows have column i.
func (r Rows) shows(i int) bool {
	switch usual := len(rowColumns) - 3; {
	case i < usual:
		return true
	case i < usual+2:
		return i < usual+r.Tiers
	}
	return r.Fails
}

// Columns are the columns of CSVRows and the keys of JSONRows, in order.
func (r Rows) Columns() (list []string) {
	for i, name := range rowColumns {
		if r.shows(i) {
			list = append(list, name)
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
		cached, fromCPU, fromStorage = numberCell(int64(r.Cached)), numberCell(int64(r.CachedCPU)), numberCell(int64(r.CachedStorage))
	}
	if r.State == metrics.Completed {
		completed = timeCell(r.Finished)
	}
	return [...]cell{
		numberCell(r.ID), timeCell(r.Arrival), textCell(r.State.String()), textCell(r.InstanceName()),
		textCell(r.TenantName()), textCell(r.ClassName()), textCell(r.ModelName()), session, round,
		numberCell(int64(r.Input)), cached, numberCell(int64(r.Generated)),
		timeCell(r.Queued), timeCell(r.Scheduled), timeCell(r.FirstToken), completed,
		durationCell(r.TTFT()), durationCell(r.TPOT()), durationCell(r.E2E()), durationCell(r.SchedulingDelay()),
		numberCell(int64(r.Preemptions)),
		fromCPU, fromStorage, numberCell(int64(r.Retries)),
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
			w.WriteString(`"` + rowColumns[i] + `":`)
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
