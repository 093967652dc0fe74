package calibrate

import (
	"fmt"
	"math"
	"strings"

	"blis/calibrate/measured"
	"blis/vtime"
)

// DefaultClientTimeout is when the clients of the measured runs gave up: of
// overloaded runs no request that completed took longer.
const DefaultClientTimeout = vtime.Duration(300_000_000)

// Load reads measured runs, with their requests, and derives their servers.
// Paths are as for measured.ReadRuns. In runs of which some requests failed
// clients are taken to give up after the timeout, in others never. Runs that
// cannot be replayed are left out; skipped says which and why. Errors name file
// and line.
func Load(paths []string, o Overrides, timeout vtime.Duration) (samples []*Sample, skipped []string, err error) {
	for _, path := range paths {
		runs, err := measured.ReadRuns(path)
		if err != nil {
			return nil, nil, err
		}
		for i := range runs {
			r := &runs[i]
			if r.DataParallel > 1 {
				skipped = append(skipped, fmt.Sprintf("%s: %d schedulers share its requests; a replay has one", r.ID, r.DataParallel))
				continue
			}
			s, err := load(r, o, timeout)
			if err != nil {
				return nil, nil, err
			}
			samples = append(samples, s)
			for _, n := range r.Notes {
				skipped = append(skipped, r.ID+": "+n)
			}
		}
	}
	return samples, skipped, nil
}

func load(r *measured.Run, o Overrides, timeout vtime.Duration) (*Sample, error) {
	if err := r.Load(); err != nil {
		return nil, err
	}
	align(r)
	if err := o.complete(r); err != nil {
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
	if s.patience = timeout; s.Overloaded() {
		s.Timeout = timeout
	}
	return s, nil
}

// complete says of the server of a Client what the user says.
func (o *Overrides) complete(r *measured.Run) error {
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
	r.MaxNumBatchedTokens, r.MaxNumSeqs = o.MaxBatchedTokens, o.MaxSeqs
	return nil
}

// Overloaded reports whether clients gave up in the run: requests failed, and
// others took so long that patience may be why, or many failed. Then latencies
// say how patient clients were, and only throughput can be compared. A few that
// failed for another reason are left out by themselves.
func (s *Sample) Overloaded() bool {
	r := s.Run
	failed, slowest := 0, vtime.Duration(0)
	for i := range r.Requests {
		if r.Requests[i].Failed {
			failed++
		}
		slowest = max(slowest, r.Requests[i].E2E)
	}
	return failed > 0 && slowest > s.patience/2 || float64(failed) > failedShareMax*float64(len(r.Requests))
}

// failedShareMax is the share of requests that may fail in a run without the
// server counting as overloaded.
const failedShareMax = 0.05

// notOverloaded returns the samples that are not overloaded, and the run ids of
// those that are.
func notOverloaded(samples []*Sample) (list []*Sample, overloaded []string) {
	for _, s := range samples {
		if s.Overloaded() {
			overloaded = append(overloaded, s.Run.ID)
		} else {
			list = append(list, s)
		}
	}
	return list, overloaded
}

// align turns the times that an engine stamped into what a client would have
// measured: TTFT and E2E from arrival on. The clocks of arrivals and of the
// engine have unknown origins; they are laid so that the request that reached
// the queue fastest was queued as it arrived. Runs without such times stay as
// they are.
func align(r *measured.Run) {
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
