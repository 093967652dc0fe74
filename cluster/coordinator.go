package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blis/study/pointlog"
)

// Point is a point of a sweep that can be run.
type Point struct {
	Key   pointlog.Key
	Index int64 // in the sweep; of equal points the first
	Done  bool  // it has a row that stands
}

// Book is where rows are kept. A pointlog.Log is one.
type Book interface {
	Append(*pointlog.Row) error
	Sync() error
	Row(pointlog.Key) (pointlog.Row, bool, error)
}

// Work is what a coordinator has others run.
type Work struct {
	Engine     Engine
	Definition []byte // from which a worker makes the same points
	Inputs     []Input
	Points     []Point // in the order in which they are run; keys differ
	Rows       Book    // of points
	Checks     Book    // of points that were run a second time
}

// Timing says how long the parts wait for each other.
type Timing struct {
	AckWait time.Duration // a point that nobody reports on for so long is delivered again
	Quiet   time.Duration // points are published anew when the queue is empty for so long
	Alive   time.Duration // workers say that they are there
}

// UsualTiming is for machines in one network or several.
var UsualTiming = Timing{AckWait: 30 * time.Second, Quiet: 3 * time.Second, Alive: 5 * time.Second}

// Options of a coordinator or worker.
type Options struct {
	Timing Timing       // of a coordinator, who tells workers; UsualTiming if zero
	Note   func(string) // told in one line what is worth knowing; not nil
}

// Contradiction is the error of a point that has two results.
type Contradiction struct{ text string }

// Error names both results and where they come from.
func (e *Contradiction) Error() string { return e.text }

// fatal is an error that trying again does not mend.
type fatal struct{ error }

// Unwrap is the error itself.
func (f fatal) Unwrap() error { return f.error }

// errAgain ends a session without a fault: another one begins.
var errAgain = errors.New("again")

// coordinator gives points to workers and keeps their rows. All that it knows is in Work:
// whatever the server has may be lost at any time.
type coordinator struct {
	Work
	Options
	id      sweepID
	conn    *nats.Conn
	js      jetstream.JetStream
	changed chan struct{} // the connection was lost, or came back

	position map[pointlog.Key]int // of a key in Points; Points[i].Done is current
	missing  int                  // points that are not done
	checks   map[pointlog.Key]*check
	since    time.Time // when missing became 0

	mutex   sync.Mutex // guards what is below, which answers to requests read
	job     job
	counts  Status
	workers map[string]*Seen
}

// Serve has workers run the points of work and returns once all have rows. server is the
// one in this process, or nil for that of remote. dir is the folder of the sweep, which
// the caller has locked.
func Serve(ctx context.Context, dir string, work Work, server *Server, remote *Remote, o Options) error {
	if o.Timing == (Timing{}) {
		o.Timing = UsualTiming
	}
	if err := checkInputs(work.Inputs); err != nil {
		return err
	}
	if len(work.Definition) > maxDefinition {
		return inputErrorf("the sweep has a definition of %d bytes, at most %d travel to workers", len(work.Definition), maxDefinition)
	}
	id, err := identity(dir)
	if err != nil {
		return err
	}
	c := &coordinator{Work: work, Options: o, id: id, changed: make(chan struct{}, 1), workers: map[string]*Seen{}}
	c.job = job{ID: id, Engine: work.Engine, Definition: sumOf(work.Definition), Inputs: work.Inputs, AckWait: o.Timing.AckWait}
	if err := c.takeStock(); err != nil || c.missing == 0 {
		return err
	}
	signal := func() {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
	if server != nil {
		c.conn, err = server.connect(options(coordinatorInbox, time.Hour, signal)...)
	} else {
		c.conn, err = remote.connect(ctx, o.Note, options(coordinatorInbox, remote.Wait, signal)...)
	}
	if err != nil {
		return err
	}
	defer c.conn.Close()
	if c.js, err = jetstream.New(c.conn); err != nil {
		return err
	}
	if err := c.listen(); err != nil {
		return err
	}
	err = c.sessions(ctx)
	if synced := c.Rows.Sync(); err == nil {
		err = synced
	}
	if synced := c.Checks.Sync(); err == nil {
		err = synced
	}
	var wrong *Contradiction
	if err == nil || errors.As(err, &wrong) {
		c.end(ctx)
	}
	return err
}

// takeStock finds out what there is to do.
func (c *coordinator) takeStock() error {
	c.position = make(map[pointlog.Key]int, len(c.Points))
	for i, p := range c.Points {
		c.position[p.Key] = i
		if !p.Done {
			c.missing++
		}
	}
	if len(c.position) != len(c.Points) {
		return fmt.Errorf("%d points have %d keys", len(c.Points), len(c.position))
	}
	c.counts = Status{Points: len(c.Points), Done: len(c.Points) - c.missing}
	return c.chooseChecks()
}

// sessions works until all points have rows. A session ends when the server goes away or
// is not what it was; the next one begins from nothing.
func (c *coordinator) sessions(ctx context.Context) error {
	said := time.Time{}
	for {
		err := c.session(ctx)
		var dead fatal
		switch {
		case err == nil || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		case errors.As(err, &dead):
			return dead.error
		case c.conn.IsClosed():
			return fmt.Errorf("the server is gone: %v; rows are kept, and the same command goes on", c.conn.LastError())
		case errors.Is(err, errAgain):
		case time.Since(said) > 10*time.Second:
			why := oneLine(err)
			if !c.conn.IsConnected() {
				why = "the server is away"
			}
			c.Note(why + ": trying again")
			said = time.Now()
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// take keeps what came from a worker, unless it is known. early says that it may have been
// there before this session began.
func (c *coordinator) take(r *result, early bool) error {
	c.saw(alive{host: r.from}, r.kind == kindResult)
	at, known := c.position[r.row.Key]
	if !known || r.row.Version != c.Engine.Semantics || r.from.Build != c.Engine.Build {
		return nil // of another sweep, or of an engine that should not have run it
	}
	if r.kind == kindAgain {
		return c.takeCheck(r)
	}
	p := &c.Points[at]
	if p.Done {
		return nil
	}
	if early && !r.row.Done(false) {
		// A run that was killed, or took too long, may be the reason why this sweep was
		// begun again: then its row is there, and the point runs once more.
		if _, there, err := c.Rows.Row(p.Key); there || err != nil {
			return fatalOf(err)
		}
	}
	r.row.Index = p.Index
	if err := c.Rows.Append(&r.row); err != nil {
		return fatal{err}
	}
	p.Done = true
	c.missing--
	if c.missing == 0 {
		c.since = time.Now()
	}
	c.mutex.Lock()
	c.counts.Done++
	if r.row.Status == pointlog.Failed {
		c.counts.Failed++
	}
	c.mutex.Unlock()
	return c.ran(r)
}

func fatalOf(err error) error {
	if err == nil {
		return nil
	}
	return fatal{err}
}

// end tells workers that there is nothing left to do, and clears the server.
func (c *coordinator) end(ctx context.Context) {
	c.mutex.Lock()
	c.job.Ended = true
	c.mutex.Unlock()
	c.conn.Publish(c.id.subject(kindEnd), nil)
	c.conn.FlushTimeout(time.Second) // a worker that does not hear it asks
	within, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	for _, stream := range []string{c.id.pointsStream(), c.id.checksStream(), c.id.resultsStream()} {
		c.js.DeleteStream(within, stream) // what stays is in nobody's way
	}
	c.js.DeleteObjectStore(within, c.id.bucket())
	sleep(ctx, 2*time.Second)
}
