package actors

import (
	"blis/vtime"
	"blis/workload"
)

// Workload returns the source of a run of this configuration, with the effective
// configuration and its setup. The source yields the requests that would arrive
// until the horizon. Requests that follow from answers come as if every answer took
// as long as on an idle instance; a note says so. Errors, here and of the source,
// are those of Run.
func Workload(cfg Config) (workload.Source, Config, Setup, error) {
	p, err := resolve(cfg)
	if err != nil {
		return nil, cfg, Setup{}, err
	}
	a := &arrivals{Source: p.Source, end: vtime.Never}
	if p.Loops() {
		a.Source = workload.Play(p.Source.(workload.ClosedLoop), func(r *workload.Request) vtime.Duration {
			return p.Alone(r)
		})
		p.Summary.Note("requests that follow from answers come as if every answer took as long as on an idle instance")
	}
	if p.Config.Horizon > 0 {
		a.end = vtime.Time(p.Config.Horizon)
	}
	return a, Config{p.Config, cfg.Execution}, p.Summary, nil
}

// arrivals is a source that ends with the run.
type arrivals struct {
	workload.Source
	end vtime.Time // time of the last possible arrival
}

// Pull implements workload.Source.
func (a *arrivals) Pull(r *workload.Request) (bool, error) {
	more, err := a.Source.Pull(r)
	if err != nil {
		return false, &InputError{Text: err.Error()}
	}
	return more && r.Arrival <= a.end, nil
}
