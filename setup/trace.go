package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"blis/metrics"
	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
	"blis/workload/servegen"
	"blis/workload/traces"
	"blis/workload/traffic"
)

// openTrace opens the trace to replay, or the data of ServeGen from which requests
// are drawn.
func (p *resolver) openTrace() error {
	c := &p.Config
	if info, err := os.Stat(c.Trace); c.TraceFormat == serveGen || c.TraceFormat == "" && err == nil && info.IsDir() {
		return p.drawServeGen()
	}
	content, err := openFile(c, c.Trace)
	if err != nil {
		return fileError("trace", err)
	}
	defer content.Close()
	file := traces.Begin(c.Trace, content)
	if c.TraceFormat == "" && file.IsServeGen() {
		return p.drawServeGen()
	}
	if ending := filepath.Ext(c.Trace); c.TraceFormat == "" && (ending == ".yaml" || ending == ".yml") && !file.IsHeader() {
		return inputErrorf("%s: YAML that is no header of a trace: want a trace, or --workload-spec for a specification", c.Trace)
	}
	pace, err := tracePace(c)
	if err != nil {
		return err
	}
	t, err := file.Open(traces.Options{
		Format: traces.Format(c.TraceFormat), BlockSize: c.TraceBlockSize, Offset: c.TraceOffset, Limit: c.TraceLimit,
		Ignore: columnNames(c.TraceIgnore), Classes: targetedClasses(c.SLOTargets), Speedup: c.TraceSpeedup, SpreadTies: c.SpreadTies, SkipBadRows: c.SkipBadRows, Timeout: c.Timeout, Pace: pace,
	})
	var missing *os.PathError
	if errors.As(err, &missing) {
		return fileError("trace", err)
	}
	if err != nil {
		return err
	}
	p.Source = t
	p.warnOfTimeout("timeout", c.Timeout)
	if err := p.rescale(t); err != nil {
		return err
	}
	p.noteUnusedOfTrace(t)
	p.Summary.Requests = int64(t.Remaining())
	p.Summary.Workload = fmt.Sprintf("%d requests of %s (%s)", t.Remaining(), filepath.Base(c.Trace), t.Format())
	for _, text := range t.Notes() {
		p.note("%s", text)
	}
	if n, first := t.Skipped(); n > 0 {
		p.note("%d bad rows skipped, the first: %v", n, first)
	}
	return nil
}

// rescale gives a trace with its own arrivals the rate of the configuration.
func (p *resolver) rescale(t *traces.Trace) error {
	c := &p.Config
	own := t.Rate()
	switch {
	case c.Rate == 0 || t.Paced():
		return nil
	case c.TraceSpeedup != 1:
		return inputErrorf("--rate is %v and --trace-speedup is %v: want one of them, both change the rate of the trace", c.Rate, c.TraceSpeedup)
	case own == 0:
		p.note("rate has no effect: the requests of the trace arrive at once")
		return nil
	}
	if err := t.Rescale(c.Rate); err != nil {
		return err
	}
	p.note("rate %v/s: the trace has %.4g/s, its times are divided by %.4g", c.Rate, own, c.Rate/own)
	return nil
}

// columnNames returns the names in a list with commas.
func columnNames(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// targetedClasses returns the classes with targets, none if the targets are in error.
func targetedClasses(targets string) (names []string) {
	all, err := metrics.ParseTargets(targets)
	for i := range all {
		if err == nil && all[i].Class != "" {
			names = append(names, all[i].Class)
		}
	}
	return names
}

// tracePace makes the arrivals of a trace without its own, nil if no rate is given.
func tracePace(c *Config) (traces.Pace, error) {
	if c.Rate == 0 {
		return nil, nil
	}
	law, rate := draw.ArrivalProcess{Kind: draw.ProcessKind(c.Arrival), CV: c.CV}, draw.Flat(c.Rate)
	var bad workload.Faults
	law.Check(&bad, "")
	rate.Check(&bad, "rate: ")
	if err := bad.Err(""); err != nil {
		return nil, err
	}
	a := draw.NewArrivals(law, &rate, vtime.NewStream(workloadSeed(c), "workload/default/arrivals"))
	return &a, nil
}

// serveGen is the value of trace-format for ServeGen's data.
const serveGen = "servegen"

// drawServeGen makes the traffic of ServeGen's data.
func (p *resolver) drawServeGen() error {
	c := &p.Config
	clients, notes, err := servegen.Read(c.Trace, servegen.Options{RateScale: c.TraceSpeedup})
	if err != nil {
		return err
	}
	for i := range clients {
		clients[i].Timeout = c.Timeout
	}
	if c.TraceLimit == 0 && c.Horizon == 0 { // published data are hundreds of millions of requests
		return inputErrorf("%s: ServeGen's data say how often clients send over days: want --trace-limit (requests) or --horizon (virtual time)", c.Trace)
	}
	config := traffic.Config{Seed: workloadSeed(c), Requests: c.TraceLimit, Horizon: vtime.Time(c.Horizon), Clients: clients}
	source, err := traffic.New(config)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Trace, err)
	}
	p.Source = source
	for _, n := range notes {
		p.note("%s", n)
	}
	p.noteIfSet([]string{"trace-block-size", "trace-offset", "trace-ignore-columns", "spread-ties", "skip-bad-rows", "rate", "arrival", "cv"}, "ServeGen's data are windows of rates, of which requests are drawn")
	p.Summary.Workload = fmt.Sprintf("ServeGen's %s: %d clients", filepath.Base(c.Trace), len(clients))
	return nil
}
