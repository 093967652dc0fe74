package chromecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Event is one event of the file.
type Event struct {
	Name, Cat, Ph string
	Pid, Tid      *int64
	Ts, Dur       *int64
	ID            any
	Bp, S         string
	Args          map[string]any
}

// File is a Chrome trace.
type File struct {
	Unit   string          `json:"displayTimeUnit"`
	Other  json.RawMessage `json:"otherData"`
	Events []Event         `json:"traceEvents"`

	OtherData Other `json:"-"`
	Unbound   int   `json:"-"` // ends of flows outside of slices
}

// Other is what tests read of otherData.
type Other struct {
	Schema  string
	Partial bool
	Events  int
	Most    int `json:"most_events"`
	Kept    map[string]struct{ Kept, Of int64 }
	Thinned struct {
		Merged bool   `json:"decode_runs_merged"`
		Bin    int64  `json:"step_bin_us"`
		Hash   bool   `json:"requests_by_hash"`
		Below  *int32 `json:"instances_below"`
	}
}

// Read reads a trace and checks it.
func Read(text []byte) (*File, error) {
	f := &File{}
	if err := strict(text, f); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(f.Other, &f.OtherData); err != nil {
		return nil, err
	}
	o := &f.OtherData
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	switch {
	case f.Unit != "ms" || o.Schema != "blis.chrome-trace/v1":
		return nil, fmt.Errorf("unit %q, schema %q", f.Unit, o.Schema)
	case len(lines) != len(f.Events)+2:
		return nil, fmt.Errorf("%d lines of %d events", len(lines), len(f.Events))
	case o.Events != len(f.Events) || o.Events > o.Most:
		return nil, fmt.Errorf("%d events, %d as it says, of %d", len(f.Events), o.Events, o.Most)
	}
	for name, k := range o.Kept {
		if k.Kept < 0 || k.Kept > k.Of {
			return nil, fmt.Errorf("%s: kept %d of %d", name, k.Kept, k.Of)
		}
	}
	return f, errors.Join(f.members(), f.order(), f.slices(), f.asynchronous(), f.flows(), f.metadata())
}

