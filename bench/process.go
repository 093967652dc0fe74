package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// sample is one run as a process of its own.
type sample struct {
	wall, user, system time.Duration
	peak               int64 // bytes, 0: not known
	digest             string
	ruler              ruler
}

// ruler is the part of a result that says what measured the run.
type ruler struct {
	LatencyModel   string  `json:"latency_model"`
	CoefficientSet *string `json:"coefficient_set"`
}

// start runs the binary with args on the given number of cores and returns
// what it printed. The wall time is from before the process exists to after
// its exit; reading what it printed goes on meanwhile.
func start(ctx context.Context, binary string, cpus int, args []string) (sample, []byte, error) {
	var s sample
	cmd := exec.CommandContext(ctx, binary, args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	cmd.Env = environment(cpus)
	began := time.Now()
	err := cmd.Run()
	s.wall = time.Since(began)
	if ctx.Err() != nil {
		return s, nil, ctx.Err()
	}
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return s, nil, fmt.Errorf("bench: %w", err)
		}
		return s, nil, fmt.Errorf("bench: %s %s: %w: %s", binary, strings.Join(args, " "), err, lastLine(problems.String()))
	}
	s.user, s.system = cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()
	s.peak = peakBytes(cmd.ProcessState)
	return s, out.Bytes(), nil
}

// environment is the caller's without what would change the run: settings of
// the command and of the Go runtime.
func environment(cpus int) []string {
	var env []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		switch {
		case strings.HasPrefix(name, "BLIS_"), name == "GOMAXPROCS", name == "GODEBUG", name == "GOGC", name == "GOMEMLIMIT":
		default:
			env = append(env, e)
		}
	}
	return append(env, "GOMAXPROCS="+strconv.Itoa(cpus))
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// runScenario runs a scenario once.
func runScenario(ctx context.Context, binary string, cpus int, flags []string) (sample, error) {
	args := append([]string{"run", "--format=json"}, flags...)
	s, out, err := start(ctx, binary, cpus, args)
	if err != nil {
		return s, err
	}
	var result struct {
		Schema string `json:"schema"`
		Digest string `json:"digest"`
		Setup  ruler  `json:"setup"`
	}
	if err := json.Unmarshal(out, &result); err != nil || result.Digest == "" {
		return s, fmt.Errorf("bench: %s %s: no result with a digest on its output (%d bytes, schema %q)", binary, strings.Join(args, " "), len(out), result.Schema)
	}
	s.digest, s.ruler = result.Digest, result.Setup
	return s, nil
}

// calibrate runs Calibrate in a process of its own: its memory would count
// as memory of the processes started later, because the system counts the
// memory of a child from before it becomes another program.
func calibrate(ctx context.Context, binary string) (Calibration, error) {
	var c Calibration
	_, out, err := start(ctx, binary, 1, []string{"bench", "calibrate", "--format=json"})
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(out, &c); err != nil || c.Schema != CalibrationSchema || !(c.WallNS > 0 && c.CPUNS > 0) {
		return c, fmt.Errorf("bench: %s bench calibrate --format=json: no %s on its output", binary, CalibrationSchema)
	}
	return c, nil
}
