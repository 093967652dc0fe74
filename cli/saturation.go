package cli

import (
	"blis/actors"
	"blis/metrics"
	"blis/metrics/stability"
	"blis/report"
	"blis/vtime"
)

// saturationFlags are the flags that ask whether the servers kept up.
type saturationFlags struct {
	Detectors             string          `placeholder:"NAMES" group:"Output" help:"Say whether the run was stable: its verdict, and what saturation detectors say, composite, threshold, backlog-drift, several with commas, or all."`
	DetectorsInput        string          `placeholder:"INPUT" group:"Output" help:"Requests that detectors hear of: completed, those that complete; all, each arrival and end until the last arrival. Not given: all with --flow-control, else completed."`
	SaturationThreshold   *vtime.Duration `placeholder:"TIME" group:"Output" help:"Mean E2E from which the detector threshold says OVERLOADED. Not given: 5s."`
	SaturationWindow      *vtime.Duration `placeholder:"TIME" group:"Output" help:"Window of the detector backlog-drift. Not given: 60s."`
	SaturationFinalWindow *vtime.Duration `placeholder:"TIME" group:"Output" help:"Time before the last event in which the final level of a detector is the most frequent one. Not given: 30s."`
}

// saturation is the requests of a run for its verdict.
type saturation struct {
	settings stability.Settings
	requests []stability.Request
}

// open reads the flags; nil: nobody asks.
func (f *saturationFlags) open(gated bool) (*saturation, error) {
	s := &saturation{settings: stability.Settings{Input: stability.Completed}}
	if gated {
		s.settings.Input = stability.All
	}
	if f.Detectors == "" {
		for _, other := range []struct {
			name  string
			given bool
		}{{"detectors-input", f.DetectorsInput != ""}, {"saturation-threshold", f.SaturationThreshold != nil}, {"saturation-window", f.SaturationWindow != nil}, {"saturation-final-window", f.SaturationFinalWindow != nil}} {
			if other.given {
				return nil, inputErrorf("--%s has no effect without --detectors", other.name)
			}
		}
		return nil, nil
	}
	var err error
	if s.settings.Names, err = stability.ParseNames(f.Detectors); err != nil {
		return nil, inputError("--detectors: " + err.Error())
	}
	switch in := stability.Input(f.DetectorsInput); in {
	case "":
	case stability.Completed, stability.All:
		s.settings.Input = in
	default:
		return nil, inputErrorf("--detectors-input is %q: want %s or %s", in, stability.Completed, stability.All)
	}
	for _, x := range []struct {
		name  string
		given *vtime.Duration
		usual vtime.Duration
		to    *vtime.Duration
	}{
		{"saturation-threshold", f.SaturationThreshold, 5 * vtime.Second, &s.settings.Threshold},
		{"saturation-window", f.SaturationWindow, vtime.Minute, &s.settings.Window},
		{"saturation-final-window", f.SaturationFinalWindow, 30 * vtime.Second, &s.settings.Final},
	} {
		if *x.to = x.usual; x.given != nil {
			*x.to = *x.given
		}
		if *x.to < leastStep {
			return nil, inputErrorf("--%s is %v: want at least %v", x.name, *x.to, leastStep)
		}
	}
	return s, nil
}

// attach makes a run tell of its requests, besides whom else it tells.
func (s *saturation) attach(cfg *actors.Config) {
	if s == nil {
		return
	}
	other := cfg.Row
	cfg.Row = func(row *actors.Row) {
		if other != nil {
			other(row)
		}
		s.requests = append(s.requests, requestOf(row))
	}
}

// requestOf is what a verdict takes of a request. One that can never be served says nothing of the servers.
func requestOf(row *actors.Row) stability.Request {
	r := stability.Request{Arrival: row.Arrival, End: row.Finished, E2E: -1}
	switch row.State {
	case metrics.Completed:
		r.E2E, _ = row.E2E()
	case metrics.Rejected, metrics.TimedOut, metrics.Aborted, metrics.Failed, metrics.Shed, metrics.Expired, metrics.Evicted:
		r.Lost = true
	}
	return r
}

// of is the verdict; nil: nobody asks.
func (s *saturation) of() *report.Saturation {
	if s == nil {
		return nil
	}
	return report.NewSaturation(s.requests, &s.settings)
}
