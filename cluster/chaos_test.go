package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"blis/internal/testsize"
	"blis/study/pointlog"
)

// roleVariable makes the test binary one of the processes of a cluster.
const roleVariable = "BLIS_CLUSTER_TEST_ROLE"

// childOfWorker: this process runs one point for a worker.
var childOfWorker bool

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := play(ctx, role); err != nil {
		fmt.Fprintln(os.Stderr, role+":", err)
		os.Exit(1)
	}
}

// scene is what the processes of a test know.
type scene struct {
	Dir     string
	Address string
	Toy     toy
}

// play is the work of a process of a test.
func play(ctx context.Context, role string) error {
	if role == "child" {
		childOfWorker = true
		return RunParcel(ctx, os.Stdin, os.Stdout, loadToy)
	}
	var s scene
	if err := json.Unmarshal([]byte(os.Getenv("BLIS_CLUSTER_TEST_SCENE")), &s); err != nil {
		return err
	}
	say := func(text string) { fmt.Fprintln(os.Stderr, role+":", text) }
	remote := &Remote{URL: "nats://" + s.Address, Creds: CredentialFile(s.Dir), Wait: time.Minute}
	switch role {
	case "server": // alone, for a coordinator that is killed by itself
		return s.serverAlone(ctx)
	case "coordinator":
		remote.Creds = filepath.Join(s.Dir, "creds", "coordinator.nk")
		return serve(ctx, s.Dir, &s.Toy, nil, remote, Options{Timing: fast, Note: say})
	case "serve":
		server, err := StartServer(s.Dir, Listen{Address: s.Address})
		if err != nil {
			return err
		}
		defer server.Close()
		return serve(ctx, s.Dir, &s.Toy, server, nil, Options{Timing: fast, Note: say})
	case "worker":
		os.Setenv(roleVariable, "child")
		w := Worker{Engine: engine, Cores: 2, Load: loadToy, Child: Command(os.Args[0]), Options: Options{Note: say}}
		return w.Work(ctx, remote)
	}
	return errors.New("no such role")
}

// serverAlone is a server whose coordinator is in another process.
func (s *scene) serverAlone(ctx context.Context) error {
	seed, err := os.ReadFile(filepath.Join(s.Dir, "creds", "coordinator.nk"))
	if err != nil {
		return err
	}
	pair, err := nkeys.FromSeed(bytes.TrimSpace(seed))
	if err != nil {
		return err
	}
	server, err := startServer(s.Dir, Listen{Address: s.Address}, pair)
	if err != nil {
		return err
	}
	defer server.Close()
	<-ctx.Done()
	return nil
}

// process is one of the processes of a test.
type process struct {
	*exec.Cmd
	ended chan error
}

// start starts a process. It is killed at the end of the test.
func (s *scene) start(t *testing.T, role string, more ...string) *process {
	t.Helper()
	p := &process{exec.Command(os.Args[0]), make(chan error, 1)}
	p.Env = append(os.Environ(), roleVariable+"="+strings.Fields(role)[0], "BLIS_CLUSTER_TEST_SCENE="+string(encode(s)))
	p.Env = append(p.Env, more...)
	p.Stderr = t.Output()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.Wait() }()
	t.Cleanup(p.kill)
	return p
}

// kill is kill −9.
func (p *process) kill() {
	p.Process.Kill()
	if p.ended != nil {
		<-p.ended
		p.ended = nil
	}
}

// wait waits for the end of a process.
func (p *process) wait(t *testing.T, most time.Duration) error {
	t.Helper()
	select {
	case err := <-p.ended:
		p.ended = nil
		return err
	case <-time.After(most):
		t.Fatalf("a process has not ended after %v", most)
		return nil
	}
}

// freeAddress is an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	s, err := StartServer(t.TempDir(), Listen{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.inner.Addr().String()
}

// Workers, the server and the coordinator are killed all the time, and what the server had
// stored is deleted twice: nothing is lost and nothing is there twice.
func TestNothingIsLostWhateverIsKilled(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	points, runs := 200, 1
	if testsize.Longest() {
		points, runs = 2000, 5
	}
	for run := range runs {
		t.Run(strconv.Itoa(run), func(t *testing.T) { chaos(t, points) })
	}
}

func chaos(t *testing.T, points int) {
	s := &scene{Dir: t.TempDir(), Address: freeAddress(t), Toy: toy{Points: points, Poison: -1, Pause: 50 * time.Millisecond}}
	s.makeCoordinatorKey(t)
	parts := map[string]*process{}
	parts["server"] = s.start(t, "server")
	s.awaitCredential(t)
	for _, role := range []string{"coordinator", "worker", "worker 2"} {
		parts[role] = s.start(t, role)
	}
	victims := []string{"worker", "server", "coordinator", "worker 2", "server", "worker"}
	kills, wipes, mostKills := 0, 0, points/5 // so that it ends on a machine that is slower than the kills
	for tick := time.NewTicker(time.Second); ; <-tick.C {
		select {
		case err := <-parts["coordinator"].ended:
			parts["coordinator"].ended = nil
			if err != nil {
				t.Fatal(err)
			}
			if kills < 6 || wipes < 2 {
				t.Errorf("only %d kills and %d wipes", kills, wipes)
			}
			t.Logf("%d kills, %d wipes", kills, wipes)
			checkRows(t, s)
			return
		default:
		}
		if kills == mostKills {
			continue
		}
		role := victims[kills%len(victims)]
		kills++
		parts[role].kill()
		if role == "server" && wipes < 2 {
			wipes++
			if err := os.RemoveAll(filepath.Join(s.Dir, "transport")); err != nil {
				t.Fatal(err)
			}
		}
		parts[role] = s.start(t, role)
	}
}

// awaitCredential waits until a server has made the key of workers.
func (s *scene) awaitCredential(t *testing.T) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(CredentialFile(s.Dir)); err == nil && strings.HasSuffix(string(text), "\n") {
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatal("the server has made no key")
		}
	}
}

// makeCoordinatorKey makes the key with which a coordinator reaches a server alone.
func (s *scene) makeCoordinatorKey(t *testing.T) {
	t.Helper()
	seed, err := newSeed()
	if err == nil {
		err = makeCredentials(s.Dir)
	}
	if err == nil {
		err = writeSecret(filepath.Join(s.Dir, "creds", "coordinator.nk"), seed)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkRows compares the rows with those of one process.
func checkRows(t *testing.T, s *scene) {
	t.Helper()
	count := map[pointlog.Key]int{}
	for row, err := range pointlog.Rows(filepath.Join(s.Dir, "points.jsonl")) {
		if err != nil {
			t.Fatal(err)
		}
		count[row.Key]++
	}
	twice := 0
	for _, n := range count {
		if n > 1 {
			twice++
		}
	}
	if len(count) != s.Toy.Points || twice > 0 {
		t.Errorf("%d of %d points have rows, %d several", len(count), s.Toy.Points, twice)
	}
	quick := s.Toy
	quick.Pause = 0
	if read(t, filepath.Join(s.Dir, "points.sorted.jsonl")) != sorted(t, &quick) {
		t.Error("other rows than in one process")
	}
}
