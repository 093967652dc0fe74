package traffic

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// someClients are clients of many kinds, none of which waits for answers.
func someClients(r *rand.Rand, n int) (list []Client) {
	laws := []draw.ArrivalProcess{{Kind: draw.Poisson}, {Kind: draw.Constant}, {Kind: draw.Gamma, CV: 2}, {Kind: draw.Weibull, Shape: 0.7},
		{Kind: draw.Pareto, Alpha: 2.5}, {Kind: draw.Periodic, Jitter: 0.5}, {Kind: draw.Burst, Size: 4}}
	for i := range n {
		c := Client{
			ID: fmt.Sprint("client-", i), Tenant: fmt.Sprint("tenant-", i%3), Class: "standard",
			Process: laws[r.IntN(len(laws))], Rate: draw.Flat(1000 * (1 + r.Float64())),
			Input: draw.Length{Dist: draw.Gaussian(100, 40), Min: 1, Max: 500}, Output: draw.Length{Dist: draw.Must(draw.NewExponential(50)), Max: 500},
		}
		switch r.IntN(4) {
		case 0:
			c.Rate = draw.Spikes(20_000, 5_000, 0, 10)
			c.Rate = c.Rate.Scale(300)
		case 1:
			c.Rate.Windows = []draw.Window{{Start: 10_000, End: 30_000, Factor: 2}, {Start: 50_000, End: 90_000, Factor: 0.5}}
			long := draw.Exactly(4000)
			c.Changes = []Change{{}, {Input: &long}}
		}
		if r.IntN(2) == 0 {
			c.Prefix = Prefix{Group: fmt.Sprint("group-", i%2), Length: 64, Share: 0.7, Count: 5, Pick: draw.Length{Dist: draw.Must(draw.NewZipf(1, 5)), Max: 4}}
		}
		if r.IntN(3) == 0 {
			c.Kinds = []Kind{{Share: 0.4}, {Share: 0.6, Session: &Session{Rounds: draw.Exactly(3), Think: draw.Always(vtime.Duration(r.IntN(4000))), Context: Accumulate, Open: true}}}
		}
		list = append(list, c)
	}
	return list
}

// Clients side by side send what each would send alone, in order of arrival:
// the merged source against a sort of all of it. And so a client more changes
// nothing of the others, but for the numbers of those behind it.
func TestClientsSendWhatTheyWouldSendAlone(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 8))
		clients := someClients(r, 1+r.IntN(8))
		var want []workload.Request
		for i, c := range clients {
			alone, err := workload.Collect(source(t, Config{Seed: seed, Horizon: 100_000, Clients: []Client{c}}))
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range alone {
				q.Source = workload.FirstSource + uint32(i)
				want = append(want, q)
			}
		}
		slices.SortFunc(want, func(a, b workload.Request) int {
			if a.Position().Before(b.Position()) {
				return -1
			}
			return 1
		})
		s := source(t, Config{Seed: seed, Horizon: 100_000, Clients: clients})
		got, err := workload.Collect(s)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < 20 || len(got) != len(want) {
			t.Fatalf("seed %d: %d requests, alone %d", seed, len(got), len(want))
		}
		for i := range got {
			name := s.Labels().Tenants.Name(got[i].Tenant)
			if id := clients[got[i].Source-workload.FirstSource].Tenant; name != id {
				t.Fatalf("seed %d: request %d is of tenant %q, want %q", seed, i, name, id)
			}
			got[i].Tenant, want[i].Tenant = 0, 0 // labels number the names of each table
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("seed %d: request %d\n got %+v\nwant %+v", seed, i, got[i], want[i])
			}
		}
	}
}

