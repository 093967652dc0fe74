package confine

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// theLimits are those that the kernel keeps for this process, and whether it can write a file.
func theLimits() string {
	text := ""
	for _, x := range []struct {
		name  string
		which int
	}{{"core", syscall.RLIMIT_CORE}, {"fsize", syscall.RLIMIT_FSIZE}, {"data", rlimitData}, {"cpu", syscall.RLIMIT_CPU}} {
		var l syscall.Rlimit
		if err := syscall.Getrlimit(x.which, &l); err != nil {
			return err.Error()
		}
		text += fmt.Sprintf("%s %d %d, ", x.name, l.Cur, l.Max)
	}
	f, err := os.CreateTemp(os.TempDir(), "blis-test-")
	if err != nil {
		return text + err.Error()
	}
	defer os.Remove(f.Name())
	_, err = f.Write([]byte("x"))
	return text + fmt.Sprint("writes ", err == nil)
}

// ended carries out a work in a child with 512 MiB.
func ended(t *testing.T, work string, wall time.Duration) End {
	t.Helper()
	limits := Limits{Wall: wall, Memory: 512 << 20}
	c, err := Start(nil, 1000, os.Args[0], "child", fmt.Sprint(limits.Memory), fmt.Sprint(wall))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	c.work <- []byte(work)
	c.stopped.Do(func() { close(c.work) })
	<-c.ended // the parent's timer does nothing
	return c.end(limits)
}

func TestLimitsOfAChild(t *testing.T) {
	cpu := int64(Limits{Wall: time.Minute}.CPU().Seconds())
	want := fmt.Sprintf("core 0 0, fsize 0 0, data %d %d, cpu %d %d, writes false", 512<<20, 512<<20, cpu, cpu)
	if got := ended(t, "limits", time.Minute); string(got.Answer) != want {
		t.Errorf("%q (%+v), want %q", got.Answer, got, want)
	}
}

// A child whose parent cannot end it ends when its time of the processor is over, and that is no crash. Nor is it
// one when the system kills a child.
func TestEndsThatAreNoCrash(t *testing.T) {
	if got := ended(t, "killed", time.Minute); got.Cause != OutOfMemory || got.Text != "was killed by the system, as when the machine has no memory left" {
		t.Errorf("killed: %+v, want it out of memory", got)
	}
	if got := ended(t, "loop", time.Nanosecond); got.Cause != OutOfTime || got.Text != "took more than 2s of the processor" {
		t.Errorf("two seconds of the processor: %+v, want it out of time", got)
	}
}

// A child that is at work ends with its parent, whatever ends that.
func TestBusyChildDiesWithItsParent(t *testing.T) {
	parent := exec.Command(os.Args[0], "parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // until it loops: one that waits for work ends with its input
	parent.Process.Kill()
	parent.Wait()
	for range 500 {
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("child %d goes on without its parent", pid)
}
