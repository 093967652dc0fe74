package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Status says how far a sweep is.
type Status struct {
	Points  int    `json:"points"` // that can be run; equal ones once
	Done    int    `json:"done"`   // have a row
	Failed  int    `json:"failed"` // of these, since the coordinator began
	Missing int    `json:"missing"`
	Workers []Seen `json:"workers"` // heard of lately, by host
}

// Seen is a worker.
type Seen struct {
	Host   string    `json:"host"`
	Worker string    `json:"worker"`
	Build  string    `json:"build"`
	Arch   string    `json:"arch"`
	Go     string    `json:"go"`
	Cores  int       `json:"cores"`  // points that it runs side by side
	Points int64     `json:"points"` // results that it has published
	Last   time.Time `json:"last"`   // heard of
}

// listen answers workers and whoever asks for the status.
func (c *coordinator) listen() error {
	for subject, answer := range map[string]nats.MsgHandler{ // any order: independent of each other
		helloSubject: func(m *nats.Msg) {
			c.mutex.Lock()
			defer c.mutex.Unlock()
			m.Respond(encode(c.job))
		},
		statusSubject: func(m *nats.Msg) { m.Respond(encode(c.status())) },
		c.id.subject(kindAlive): func(m *nats.Msg) {
			var a alive
			if json.Unmarshal(m.Data, &a) == nil {
				c.saw(a, false)
			}
		},
	} {
		if _, err := c.conn.Subscribe(subject, answer); err != nil {
			return err
		}
	}
	return nil
}

func (c *coordinator) setReady(ready bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.job.Ready = ready
}

// maxWorkers bounds what is kept of workers.
const maxWorkers = 100_000

// saw notes a sign of a worker, perhaps a point of it.
func (c *coordinator) saw(a alive, point bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	w := c.workers[a.Worker]
	if w == nil {
		if a.Worker == "" || len(c.workers) == maxWorkers {
			return
		}
		w = &Seen{Host: a.Host, Worker: a.Worker, Build: a.Build, Arch: a.Arch, Go: a.Go}
		c.workers[a.Worker] = w
	}
	w.Last = time.Now()
	w.Cores = max(w.Cores, a.Cores)
	w.Points = max(w.Points, a.Points)
	if point {
		w.Points++
	}
}

// seen counts the workers that were heard of, ever and lately.
func (c *coordinator) seen() (ever, now int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, w := range c.workers { // any order: sums
		ever++
		if time.Since(w.Last) < 3*c.Timing.Alive {
			now++
		}
	}
	return ever, now
}

func (c *coordinator) status() Status {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	s := c.counts
	s.Missing = s.Points - s.Done
	s.Workers = []Seen{}
	for _, w := range c.workers { // any order: sorted below
		if time.Since(w.Last) < 3*c.Timing.Alive {
			s.Workers = append(s.Workers, *w)
		}
	}
	slices.SortFunc(s.Workers, func(a, b Seen) int { return strings.Compare(a.Host+" "+a.Worker, b.Host+" "+b.Worker) })
	return s
}

// AskStatus asks the coordinator behind a server how far it is.
func AskStatus(ctx context.Context, remote *Remote, note func(string)) (Status, error) {
	var s Status
	conn, err := remote.connect(ctx, note, options(workerInbox, remote.Wait, func() {})...)
	if err != nil {
		return s, err
	}
	defer conn.Close()
	within, stop := context.WithTimeout(ctx, requestTime)
	defer stop()
	answer, err := conn.RequestWithContext(within, statusSubject, nil)
	switch {
	case ctx.Err() != nil:
		return s, ctx.Err()
	case err != nil:
		return s, errors.New("no coordinator answers: the server is there, and nobody serves a sweep")
	}
	return s, json.Unmarshal(answer.Data, &s)
}
