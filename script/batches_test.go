package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// queue is three waiting requests: one that was preempted, and two of which the first has a limit of output tokens.
func queue() []policy.Waiting {
	list := make([]policy.Waiting, 3)
	for k := range list {
		w := &list[k]
		w.ID, w.Input, w.Arrival, w.Queued, w.MaxOutput, w.Round = int64(100+k), int32(10*(k+1)), vtime.Time(k)*1_000_000, vtime.Time(k)*1_000_000+500_000, workload.Absent, int32(k)
	}
	list[0].Preempted, list[1].MaxOutput, list[1].Priority, list[2].Class = true, 7, 3, 1
	return list
}

// batchEnv has a TTFT target for class 1.
func batchEnv() policy.Env {
	return policy.Env{BlockSize: 16, Draws: policy.NewDraws(3), TTFTTarget: func(class, _ workload.Label) vtime.Duration { return vtime.Duration(class) * 250_000 }}
}

// makeOnce makes a scheduler of a program, tells it of an arrival, lets it make a batch, tells it of another arrival, and returns what came of it.
func makeOnce(source string) (choice []int32, err error) {
	defer func() {
		if fault, ok := recover().(policy.Fault); ok {
			err = fault
		}
	}()
	s, err := policy.NewScheduler("starlark", []policy.Setting{{Name: "source", Value: source}, {Name: "file", Value: "mine.star"}}, batchEnv())
	if err != nil {
		return nil, err
	}
	ctx := &policy.SchedulerContext{Now: 5_000_000, Waiting: 3, Running: 2, FreeSeqs: 6, FreeBlocks: 30, TotalBlocks: 40}
	waiting := queue()
	s.(policy.ArrivalObserver).OnRequestArrival(&waiting[2], ctx)
	ctx.Budget = 512
	running := []policy.Running{{ID: 1, Priority: 2, Arrival: 1_000_000, Input: 100, Computed: 90}, {ID: 2, Input: 50, Computed: 54, Generated: 4}}
	choice = s.(policy.BatchMaker).MakeBatch(waiting, running, ctx, nil)
	s.(policy.ArrivalObserver).OnRequestArrival(&waiting[1], ctx)
	return choice, nil
}

// TestWhatMakeBatchSees: each expression is true.
func TestWhatMakeBatchSees(t *testing.T) {
	for _, is := range []string{
		"len(waiting) == 3", "list(waiting.age) == [5, 4, 3]", "list(waiting.arrival) == [0, 1, 2]", "list(waiting.input) == [10, 20, 30]",
		"list(waiting.preempted) == [1, 0, 0]", "list(waiting.priority) == [0, 3, 0]", "list(waiting.queued) == [0.5, 1.5, 2.5]", "list(waiting.round) == [0, 1, 2]",
		"list(waiting.max_output) == [float('inf'), 7, float('inf')]", "list(waiting.ttft_target) == [float('inf'), float('inf'), 0.25]",
		"list(waiting.tag) == [w.tag for w in waiting]", "len(set(list(waiting.tag))) == 3", "waiting[2].ttft_target == 0.25 and waiting[0].ttft_target == None",
		"waiting[1].max_output == 7 and waiting[1].priority == 3 and waiting[0].preempted", "waiting[2].age == 3 and waiting[2].now == 5 and waiting[2].queued == 2.5",
		"waiting[-1].input == 30", "[w.input for w in waiting] == [10, 20, 30]", "waiting[0].tenant == ''",
		"len(running) == 2", "list(running.age) == [4, 5]", "list(running.computed) == [90, 54]", "list(running.generated) == [0, 4]", "running[0].priority == 2",
		"[r.input for r in running] == [100, 50]", "ctx.now == 5 and ctx.waiting == 3 and ctx.running == 2 and ctx.free_seqs == 6", "ctx.budget == 512",
		"ctx.kv == 0.25 and ctx.kv_blocks == 40 and ctx.free_tokens == 480", "state['heard'] == [30, waiting.tag[2], 2]", "0 <= rand() and rand() < 1",
		"bool(waiting)", "waiting.input[1:][0] == 20", "str(waiting) == '<waiting>' and type(waiting) == 'waiting'",
	} {
		choice, err := makeOnce("def on_arrival(req, ctx):\n  state.setdefault('heard', [req.input, req.tag, ctx.running])\ndef make_batch(waiting, running, ctx):\n  return [2, 0] if " + is + " else []")
		if err != nil || !slices.Equal(choice, []int32{2, 0}) {
			t.Errorf("%s: %v %v, want it true", is, choice, err)
		}
	}
}

