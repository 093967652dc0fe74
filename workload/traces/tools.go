package traces

import (
	"fmt"
	"slices"

	"blis/workload/loadgen"
)

// toolRows is what a load generator sent, after it was put in the table.
type toolRows struct {
	sessions bool
	said     []string
}

// isTool reports whether a format is the output of a load generator or a server.
func isTool(f Format) bool { return slices.Contains(loadgen.Tools(), loadgen.Tool(f)) }

// readTool reads a file that a load generator or a server wrote: its requests, in
// the order in which they were sent. Those that failed or were cut off are part
// of the load and have the answer that they had by then. A request without a
// length or a time of its own is left out. Arrivals are nanoseconds of the tool's
// clock until the first of them becomes 0.
func (t *Trace) readTool(text *lines) (*toolRows, error) {
	var o loadgen.Options
	if t.options.SkipBadRows {
		o.Skip = t.skip
	}
	runs, err := loadgen.Read(text.name, text.r, loadgen.Tool(t.format), o)
	if err != nil {
		return nil, err
	}
	t.perTick = 1000
	c := countTool(runs)
	if t.paced = c.timed == 0; t.paced && t.options.Pace == nil {
		return nil, t.unpaced(text.name)
	}
	if t.paced {
		t.perTick = 1 // the number of Pace
	}
	if err := inTurn(text.name, runs); err != nil {
		return nil, err
	}
	t.table.has.session = c.sessions
	var names sessions
	for _, run := range runs {
		for i := range run.Requests {
			q := &run.Requests[i]
			if !c.usable(q) {
				continue
			}
			r := row{arrival: max(q.Start, 0), input: q.Input, output: max(q.Output, 0), maxOutput: -1, slack: -1}
			if c.shared[q.Session] > 1 {
				r.session = names.number([]byte(q.Session))
			}
			t.table.add(&r)
		}
	}
	t.nameDefaults()
	if t.table.rows() == 0 {
		return nil, fmt.Errorf("%s: no requests: none of %d tells the tokens of its prompt", text.name, c.all)
	}
	return &toolRows{sessions: c.sessions, said: c.notes(len(runs), t.table.rows())}, nil
}

// toolCounts is what there is in the runs of a tool.
type toolCounts struct {
	all, timed, failed, cut int
	warmup, other           int
	sessions                bool           // some have several requests
	shared                  map[string]int // requests of each
}

func countTool(runs []loadgen.Run) *toolCounts {
	c := &toolCounts{shared: map[string]int{}}
	for _, run := range runs {
		c.warmup += run.Warmup
		c.other += run.Other
		for i := range run.Requests {
			q := &run.Requests[i]
			c.all++
			if q.Start != loadgen.Unknown {
				c.timed++
			}
			if q.Session != "" {
				c.shared[q.Session]++
				c.sessions = c.sessions || c.shared[q.Session] > 1
			}
		}
	}
	for _, run := range runs {
		for i := range run.Requests {
			switch q := &run.Requests[i]; {
			case !c.usable(q):
			case q.State == loadgen.Failed:
				c.failed++
			case q.State == loadgen.Incomplete:
				c.cut++
			}
		}
	}
	return c
}

// usable reports whether a request can be replayed.
func (c *toolCounts) usable(q *loadgen.Request) bool {
	return q.Input > 0 && (c.timed == 0 || q.Start != loadgen.Unknown)
}

func (c *toolCounts) notes(runs, used int) (list []string) {
	for _, n := range []struct {
		count, of int
		text      string
	}{
		{c.all - used, c.all, "requests tell no length of prompt or no time, and are left out"},
		{c.failed, c.all, "requests failed; they are replayed with the answers that they had"},
		{c.cut, c.all, "requests were cut off as the run ended; they are replayed with the answers that they had"},
		{c.warmup, c.all + c.warmup, "requests are of the warmup, and left out"},
		{c.other, c.all + c.other, "spans are no requests"},
	} {
		if n.count > 0 {
			list = append(list, fmt.Sprintf("%d of %d %s", n.count, n.of, n.text))
		}
	}
	if runs > 1 {
		list = append(list, fmt.Sprintf("the file has %d runs, which are replayed one after the other", runs))
	}
	if c.sessions {
		list = append(list, "the file does not tell what prompts have in common: rounds of a session share nothing here")
	}
	return list
}

// inTurn checks that the runs of a file came one after the other, by one clock.
func inTurn(name string, runs []loadgen.Run) error {
	end := int64(0)
	for k, run := range runs {
		first, last := int64(-1), end
		for i := range run.Requests {
			if at := run.Requests[i].Start; at != loadgen.Unknown {
				if first < 0 || at < first {
					first = at
				}
				last = max(last, at)
			}
		}
		if first >= 0 && first < end {
			return fmt.Errorf("%s: run %d begins before the last request of run %d was sent, so their clocks are not one: want one run a file", name, k+1, k)
		}
		end = last
	}
	return nil
}

// finish counts the rounds of sessions.
func (t *toolRows) finish(table *table) error {
	if t.sessions {
		table.countRounds()
	}
	return nil
}

// notes implements noting.
func (t *toolRows) notes() []string { return t.said }
