package policy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func mustSchedule(t *testing.T, name string, settings ...Setting) Scheduler {
	t.Helper()
	p, err := NewScheduler(name, settings, Env{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sorted returns the ids in the order of the scheduler.
func sorted(s Scheduler, queue []Waiting) []int64 {
	queue = slices.Clone(queue)
	ctx := SchedulerContext{Waiting: int32(len(queue))}
	slices.SortStableFunc(queue, func(a, b Waiting) int {
		switch {
		case s.Less(&a, &b, &ctx):
			return -1
		case s.Less(&b, &a, &ctx):
			return 1
		}
		return 0
	})
	var ids []int64
	for i := range queue {
		ids = append(ids, queue[i].ID)
	}
	return ids
}

func TestWaitQueueOrder(t *testing.T) {
	const none = workload.Absent
	byPriority := []Waiting{{Identity: workload.Identity{ID: 1, Arrival: 5}, Priority: 1}, {Identity: workload.Identity{ID: 2, Arrival: 8}, Priority: 9}, {Identity: workload.Identity{ID: 4, Arrival: 7}, Priority: 9}, {Identity: workload.Identity{ID: 3, Arrival: 7}, Priority: 9}, {Identity: workload.Identity{ID: 5}, Priority: -2}}
	byLength := []Waiting{
		{Identity: workload.Identity{ID: 1, Input: 10, Arrival: 1}, MaxOutput: 90},
		{Identity: workload.Identity{ID: 2, Input: 30, Arrival: 2}, MaxOutput: none},
		{Identity: workload.Identity{ID: 3, Input: 50, Arrival: 3}, MaxOutput: 20},
		{Identity: workload.Identity{ID: 4, Input: 5, Arrival: 4}, MaxOutput: none},
		{Identity: workload.Identity{ID: 6, Input: 30, Arrival: 5}, MaxOutput: 40},
		{Identity: workload.Identity{ID: 5, Input: 30, Arrival: 5}, MaxOutput: 40},
	}
	for _, c := range []struct {
		name     string
		policy   string
		settings []Setting
		reorders bool
		queue    []Waiting
		want     []int64
	}{
		{"fcfs: as queued, not as arrived", "fcfs", nil, false, []Waiting{{Identity: workload.Identity{ID: 1, Arrival: 1}, Queued: 9}, {Identity: workload.Identity{ID: 2, Arrival: 2}, Queued: 8}}, []int64{2, 1}},
		{"fcfs: ties by number", "fcfs", nil, false, []Waiting{{Identity: workload.Identity{ID: 7}, Queued: 9}, {Identity: workload.Identity{ID: 3}, Queued: 9}}, []int64{3, 7}},
		{"fcfs: the preempted in front", "fcfs", nil, false, []Waiting{{Identity: workload.Identity{ID: 1}, Queued: 1}, {Identity: workload.Identity{ID: 2}, Queued: 5, Preempted: true}}, []int64{2, 1}},
		{"fcfs: priority does not matter", "fcfs", nil, false, []Waiting{{Identity: workload.Identity{ID: 1}, Queued: 1}, {Identity: workload.Identity{ID: 2}, Queued: 5, Priority: 7}}, []int64{1, 2}},
		{"priority: highest first, then arrival, then number", "priority-fcfs", nil, true, byPriority, []int64{3, 4, 2, 1, 5}},
		{"priority: the preempted have no advantage", "priority-fcfs", nil, true, []Waiting{{Identity: workload.Identity{ID: 1, Arrival: 2}, Preempted: true}, {Identity: workload.Identity{ID: 2, Arrival: 1}}}, []int64{2, 1}},
		{"reverse: lowest first, then latest arrival, then highest number", "reverse-priority", nil, true, byPriority, []int64{5, 1, 2, 4, 3}},
		{"reverse: the preempted have no advantage", "reverse-priority", nil, true, []Waiting{{Identity: workload.Identity{ID: 1, Arrival: 1}, Preempted: true}, {Identity: workload.Identity{ID: 2, Arrival: 2}}}, []int64{2, 1}},
		{"sjf: prompt", "sjf", nil, true, byLength, []int64{4, 1, 2, 5, 6, 3}},
		{"sjf: the limit, none is longest", "sjf", []Setting{{"key", "max_output"}}, true, byLength, []int64{3, 5, 6, 1, 2, 4}},
		{"sjf: both", "sjf", []Setting{{"key", "prompt+max_output"}}, true, byLength, []int64{3, 5, 6, 1, 2, 4}},
		{"sjf: both, the sum decides", "sjf", []Setting{{"key", "prompt+max_output"}}, true, []Waiting{{Identity: workload.Identity{ID: 1, Input: 50}, MaxOutput: 1}, {Identity: workload.Identity{ID: 2, Input: 10}, MaxOutput: 40}}, []int64{2, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustSchedule(t, c.policy, c.settings...)
			if got := sorted(s, c.queue); !slices.Equal(got, c.want) {
				t.Errorf("order %v, want %v", got, c.want)
			}
			if s.Reorders() != c.reorders || s.Observes() != NoSignals {
				t.Errorf("reorders %v, observes %v", s.Reorders(), s.Observes())
			}
			if n := s.Chunk(&Running{}, 500, 20, &SchedulerContext{}); n != 500 {
				t.Errorf("chunk %d, want all that remains", n)
			}
		})
	}
}

// TestOrdersAreTotal checks on random triples that exactly one of two requests
// comes first and that the order is transitive.
func TestOrdersAreTotal(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var ctx SchedulerContext
	for _, s := range []Scheduler{
		mustSchedule(t, "fcfs"), mustSchedule(t, "priority-fcfs"), mustSchedule(t, "sjf"),
		mustSchedule(t, "sjf", Setting{"key", "max_output"}), mustSchedule(t, "sjf", Setting{"key", "prompt+max_output"}),
		mustSchedule(t, "reverse-priority"),
	} {
		for range 5000 {
			var w [3]Waiting
			for i := range w {
				w[i] = Waiting{Identity: workload.Identity{ID: int64(i), Arrival: vtime.Time(rng.IntN(2)), Input: int32(rng.IntN(3))}, Priority: float64(rng.IntN(2)), Queued: vtime.Time(rng.IntN(2)), MaxOutput: int32(rng.IntN(3)) - 1, Preempted: rng.IntN(2) == 0}
			}
			if s.Less(&w[0], &w[1], &ctx) == s.Less(&w[1], &w[0], &ctx) || s.Less(&w[0], &w[0], &ctx) {
				t.Fatalf("%T: not exactly one first: %+v", s, w)
			}
			if s.Less(&w[0], &w[1], &ctx) && s.Less(&w[1], &w[2], &ctx) && !s.Less(&w[0], &w[2], &ctx) {
				t.Fatalf("%T: not transitive: %+v", s, w)
			}
		}
	}
}

func TestVictim(t *testing.T) {
	running := []Running{{ID: 1, Priority: 5, Arrival: 9}, {ID: 2, Priority: 2, Arrival: 3}, {ID: 3, Priority: 2, Arrival: 6}, {ID: 4, Priority: 2, Arrival: 6}, {ID: 5, Priority: 2, Arrival: 1}}
	const last, lowest = 4, 2
	for _, c := range []struct {
		name       string
		policy     string
		preemption string
		running    []Running
		want       int
	}{
		{"fcfs: the last", "fcfs", "auto", running, last},
		{"sjf: the last", "sjf", "auto", running, last},
		{"priority: lowest, then latest, then earliest in the list", "priority-fcfs", "auto", running, lowest},
		{"priority: one that arrived first but is least urgent", "priority-fcfs", "auto", []Running{{Priority: 1, Arrival: 9}, {Priority: 0, Arrival: 1}, {Priority: 1, Arrival: 99}}, 1},
		{"fcfs with priority preemption", "fcfs", "priority", running, lowest},
		{"sjf with priority preemption", "sjf", "priority", running, lowest},
		{"priority with fcfs preemption", "priority-fcfs", "fcfs", running, last},
		{"reverse: the highest", "reverse-priority", "auto", running, 0},
		{"reverse: then the earliest arrival, then the earliest in the list", "reverse-priority", "auto", []Running{{Priority: 2, Arrival: 6}, {Priority: 2, Arrival: 3}, {Priority: 2, Arrival: 3}, {Priority: 1}}, 1},
		{"reverse with fcfs preemption", "reverse-priority", "fcfs", running, last},
		{"reverse with priority preemption", "reverse-priority", "priority", running, lowest},
		{"reverse alone", "reverse-priority", "auto", running[:1], 0},
		{"alone", "priority-fcfs", "auto", running[:1], 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustSchedule(t, c.policy, Setting{"preemption", c.preemption})
			if got := s.Victim(c.running, &SchedulerContext{}); got != c.want {
				t.Errorf("victim %d, want %d", got, c.want)
			}
		})
	}
}

// TestBackfillLetsOthersPass at max_passes formations, then the first of the queue is alone in its choice, until
// another one is first.
func TestBackfillLetsOthersPass(t *testing.T) {
	s := mustSchedule(t, "backfill", Setting{"max_passes", "2"}).(BatchMaker)
	var long, short Waiting
	long.ID, short.ID = 5, 6
	for k, c := range []struct {
		waiting []Waiting
		want    int // chosen
	}{
		{[]Waiting{long, short}, 2}, {[]Waiting{long, short}, 2}, {[]Waiting{long, short}, 1}, {[]Waiting{long, short}, 1}, {[]Waiting{short, long}, 2},
	} {
		if got := s.MakeBatch(c.waiting, nil, &SchedulerContext{}, nil); len(got) != c.want || got[0] != 0 {
			t.Errorf("formation %d: chose %v, want the first %d", k, got, c.want)
		}
	}
}
