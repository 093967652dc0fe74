package actors

import (
	"blis/vtime"
	"blis/workload"
)

// Workload returns the source from which a run of this configuration would
// take its requests, with the effective configuration and what followed from
// it. The source yields what would arrive: nothing later than the horizon.
// Errors, here and of the source, are those of Run.
func Workload(cfg Config) (workload.Source, Config, Setup, error) {
	p, err := newPlan(cfg)
	if err != nil {
		return nil, cfg, Setup{}, err
	}
	a := &arrivals{Source: p.source, end: vtime.Never}
	if p.config.Horizon > 0 {
		a.end = vtime.Time(p.config.Horizon)
	}
	return a, p.config, p.setup, nil
}

// arrivals is a source up to the end of the run.
type arrivals struct {
	workload.Source
	end vtime.Time // of the last that can arrive
}

// Pull implements workload.Source.
func (a *arrivals) Pull(r *workload.Request) (bool, error) {
	more, err := a.Source.Pull(r)
	if err != nil {
		return false, &InputError{err.Error()}
	}
	return more && r.Arrival <= a.end, nil
}
