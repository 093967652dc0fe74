package calibrate

import (
	"fmt"
	"math"
	"strings"

	"blis/calibrate/measured"
	"blis/vtime"
)

// DefaultClientTimeout is the client timeout of the public measured runs: in
// overloaded ones no completed request took longer.
const DefaultClientTimeout = vtime.Duration(300_000_000)

// Load reads measured runs, with their requests, and derives their servers. Paths
// are as for measured.ReadRuns. timeout is the client timeout of the measurements;
// replays apply it to overloaded runs only. Runs that cannot be replayed are left
// out. notes says which and why, and has the notes of the other runs; each begins
// with the id of its run. Errors name file and line.
func Load(paths []string, o Overrides, timeout vtime.Duration) (samples []*Sample, notes []string, err error) {
	for _, path := range paths {
		runs, err := measured.ReadRuns(path)
		if err != nil {
			return nil, nil, err
		}
		for i := range runs {
			r := &runs[i]
			if r.DataParallel > 1 {
				notes = append(notes, fmt.Sprintf("%s: %d schedulers share its requests; a replay has one", r.ID, r.DataParallel))
				continue
			}
			s, err := load(r, o, timeout)
			if err != nil {
				return nil, nil, err
			}
			samples = append(samples, s)
			for _, n := range r.Notes {
				notes = append(notes, r.ID+": "+n)
			}
		}
	}
	return samples, notes, nil
}

// load reads the requests of a run and derives its server.
func load(r *measured.Run, o Overrides, timeout vtime.Duration) (*Sample, error) {
	if err := r.Load(); err != nil {
		return nil, err
	}
	alignClocks(r)
	if err := o.applyTo(r); err != nil {
		return nil, err
	}
	server, err := NewServer(r, o)
	if err != nil && r.Client && o.Model == "" && strings.Contains(err.Error(), "unknown model") {
		err = fmt.Errorf("%w; its file calls the model so, --model wins", err)
	}
	if err != nil {
		return nil, err
	}
	s, err := NewSample(r, server, 0)
	if err != nil {
		return nil, err
	}
	if s.assumedTimeout = timeout; s.overloaded() {
		s.Timeout = timeout
	}
	return s, nil
}

// applyTo sets what the file of a load generator does not say of the server.
func (o *Overrides) applyTo(r *measured.Run) error {
	if !r.Client {
		return nil
	}
	if o.Model != "" {
		r.Model = o.Model
	}
	if r.Model == "" && o.ModelConfigFolder == "" {
		return fmt.Errorf("run %s: its file names no model: give --model", r.ID)
	}
	r.TP = max(1, o.TP)
	r.MaxNumBatchedTokens, r.MaxNumSeqs = int32(min(o.MaxBatchedTokens, math.MaxInt32)), o.MaxSeqs
	return nil
}

// overloaded reports whether the server of the run was overloaded: a request failed
// and a completed one took more than half the client timeout, or many failed. Then
// latencies depend on the client timeout, and only throughput can be compared. A few
// requests that failed for other reasons do not count, and are left out.
func (s *Sample) overloaded() bool {
	r := s.Run
	failed, slowest := 0, vtime.Duration(0)
	for i := range r.Requests {
		if r.Requests[i].Failed {
			failed++
		}
		slowest = max(slowest, r.Requests[i].E2E)
	}
	return failed > 0 && slowest > s.assumedTimeout/2 || float64(failed) > failedShareMax*float64(len(r.Requests))
}

// failedShareMax is the largest share of failed requests in a run that is not
// overloaded.
const failedShareMax = 0.05

// notOverloaded returns the samples that are not overloaded, and the run ids of
// those that are.
func notOverloaded(samples []*Sample) (list []*Sample, overloaded []string) {
	for _, s := range samples {
		if s.overloaded() {
			overloaded = append(overloaded, s.Run.ID)
		} else {
			list = append(list, s)
		}
	}
	return list, overloaded
}

// alignClocks computes TTFT and E2E, as a client would have measured them, from the
// times of the engine. The clocks of arrivals and of the engine have unknown
// origins. They are shifted so that the fastest request needs no time from arrival
// to the queue. Runs without times of the engine do not change.
func alignClocks(r *measured.Run) {
	offset := vtime.Duration(math.MaxInt64)
	for i := range r.Requests {
		if q := &r.Requests[i]; q.HasEngineTimes {
			offset = min(offset, q.Queued.Sub(q.Arrival))
		}
	}
	for i := range r.Requests {
		if q := &r.Requests[i]; q.HasEngineTimes && !q.Failed {
			q.TTFT = q.FirstToken.Sub(q.Arrival) - offset
			q.E2E = q.LastToken.Sub(q.Arrival) - offset
		}
	}
}
