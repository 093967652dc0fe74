package bench

import (
	"encoding/json"
	"errors"
	"io/fs"

	"blis/input"
)

// readReport reads an earlier report.
func readReport(file string) (*Report, error) {
	text, err := input.ReadFile(file, input.Report)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, inputErrorf("%s: %v", file, err)
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, inputErrorf("%s: %v: want the JSON that blis bench prints", file, err)
	}
	if r.Schema != Schema {
		return nil, inputErrorf("%s: schema is %q: want %q", file, r.Schema, Schema)
	}
	return &r, nil
}

// compare relates what both reports have.
func compare(earlier, now *Report, limit Share) []Change {
	var list []Change
	for i := range now.Scenarios {
		for j := range earlier.Scenarios {
			a, b := &earlier.Scenarios[j], &now.Scenarios[i]
			if a.Name == b.Name {
				list = append(list, changes(a, b, limit, (*ScenarioTimes).calibrated)...)
			}
		}
	}
	return list
}

// changes relates the figures of a scenario, by number of cores, to those before.
func changes(before, now *ScenarioTimes, limit Share, figure func(*ScenarioTimes, *Times) float64) []Change {
	var list []Change
	for i := range now.Cores {
		for j := range before.Cores {
			a, b := &before.Cores[j], &now.Cores[i]
			if a.CPUs != b.CPUs {
				continue
			}
			c := Change{Name: now.Name, CPUs: b.CPUs, BeforeS: figure(before, a), NowS: figure(now, b), SameDigest: a.Digest == b.Digest}
			if c.BeforeS > 0 {
				c.Factor = c.NowS / c.BeforeS
				c.WithinLimit = limit == 0 || c.Factor <= 1+float64(limit)
				list = append(list, c)
			}
		}
	}
	return list
}

// calibrated is the figure that is compared, as it would be on the reference
// machine: on one core CPU time, which other processes disturb less; on
// several wall time, because waiting cores spin.
func (s *ScenarioTimes) calibrated(t *Times) float64 {
	scale := s.WallScale
	if t.CPUs == 1 {
		scale = s.CPUScale
	}
	if !(scale > 0) {
		return 0
	}
	return s.plain(t) / scale
}

// plain is that figure as it was here.
func (s *ScenarioTimes) plain(t *Times) float64 {
	if t.CPUs == 1 {
		return t.CPUS
	}
	return t.WallS
}
