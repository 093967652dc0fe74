package calibrate

import (
	"context"
	"slices"

	"blis/latency"
	"blis/vtime"
)

// Subject is a kind of latency model that is validated.
type Subject struct {
	Name string
	// ModelFor returns the model for a server. An error says why there is none; runs
	// on this server are then left out.
	ModelFor func(*Server) (*ChosenModel, error)
}

// ChosenModel is the latency model of a Subject for one server.
type ChosenModel struct {
	latency.Model
	Set         *latency.PhysicsSet // of its coefficients; nil: it has none
	Description string              // in a few words
}

// RunResult compares a measured run with the prediction of one latency model.
type RunResult struct {
	Sample      *Sample
	Description string // of the latency model
	Missing     string // why there is no prediction; empty: there is one

	Measured   int          // measured requests that completed
	All, Cold  Comparison   // of all requests; of those whose prompts were mostly not cached
	Stages     []Comparison // one per stage of the run
	Throughput Throughput
	Overloaded bool // only Throughput compares
}

// Throughput is completed requests per second, from the first arrival to the end
// of the last request, failed ones included.
type Throughput struct {
	Measured  float64 `json:"measured"`
	Predicted float64 `json:"predicted"`
}

// Error is the relative error of the prediction.
func (t *Throughput) Error() float64 { return t.Predicted/t.Measured - 1 }

// Validation holds the results of all runs under one latency model.
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
		if err := forEach(ctx, workers, len(samples), func(i int) (err error) {
			v.Runs[i], err = samples[i].validate(subject)
			return err
		}); err != nil {
			return nil, err
		}
		v.summarise()
		list = append(list, v)
	}
	return list, nil
}

func (s *Sample) validate(subject Subject) (RunResult, error) {
	r := RunResult{Sample: s, Overloaded: s.overloaded()}
	chosen, err := subject.ModelFor(s.Server)
	if err != nil {
		r.Missing = err.Error()
		return r, nil
	}
	r.Description = chosen.Description
	predicted, err := s.Server.under(chosen.Set).Replay(s.Run, chosen.Model, s.Timeout)
	if err != nil {
		return r, err
	}
	for i := s.From; i < s.To; i++ {
		if m := &s.Run.Requests[i]; !m.Failed && m.TTFT > 0 {
			r.Measured++
		}
	}
	r.All = *s.compare(predicted, s.From, s.To, nil)
	r.Cold = *s.compare(predicted, s.From, s.To, cold)
	for from, stage := s.From, 0; stage < len(s.Run.Stages); stage++ {
		to := s.stageEnd(stage)
		r.Stages = append(r.Stages, *s.compare(predicted, from, max(from, to), nil))
		from = max(from, to)
	}
	r.Throughput = s.throughput(predicted)
	return r, nil
}

// stageEnd returns the index of the first request after a stage of the run.
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

// ColdTTFT returns the absolute relative error of TTFT of single requests whose
// prompts were mostly not cached: the median over requests, then over runs that
// are not overloaded. known is false if there are no such requests.
func (v *Validation) ColdTTFT() (share float64, known bool) {
	var list []float64
	for i := range v.Runs {
		r := &v.Runs[i]
		if e, ok := r.Cold.RequestError[TTFT]; ok && r.Missing == "" && !r.Overloaded {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return 0, false
	}
	slices.Sort(list)
	return percentile(list, 50), true
}

// summarise computes Summary, Cold and Rankings from Runs.
func (v *Validation) summarise() {
	var all, cold []judgedRun
	for i := range v.Runs {
		if r := &v.Runs[i]; r.Missing == "" && !r.Overloaded {
			model := r.Sample.model()
			all = append(all, judgedRun{model: model, Comparison: &r.All})
			cold = append(cold, judgedRun{model: model, Comparison: &r.Cold})
		}
	}
	v.Summary, v.Cold, v.Rankings = summarise(all), summarise(cold), rankings(v.Runs)
}
