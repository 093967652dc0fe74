package pointlog

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"blis/internal/testsize"
)

// writerVariable names the folder of a test binary that is a writer.
const writerVariable = "BLIS_POINTLOG_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		if err := beWriter(dir); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beWriter appends the rows that a folder does not have yet, until it is killed.
// For each it says how many it has and how many of them are not on disk.
func beWriter(dir string) error {
	l, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	for i := l.Counts().Keys; ; i++ {
		r := pointOf(i)
		r.Status, r.Cause, r.Error, r.Digest = Failed, Panic, "it failed", ""
		r.Stack = strings.Repeat("goroutine\n", rand.IntN(300)) // a batch of many pages
		if err := l.Append(&r); err != nil {
			return err
		}
		fmt.Fprintln(out, "has", i+1, l.Lost())
		if err := out.Flush(); err != nil {
			return err
		}
		if rand.IntN(40) == 0 {
			time.Sleep(time.Duration(rand.IntN(2)) * time.Millisecond)
		}
	}
}

// TestKilledWriter: a writer that is killed at any moment loses at most the rows
// since the last sync, and never damages one. The next one goes on.
func TestKilledWriter(t *testing.T) {
	random := seeded(t)
	dir := t.TempDir()
	kept := 0 // rows that must be there
	kills := testsize.Of(4, 12, 25)
	for range kills {
		onDisk, appended := runWriter(t, dir, random.IntN(400), time.Duration(random.IntN(5000))*time.Microsecond)
		kept = max(kept, onDisk)
		n := 0
		for r, err := range Rows(dir + "/points.jsonl") {
			if err != nil {
				t.Fatal(err)
			}
			want := pointOf(n)
			if r.Key != want.Key || *r.Measures[0].Value != *want.Measures[0].Value || strings.ReplaceAll(r.Stack, "goroutine\n", "") != "" {
				t.Fatalf("row %d is %+v", n, r)
			}
			n++
		}
		if n < kept || appended > 0 && (n < appended-batchRows || n > appended+1) {
			t.Fatalf("%d rows are there, %d were on disk, %d appended", n, kept, appended)
		}
		kept = n
	}
	t.Logf("%d rows after %d kills", kept, kills)
	if kept == 0 {
		t.Error("no row was ever written")
	}
}

// runWriter kills a writer some time after it said that it added so many rows, and
// returns what it said last: the rows on disk, and those that it had.
func runWriter(t *testing.T, dir string, rows int, after time.Duration) (onDisk, appended int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self)
	command.Env = append(os.Environ(), writerVariable+"="+dir)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for said := 0; ; said++ {
		line, err := lines.ReadString('\n')
		if err != nil { // the last line may be torn
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		lost := 0
		if _, err := fmt.Sscanf(line, "has %d %d\n", &appended, &lost); err != nil {
			t.Errorf("the writer says %q", line)
		}
		onDisk = appended - lost
		if said == rows {
			time.AfterFunc(after, func() { command.Process.Kill() })
		}
	}
	if err := command.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the writer ended by itself: %v", err)
	}
	return onDisk, appended
}
