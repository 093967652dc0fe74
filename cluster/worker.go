package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blis/study/pointlog"
)

// Runner runs the points of a sweep.
type Runner interface {
	// Run runs the point of an index, whose key must be the one given. The row is nil if
	// ctx was cancelled. An error says that these are not the same points.
	Run(ctx context.Context, index int64, key pointlog.Key) (*pointlog.Row, error)

	// Describe is the row of a point without what a run of it tells.
	Describe(index int64) (*pointlog.Row, error)
}

// Loader makes the points of a definition. inputs are files by the paths that the
// definition has for them.
type Loader func(ctx context.Context, definition []byte, inputs map[string]string) (Runner, error)

// Worker runs points for a coordinator.
type Worker struct {
	Engine  Engine
	Cores   int // points that run side by side
	Load    Loader
	Child   func(ctx context.Context, p *Parcel) (*pointlog.Row, error) // see Parcel
	Options Options
}

// worker is a Worker at work.
type worker struct {
	Worker
	from    host
	conn    *nats.Conn
	js      jetstream.JetStream
	cache   cache
	changed chan struct{} // the connection was lost, or came back
	ended   chan struct{} // the sweep has ended
	points  atomic.Int64  // results that were published
	shift   *shift        // nil: no job yet
}

// Work runs points until the coordinator says that none is left, or ctx ends. A server that
// is not there is waited for as long as remote says.
func (w Worker) Work(ctx context.Context, remote *Remote) error {
	c, err := userCache()
	if err != nil {
		return err
	}
	a := &worker{Worker: w, from: thisHost(w.Engine), cache: c, changed: make(chan struct{}, 1), ended: make(chan struct{}, 1)}
	signal := func(to chan struct{}) {
		select {
		case to <- struct{}{}:
		default:
		}
	}
	a.conn, err = remote.connect(ctx, w.Options.Note, options(workerInbox, remote.Wait, func() { signal(a.changed) })...)
	if err != nil {
		return err
	}
	defer a.conn.Close()
	defer a.leave()
	if a.js, err = jetstream.New(a.conn); err != nil {
		return err
	}
	for heard := time.Now(); ; {
		err := a.session(ctx, signal, &heard)
		var dead fatal
		switch {
		case err == nil || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		case errors.As(err, &dead):
			return dead.error
		case a.conn.IsClosed() && refused(orNil(a.conn.LastError())):
			return inputErrorf("%s: %s", remote.URL, oneLine(a.conn.LastError()))
		case a.conn.IsClosed() || time.Since(heard) > remote.Wait:
			return fmt.Errorf("%s: no coordinator for %v: %s", remote.URL, remote.Wait, oneLine(err))
		}
		if err := sleep(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
}

func orNil(err error) error {
	if err == nil {
		return errors.New("closed")
	}
	return err
}

// session asks for the job and works on it. It returns nil when the sweep has ended.
func (w *worker) session(ctx context.Context, signal func(chan struct{}), heard *time.Time) error {
	select {
	case <-w.changed: // before the session began
	default:
	}
	j, err := w.hello(ctx)
	if err != nil {
		return err
	}
	*heard = time.Now()
	if j.Engine != w.Engine {
		return fatal{inputErrorf("the coordinator has another engine: %s; this worker has %s: use the same build of blis-cluster on all machines", j.Engine, w.Engine)}
	}
	if j.Ended {
		return nil
	}
	if !j.Ready {
		return errAgain
	}
	end, err := w.conn.Subscribe(j.ID.subject(kindEnd), func(*nats.Msg) { signal(w.ended) })
	if err != nil {
		return err
	}
	defer end.Unsubscribe()
	if err := w.begin(ctx, j); err != nil {
		return err
	}
	err = w.shift.run(ctx)
	*heard = time.Now()
	return err
}

// begin loads the sweep of a job, unless it is that of the session before: its points run
// on while the server is away.
func (w *worker) begin(ctx context.Context, j *job) error {
	if w.shift != nil && w.shift.job.ID == j.ID && w.shift.job.Definition == j.Definition {
		return nil
	}
	w.leave()
	within, stop := context.WithTimeout(ctx, 10*time.Minute)
	defer stop()
	definition, inputs, err := w.cache.fetchAll(within, w.js, j)
	if err != nil {
		return err
	}
	runner, err := w.Load(ctx, definition, inputs)
	if err != nil {
		return fatal{err}
	}
	w.shift = newShift(ctx, w, j, runner, Parcel{Definition: w.cache.path(j.Definition), Inputs: inputs})
	return nil
}

// leave ends the points that run here.
func (w *worker) leave() {
	if w.shift != nil {
		w.shift.stop()
		w.shift.busy.Wait()
		w.shift = nil
	}
}

// hello asks for the job.
func (w *worker) hello(ctx context.Context) (*job, error) {
	within, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	answer, err := w.conn.RequestWithContext(within, helloSubject, nil)
	if err != nil {
		return nil, err
	}
	j := &job{}
	if err := json.Unmarshal(answer.Data, j); err != nil {
		return nil, fatal{fmt.Errorf("the coordinator speaks another protocol: %w", err)}
	}
	return j, nil
}
