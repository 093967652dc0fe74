package actors

import (
	"fmt"
	"strings"
	"testing"

	"blis/bundle"
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

func (c *stepCase) title() string {
	if c.params == "" {
		return c.name
	}
	return c.name + " " + c.params
}

// attainment is the share of each phase's requests that met their targets.
type attainment [3]float64

// run is the site under the steps with this autoscaler.
func (c *stepCase) run(t *testing.T, site Config, requests []workload.Request) (*Result, attainment) {
	t.Helper()
	text := fmt.Sprintf("autoscale: {type: %s, params: {%s}, min: %d, max: %d, interval: %v, actuation: {provisioning: %v, model_load: %v}}",
		c.name, c.params, c.bounds[0], c.bounds[1], stepInterval, stepProvisioning, stepLoading)
	b, err := bundle.Parse("step", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	targets, err := metrics.ParseTargets(site.SLOTargets)
	if err != nil {
		t.Fatal(err)
	}
	site.Policies = b
	judge := metrics.Options{Targets: []metrics.Targets{targets[0].Targets}, TokenOverhead: vtime.Duration(site.AlphaCoeffs[2])}
	var arrived, met [3]int
	site.Row = func(r *Row) {
		i := 0
		for at := stepUp; i+1 < len(stepPhases) && r.Outcome.Arrival >= at; {
			i++
			at = at.Add(stepPhases[i].last)
		}
		arrived[i]++
		if _, attained := judge.Attained(r.Outcome); attained {
			met[i]++
		}
	}
	r := runTraffic(t, site, requests, workload.Labels{})
	var shares attainment
	for i := range shares {
		shares[i] = float64(met[i]) / float64(arrived[i])
	}
	if n := int64(met[0] + met[1] + met[2]); float64(n) != *r.Report.Overall.SLOAttainment*float64(r.Report.Injected) {
		t.Errorf("%d of %d requests met their targets, the report says %v", n, r.Report.Injected, *r.Report.Overall.SLOAttainment)
	}
	return r, shares
}

// percents words shares.
func (a attainment) String() string {
	return fmt.Sprintf("%.1f, %.1f, %.1f %%", 100*a[0], 100*a[1], 100*a[2])
}

// curve is the number of replicas over time: a line of a mark per minute, the
// fewest asked for a space and the most a full block, then every change.
func (c *stepCase) curve(r *Result, attained attainment) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, min %d, max %d\n  %s|\n", c.title(), c.bounds[0], c.bounds[1], sparkline(r))
	fmt.Fprintf(&b, "  targets met by %v; %d oscillations, %.2f replica-hours\n", attained, r.Scaling.Oscillations, r.Scaling.Hours())
	const most = 24 // changes that are shown
	for i, e := range r.Scaling.Events {
		if i == most {
			fmt.Fprintf(&b, "  … and %d more\n", len(r.Scaling.Events)-most)
			break
		}
		fmt.Fprintf(&b, "  %5.0f s  %2d to %2d, %2d ready  %v\n", vtime.Duration(e.At).Seconds(), e.From, e.To, readyAt(r, e.At), e.Reason)
	}
	return b.String() + "\n"
}

// sparkline has a mark for the number of replicas at the end of each minute, an
// eighth of a block for every two.
func sparkline(r *Result) string {
	marks := []rune(" ▁▂▃▄▅▆▇█")
	var line []rune
	for at := vtime.Time(0); at < stepEnd; at = at.Add(vtime.Minute) {
		n := askedAt(r, at.Add(vtime.Minute-1))
		line = append(line, marks[min(int(n+1)/2, len(marks)-1)])
	}
	return string(line)
}

// stepHead is the head of the table in the docs.
func stepHead(g gauge) string {
	return fmt.Sprintf("One instance serves %.1f requests per second; at 80 %% of that %.1f %% of its seats are in use. So %d replicas are wanted at 20 per\nsecond and %d at 60.\n\n",
		g.capacity, 100*g.busy, g.wanted(stepPhases[0].rate), g.wanted(stepPhases[1].rate)) +
		"| autoscaler | 7 ready after | most | 7 to 9 from | 2 to 4 from | targets met in each phase | replica-hours |\n|---|---|---|---|---|---|---|\n"
}

// row is that of this autoscaler.
func (c *stepCase) row(g gauge, r *Result, attained attainment) string {
	low, high := g.wanted(stepPhases[0].rate), g.wanted(stepPhases[1].rate)
	_, most := extremes(r, stepUp, stepDown)
	name := "`" + c.name + "`"
	if c.params != "" {
		name += " `{" + c.params + "}`"
	}
	return fmt.Sprintf("| %s | %s | %d | %s | %s | %v | %.2f |\n", name, firstReady(r, high-1), most,
		staysFrom(r, stepUp, stepDown, high), staysFrom(r, stepDown, stepEnd, low), attained, r.Scaling.Hours())
}

// firstReady is when after the step up n replicas are ready.
func firstReady(r *Result, n int32) string {
	for at := stepUp; at < stepDown; at = at.Add(vtime.Second) {
		if readyAt(r, at) >= n {
			return seconds(at.Sub(stepUp))
		}
	}
	return "never"
}

// staysFrom is when after a time from there are n ± 1 replicas up to another.
func staysFrom(r *Result, from, to vtime.Time, n int32) string {
	for at := from; at < to; at = at.Add(vtime.Second) {
		if fewest, most := extremes(r, at, to); fewest >= n-1 && most <= n+1 {
			return seconds(at.Sub(from))
		}
	}
	return "never"
}

func seconds(d vtime.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }
