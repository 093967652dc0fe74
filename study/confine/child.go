package confine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Child is a process that has been started and waits for its work on standard input. It has
// no environment and an empty folder, and answers on standard output.
type Child struct {
	command *exec.Cmd
	input   io.WriteCloser
	work    chan []byte // to be written to input; closed when there is no more
	stopped sync.Once   // closes work
	answer  head
	said    head // on standard error
	folder  string
	ended   chan struct{}
	err     error // of the process; valid once ended is closed
}

// mostSaid is how much of standard error is kept, in bytes.
const mostSaid = 16 << 10

// Start starts a program, whose input begins with ahead: what it can read before it has its work. Of its
// answer most bytes are kept. A child that gets no work is ended by Stop.
func Start(ahead []byte, most int, program string, args ...string) (*Child, error) {
	folder, err := os.MkdirTemp("", "blis-child-")
	if err != nil {
		return nil, err
	}
	c := &Child{command: exec.Command(program, args...), folder: folder, ended: make(chan struct{}), work: make(chan []byte, 1),
		answer: head{most: most, refuses: true}, said: head{most: mostSaid}}
	c.command.Env, c.command.Dir = []string{}, folder
	c.command.Stdout, c.command.Stderr = &c.answer, &c.said
	// A grandchild that holds the pipes cannot keep the parent waiting.
	c.command.WaitDelay = time.Second
	if c.input, err = c.command.StdinPipe(); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	started := make(chan error)
	go func() { // on a thread of its own: a child dies with the thread that started it
		runtime.LockOSThread()
		Isolate(c.command)
		err := c.command.Start()
		// The child stays in the folder, in which nothing can be made any more, and none is left where the parent is killed. Systems
		// that do not allow that remove it at the end.
		os.Remove(folder)
		started <- err
		if err == nil {
			c.err = c.command.Wait()
		}
		os.RemoveAll(folder)
		close(c.ended)
	}()
	if err := <-started; err != nil {
		<-c.ended
		return nil, err
	}
	go func() { // a child that ends early does not read all: that is no error
		c.input.Write(ahead)
		for work := range c.work {
			c.input.Write(work)
		}
		c.input.Close()
	}()
	return c, nil
}

// Cause is why a child ended without an answer.
type Cause string

// Causes.
const (
	Answered    Cause = ""       // it did answer
	OutOfTime   Cause = "wall"   // it took longer than it may, on the clock or of the processor
	OutOfMemory Cause = "memory" // it wanted more memory than it may have, or than there is
	Crashed     Cause = "crash"  // it ended in another way
)

// End is how a child ended.
type End struct {
	Cause  Cause
	Text   string // in one line; empty with Answered
	Answer []byte // all of it; nil unless Answered
}

// Do gives the child its work, once, and waits until it has ended, at most as long as limits say. The
// error is ctx's; then the child has ended too.
func (c *Child) Do(ctx context.Context, work []byte, limits Limits) (End, error) {
	defer c.Stop()
	c.work <- work
	c.stopped.Do(func() { close(c.work) })
	var wall <-chan time.Time
	if limits.Wall > 0 {
		timer := time.NewTimer(limits.Wall)
		defer timer.Stop()
		wall = timer.C
	}
	tooLarge, stop := c.watch(limits.Memory)
	defer stop()
	select {
	case <-c.ended:
		return c.end(limits), nil
	case <-wall:
		return End{Cause: OutOfTime, Text: fmt.Sprintf("took longer than %v", limits.Wall)}, nil
	case <-tooLarge:
		return End{Cause: OutOfMemory, Text: outOfMemory(limits)}, nil
	case <-ctx.Done():
		return End{}, ctx.Err()
	}
}

// Stop ends the process and all it started, and waits until it has ended.
func (c *Child) Stop() {
	select {
	case <-c.ended:
	default:
		kill(c.command)
	}
	c.stopped.Do(func() { close(c.work) })
	<-c.ended
}

// end says how the process ended.
func (c *Child) end(limits Limits) End {
	said := c.said.text()
	switch {
	case c.err == nil && !c.answer.over:
		return End{Answer: c.answer.buffer.Bytes()}
	case c.answer.over:
		return End{Cause: Crashed, Text: fmt.Sprintf("answered with more than %d bytes", c.answer.most)}
	case limits.Memory > 0 && ranOut(said):
		return End{Cause: OutOfMemory, Text: outOfMemory(limits)}
	case killed(c.command.ProcessState) && limits.spent(c.command.ProcessState):
		return End{Cause: OutOfTime, Text: fmt.Sprintf("took more than %v of the processor", limits.CPU())}
	case killed(c.command.ProcessState):
		return End{Cause: OutOfMemory, Text: "was killed by the system, as when the machine has no memory left"}
	}
	text := c.err.Error()
	if first, _, _ := strings.Cut(said, "\n"); first != "" {
		text += ": " + first
	}
	return End{Cause: Crashed, Text: text}
}

// ranOut reports whether the last words of a program in Go are of one that got no memory. Most often it
// says so; where the runtime itself needed the memory it ends by a bad address or for want of a thread. A bad
// address in the program would be a panic.
func ranOut(said string) bool {
	return strings.HasPrefix(said, "SIGSEGV") || slices.ContainsFunc(
		[]string{"out of memory", "cannot allocate memory", "failed to create new OS thread", "pthread_create failed", "unexpected signal during runtime execution"},
		func(words string) bool { return strings.Contains(said, words) })
}

func outOfMemory(limits Limits) string {
	return fmt.Sprintf("wanted more memory than %d MiB", limits.Memory>>20)
}

// head keeps the first bytes of what is written. It takes the rest too, or refuses it: that ends a
// writer that has more to say than it may.
type head struct {
	mu      sync.Mutex
	buffer  bytes.Buffer
	most    int
	refuses bool
	over    bool // more was written
}

// Write keeps what there is room for.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := min(len(p), h.most-h.buffer.Len())
	h.buffer.Write(p[:room])
	h.over = h.over || room < len(p)
	if h.over && h.refuses {
		return room, io.ErrShortWrite
	}
	return len(p), nil
}

func (h *head) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buffer.String()
}
