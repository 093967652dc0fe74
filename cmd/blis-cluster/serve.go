package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"blis/cli"
	"blis/cluster"
	"blis/setup"
	"blis/study"
	"blis/study/pointlog"
	"blis/study/sweepfile"
)

// serveCmd is blis-cluster serve.
type serveCmd struct {
	File   string `arg:"" help:"Sweep file, see docs/sweeps.md."`
	Out    string `short:"o" placeholder:"DIR" help:"Folder for the results; not given: the name of the file with .sweep. It is that of blis sweep: either goes on where the other ended."`
	Listen string `default:"127.0.0.1:4222" placeholder:"HOST:PORT" help:"Where workers connect. Another host than this machine needs --tls-cert and --tls-key."`
	Cert   string `name:"tls-cert" placeholder:"FILE" help:"PEM file with the server's certificate."`
	Key    string `name:"tls-key" placeholder:"FILE" help:"PEM file with its key."`
	NATS   string `name:"nats" placeholder:"URL" help:"Use a NATS server with JetStream that runs elsewhere, in place of one in this process."`

	server
}

// Run carries the command out.
func (s *serveCmd) Run(ctx context.Context, c *console) error {
	sweep, err := cli.ReadSweep(s.File)
	if err != nil {
		return err
	}
	plan, err := planOf(ctx, s.File, sweep)
	if err != nil {
		return err
	}
	folder, err := sweepfile.Open(s.folder(), plan, pointlog.Options{Note: c.note})
	if err != nil {
		return err
	}
	defer folder.Close()
	checks, err := pointlog.Open(s.folder(), pointlog.Options{Stem: "checks", Note: c.note})
	if err != nil {
		return err
	}
	defer checks.Close()
	work, err := s.work(ctx, plan, folder, checks)
	if err != nil {
		return err
	}
	if err := s.serve(ctx, c, work); err != nil {
		return err
	}
	if err := checks.Close(); err != nil {
		return err
	}
	return s.finish(c, plan, folder)
}

func (s *serveCmd) folder() string {
	if s.Out != "" {
		return s.Out
	}
	base := filepath.Base(s.File)
	return strings.TrimSuffix(base, filepath.Ext(base)) + ".sweep"
}

// work is what is to be run. Points that a run would refuse get their rows here.
func (s *serveCmd) work(ctx context.Context, plan *study.SweepPlan, folder *sweepfile.Folder, checks *pointlog.Log) (cluster.Work, error) {
	w := cluster.Work{Rows: folder.Log, Checks: checks}
	var err error
	if w.Engine, err = thisEngine(); err != nil {
		return w, err
	}
	if w.Definition, err = sweepfile.Lock(plan); err != nil {
		return w, err
	}
	for _, in := range plan.Inputs() {
		w.Inputs = append(w.Inputs, cluster.Input{Path: in.Path, SHA256: in.SHA256})
	}
	for _, at := range folder.Distinct() {
		i := int64(at)
		done := folder.Log.Done(plan.Key(i), false)
		if plan.Refusal(i) == nil {
			w.Points = append(w.Points, cluster.Point{Key: plan.Key(i), Index: i, Done: done})
			continue
		}
		if !done {
			if err := folder.Log.Append(plan.RunPoint(ctx, i, 1)); err != nil {
				return w, err
			}
		}
	}
	return w, nil
}

// serve hands the points out, unless all have rows.
func (s *serveCmd) serve(ctx context.Context, c *console, work cluster.Work) error {
	left := 0
	for _, p := range work.Points {
		if !p.Done {
			left++
		}
	}
	o := cluster.Options{Note: c.note}
	switch {
	case left == 0:
		return cluster.Serve(ctx, s.folder(), work, nil, nil, o) // compares what was run twice
	case s.NATS != "":
		if s.Cert != "" || s.Key != "" {
			return &setup.InputError{Text: "--tls-cert, --tls-key: are for a server in this process, which --nats replaces"}
		}
		return cluster.Serve(ctx, s.folder(), work, nil, s.remote(s.NATS), o)
	}
	if s.Creds != "" || s.TLSCA != "" {
		return &setup.InputError{Text: "--creds, --tls-ca: are for --nats; the server in this process makes a credential for workers"}
	}
	server, err := cluster.StartServer(s.folder(), cluster.Listen{Address: s.Listen, Cert: s.Cert, Key: s.Key})
	if err != nil {
		return err
	}
	defer server.Close()
	c.note(fmt.Sprintf("%d points to run; each worker: blis-cluster work %s --creds %s", left, server.URL, cluster.CredentialFile(s.folder())))
	return cluster.Serve(ctx, s.folder(), work, server, nil, o)
}

// finish writes the sorted file and says what came of the sweep.
func (s *serveCmd) finish(c *console, plan *study.SweepPlan, folder *sweepfile.Folder) error {
	missing, err := folder.Finish()
	if err != nil {
		return err
	}
	if missing > 0 {
		return fmt.Errorf("%d points have no row, which should not be", missing)
	}
	counts := folder.Log.Counts()
	if err := folder.Close(); err != nil {
		return err
	}
	failed := counts.Failed + counts.Unfinished
	_, err = fmt.Fprintf(c.out, "%d points in %s: %d ok, %d refused, %d failed\nlook at them: blis sweep show %s\n",
		plan.Len(), filepath.Join(s.folder(), pointlog.SortedName(pointlog.DefaultStem)), counts.OK, counts.Refused, failed, s.folder())
	if err == nil && failed > 0 {
		err = &errPoints{failed}
	}
	return err
}
