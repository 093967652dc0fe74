package measured

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"blis/input/textio"
	"blis/vtime"
)

// Keys of a row of requests.jsonl.
const (
	rowInput = iota
	rowOutput
	rowArrival
	rowQueued
	rowScheduled
	rowFirstToken
	rowLastToken
)

var rowKeys = strings.Fields("input_toks output_toks arrival_time queued_ts scheduled_ts first_token_ts last_token_ts")

func engineFile(path string) ([]Request, error) { return readFile(path, readEngineRows) }

// readEngineRows reads a requests.jsonl. While it does, the times of requests are
// nanoseconds of their clocks.
func readEngineRows(name string, r io.Reader) ([]Request, error) {
	text, err := openJSON(name, r)
	if err != nil {
		return nil, err
	}
	var list []Request
	for {
		leaves, err := text.leaves(rowKeys)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		row := engineRow{name: name, line: text.line(), leaves: leaves}
		request := row.request()
		if row.fault != nil {
			return nil, row.fault
		}
		list = append(list, request)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no requests: want a JSON object for each", name)
	}
	fromFirst(list)
	arrange(list)
	return list, nil
}

// fromFirst turns nanoseconds of two clocks into microseconds after the first
// arrival, and after the first queueing.
func fromFirst(list []Request) {
	arrival, queued := list[0].Arrival, vtime.Never
	for i := range list {
		arrival = min(arrival, list[i].Arrival)
		if list[i].HasEngineTimes {
			queued = min(queued, list[i].Queued)
		}
	}
	for i := range list {
		r := &list[i]
		r.Arrival = vtime.Time(micros(int64(r.Arrival - arrival)))
		if !r.HasEngineTimes {
			continue
		}
		for _, t := range []*vtime.Time{&r.Queued, &r.Scheduled, &r.FirstToken, &r.LastToken} {
			*t = vtime.Time(micros(int64(*t - queued)))
		}
		r.TTFT, r.E2E = r.FirstToken.Sub(r.Queued), r.LastToken.Sub(r.Queued)
	}
}

// engineRow takes values out of the leaves of a row. The first that is wrong is
// the fault.
type engineRow struct {
	name   string
	line   int // where the row ends
	leaves []leaf
	fault  error
}

func (e *engineRow) request() Request {
	r := Request{Prompt: -1, Arrival: e.instant(rowArrival)}
	if r.Arrival == vtime.Never {
		e.bad(rowArrival, "seconds since 1970, above 0")
	}
	var stamps [4]vtime.Time
	for i := range stamps {
		stamps[i] = e.instant(rowQueued + i)
		if i > 0 && stamps[i] != vtime.Never && (stamps[i] < stamps[i-1] || stamps[i-1] == vtime.Never) {
			e.bad(rowQueued+i, "a time not before %s", rowKeys[rowQueued+i-1])
		}
	}
	r.Failed = stamps[3] == vtime.Never
	least := int64(1)
	if r.Failed {
		least = 0
	} else {
		r.Queued, r.Scheduled, r.FirstToken, r.LastToken = stamps[0], stamps[1], stamps[2], stamps[3]
		r.HasEngineTimes = true
	}
	r.Input, r.Output = e.count(rowInput, least), e.count(rowOutput, least)
	return r
}

func (e *engineRow) bad(k int, want string, args ...any) {
	if e.fault != nil {
		return
	}
	if !e.leaves[k].there {
		e.fault = fmt.Errorf("%s:%d: %s: not there: want %s", e.name, e.line, rowKeys[k], fmt.Sprintf(want, args...))
		return
	}
	e.fault = bad(e.name, e.leaves[k].line, rowKeys[k], spell(e.leaves[k].token), want, args...)
}

// instant is the time in a row, in nanoseconds of its clock; Never where it is
// absent, null or 0.
func (e *engineRow) instant(k int) vtime.Time {
	if e.leaves[k].token == nil {
		return vtime.Never
	}
	number, _ := e.leaves[k].token.(json.Number)
	ns, ok := textio.Scaled(number.String(), 9, latest)
	if !ok {
		e.bad(k, "seconds from 0 to %d", int64(latest/1_000_000_000))
	}
	if ns == 0 {
		return vtime.Never
	}
	return vtime.Time(ns)
}

func (e *engineRow) count(k int, low int64) int32 {
	number, _ := e.leaves[k].token.(json.Number)
	n, ok := textio.Whole(number.String(), low, most32)
	if !ok {
		e.bad(k, "a whole number from %d to %d", low, int64(most32))
	}
	return int32(n)
}