// TestAnswersOfMakeBatch: any sequence of indexes.
func TestAnswersOfMakeBatch(t *testing.T) {
	for answer, want := range map[string][]int32{
		"[]": nil, "[1]": {1}, "(2, 0)": {2, 0}, "range(len(waiting))": {0, 1, 2}, "vec([2, 1])": {2, 1}, "[1.0]": {1}, "set([2, 1])": {2, 1}, "range(2, -1, -1)": {2, 1, 0},
	} {
		choice, err := makeOnce("def make_batch(waiting):\n  return " + answer)
		if err != nil || !slices.Equal(choice, want) {
			t.Errorf("%s: %v %v, want %v", answer, choice, err, want)
		}
	}
}

// TestBatchMakersAreToldWhatIsWrong: one line each, with kind and place.
func TestBatchMakersAreToldWhatIsWrong(t *testing.T) {
	makes := func(answer string) string { return "def make_batch(waiting, running, ctx):\n  return " + answer }
	for _, c := range []struct {
		source, want string
		kind         ErrorKind
	}{
		{makes("None"), "mine.star:1:1: make_batch: returns a NoneType: want a list of indexes of waiting requests, like [0, 2] or range(len(waiting))", TypeError},
		{makes("3"), "make_batch: returns a int: want a list", TypeError},
		{makes("{1: 2}"), "make_batch: returns a dict: want a list", TypeError},
		{makes("'012'"), "make_batch: returns a string: want a list", TypeError},
		{makes("[True, False]"), "mine.star:1:1: make_batch: entry 0 of the answer is a bool: want an index, like [k for k in range(len(waiting)) if …]", TypeError},
		{makes("[0, 'a']"), "make_batch: entry 1 of the answer is a string: want the index of a waiting request", TypeError},
		{makes("waiting"), "make_batch: entry 0 of the answer is a request: want the index", TypeError},
		{makes("[3]"), "mine.star:1:1: make_batch: entry 0 of the answer is 3: want the index of a waiting request, 0 to 2", ValueError},
		{makes("[0, -1]"), "make_batch: entry 1 of the answer is -1: want", ValueError},
		{makes("[1 << 70]"), "make_batch: entry 0 of the answer is 1180591620717411303424: want", ValueError},
		{makes("[0.5]"), "make_batch: entry 0 of the answer is 0.5: want", ValueError},
		{makes("0 * log(0 * waiting.input)"), "make_batch: entry 0 of the answer is nan: want the index of a waiting request, 0 to 2", ValueError},
		{makes("waiting.max_output"), "make_batch: entry 0 of the answer is +inf: want", ValueError},
		{makes("[0, 2, 0]"), "mine.star:1:1: make_batch: chooses request 0 twice: want each index at most once", ValueError},
		{makes("range(1 << 60)"), "make_batch: entry 3 of the answer is 3", ValueError},
		{makes("[0 for _ in range(1 << 30)]"), "make_batch: takes more than 1000000 steps at once", StepsError},
		{makes("waiting.inptu"), "mine.star:2:18: nothing has \"inptu\", the nearest is \"input\"", SyntaxError},
		{makes("waiting.computed"), "mine.star:2:17: make_batch: waiting has no computed: want one of age, arrival, input", TypeError},
		{makes("running.tag"), "running has no tag: want one of age, computed", TypeError},
		{makes("running[0].tag"), "a running request has no tag: want one of age", TypeError},
		{makes("running[2]"), "out of range", ValueError},
		{makes("waiting[0].deadline"), "req.deadline is not known in a policy of the kind scheduler", TypeError},
		{makes("ctx.ready"), "ctx has no ready: want one of budget, free_seqs", TypeError},
		{makes("[cluster.active]"), "cluster.active is known in decisions about a request", TypeError},
		{makes("[state.setdefault('w', waiting), 0][1:]"), "make_batch: state has a waiting in it", StateError},
		{makes("[state.setdefault('w', waiting[0]), 0][1:]"), "make_batch: state has a request in it", StateError},
		{makes("[state.setdefault('w', ctx), 0][1:]"), "make_batch: state has a context in it", StateError},
		{makes("[0]") + "\ndef order(req):\n  return 0", "mine.star:3:1: order: there is make_batch, which chooses the order too: want one of the two", SyntaxError},
		{"def on_arrival(req):\n  pass", "mine.star:1:1: on_arrival: there is no make_batch for which it could remember anything: want both", SyntaxError},
		{"def on_arrival(req):\n  pass\ndef order(req):\n  return 0", "on_arrival: there is no make_batch", SyntaxError},
		{makes("[0]") + "\ndef on_arrival(req):\n  return 1", "mine.star:3:1: on_arrival: returns a int: want nothing, what it finds out belongs into state", TypeError},
		{makes("[0]") + "\ndef on_arrival(req, ctx):\n  state['x'] = ctx.budget if 'x' in state else 0", "mine.star:4:19: on_arrival: ctx.budget is not known in on_arrival: no step is formed then", TypeError},
		{makes("[0]") + "\ndef on_arrival(req, i, j):\n  pass", "on_arrival: has 3 parameters, want def on_arrival(req, ctx)", SyntaxError},
		{"def make_batch(a, b, c, d):\n  pass", "make_batch: has 4 parameters, want def make_batch(waiting, running, ctx)", SyntaxError},
		{"def order(req):\n  return state.get('x', 0)", "order: state is known in make_batch, on_arrival and a victim beside them: the place of a request in order", StateError},
	} {
		_, err := makeOnce(c.source)
		if strings.HasPrefix(c.source, "def order") {
			err = lessOnce(c.source)
		}
		var fault *Error
		if !errors.As(err, &fault) || !strings.Contains(fault.Error(), c.want) || fault.Kind != c.kind || strings.Contains(fault.Error(), "\n") {
			t.Errorf("%q: %v, want %q of the kind %s", c.source, err, c.want, c.kind)
		}
	}
}

