package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"blis/report"
	"blis/setup"
	"blis/study"
)

// applyPolicies notes which settings are given: a frontier takes them from its sweep.
func (r *capacityCmd) applyPolicies(command *kong.Context, l *settingSources) error {
	for _, p := range command.Path {
		if p.Flag != nil && setup.CheckName(p.Flag.Name) == nil {
			r.given = append(r.given, "--"+p.Flag.Name)
		}
	}
	for _, pool := range pools {
		for _, name := range l.flags.of(pool).Names() {
			r.given = append(r.given, "--"+pool+"-"+name)
		}
	}
	return r.settings.applyPolicies(command, l)
}

// frontier searches the capacity of every configuration of the sweep file.
func (r *capacityCmd) frontier(ctx context.Context, c *console, search study.Capacity) error {
	if r.Frontier == "" {
		return inputErrorf("%s: a sweep file is for --frontier cost: want that too, or none", r.Sweep)
	}
	if r.Sweep == "" {
		return inputError("--frontier: want the sweep file with the configurations, like blis capacity --frontier cost sweep.yaml --slo … --over rate=20..600")
	}
	if len(r.given) > 0 {
		return inputErrorf("%s: with --frontier settings are those of the sweep file: want it there", strings.Join(r.given, ", "))
	}
	sweep, err := ReadSweep(r.Sweep)
	if err != nil {
		return err
	}
	sweep.Replicates = 1
	plan, err := study.NewSweepPlan(ctx, sweep, study.Pool{Workers: r.Workers})
	var fault *study.SweepError
	if errors.As(err, &fault) {
		err = inputError(r.Sweep + ": " + err.Error())
	}
	if err != nil {
		return err
	}
	for i := range plan.Sweep.Axes {
		if plan.Sweep.Axes[i].Sets(search.Over.Name) {
			return inputErrorf("--over %s: is on the axis %s of the sweep too: want it in one of them", search.Over.Name, plan.Sweep.Axes[i].Name)
		}
	}
	clusters, err := clustersOf(plan)
	if err != nil {
		return err
	}
	page, err := r.page(ctx)
	if err != nil {
		return err
	}
	bar := c.windows(&search)
	defer bar.done()
	c.begun.Store(true)
	observe := search.Observe
	now := ""
	search.Observe = func(o study.CapacityProgress) {
		observe(o)
		bar.say(now)
	}
	points, latency, err := study.Frontier(ctx, search, clusters, func(i int) { now = fmt.Sprintf("configuration %d of %d", i+1, len(clusters)) })
	bar.done()
	if points == nil && err != nil {
		page.discard()
		return err
	}
	result := &report.Frontier{Points: points, Asked: search, File: r.Sweep, Latency: latency, Partial: err != nil}
	for i := range points {
		result.Coordinates = append(result.Coordinates, plan.Coordinates(int64(i)))
	}
	return firstOf(r.write(c, page, result, err == nil), err)
}

// clustersOf are the configurations of a plan without replicates.
func clustersOf(plan *study.SweepPlan) (list []study.Cluster, err error) {
	for i := range plan.Len() {
		cfg, err := plan.Config(i)
		if err != nil {
			return nil, inputError(err.Error())
		}
		list = append(list, study.Cluster{Name: plan.Label(i), Config: cfg})
	}
	return list, nil
}
