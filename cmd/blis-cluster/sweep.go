package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"blis/actors"
	"blis/cli"
	"blis/cluster"
	"blis/report"
	"blis/setup"
	"blis/study"
	"blis/study/pointlog"
	"blis/study/sweepfile"
)

// thisEngine identifies this program. A build without a commit, or with changes, is
// identified by its binary.
func thisEngine() (cluster.Engine, error) {
	e := cluster.Engine{Semantics: actors.SemanticsVersion, KeyFormat: study.KeyFormat}
	v := report.CurrentVersion()
	if e.Build = v.Commit; v.Commit != "unknown" && !v.Modified {
		return e, nil
	}
	path, err := os.Executable()
	if err != nil {
		return e, err
	}
	f, err := os.Open(path)
	if err != nil {
		return e, err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	e.Build = "binary " + hex.EncodeToString(sum.Sum(nil))[:16]
	return e, err
}

// planOf makes the points of a sweep. name is what its faults are said to be in.
func planOf(ctx context.Context, name string, s study.Sweep) (*study.SweepPlan, error) {
	plan, err := study.NewSweepPlan(ctx, s, study.Pool{})
	var fault *study.SweepError
	if errors.As(err, &fault) {
		err = &setup.InputError{Text: name + ": " + err.Error()}
	}
	return plan, err
}

// runner runs the points of a plan for package cluster.
type runner struct{ plan *study.SweepPlan }

// load is a cluster.Loader: definitions are locks of sweep folders.
func load(ctx context.Context, definition []byte, inputs map[string]string) (cluster.Runner, error) {
	s, err := cli.ParseSweep(sweepfile.LockName, definition)
	if err != nil {
		return nil, err
	}
	s.Base.Custom.Open = func(path string) (io.ReadCloser, error) {
		at, known := inputs[path]
		if !known {
			return nil, fmt.Errorf("%s: is not among the inputs of the sweep", path)
		}
		return os.Open(at)
	}
	plan, err := planOf(ctx, sweepfile.LockName, s)
	return &runner{plan}, err
}

// Run runs a point.
func (r *runner) Run(ctx context.Context, i int64, key pointlog.Key) (*pointlog.Row, error) {
	if i < 0 || i >= r.plan.Len() || r.plan.Key(i) != key {
		return nil, fmt.Errorf("point %d has another key here than %s", i, key)
	}
	return r.plan.RunPoint(ctx, i, 1), nil
}

// Describe describes a point.
func (r *runner) Describe(i int64) (*pointlog.Row, error) { return r.plan.Describe(i), nil }
