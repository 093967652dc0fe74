package traffic

import (
	"fmt"
	"testing"

	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// What is computed is folded into sinkHash, so that nobody wins by computing
// something else.
var sinkHash uint64

func BenchmarkPull(b *testing.B) {
	for _, p := range []draw.ProcessKind{draw.Poisson, draw.Constant, draw.Gamma, draw.Weibull} {
		b.Run(string(p), func(b *testing.B) {
			c := plainConfig()
			c.Arrival, c.Requests = p, 1<<40
			if p == draw.Gamma || p == draw.Weibull {
				c.CV = 2
			}
			s := synthetic(b, c)
			var r workload.Request
			hash := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				s.Pull(&r)
				hash = hash*31 + uint64(r.Arrival) + uint64(r.Input) + uint64(r.Output)
			}
			sinkHash = hash
		})
	}
}

// BenchmarkSessions is the cost per request of conversations of four rounds in
// the mean, whose context accumulates, next to that of users of a closed loop.
// Every request is answered.
func BenchmarkSessions(b *testing.B) {
	rounds := draw.Length{Dist: draw.Gaussian(4, 2), Min: 1, Max: 20}
	tokens := draw.Length{Dist: draw.Gaussian(128, 30), Min: 1, Max: 512}
	talk := Client{ID: "chat", Process: draw.ArrivalProcess{Kind: draw.Poisson}, Rate: draw.Flat(100), Requests: 1 << 40, Input: tokens, Output: tokens,
		Prefix: Prefix{Group: "system", Length: 512, Share: 1},
		Kinds:  []Kind{{Share: 1, Session: &Session{Rounds: rounds, Think: draw.Always(vtime.Second), Context: Accumulate}}}}
	loop := Client{ID: "users", Users: 64, Requests: 1 << 40, Think: draw.Always(vtime.Second), Input: tokens, Output: tokens}
	for _, c := range []Client{talk, loop} {
		b.Run(c.ID, func(b *testing.B) {
			s, err := New(Config{Seed: 1, Clients: []Client{c}})
			if err != nil {
				b.Fatal(err)
			}
			source := workload.Play(s, func(*workload.Request) vtime.Duration { return vtime.Second })
			var r workload.Request
			hash := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				source.Pull(&r)
				hash = hash*31 + uint64(r.Arrival) + uint64(r.Input) + uint64(len(r.Spans))
			}
			sinkHash = hash
		})
	}
}

// BenchmarkCrowd is the cost of a request of 100,000 clients.
func BenchmarkCrowd(b *testing.B) {
	tokens := draw.Length{Dist: draw.Gaussian(128, 30), Min: 1, Max: 512}
	config := Config{Seed: 1, Requests: 1 << 40}
	for i := range 100_000 {
		config.Clients = append(config.Clients, Client{ID: fmt.Sprint("client-", i), Process: draw.ArrivalProcess{Kind: draw.Poisson}, Rate: draw.Flat(1), Input: tokens, Output: tokens})
	}
	s, err := New(config)
	if err != nil {
		b.Fatal(err)
	}
	var r workload.Request
	hash := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		s.Pull(&r)
		hash = hash*31 + uint64(r.Arrival) + uint64(r.Input)
	}
	sinkHash = hash
}
