package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"blis/internal/testsize"
)

// killedUntilDone starts a command again and again, each time killed after a while that
// grows, until one ends by itself with exit code 0. It returns how often it was killed.
func killedUntilDone(folder string, d *rand.Rand, args ...string) (kills int, err error) {
	patience := 150 * time.Millisecond
	for range 200 {
		var said bytes.Buffer
		c := process(folder, args...)
		c.Stderr = &said
		if err := c.Start(); err != nil {
			return kills, err
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				return kills, fmt.Errorf("%v: %s", err, said.String())
			}
			return kills, nil
		case <-time.After(time.Duration((0.5 + d.Float64()) * float64(patience))):
			c.Process.Kill()
			<-ended
			kills++
			patience += patience / 3
		}
	}
	return kills, fmt.Errorf("not done after %d kills", kills)
}

// However often a sweep is killed, on however many workers and shards, in one folder or in
// several: the sorted file has the same bytes.
func TestKilledSweepsGiveTheSameBytes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("BLIS_KILLS_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("BLIS_KILLS_SEED=%d", seed)
	rates := testsize.Of(10, 20, 40)
	if testsize.Longest() {
		rates = 200
	}
	folder := t.TempDir()
	text := fmt.Sprintf("schema: blis.sweep/v1\nbase: {num-requests: 400}\naxes:\n  rate: {from: 1, to: %d, step: 1}\n  num-instances: {from: 1, to: 5, step: 1}\nreplicates: 2\n", rates)
	if err := os.WriteFile(filepath.Join(folder, "s.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	done(t, "sweep", filepath.Join(folder, "s.yaml"), "-o", filepath.Join(folder, "calm"))
	t.Logf("%d points in %v when left alone", 10*rates, time.Since(began))
	want := read(t, filepath.Join(folder, "calm", "points.sorted.jsonl"))
	same := func(what, path string) {
		t.Helper()
		if got := read(t, filepath.Join(folder, path)); got != want {
			t.Errorf("%s: other bytes: %d, want %d", what, len(got), len(want))
		}
	}
	var kills int
	for _, workers := range []string{"1", "2"} {
		n, err := killedUntilDone(folder, rand.New(rand.NewPCG(seed, 1)), "sweep", "s.yaml", "-o", "workers-"+workers, "--workers", workers)
		if err != nil {
			t.Fatal(err)
		}
		kills += n
		same(workers+" workers", "workers-"+workers+"/points.sorted.jsonl")
	}
	for _, of := range []string{"shared", "own-%d"} {
		n, err := killedShards(folder, of, seed)
		if err != nil {
			t.Fatal(err)
		}
		kills += n
	}
	done(t, "sweep", "merge", filepath.Join(folder, "shared"))
	same("shards of one folder", "shared/points.sorted.jsonl")
	done(t, "sweep", "merge", filepath.Join(folder, "own-0"), filepath.Join(folder, "own-1"), filepath.Join(folder, "own-2"), filepath.Join(folder, "own-3"), "-o", filepath.Join(folder, "all"))
	same("shards of their own folders", "all/points.sorted.jsonl")
	t.Logf("killed %d times", kills)
}

// killedShards runs four shards side by side.
func killedShards(folder, of string, seed uint64) (kills int, err error) {
	var group sync.WaitGroup
	var one sync.Mutex
	for i := range 4 {
		group.Go(func() {
			dir := of
			if of != "shared" {
				dir = fmt.Sprintf(of, i)
			}
			n, problem := killedUntilDone(folder, rand.New(rand.NewPCG(seed, uint64(i))), "sweep", "s.yaml", "-o", dir, "--workers", "1", "--shard", fmt.Sprintf("%d/4", i))
			one.Lock()
			defer one.Unlock()
			if kills += n; problem != nil {
				err = problem
			}
		})
	}
	group.Wait()
	return kills, err
}

// A sweep that is interrupted keeps its rows and says so; the same command goes on. While
// it runs nobody else may have its folder.
func TestInterruptedSweep(t *testing.T) {
	folder := t.TempDir()
	text := "schema: blis.sweep/v1\nbase: {num-requests: 2000}\naxes: {rate: {from: 1, to: 150, step: 1}}\n"
	if err := os.WriteFile(filepath.Join(folder, "s.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := process(folder, "sweep", "s.yaml", "--workers", "1")
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(folder, "s.sweep", "points.jsonl")
	for range 3000 {
		if info, err := os.Stat(log); err == nil && info.Size() > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	second := process(folder, "sweep", "s.yaml")
	text2, err := second.CombinedOutput()
	var exit *exec.ExitError
	if !asExit(err, &exit) || exit.ExitCode() != exitInput || !bytes.Contains(text2, []byte("s.sweep")) || bytes.Count(text2, []byte("\n")) != 1 {
		t.Errorf("a second sweep: %v: %s", err, text2)
	}
	t.Logf("a second sweep: %s", text2)
	c.Process.Signal(os.Interrupt)
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitInterrupted || !bytes.Contains(said.Bytes(), []byte("of 150 points are in s.sweep; the same command goes on\n")) {
		t.Errorf("exit %d: %s", code, said.String())
	}
	c = process(folder, "sweep", "s.yaml")
	said.Reset()
	c.Stderr = &said
	if err := c.Run(); err != nil || !bytes.Contains(said.Bytes(), []byte("of 150 points have results in s.sweep; ")) {
		t.Errorf("%v: %s", err, said.String())
	}
	if n, err := lines(filepath.Join(folder, "s.sweep", "points.sorted.jsonl")); n != 150 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}

// A file that cannot grow ends the sweep with exit code 1 and a line; what is there stays,
// and the same command goes on once there is room.
func TestSweepOnAFullDisk(t *testing.T) {
	folder := t.TempDir()
	text := "schema: blis.sweep/v1\nbase: {num-requests: 50}\naxes: {rate: {from: 1, to: 300, step: 1}}\n"
	if err := os.WriteFile(filepath.Join(folder, "s.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said, code := shell(t, folder, `ulimit -f 96 2>/dev/null || exit 99; trap '' XFSZ; $BLIS sweep s.yaml`)
	if code == 99 {
		t.Skip("no limit of file sizes")
	}
	t.Log(said)
	if code != exitCheck || !bytes.Contains([]byte(said), []byte("file too large")) || !bytes.Contains([]byte(said), []byte("rows are not known to be on disk: they run again")) {
		t.Errorf("exit %d: %s", code, said)
	}
	said, code = shell(t, folder, `$BLIS sweep s.yaml --workers 1 >/dev/null; rc=$?; wc -l <s.sweep/points.sorted.jsonl; exit $rc`)
	if code != exitDone || !bytes.Contains([]byte(said), []byte("of 300 points have results in s.sweep; ")) || !bytes.HasSuffix([]byte(said), []byte("\n300\n")) {
		t.Errorf("exit %d: %s", code, said)
	}
}
