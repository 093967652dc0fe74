package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	"blis/cluster"
	"blis/setup"
)

// workCmd is blis-cluster work.
type workCmd struct {
	URL     string `arg:"" name:"url" help:"Address of the server: nats://HOST:PORT, or tls://HOST:PORT."`
	Workers int    `default:"0" help:"Points at a time; 0: one per core. Changes no result."`

	server
}

// Run carries the command out.
func (w *workCmd) Run(ctx context.Context, c *console) error {
	if w.Workers < 0 || w.Workers > 4096 {
		return &setup.InputError{Text: fmt.Sprintf("--workers is %d: want 1 to 4096, 0 for one per core", w.Workers)}
	}
	engine, err := thisEngine()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	worker := cluster.Worker{
		Engine: engine, Cores: w.Workers, Load: load,
		Child: cluster.Command(program, "point"), Options: cluster.Options{Note: c.note},
	}
	if worker.Cores == 0 {
		worker.Cores = runtime.GOMAXPROCS(0)
	}
	return worker.Work(ctx, w.remote(w.URL))
}

// pointCmd runs one point, in a process that may die of it.
type pointCmd struct{}

// Run carries the command out.
func (*pointCmd) Run(ctx context.Context) error {
	return cluster.RunParcel(ctx, os.Stdin, os.Stdout, load)
}

// statusCmd is blis-cluster status.
type statusCmd struct {
	URL    string `arg:"" name:"url" help:"Address of the server: nats://HOST:PORT, or tls://HOST:PORT."`
	Format string `default:"text" enum:"text,json" help:"Form of the answer: text or json."`

	server
}

// Run carries the command out.
func (s *statusCmd) Run(ctx context.Context, c *console) error {
	remote := s.remote(s.URL)
	remote.Wait = 0
	status, err := cluster.AskStatus(ctx, remote, c.note)
	if err != nil {
		return err
	}
	if s.Format == "json" {
		text, err := json.MarshalIndent(status, "", "  ")
		if err == nil {
			_, err = fmt.Fprintf(c.out, "%s\n", text)
		}
		return err
	}
	fmt.Fprintf(c.out, "points     %d: %d done (%d of them failed since serve began), %d to do\n", status.Points, status.Done, status.Failed, status.Missing)
	if len(status.Workers) == 0 {
		_, err := fmt.Fprintln(c.out, "workers    none")
		return err
	}
	table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "worker\tcores\tpoints\theard of\tbuild\tmachine")
	for _, w := range status.Workers {
		fmt.Fprintf(table, "%s\t%d\t%d\t%v ago\t%.15s\t%s, %s\n", w.Host, w.Cores, w.Points, time.Since(w.Last).Round(time.Second), w.Build, w.Arch, w.Go)
	}
	return table.Flush()
}
