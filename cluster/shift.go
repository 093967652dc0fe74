package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// shift is the work on a job. It outlives the sessions with the server: points run on
// while the server is away, and their rows are published when it is back.
type shift struct {
	*worker
	job    *job
	runner Runner
	parcel Parcel // for a child
	ctx    context.Context
	stop   context.CancelFunc

	slots chan struct{} // one for each point that is here, running or not
	cores chan struct{} // one for each that runs
	busy  sync.WaitGroup
	alone sync.Mutex // held while a check runs, and while points run with nothing beside them

	mutex sync.Mutex
	held  map[string]*task // by subject of the message
}

// task is a point or check that is here.
type task struct {
	message jetstream.Msg   // the last one that brought it
	session context.Context // in which it came
}

func newShift(ctx context.Context, w *worker, j *job, runner Runner, parcel Parcel) *shift {
	s := &shift{worker: w, job: j, runner: runner, parcel: parcel, held: map[string]*task{}}
	s.ctx, s.stop = context.WithCancel(ctx)
	s.slots, s.cores = make(chan struct{}, 2*w.Cores), make(chan struct{}, w.Cores)
	return s
}

// run fetches and runs points for a session. It returns nil when the sweep has ended, and
// an error when the server is not what it was.
func (s *shift) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var fetching sync.WaitGroup
	defer fetching.Wait()
	defer stop()
	lost := make(chan error, 2)
	for _, q := range []struct {
		stream string
		fetch  func(context.Context, jetstream.Consumer) error
	}{{s.job.ID.pointsStream(), s.fetchPoints}, {s.job.ID.checksStream(), s.fetchChecks}} {
		within, done := context.WithTimeout(ctx, requestTime)
		consumer, err := s.js.Consumer(within, q.stream, consumerName)
		done()
		if err != nil {
			return err
		}
		fetching.Go(func() { lost <- q.fetch(ctx, consumer) })
	}
	report, progress := time.NewTicker(min(UsualTiming.Alive, s.job.AckWait/3)), time.NewTicker(s.job.AckWait/3)
	defer report.Stop()
	defer progress.Stop()
	for s.sayAlive(); ; {
		select {
		case <-report.C:
			s.sayAlive()
		case <-progress.C:
			s.reportProgress()
		case err := <-lost:
			return err
		case <-s.changed:
			return errAgain
		case <-s.ended:
			s.stop()
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sayAlive tells the coordinator that the worker is there.
func (s *shift) sayAlive() {
	s.conn.Publish(s.job.ID.subject(kindAlive), encode(alive{s.from, s.Cores, s.points.Load()}))
}

// reportProgress tells the server that the points here are still worked on.
func (s *shift) reportProgress() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, t := range s.held { // any order: independent of each other
		t.message.InProgress() // one that does not get through is delivered again
	}
}

// hold notes that a point is here. It reports false if it was already: the point came
// again, because the server was away, and the message that came last is the one to
// acknowledge.
func (s *shift) hold(m jetstream.Msg, session context.Context) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if t := s.held[m.Subject()]; t != nil {
		t.message, t.session = m, session
		return false
	}
	s.held[m.Subject()] = &task{m, session}
	return true
}

// stale reports whether a point that has not begun came in a session that is over: it is
// delivered again, perhaps to somebody else.
func (s *shift) stale(subject string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.held[subject].session.Err() != nil
}

// release ends the work on a point and tells the server so with the message that brought it
// last.
func (s *shift) release(subject string, tell func(jetstream.Msg)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	tell(s.held[subject].message)
	delete(s.held, subject)
}
