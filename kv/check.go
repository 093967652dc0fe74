package kv

import "fmt"

// Check implements Cache.
func (p *Pool) Check(holders []*Sequence) error {
	c := poolCheck{p, make([]int32, p.runs.n)}
	held := 0
	for _, s := range holders {
		held += int(s.rest)
		if err := c.sequence(s); err != nil {
			return err
		}
	}
	for id := range p.pins.n {
		if x := p.pins.at(PinID(id)); x.run != none {
			c.pin(x)
		}
	}
	free, anonymous, err := c.freeList()
	if err != nil {
		return err
	}
	named, err := c.segments()
	if err != nil {
		return err
	}
	if used := named - (free - anonymous); free != p.free.blocks || held+used+free != p.total {
		return fmt.Errorf("kv: %d blocks held as counts + %d as runs + %d free (%d counted) ≠ %d in all", held, used, free, p.free.blocks, p.total)
	}
	return nil
}

// poolCheck is the check of a pool.
type poolCheck struct {
	p    *Pool
	refs []int32 // holders of each run, −1 for those on the free list
}

// sequence walks through the runs of s and counts it as their holder.
func (c *poolCheck) sequence(s *Sequence) error {
	end := int32(0)
	for i := 0; s.filed > 0 && i < len(s.runs); i++ {
		from := end
		end = c.p.intervals.at(c.p.runs.at(s.runs[i]).interval).to
		for id := s.runs[i]; ; id = c.p.runs.at(id).shallower {
			if id == none || c.p.runs.at(id).interval == none {
				return fmt.Errorf("kv: a sequence holds blocks from %d on, of which the shallowest are missing", from)
			}
			c.refs[id]++
			if start := c.p.intervals.at(c.p.runs.at(id).interval).from; start == from {
				break
			} else if start < from {
				return fmt.Errorf("kv: a sequence holds blocks from %d on by a run from %d on", from, start)
			}
		}
	}
	if end != s.filed && s.filed > 0 {
		return fmt.Errorf("kv: a sequence holds %d blocks as runs, and counts %d", end, s.filed)
	}
	return nil
}

// freeList returns the number of blocks on the free list, and the number of
// anonymous ones among them.
func (c *poolCheck) freeList() (blocks, anonymous int, err error) {
	prev := runID(none)
	for id := c.p.free.head; id != none; id = c.p.runs.at(id).next {
		r := c.p.runs.at(id)
		if r.prev != prev || r.refs != 0 || c.refs[id] != 0 {
			return 0, 0, fmt.Errorf("kv: run %d with %d holders lies on the free list behind run %d, filed behind %d", id, c.refs[id], prev, r.prev)
		}
		c.refs[id]--
		if prev = id; r.interval != none {
			blocks += int(c.p.length(r))
			continue
		}
		blocks += int(r.anonymous)
		anonymous += int(r.anonymous)
		if r.next != none && c.p.runs.at(r.next).interval == none {
			return 0, 0, fmt.Errorf("kv: two anonymous runs follow each other on the free list")
		}
	}
	if c.p.free.tail != prev {
		return 0, 0, fmt.Errorf("kv: the free list ends with run %d, filed %d", prev, c.p.free.tail)
	}
	return blocks, anonymous, nil
}

// segments goes through all segments, their intervals and their copies, and
// returns the number of blocks of all runs.
func (c *poolCheck) segments() (blocks int, err error) {
	children := make([]int32, c.p.segments.n)
	intervals, runs := 0, 0
	segments := allSegments(&c.p.segmentTree)
	for _, g := range segments {
		s := c.p.segments.at(g)
		if s.parent != none {
			children[s.parent]++
		}
		end := s.start / c.p.size
		prev := intervalID(none)
		for id := s.first; id != none; id = c.p.intervals.at(id).next {
			v := c.p.intervals.at(id)
			if v.segment != g || v.prev != prev || v.from < end || v.to <= v.from {
				return 0, fmt.Errorf("kv: interval %d of segment %d (%d) is %d to %d behind interval %d (%d), which ends at %d", id, g, v.segment, v.from, v.to, prev, v.prev, end)
			}
			copies, err := c.copies(id)
			if err != nil {
				return 0, err
			}
			prev, end = id, v.to
			intervals++
			runs += copies
			blocks += copies * int(v.to-v.from)
		}
	}
	for _, g := range segments {
		if s := c.p.segments.at(g); s.children != children[g] || s.children == 0 && s.first == none {
			return 0, fmt.Errorf("kv: segment %d has %d children, counted %d, and starts with interval %d", g, children[g], s.children, s.first)
		}
	}
	for id := c.p.free.head; id != none; id = c.p.runs.at(id).next {
		if c.p.runs.at(id).interval == none {
			runs++
		}
	}
	if len(segments) != c.p.segments.inUse() || intervals != c.p.intervals.inUse() || runs != c.p.runs.inUse() {
		return 0, fmt.Errorf("kv: %d segments, %d intervals and %d runs, and %d, %d and %d in use", len(segments), intervals, runs, c.p.segments.inUse(), c.p.intervals.inUse(), c.p.runs.inUse())
	}
	return blocks, nil
}

// copies goes through the copies of an interval and returns their number.
func (c *poolCheck) copies(v intervalID) (n int, err error) {
	at := c.p.intervals.at(v)
	older := runID(none)
	for id := at.oldest; id != none; id = c.p.runs.at(id).newer {
		r := c.p.runs.at(id)
		if r.interval != v || r.older != older {
			return 0, fmt.Errorf("kv: run %d of interval %d (%d) comes after run %d (%d)", id, v, r.interval, older, r.older)
		}
		if c.refs[id] == 0 || max(c.refs[id], 0) != r.refs {
			return 0, fmt.Errorf("kv: run %d has %d references and %d holders", id, r.refs, c.refs[id])
		}
		older = id
		n++
	}
	if at.newest != older || n == 0 {
		return 0, fmt.Errorf("kv: interval %d has %d copies and ends with run %d, not %d", v, n, at.newest, older)
	}
	return n, nil
}

// pin counts x as a holder of its runs.
func (c *poolCheck) pin(x *pin) {
	for id := x.run; ; id = c.p.runs.at(id).shallower {
		if c.refs[id]++; c.p.intervals.at(c.p.runs.at(id).interval).from <= x.from {
			return
		}
	}
}
