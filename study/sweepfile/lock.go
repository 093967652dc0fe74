package sweepfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blis/actors"
	"blis/input"
	"blis/setup"
	"blis/study"
	"blis/yamldoc"
)

// LockName is the name of the lock in the folder of a sweep.
const LockName = "sweep.lock.yaml"

// Lock is a plan as a sweep file of its own: the base and all bundles are in it, and the
// hashes of the files that it reads. Read gives the same plan again, on any machine that
// has these files. Equal plans have equal locks.
func Lock(p *study.SweepPlan) ([]byte, error) {
	var w bytes.Buffer
	s := &p.Sweep
	fmt.Fprintf(&w, "# What blis sweep runs in this folder, everything resolved. Written by blis; a change makes the rows those of another sweep.\nschema: %s\n", Schema)
	latency := strings.TrimSpace(p.Latency.Model + " " + p.Latency.Coefficients)
	if latency == "" {
		latency = "as the settings say"
	}
	fmt.Fprintf(&w, "lock:\n  semantics: %d\n  key_format: %d\n  points: %d\n  latency: %s\n  latency_error: %s\n", actors.SemanticsVersion, study.KeyFormat, p.Len(), quoted(latency), quoted(p.Latency.Error()))
	if inputs := p.Inputs(); len(inputs) > 0 {
		fmt.Fprintln(&w, "  inputs:")
		for _, in := range inputs {
			fmt.Fprintf(&w, "    %s: %s\n", quoted(in.Path), quoted(in.SHA256))
		}
	}
	fmt.Fprintln(&w, "base:")
	if err := writeBase(&w, &s.Base); err != nil {
		return nil, err
	}
	fmt.Fprintln(&w, "axes:")
	for i := range s.Axes {
		if err := writeAxis(&w, &s.Axes[i]); err != nil {
			return nil, err
		}
	}
	if s.Where != "" {
		fmt.Fprintf(&w, "where: %s\n", quoted(s.Where))
	}
	fmt.Fprintf(&w, "replicates: %d\n", s.Replicates)
	if s.Sample.Method != study.Grid {
		fmt.Fprintf(&w, "sample: {method: %s, points: %d, seed: %d}\n", s.Sample.Method, s.Sample.Points, s.Sample.Seed)
	}
	fmt.Fprintf(&w, "limits: {points: %d", s.Limits.Points)
	if s.Limits.Wall > 0 {
		fmt.Fprintf(&w, ", wall: %s", s.Limits.Wall)
	}
	if s.Limits.Events > 0 {
		fmt.Fprintf(&w, ", events: %d", s.Limits.Events)
	}
	fmt.Fprintf(&w, "}\nlatency_per_point: %v\n", s.LatencyPerPoint)
	return w.Bytes(), nil
}

// writeBase writes the settings that are given, those that stand for a field of the bundle
// as part of it. The seed is, if somebody gave it: the traffic of a specification follows it
// then.
func writeBase(w *bytes.Buffer, c *setup.Config) error {
	inBundle := setup.BundleSettings()
	for s := range c.Settings() {
		if s.Name == "seed" && !c.SeedGiven || slices.Contains(inBundle, s.Name) {
			continue
		}
		value, err := json.Marshal(s.Value.Interface())
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if string(value) != "null" {
			fmt.Fprintf(w, "  %s: %s\n", s.Name, value)
		}
	}
	return nil
}

// writeAxis writes the values of an axis with all that they set.
func writeAxis(w *bytes.Buffer, a *study.Axis) error {
	if r := a.Range; r != nil {
		scale := "linear"
		if r.Log {
			scale = "log"
		}
		fmt.Fprintf(w, "  %s: {from: %v, to: %v, scale: %s}\n", quoted(a.Name), r.From, r.To, scale)
		return nil
	}
	fmt.Fprintf(w, "  %s:\n", quoted(a.Name))
	for i := range a.Values {
		fmt.Fprintf(w, "    - {value: %s, set: {", a.Values[i].Value)
		for k, one := range a.Values[i].Assign {
			if k > 0 {
				w.WriteString(", ")
			}
			value := quoted(one.Text)
			if one.Policies != nil {
				text, err := json.Marshal(one.Policies)
				if err != nil {
					return fmt.Errorf("axes.%s[%d]: %w", a.Name, i, err)
				}
				value = string(text)
			}
			fmt.Fprintf(w, "%s: %s", quoted(one.Name), value)
		}
		w.WriteString("}}\n")
	}
	return nil
}

func quoted(text string) string { return strconv.Quote(text) }

// Info is what a lock says beside the sweep.
type Info struct {
	Points       int64
	LatencyError string // what is known of the error of the latency model, in words
}

// ReadInfo reads it.
func ReadInfo(path string) (info Info, err error) {
	text, err := input.ReadFile(path, MaxBytes)
	if err != nil {
		return info, err
	}
	root, err := yamldoc.Read(path, text, limits)
	if err != nil {
		return info, err
	}
	var lock *yamldoc.Node
	if root != nil {
		lock = root.Get("lock")
	}
	if lock == nil || lock.Get("points") == nil || lock.Get("latency_error") == nil {
		return info, &setup.InputError{Text: path + ": has no lock with points and latency_error, want a lock that blis sweep wrote"}
	}
	info.Points, _ = lock.Get("points").Whole()
	info.LatencyError = lock.Get("latency_error").Text
	return info, nil
}