func strict(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// members checks that each event has the members of its phase.
func (f *File) members() error {
	for i := range f.Events {
		e := &f.Events[i]
		id, _ := e.ID.(string)
		number, isNumber := e.ID.(float64)
		ok := e.Name != "" && e.Pid != nil && *e.Pid > 0 && e.Tid != nil && *e.Tid > 0 && (e.Ph == "M") == (e.Ts == nil) && (e.Ph == "M") == (e.Cat == "")
		switch e.Ph {
		case "M":
			ok = ok && len(e.Args) == 1
		case "X":
			ok = ok && e.Dur != nil && *e.Dur >= 0 && len(e.Args) > 0
		case "C":
			ok = ok && len(e.Args) > 0
			for _, v := range e.Args {
				_, is := v.(float64)
				ok = ok && is
			}
		case "i":
			ok = ok && (e.S == "t" || e.S == "p")
		case "b", "e":
			ok = ok && id != ""
		case "s", "f":
			ok = ok && isNumber && number >= 0 && (e.Ph == "f") == (e.Bp == "e")
		default:
			ok = false
		}
		if ok = ok && (e.Ts == nil || *e.Ts >= 0); !ok {
			return fmt.Errorf("event %d, %s", i, e)
		}
	}
	return nil
}

// String is the event for errors.
func (e Event) String() string {
	text, _ := json.Marshal(e)
	return string(text)
}

// key is where an event stands in the order of the file.
func (e *Event) key() [3]int64 {
	if e.Ph == "M" {
		return [3]int64{-1, *e.Pid, 0}
	}
	return [3]int64{*e.Ts, *e.Pid, *e.Tid}
}

func (f *File) order() error {
	for i := 1; i < len(f.Events); i++ {
		x, y := &f.Events[i-1], &f.Events[i]
		a, b := x.key(), y.key()
		if slices.Compare(a[:], b[:]) > 0 {
			return fmt.Errorf("%s before %s", x, y)
		}
	}
	return nil
}

type thread struct{ pid, tid int64 }

// slices checks that slices of one thread do not overlap, and that a thread has one process.
func (f *File) slices() error {
	ends, processes := map[thread]int64{}, map[int64]int64{}
	for i := range f.Events {
		e := &f.Events[i]
		at := thread{*e.Pid, *e.Tid}
		if pid, there := processes[at.tid]; there && pid != at.pid {
			return fmt.Errorf("thread %d is of the processes %d and %d", at.tid, pid, at.pid)
		}
		processes[at.tid] = at.pid
		if e.Ph != "X" {
			continue
		}
		if *e.Ts < ends[at] {
			return fmt.Errorf("the slice before %s ends at %d", e, ends[at])
		}
		ends[at] = *e.Ts + *e.Dur
	}
	return nil
}

// asynchronous checks that beginnings and ends nest and balance.
func (f *File) asynchronous() error {
	type key struct {
		pid     int64
		cat, id string
	}
	open, ended := map[key][]string{}, map[key]bool{}
	for i := range f.Events {
		e := &f.Events[i]
		if e.Ph != "b" && e.Ph != "e" {
			continue
		}
		k := key{*e.Pid, e.Cat, e.ID.(string)}
		stack := open[k]
		n := len(stack)
		switch {
		case e.Ph == "b" && n == 0 && ended[k]:
			return fmt.Errorf("%s begins again", e)
		case e.Ph == "b" && (n == 0) != (e.Name == e.Cat) || n > 1 && e.Ph == "b":
			return fmt.Errorf("%s within %q", e, stack)
		case e.Ph == "b":
			open[k] = append(stack, e.Name)
		case n == 0 || stack[n-1] != e.Name:
			return fmt.Errorf("%s ends within %q", e, stack)
		default:
			open[k], ended[k] = stack[:n-1], true
		}
	}
	for k, stack := range open {
		if len(stack) > 0 {
			return fmt.Errorf("%v has not ended: %q", k, stack)
		}
	}
	return nil
}

// flows checks that each flow has one beginning and one end, in that order, and counts those
// outside of slices.
func (f *File) flows() error {
	type ends struct{ start, end *Event }
	list, at := map[float64]*ends{}, map[thread][]*Event{}
	for i := range f.Events {
		if e := &f.Events[i]; e.Ph == "X" {
			at[thread{*e.Pid, *e.Tid}] = append(at[thread{*e.Pid, *e.Tid}], e)
		}
	}
	for i := range f.Events {
		e := &f.Events[i]
		if e.Ph != "s" && e.Ph != "f" {
			continue
		}
		id := e.ID.(float64)
		x := list[id]
		if x == nil {
			x = &ends{}
			list[id] = x
		}
		switch {
		case e.Ph == "s" && x.start == nil && x.end == nil:
			x.start = e
		case e.Ph == "f" && x.start != nil && x.end == nil && x.start.Name == e.Name:
			x.end = e
		default:
			return fmt.Errorf("%s is not the one end of its flow", e)
		}
		all := at[thread{*e.Pid, *e.Tid}]
		k, found := slices.BinarySearchFunc(all, *e.Ts, func(s *Event, ts int64) int { return int(*s.Ts - ts) })
		if !found && (k == 0 || *all[k-1].Ts+*all[k-1].Dur < *e.Ts) {
			f.Unbound++
		}
	}
	for id, x := range list {
		if x.end == nil {
			return fmt.Errorf("the flow %v has no end", id)
		}
	}
	return nil
}

// metadata checks that each process and each thread with events has a name, and no others have.
func (f *File) metadata() error {
	named, used := map[string]bool{}, map[string]bool{}
	for i := range f.Events {
		e := &f.Events[i]
		process, of := fmt.Sprintf("process %d", *e.Pid), fmt.Sprintf("thread %d of %d", *e.Tid, *e.Pid)
		switch {
		case e.Ph != "M":
			used[process], used[of] = true, true
		case e.Name == "process_name":
			named[process] = true
		case e.Name == "thread_name":
			named[of] = true
		}
	}
	for what := range used {
		if !named[what] {
			return fmt.Errorf("%s has no name", what)
		}
	}
	return nil
}
