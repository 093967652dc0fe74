package calibrate

import (
	"context"
	"slices"

	"blis/latency"
	"blis/vtime"
)

// Subject is a latency model that is validated: how it is made for a server.
type Subject struct {
	Name string
	// For returns the model for a server and says in a few words which it is.
	// An error says why there is none; the run is then left out for it.
	For func(*Server) (model latency.Model, description string, err error)
}

// RunResult is a run measured and as one latency model predicts it.
type RunResult struct {
	Sample      *Sample
	Description string // of the latency model
	Missing     string // why there is no prediction; empty: there is one

	Measured   int          // requests that completed when measured
	All, Cold  Comparison   // all requests; those whose prompts were mostly not cached
	Stages     []Comparison // one per stage of the run
	Throughput Throughput
	Overloaded bool // only Throughput compares
}

// Throughput is completed requests per second, from the first arrival to when
// the last request ended, however it did.
type Throughput struct {
	Measured  float64 `json:"measured"`
	Predicted float64 `json:"predicted"`
}

// Error is the relative error of the prediction.
func (t *Throughput) Error() float64 { return t.Predicted/t.Measured - 1 }

// Validation is all runs under one latency model.
type Validation struct {
	Subject  string
	Runs     []RunResult
	Summary  []Summary // over runs that are not overloaded
	Cold     []Summary
	Rankings []Ranking
}

// Validate replays samples under each subject. The results have the order of
// the arguments; they do not depend on the number of workers.
func Validate(ctx context.Context, samples []*Sample, subjects []Subject, workers int, progress func(done, of int, what string)) ([]Validation, error) {
	var list []Validation
	for k, subject := range subjects {
		progress(k, len(subjects), subject.Name)
		v := Validation{Subject: subject.Name, Runs: make([]RunResult, len(samples))}
		if err := each(ctx, workers, len(samples), func(i int) (err error) {
			v.Runs[i], err = samples[i].validate(subject)
			return err
		}); err != nil {
			return nil, err
		}
		v.sumUp()
		list = append(list, v)
	}
	return list, nil
}

func (s *Sample) validate(subject Subject) (RunResult, error) {
	r := RunResult{Sample: s, Overloaded: s.Overloaded()}
	model, description, err := subject.For(s.Server)
	if err != nil {
		r.Missing = err.Error()
		return r, nil
	}
	r.Description = description
	predicted, err := s.Server.Replay(s.Run, model, s.Timeout)
	if err != nil {
		return r, err
	}
	for i := s.From; i < s.To; i++ {
		if m := &s.Run.Requests[i]; !m.Failed && m.TTFT > 0 {
			r.Measured++
		}
	}
	r.All = *Compare(s, predicted, s.From, s.To)
	r.Cold = *s.compareCold(predicted)
	for from, stage := s.From, 0; stage < len(s.Run.Stages); stage++ {
		to := s.stageEnd(stage)
		r.Stages = append(r.Stages, *Compare(s, predicted, from, max(from, to)))
		from = max(from, to)
	}
	r.Throughput = s.throughput(predicted)
	return r, nil
}

// stageEnd is the first request after a stage of the run.
func (s *Sample) stageEnd(stage int) int {
	if stage == len(s.Run.Stages)-1 {
		return s.To
	}
	var end vtime.Time
	for _, x := range s.Run.Stages[:stage+1] {
		end = end.Add(x.Duration)
	}
	i := s.From
	for i < s.To && s.Run.Requests[i].Arrival < end {
		i++
	}
	return i
}

func (s *Sample) throughput(predicted []Predicted) Throughput {
	var completed [2]float64
	var end [2]vtime.Time
	for i := range predicted {
		p, m := &predicted[i], &s.Run.Requests[i]
		if p.Completed {
			completed[1]++
		}
		if p.Finished != vtime.Never {
			end[1] = max(end[1], p.Finished)
		}
		if m.Failed {
			end[0] = max(end[0], m.Arrival.Add(s.Timeout))
			continue
		}
		completed[0]++
		end[0] = max(end[0], m.Arrival.Add(m.E2E))
	}
	if end[0] == 0 || end[1] == 0 {
		return Throughput{}
	}
	return Throughput{completed[0] / (float64(end[0]) / 1e6), completed[1] / (float64(end[1]) / 1e6)}
}

// ColdTTFT is the absolute relative error of TTFT of single requests whose
// prompts were mostly not cached: the median over requests, then over runs that
// are not overloaded. It is not known if there are none.
func (v *Validation) ColdTTFT() (share float64, known bool) {
	var list []float64
	for i := range v.Runs {
		r := &v.Runs[i]
		if e, ok := r.Cold.Each[TTFT]; ok && r.Missing == "" && !r.Overloaded {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return 0, false
	}
	slices.Sort(list)
	return percentile(list, 50), true
}

// sumUp fills what is over all runs.
func (v *Validation) sumUp() {
	var all, cold []*Comparison
	for i := range v.Runs {
		if r := &v.Runs[i]; r.Missing == "" && !r.Overloaded {
			all = append(all, &r.All)
			cold = append(cold, &r.Cold)
		}
	}
	v.Summary, v.Cold, v.Rankings = summarise(all), summarise(cold), rankings(v.Runs)
}