// lessOnce compares two requests.
func lessOnce(source string) (err error) {
	defer func() { err, _ = recover().(policy.Fault) }()
	s, err := policy.NewScheduler("starlark", []policy.Setting{{Name: "source", Value: source}, {Name: "file", Value: "mine.star"}}, batchEnv())
	if err != nil {
		return err
	}
	waiting := queue()
	s.Less(&waiting[0], &waiting[1], nil)
	return nil
}

// TestDrawsOfMakeBatchAreNew: at each formation, whoever is first; tags stay.
func TestDrawsOfMakeBatchAreNew(t *testing.T) {
	settings := []policy.Setting{{Name: "source", Value: "def make_batch(waiting):\n  print(waiting[0].tag, rand(), rand())\n  return []"}}
	seen, tags := map[string]int{}, map[string]int{}
	for seed := range uint64(2) {
		env := batchEnv()
		env.Draws = policy.NewDraws(seed)
		s, err := policy.NewScheduler("starlark", settings, env)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			s.(policy.BatchMaker).MakeBatch(queue(), nil, &policy.SchedulerContext{}, nil)
		}
		for line := range strings.Lines(s.(policy.Printer).Printed()) {
			words := strings.Fields(line)
			tags[words[0]]++
			seen[words[1]]++
			seen[words[2]]++
		}
	}
	if len(tags) != 2 || len(seen) != 40 {
		t.Errorf("%d tags and %d numbers in ten formations with each of two seeds, want 2 and 40", len(tags), len(seen))
	}
	draws, err := policy.Find(policy.SchedulerKind, "starlark")
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]bool{"def make_batch(w):\n  return [0 * w.tag[0]]": true, "def make_batch(w):\n  return [0 * w.input[0]]": false} { // any order
		if got, err := draws.Draws([]policy.Setting{{Name: "source", Value: source}}); err != nil || got != want {
			t.Errorf("%q draws: %v %v, want %v", source, got, err, want)
		}
	}
}

// shortest is a batch maker as search programs write it.
const shortest = `
def make_batch(waiting, running, ctx):
    urgent = above(waiting.age, 2.0)
    key = waiting.input - 1e6 * urgent
    return sorted(range(len(waiting)), key = lambda k: key[k])
`

func BenchmarkMakeBatch(b *testing.B) {
	for _, n := range []int{1, 16, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, err := policy.NewScheduler("starlark", []policy.Setting{{Name: "source", Value: shortest}, {Name: "max_steps", Value: "1000000000000"}}, batchEnv())
			if err != nil {
				b.Fatal(err)
			}
			waiting := slices.Repeat(queue(), n)[:n]
			var choice []int32
			b.ReportAllocs()
			for k := range b.N {
				choice = s.(policy.BatchMaker).MakeBatch(waiting, nil, &policy.SchedulerContext{Now: vtime.Time(k)}, choice[:0])
			}
			if len(choice) != n {
				b.Fatal(choice)
			}
		})
	}
}
