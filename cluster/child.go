package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"

	"blis/study/confine"
	"blis/study/pointlog"
)

// Parcel is a point for a process of its own.
type Parcel struct {
	Definition string            `json:"definition"` // file with its text
	Inputs     map[string]string `json:"inputs"`     // files by the paths that the definition has for them
	Index      int64             `json:"index"`
	Key        pointlog.Key      `json:"key"`
}

// died is the error of a child that a signal ended.
type died struct{ signal string }

// Error names the signal.
func (d *died) Error() string { return "died of " + d.signal }

// inChild runs a point in a child. When that dies twice, of a signal or because it wants
// more memory than it may have, the point has failed.
func (s *shift) inChild(o order, key pointlog.Key) (*pointlog.Row, error) {
	p := s.parcel
	p.Index, p.Key = o.Index, key
	s.Options.Note(fmt.Sprintf("point %d was given to workers %d times and more: it runs in a process of its own", p.Index, healthyDeliveries))
	var signals []string
	for range 2 {
		row, err := s.Child(s.ctx, &p)
		dead, is := err.(*died)
		if !is || s.ctx.Err() != nil {
			return row, err
		}
		signals = append(signals, dead.signal)
	}
	return s.killed(o, key, signals)
}

// killed is the row of a point that kills its process.
func (s *shift) killed(o order, key pointlog.Key, signals []string) (*pointlog.Row, error) {
	row, err := s.runner.Describe(o.Index)
	if err != nil {
		return nil, err
	}
	row.Key = key
	row.Status, row.Cause = pointlog.Failed, pointlog.Killed
	row.Error = "its process died twice: " + strings.Join(signals, ", ")
	return row, nil
}

// Command is a Worker.Child that starts a program: it gets the parcel on standard input
// and calls RunParcel.
func Command(program string, args ...string) func(context.Context, *Parcel) (*pointlog.Row, error) {
	return func(ctx context.Context, p *Parcel) (row *pointlog.Row, err error) {
		child := exec.CommandContext(ctx, program, args...)
		child.Stdin = bytes.NewReader(encode(p))
		// A crash of the runtime, for want of memory too, becomes a signal like any other.
		child.Env = append(os.Environ(), "GOTRACEBACK=crash")
		var out, complaint bytes.Buffer
		child.Stdout, child.Stderr = &out, &head{buffer: &complaint}
		var done sync.WaitGroup
		done.Go(func() { // of a thread of its own: a child dies with the thread that started it
			runtime.LockOSThread()
			confine.Isolate(child)
			err = child.Run()
		})
		done.Wait()
		if signal := signalOf(child.ProcessState); signal != "" && ctx.Err() == nil {
			if strings.Contains(complaint.String(), "out of memory") {
				signal = "its memory limit"
			}
			return nil, &died{signal}
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil
			}
			return nil, fmt.Errorf("a process of its own: %w: %s", err, oneLineOf(complaint.String()))
		}
		parsed, err := pointlog.Parse(bytes.TrimSpace(out.Bytes()))
		return &parsed, err
	}
}

func oneLineOf(text string) string { return strings.Join(strings.Fields(text), " ") }

// head keeps the first bytes of what is written.
type head struct{ buffer *bytes.Buffer }

// Write takes all and keeps the first 16 KiB.
func (h *head) Write(p []byte) (int, error) {
	if room := 1<<14 - h.buffer.Len(); room > 0 {
		h.buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// RunParcel is the work of a child: it reads a parcel, runs the point and writes its row.
func RunParcel(ctx context.Context, in io.Reader, out io.Writer, load Loader) error {
	var p Parcel
	if err := json.NewDecoder(in).Decode(&p); err != nil {
		return err
	}
	if err := limit(); err != nil {
		return err
	}
	definition, err := os.ReadFile(p.Definition)
	if err != nil {
		return err
	}
	runner, err := load(ctx, definition, p.Inputs)
	if err != nil {
		return err
	}
	row, err := runner.Run(ctx, p.Index, p.Key)
	if err != nil {
		return err
	}
	if row == nil {
		return context.Canceled
	}
	text, err := row.AppendJSON(nil)
	if err == nil {
		_, err = out.Write(append(text, '\n'))
	}
	return err
}
