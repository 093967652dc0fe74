package cli

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// asCommand in the environment makes the test binary the command itself, for
// what only a process can show: signals, pipes, limits of the system.
const asCommand = "BLIS_TEST_IS_COMMAND"

func TestMain(m *testing.M) {
	// Children of blis evaluate have no environment.
	if _, ok := os.LookupEnv(asCommand); ok || len(os.Args) > 1 && os.Args[1] == evaluateChild {
		os.Unsetenv(asCommand)
		Main()
	}
	os.Exit(m.Run())
}

// environment is that of the command: no settings of tests look like its own.
func environment() []string {
	list := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "BLIS_") })
	return append(list, asCommand+"=1")
}

// process is the command as a process of its own, in folder.
func process(folder string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = environment()
	c.Dir = folder
	return c
}

// shell runs a script in which $BLIS is the command, and returns what it says on
// both streams.
func shell(t *testing.T, folder, script string) (string, int) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	c := exec.Command("bash", "-c", script)
	c.Env = append(environment(), "BLIS="+os.Args[0])
	c.Dir = folder
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !asExit(err, &exit) {
		t.Fatal(err)
	}
	return said.String(), c.ProcessState.ExitCode()
}

func asExit(err error, to **exec.ExitError) (ok bool) {
	*to, ok = err.(*exec.ExitError)
	return ok
}