// Every purpose has a stream of its own: another distribution of one thing
// leaves everything else as it was.
func TestPurposesAreIndependent(t *testing.T) {
	base := someClients(rand.New(rand.NewPCG(1, 1)), 1)[0]
	base.Process, base.Rate, base.Kinds, base.Changes = draw.ArrivalProcess{Kind: draw.Gamma, CV: 2}, draw.Flat(1000), nil, nil
	base.Prefix = Prefix{Group: "g", Length: 64, Share: 0.7, Count: 5, Pick: draw.Length{Dist: draw.Must(draw.NewZipf(1, 5)), Max: 4}}
	collect := func(c Client) []workload.Request {
		all, err := workload.Collect(source(t, Config{Seed: 9, Requests: 500, Clients: []Client{c}}))
		if err != nil || len(all) != 500 {
			t.Fatal(len(all), err)
		}
		return all
	}
	want := collect(base)
	own := func(r *workload.Request) int32 { return r.Input - r.Shared() }
	for _, c := range []struct {
		name   string
		change func(*Client)
		same   func(a, b *workload.Request) bool
	}{
		{"arrivals", func(c *Client) { c.Process = draw.ArrivalProcess{Kind: draw.Weibull, CV: 3} }, func(a, b *workload.Request) bool {
			return a.Input == b.Input && a.Output == b.Output && reflect.DeepEqual(a.Spans, b.Spans)
		}},
		{"inputs", func(c *Client) { c.Input.Dist = draw.Must(draw.NewExponential(10)) }, func(a, b *workload.Request) bool {
			return a.Arrival == b.Arrival && a.Output == b.Output && reflect.DeepEqual(a.Spans, b.Spans)
		}},
		{"outputs", func(c *Client) { c.Output = draw.Exactly(3) }, func(a, b *workload.Request) bool {
			return a.Arrival == b.Arrival && a.Input == b.Input && reflect.DeepEqual(a.Spans, b.Spans)
		}},
		{"prefix", func(c *Client) { c.Prefix = Prefix{} }, func(a, b *workload.Request) bool {
			return a.Arrival == b.Arrival && own(a) == own(b) && a.Output == b.Output
		}},
	} {
		changed := base
		c.change(&changed)
		got, differ := collect(changed), false
		for i := range got {
			if !c.same(&got[i], &want[i]) {
				t.Fatalf("other %s: request %d\n got %+v\nwant %+v", c.name, i, got[i], want[i])
			}
			differ = differ || !reflect.DeepEqual(got[i], want[i])
		}
		if !differ {
			t.Errorf("other %s change nothing", c.name)
		}
	}
}

// The limit of all clients together counts every round of a session when that
// begins, and cuts the last one short.
func TestRequestsAreLimitedTogether(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		clients := append(someClients(r, 3), chat(4, Accumulate))
		want := 1 + r.Int64N(40)
		s := source(t, Config{Seed: seed, Requests: want, Clients: clients})
		if all := play(t, s, after(10)); int64(len(all)) != want {
			t.Errorf("seed %d: %d requests, want %d", seed, len(all), want)
		}
	}
	c := someClients(rand.New(rand.NewPCG(1, 1)), 2)
	c[0].Requests = 7
	all, err := workload.Collect(source(t, Config{Requests: 100, Clients: c}))
	first := 0
	for _, q := range all {
		if q.Source == workload.FirstSource {
			first++
		}
	}
	if err != nil || len(all) != 100 || first != 7 {
		t.Errorf("%d requests, %d of the first client, want 100 and 7: %v", len(all), first, err)
	}
}

// Names are numbered in alphabetical order, not in that of the clients.
func TestNamesAreInOrder(t *testing.T) {
	a, b := users(1, 1), users(1, 1)
	a.ID, a.Tenant, a.Class, a.Model = "a", "zoo", "standard", "m2"
	b.ID, b.Tenant, b.Class, b.Model = "b", "acme", "batch", "m1"
	s := source(t, Config{Clients: []Client{a, b}})
	l := s.Labels()
	if l.Tenants.Name(0) != "acme" || l.Classes.Name(0) != "batch" || l.Models.Name(0) != "m1" {
		t.Errorf("%+v", l)
	}
	var r workload.Request
	if _, err := s.Pull(&r); err != nil || l.Tenants.Name(r.Tenant) != "zoo" || l.Classes.Name(r.Class) != "standard" || l.Models.Name(r.Model) != "m2" {
		t.Errorf("%v: the first request is %+v", err, r)
	}
}
