package cluster

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"blis/study/pointlog"
)

// check is a point that is run on two workers, to find machines that compute something
// else.
type check struct {
	index     int64
	row       *pointlog.Row // of the point; nil: it has not run yet
	from      host          // who ran it; zero where that is not known any more
	published bool          // in this session
	done      bool          // the second run has a row
}

// leastChecks is the minimum number of points that are run twice.
const leastChecks = 3

// chooseChecks chooses the keys that are run twice: one of a hundred, the smallest ones.
// Keys are hashes, so that this is a fair sample, and the same after a restart.
func (c *coordinator) chooseChecks() error {
	sample := make([]Point, len(c.Points))
	copy(sample, c.Points)
	slices.SortFunc(sample, func(a, b Point) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	n := min(len(sample), max(leastChecks, (len(sample)+99)/100))
	c.checks = make(map[pointlog.Key]*check, n)
	for _, p := range sample[:n] {
		k := &check{index: p.Index}
		c.checks[p.Key] = k
		if p.Done {
			row, there, err := c.Rows.Row(p.Key)
			if err != nil {
				return err
			}
			if there {
				k.know(&row)
			}
		}
		again, there, err := c.Checks.Row(p.Key)
		if err != nil {
			return err
		}
		if k.done = k.done || there; there && k.row != nil {
			if err := k.compare(&again, host{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// ran notes that a point has its row.
func (c *coordinator) ran(r *result) error {
	k := c.checks[r.row.Key]
	if k == nil {
		return nil
	}
	row := r.row
	k.from = r.from
	k.know(&row)
	again, there, err := c.Checks.Row(row.Key)
	if !there || err != nil {
		return fatalOf(err)
	}
	return fatalOf(k.compare(&again, host{}))
}

// know notes the row of the point. One that the machine ended says nothing that another
// machine could say too.
func (k *check) know(row *pointlog.Row) {
	k.row = row
	k.done = k.done || !row.Done(false)
}

// takeCheck keeps the row of a second run.
func (c *coordinator) takeCheck(r *result) error {
	k := c.checks[r.row.Key]
	if k == nil || k.done || k.row == nil {
		return nil
	}
	r.row.Index = k.index
	if err := c.Checks.Append(&r.row); err != nil {
		return fatal{err}
	}
	k.done = true
	return fatalOf(k.compare(&r.row, r.from))
}

// compare is the error of two runs of a point that gave different results. Runs that
// ended because of the machine say nothing.
func (k *check) compare(again *pointlog.Row, from host) error {
	one := k.row
	if !one.Done(false) || !again.Done(false) {
		return nil
	}
	if one.Digest == again.Digest && one.Status == again.Status && one.Cause == again.Cause {
		return nil
	}
	return &Contradiction{fmt.Sprintf("point %d (key %s) has two results: %s on %s, and %s on %s: one of these machines computes something else, and the rows of this sweep cannot be trusted",
		k.index, one.Key, outcome(one), k.from, outcome(again), from)}
}

func outcome(r *pointlog.Row) string {
	if r.Status == pointlog.OK {
		return "digest " + r.Digest
	}
	return string(r.Status) + " " + string(r.Cause)
}

// dueChecks are the messages of checks that can run and are not published.
func (c *coordinator) dueChecks() (due []*nats.Msg) {
	for key, k := range c.checks { // any order: sorted below
		if k.row == nil || k.done || k.published {
			continue
		}
		k.published = true
		due = append(due, &nats.Msg{Subject: c.id.keySubject(kindCheck, key), Data: encode(order{Index: k.index, Not: k.from.Worker})})
	}
	slices.SortFunc(due, func(a, b *nats.Msg) int { return cmp.Compare(a.Subject, b.Subject) })
	return due
}

// unchecked is the number of checks without a second run.
func (c *coordinator) unchecked() (n int) {
	for _, k := range c.checks { // any order: a sum
		if !k.done {
			n++
		}
	}
	return n
}

// complete reports whether nothing is left to do. Checks are waited for only as long as
// somebody may run them.
func (c *coordinator) complete() bool {
	if c.missing > 0 {
		return false
	}
	left := c.unchecked()
	if left == 0 {
		return true
	}
	patience := 2 * c.Timing.Alive
	if ever, now := c.seen(); ever < 2 {
		patience = 0
	} else if now >= 2 {
		patience = 10*time.Second + 2*c.Timing.AckWait + time.Duration(10*c.longest()*float64(time.Second))
	}
	if time.Since(c.since) < patience {
		return false
	}
	c.Note(fmt.Sprintf("%d of %d points that are run twice, to compare machines, were run once: there was no other worker", left, len(c.checks)))
	return true
}

// longest is the longest run of a point that is to be checked, in seconds.
func (c *coordinator) longest() (s float64) {
	for _, k := range c.checks { // any order: a maximum
		if k.row != nil {
			s = max(s, k.row.WallS)
		}
	}
	return s
}
