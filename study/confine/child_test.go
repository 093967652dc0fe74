package confine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

var sum uint64 // so that loops are not empty

// TestMain is also the program of the children of these tests: its first word says how the child behaves.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "parent" { // of a child that is at work
		c, err := Start(nil, 1000, os.Args[0], "child", "0", "1m")
		if err == nil {
			fmt.Println(c.command.Process.Pid)
			c.Do(context.Background(), []byte("loop"), Limits{})
		}
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "child" {
		memory, _ := strconv.ParseInt(os.Args[2], 10, 64)
		wall, _ := time.ParseDuration(os.Args[3])
		behave(Limits{Memory: memory, Wall: wall})
		return
	}
	os.Exit(m.Run())
}

// behave is the work of a child: what its input says.
func behave(limits Limits) {
	if err := Lower(limits); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	work, _ := io.ReadAll(os.Stdin)
	switch string(work) {
	case "echo":
		folder, _ := os.ReadDir(".")
		fmt.Printf("variables %d, files %d", len(os.Environ()), len(folder))
	case "loop":
		for n := uint64(1); n > 0; n++ {
			sum += n
		}
	case "double":
		text := "x"
		for {
			text += text
		}
	case "list":
		var list []int
		for i := 0; ; i++ {
			list = append(list, i)
			sum += uint64(list[i])
		}
	case "limits":
		fmt.Print(theLimits())
	case "killed":
		p, _ := os.FindProcess(os.Getpid())
		p.Kill()
		time.Sleep(time.Minute)
	case "talk":
		for {
			fmt.Print(strings.Repeat("x", 1<<16))
		}
	case "grandchild":
		exec.Command("sleep", "60").Start()
		time.Sleep(time.Minute)
	case "panic":
		panic("of the child")
	}
}

func TestChildEnds(t *testing.T) {
	const memory = 512 << 20
	short, long := 300*time.Millisecond, time.Minute
	for _, test := range []struct {
		work string
		wall time.Duration
		want End
	}{
		{"echo", long, End{Answer: []byte("variables 0, files 0")}},
		{"loop", short, End{Cause: OutOfTime, Text: "took longer than 300ms"}},
		{"double", long, End{Cause: OutOfMemory, Text: "wanted more memory than 512 MiB"}},
		{"list", long, End{Cause: OutOfMemory, Text: "wanted more memory than 512 MiB"}},
		{"talk", long, End{Cause: Crashed, Text: "answered with more than 1000 bytes"}},
		{"grandchild", short, End{Cause: OutOfTime, Text: "took longer than 300ms"}},
		{"panic", long, End{Cause: Crashed, Text: "exit status 2: panic: of the child"}},
	} {
		t.Run(test.work, func(t *testing.T) {
			c, err := Start(nil, 1000, os.Args[0], "child", strconv.Itoa(memory), "1m")
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Do(context.Background(), []byte(test.work), Limits{Wall: test.wall, Memory: memory})
			if err != nil || got.Cause != test.want.Cause || got.Text != test.want.Text || string(got.Answer) != string(test.want.Answer) {
				t.Errorf("%s: %+v, %v, want %+v", test.work, got, err, test.want)
			}
			if _, err := os.Stat(c.folder); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder %s is still there", c.folder)
			}
		})
	}
}

func TestChildEndsWithTheContext(t *testing.T) {
	c, err := Start(nil, 1000, os.Args[0], "child", "0", "1m")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := c.Do(ctx, []byte("loop"), Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	select {
	case <-c.ended:
	default:
		t.Error("the child goes on")
	}
}

func TestChildReadsAhead(t *testing.T) {
	c, err := Start([]byte("ec"), 1000, os.Args[0], "child", "0", "1m")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Do(context.Background(), []byte("ho"), Limits{Wall: time.Minute}); err != nil || len(got.Answer) == 0 {
		t.Errorf("%+v, %v, want the answer to echo", got, err)
	}
}

func TestChildWithoutWorkStops(t *testing.T) {
	c, err := Start(nil, 1000, os.Args[0], "child", "0", "1m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.folder); runtime.GOOS == "linux" && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s is there while the child waits: a parent that is killed would leave it", c.folder)
	}
	c.Stop()
	c.Stop() // again does nothing
}

func TestProgramThatIsNotThere(t *testing.T) {
	if _, err := Start(nil, 1000, "/nowhere/blis"); err == nil {
		t.Error("no error")
	}
}
