package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blis/study/pointlog"
)

// healthyDeliveries is how often a point may be delivered before it is suspected to kill
// the workers that run it. It says only that workers went away that had fetched it.
const healthyDeliveries = 2

// fetchTime bounds the wait for points, so that a worker sees when the connection is lost.
const fetchTime = 2 * time.Second

// fetchPoints fetches points as long as there is room for them.
func (s *shift) fetchPoints(ctx context.Context, from jetstream.Consumer) error {
	for {
		room := s.room(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var suspects []jetstream.Msg
		err := fetch(ctx, from, room, func(m jetstream.Msg) {
			if !s.hold(m, ctx) {
				return
			}
			room--
			if about, err := m.Metadata(); err == nil && about.NumDelivered > healthyDeliveries {
				suspects = append(suspects, m)
				return
			}
			s.busy.Go(func() {
				defer func() { <-s.slots }()
				s.cores <- struct{}{}
				defer func() { <-s.cores }()
				s.handle(m, kindResult, s.here)
			})
		})
		s.free(room)
		s.runSuspects(suspects)
		if err != nil {
			return err
		}
	}
}

// fetch calls each with up to n messages. It waits for them for fetchTime.
func fetch(ctx context.Context, from jetstream.Consumer, n int, each func(jetstream.Msg)) error {
	within, stop := context.WithTimeout(ctx, fetchTime)
	defer stop()
	batch, err := from.Fetch(n, jetstream.FetchContext(within))
	if err != nil {
		return err
	}
	for m := range batch.Messages() {
		each(m)
	}
	err = batch.Error()
	if ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages)) {
		return nil
	}
	return err
}

// room waits until a point can be taken, and takes all slots that are free.
func (s *shift) room(ctx context.Context) int {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	n := 1
	for {
		select {
		case s.slots <- struct{}{}:
			n++
		default:
			return n
		}
	}
}

func (s *shift) free(n int) {
	for range n {
		<-s.slots
	}
}

// runSuspects runs points that may have killed workers, each in a process of its own and
// with nothing beside it: what it takes with it is only itself.
func (s *shift) runSuspects(suspects []jetstream.Msg) {
	if len(suspects) == 0 {
		return
	}
	for range cap(s.slots) - len(suspects) { // until no other point is here
		s.slots <- struct{}{}
	}
	s.alone.Lock()
	defer s.alone.Unlock()
	for _, m := range suspects {
		s.handle(m, kindResult, s.inChild)
	}
	s.free(cap(s.slots))
}

// fetchChecks runs checks, one at a time beside the points.
func (s *shift) fetchChecks(ctx context.Context, from jetstream.Consumer) error {
	for {
		err := fetch(ctx, from, 1, func(m jetstream.Msg) {
			var o order
			if json.Unmarshal(m.Data(), &o) == nil && o.Not == s.from.Worker {
				// For another one. A random delay, or two workers may decline each
				// other's checks in step for ever.
				m.NakWithDelay(50*time.Millisecond + rand.N(200*time.Millisecond))
			} else if s.hold(m, ctx) {
				s.alone.Lock()
				s.handle(m, kindAgain, s.here)
				s.alone.Unlock()
			}
		})
		if err != nil {
			return err
		}
	}
}

// here runs a point in this process.
func (s *shift) here(o order, key pointlog.Key) (*pointlog.Row, error) {
	return s.runner.Run(s.ctx, o.Index, key)
}

// handle runs the point of a message, publishes its row and only then acknowledges the
// message.
func (s *shift) handle(m jetstream.Msg, kind string, run func(order, pointlog.Key) (*pointlog.Row, error)) {
	subject := m.Subject()
	_, key, err := parseSubject(subject)
	var o order
	if err == nil {
		err = json.Unmarshal(m.Data(), &o)
	}
	var row *pointlog.Row
	if err == nil && s.ctx.Err() == nil && !s.stale(subject) {
		row, err = run(o, key)
	}
	if err == nil && row != nil {
		err = s.publish(s.job.ID.keySubject(kind, key), row)
	}
	if err != nil && s.ctx.Err() == nil {
		s.Options.Note(subject + ": " + oneLine(err))
	}
	s.release(subject, func(m jetstream.Msg) {
		if err != nil || row == nil {
			m.NakWithDelay(time.Second) // for somebody else
			return
		}
		s.points.Add(1)
		m.Ack() // if it does not get through, the point comes again, and its row is refused
	})
}

// publish publishes a row unless there is one: the first one counts. It waits for a server
// that is away.
func (s *shift) publish(subject string, row *pointlog.Row) error {
	text, err := row.AppendJSON(nil)
	if row.Stack != "" && (err != nil || len(text) > maxPayload-4096) { // leaves room for headers
		row.Stack = row.Stack[:min(len(row.Stack), 1<<16)]
		text, err = row.AppendJSON(nil)
	}
	if err != nil {
		return err
	}
	m := &nats.Msg{Subject: subject, Data: text, Header: nats.Header{hostHeader: {string(encode(s.from))}}}
	for {
		within, stop := context.WithTimeout(s.ctx, requestTime)
		_, err := s.js.PublishMsg(within, m, jetstream.WithExpectLastSequencePerSubject(0))
		stop()
		switch {
		case err == nil || taken(err):
			return nil
		case errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrConnectionClosed):
			return err
		}
		if err := sleep(s.ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
}

// taken reports whether a row was refused because there is one.
func taken(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
