package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"blis/study/pointlog"
)

// requestTime bounds a request to the server.
const requestTime = 10 * time.Second

// progressTime is how often a coordinator says how far it is.
const progressTime = 30 * time.Second

// session makes what is needed on the server, reads all results that are there, publishes
// the points that are missing and follows results until none is. It returns nil then, and
// errAgain when the server was lost or the queue is empty too early.
func (c *coordinator) session(ctx context.Context) error {
	select {
	case <-c.changed: // before the session began
	default:
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	points, results, err := c.prepare(ctx)
	if err != nil {
		return err
	}
	feed, failed, err := c.follow(ctx, results)
	if err != nil {
		return err
	}
	if err := c.catchUp(ctx, results, feed, failed); err != nil {
		return err
	}
	if err := c.publishMissing(ctx, results); err != nil {
		return err
	}
	c.setReady(true)
	return c.watch(ctx, points, feed, failed)
}

// prepare makes streams, consumers and inputs unless they are there.
func (c *coordinator) prepare(ctx context.Context) (points, results jetstream.Stream, err error) {
	within, stop := context.WithTimeout(ctx, time.Minute) // inputs may be large
	defer stop()
	for _, queue := range []struct{ name, kind string }{{c.id.checksStream(), kindCheck}, {c.id.pointsStream(), kindPoint}} {
		points, err = c.js.CreateOrUpdateStream(within, jetstream.StreamConfig{
			Name: queue.name, Subjects: []string{c.id.subject(queue.kind) + ".*"},
			Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
			MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		})
		if err != nil {
			return nil, nil, err
		}
		_, err = points.CreateOrUpdateConsumer(within, jetstream.ConsumerConfig{
			Durable: consumerName, AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.Timing.AckWait,
			MaxAckPending: -1, MaxDeliver: -1,
		})
		if err != nil {
			return nil, nil, err
		}
	}
	results, err = c.js.CreateOrUpdateStream(within, jetstream.StreamConfig{
		Name:      c.id.resultsStream(),
		Subjects:  []string{c.id.subject(kindResult) + ".*", c.id.subject(kindAgain) + ".*"},
		Retention: jetstream.LimitsPolicy, Storage: jetstream.FileStorage,
	})
	if err == nil {
		err = offer(within, c.js, &c.job, c.Definition)
	}
	return points, results, err
}

// arrived is a message of the stream of results.
type arrived struct {
	result  *result // nil: a message that says nothing
	pending uint64  // messages behind it
}

// follow reads the results from the first one on. Nothing is acknowledged: what a
// coordinator had read and not kept when it was killed comes to the next one again.
func (c *coordinator) follow(ctx context.Context, results jetstream.Stream) (<-chan arrived, <-chan error, error) {
	within, stop := context.WithTimeout(ctx, requestTime)
	defer stop()
	consumer, err := results.OrderedConsumer(within, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy, MaxResetAttempts: 1})
	if err != nil {
		return nil, nil, err
	}
	messages, err := consumer.Messages()
	if err != nil {
		return nil, nil, err
	}
	context.AfterFunc(ctx, messages.Stop)
	feed, failed := make(chan arrived, 256), make(chan error, 1)
	go func() {
		for {
			message, err := messages.Next()
			if err != nil {
				failed <- err
				return
			}
			about, err := message.Metadata()
			if err != nil {
				continue
			}
			select {
			case feed <- arrived{c.parse(message), about.NumPending}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return feed, failed, nil
}

// parse reads a result. One that cannot be read is left out: its point is missing then,
// and is published again.
func (c *coordinator) parse(m jetstream.Msg) *result {
	kind, key, err := parseSubject(m.Subject())
	if err != nil {
		return nil
	}
	r := &result{kind: kind}
	if r.row, err = pointlog.Parse(m.Data()); err != nil || r.row.Key != key {
		return nil
	}
	if json.Unmarshal([]byte(m.Headers().Get(hostHeader)), &r.from) != nil {
		return nil
	}
	return r
}

// catchUp takes the results that were there when the session began.
func (c *coordinator) catchUp(ctx context.Context, results jetstream.Stream, feed <-chan arrived, failed <-chan error) error {
	within, stop := context.WithTimeout(ctx, requestTime)
	defer stop()
	info, err := results.Info(within)
	if err != nil {
		return err
	}
	silence := time.NewTimer(requestTime)
	defer silence.Stop()
	for behind := info.State.Msgs; behind > 0; {
		select {
		case a := <-feed:
			behind = a.pending
			silence.Reset(requestTime)
			if a.result == nil {
				continue
			}
			if err := c.take(a.result, true); err != nil {
				return err
			}
		case err := <-failed:
			return err
		case <-silence.C:
			return errors.New("the server does not deliver results")
		case <-c.changed:
			return errAgain
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// publishMissing removes the results of points that have no row, if there are any, since
// they would stand in the way of new ones, and publishes these points.
func (c *coordinator) publishMissing(ctx context.Context, results jetstream.Stream) error {
	if err := c.purge(ctx, results); err != nil {
		return err
	}
	const batch = 1000
	var messages []*nats.Msg
	for i, p := range c.Points {
		if !p.Done {
			messages = append(messages, &nats.Msg{Subject: c.id.keySubject(kindPoint, p.Key), Data: encode(order{Index: p.Index})})
		}
		if len(messages) == batch || i == len(c.Points)-1 {
			if err := c.publish(ctx, messages); err != nil {
				return err
			}
			messages = messages[:0]
		}
	}
	for _, k := range c.checks { // any order: all
		k.published = false
	}
	return c.publish(ctx, c.dueChecks())
}

func (c *coordinator) purge(ctx context.Context, results jetstream.Stream) error {
	within, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	info, err := results.Info(within, jetstream.WithSubjectFilter(c.id.subject(kindResult)+".*"))
	if err != nil {
		return err
	}
	for subject := range info.State.Subjects { // any order: each by itself
		_, key, err := parseSubject(subject)
		if err != nil {
			continue
		}
		if at, known := c.position[key]; known && !c.Points[at].Done {
			if err := results.Purge(within, jetstream.WithPurgeSubject(subject)); err != nil {
				return err
			}
		}
	}
	return nil
}

// publish publishes messages. Those whose subject is in the queue already are not
// published again, which is no error.
func (c *coordinator) publish(ctx context.Context, messages []*nats.Msg) error {
	within, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	var acks []jetstream.PubAckFuture
	for _, m := range messages {
		ack, err := c.js.PublishMsgAsync(m)
		if err != nil {
			return err
		}
		acks = append(acks, ack)
	}
	for _, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			if !inQueue(err) {
				return err
			}
		case <-c.changed:
			return errAgain
		case <-within.Done():
			return fmt.Errorf("the server does not answer: %w", within.Err())
		}
	}
	return nil
}

// inQueue reports whether a message was refused because its subject has one.
func inQueue(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && strings.Contains(api.Description, "per subject")
}

// watch takes results until the sweep is complete.
func (c *coordinator) watch(ctx context.Context, points jetstream.Stream, feed <-chan arrived, failed <-chan error) error {
	defer c.setReady(false)
	tick := time.NewTicker(c.Timing.Quiet / 6)
	defer tick.Stop()
	quiet, said := time.Now(), time.Now()
	for !c.complete() {
		select {
		case a := <-feed:
			quiet = time.Now()
			if a.result == nil {
				continue
			}
			if err := c.take(a.result, false); err != nil {
				return err
			}
			if err := c.publish(ctx, c.dueChecks()); err != nil {
				return err
			}
		case <-tick.C:
			within, stop := context.WithTimeout(ctx, requestTime)
			info, err := points.Info(within)
			stop()
			if err != nil {
				return err
			}
			if time.Since(said) > progressTime {
				said = time.Now()
				_, workers := c.seen()
				c.Note(fmt.Sprintf("%d of %d points have rows; workers: %d", len(c.Points)-c.missing, len(c.Points), workers))
			}
			if info.State.Msgs > 0 || c.missing == 0 {
				quiet = time.Now()
			} else if time.Since(quiet) > c.Timing.Quiet {
				return errAgain
			}
		case err := <-failed:
			return err
		case <-c.changed:
			return errAgain
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
