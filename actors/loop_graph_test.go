package actors

import (
	"fmt"
	"slices"
	"testing"

	"blis/metrics"
	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// fan is a client of graphs: a plan, three searches side by side, of which the
// second waits for its tool, a note that waits for the first two, and an answer
// that waits for all. Prompts and answers are of different lengths.
func fan(graphs int64) traffic.Client {
	return traffic.Client{
		ID: "fan", Class: "standard", Process: draw.ArrivalProcess{Kind: draw.Poisson}, Rate: draw.Flat(120), Requests: 6 * graphs,
		Input: draw.Length{Dist: draw.Gaussian(20, 9), Min: 1, Max: 60}, Output: draw.Length{Dist: draw.Gaussian(8, 5), Min: 1, Max: 30},
		Kinds: []traffic.Kind{{Share: 1, Session: &traffic.Session{Context: traffic.Accumulate, Graph: fanGraph}}},
	}
}

var fanGraph = []traffic.Node{
	{Name: "plan"},
	{Name: "search-1", After: []int{0}},
	{Name: "search-2", After: []int{0}, Wait: draw.Always(7000)},
	{Name: "search-3", After: []int{0}},
	{Name: "note", After: []int{1, 2}, Wait: draw.Always(500)},
	{Name: "answer", After: []int{3, 4}},
}

// In a cluster, too, whose instances answer when they can: a node of a graph
// arrives when the last that it waits for is answered and its wait has passed,
// all are sent, and none before.
func TestGraphsFollowTheirDependenciesInACluster(t *testing.T) {
	c := plain()
	c.NumInstances, c.MaxNumSeqs, c.RoutingPolicy = 3, 2, "least-loaded"
	const graphs = 80
	s := serveTraffic(t, c, fan(graphs))
	if got, want := *s.Sessions, (Sessions{Begun: graphs, Completed: graphs}); got != want || len(s.rows) != 6*graphs {
		t.Fatalf("%+v of %d requests, want %+v of %d", got, len(s.rows), want, 6*graphs)
	}
	sessions := map[uint64][]metrics.Outcome{}
	for _, o := range s.rows {
		sessions[o.Session] = append(sessions[o.Session], o)
	}
	orders := map[string]bool{}      // in which the searches were answered
	for id, rows := range sessions { // any order: each is looked at alone
		slices.SortFunc(rows, func(a, b metrics.Outcome) int { return int(a.Round - b.Round) })
		for _, o := range rows {
			n := &fanGraph[o.Round]
			if len(n.After) == 0 {
				continue
			}
			answered := vtime.Time(0)
			for _, a := range n.After {
				answered = max(answered, rows[a].Finished)
			}
			if want := answered.Add(max(1, n.Wait.Min)); o.Arrival != want || o.State != metrics.Completed {
				t.Errorf("session %d, %s: arrives at %v and is %v, want %v", id, n.Name, o.Arrival, o.State, want)
			}
		}
		orders[fmt.Sprint(rows[1].Finished < rows[2].Finished, rows[1].Finished < rows[3].Finished, rows[4].Finished < rows[3].Finished)] = true
	}
	if len(orders) < 3 {
		t.Errorf("searches were answered in the orders %v only: they show nothing", orders)
	}
}

// Users who think for random times, give up, and ask for what can never be
// served: there are never more requests in the system than users, and now and
// then as many.
func TestClosedLoopNeverExceedsItsUsersInACluster(t *testing.T) {
	think, err := draw.NewDelay(draw.Must(draw.NewExponential(3000)), 0, vtime.Second)
	if err != nil {
		t.Fatal(err)
	}
	const users = 7
	c := plain()
	c.NumInstances, c.MaxNumSeqs, c.MaxModelLen = 2, 2, 70
	s := serveTraffic(t, c, traffic.Client{
		ID: "users", Class: "standard", Users: users, Requests: 400, Think: think, Pause: draw.Always(traffic.LeastPause), Timeout: 16_000,
		Input: draw.Length{Dist: draw.Gaussian(40, 20), Min: 1, Max: 100}, Output: draw.Length{Dist: draw.Gaussian(8, 5), Min: 1, Max: 30},
	})
	type change struct {
		at vtime.Time
		by int
	}
	var changes []change
	states := map[metrics.State]int{}
	for _, o := range s.rows {
		changes = append(changes, change{o.Arrival, 1}, change{o.Finished, -1})
		states[o.State]++
	}
	// What follows from an end comes later, so at an instant ends count after
	// arrivals and the bound still holds.
	slices.SortFunc(changes, func(a, b change) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return b.by - a.by
	})
	inside, most := 0, 0
	for _, x := range changes {
		inside += x.by
		most = max(most, inside)
	}
	if most != users {
		t.Errorf("%d in the system at most, want %d, the users", most, users)
	}
	if len(s.rows) != 400 || states[metrics.Completed] < 100 || states[metrics.TimedOut] < 5 || states[metrics.Dropped] < 5 {
		t.Errorf("%d requests by state: %v: they show nothing", len(s.rows), states)
	}
}
