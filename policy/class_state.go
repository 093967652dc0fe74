package policy

import (
	"math"
	"slices"

	"blis/vtime"
	"blis/workload"
)

// ClassService sums up the last RecentCompletions requests of one SLO class that
// ended on instances. Latencies are 99th percentiles in µs over the requests that
// have one, as in results; 0 when none has.
type ClassService struct {
	Ended              int // the number of these requests, RecentCompletions at most
	Judged, Attained   int // the numbers of those whose class had targets, and of those that met every target
	TTFT, TPOT, E2E    float64
	TTFTs, TPOTs, E2Es int // the numbers of requests with each latency
}

// Attainment returns the share of the judged requests that met their targets, and
// whether there are any.
func (c *ClassService) Attainment() (share float64, known bool) {
	return mean(int64(c.Attained), int64(c.Judged)), c.Judged > 0
}

// Ending is how a request ended on an instance. A latency that the request does
// not have is negative.
type Ending struct {
	TTFT, TPOT, E2E  vtime.Duration
	Judged, Attained bool
}

// endings is a ring of the last endings of a class.
type endings struct {
	ring [RecentCompletions]Ending
	next int // index in ring of the next ending
	n    int // endings in the ring
}

func (e *endings) add(x Ending) {
	e.ring[e.next] = x
	e.next = (e.next + 1) % len(e.ring)
	e.n = min(e.n+1, len(e.ring))
}

// EndOf notes how a request of a class ended. The router calls it when the policies
// of the run observe ClassLatency.
func (s *RouterState) EndOf(class workload.Label, x Ending) {
	for int(class) >= len(s.classes) {
		s.classes = append(s.classes, nil)
	}
	if s.classes[class] == nil {
		s.classes[class] = new(endings)
	}
	s.classes[class].add(x)
}

// Classes returns a number above the labels of all SLO classes with a request that
// ended. Other classes below it may have none.
func (s *RouterState) Classes() int {
	s.check(ClassLatency)
	return len(s.classes)
}

// Class sums up the last requests of an SLO class. It takes a few µs: it is for
// decisions that are not made for every request.
func (s *RouterState) Class(class workload.Label) ClassService {
	s.check(ClassLatency)
	return s.class(class)
}

func (s *RouterState) class(class workload.Label) ClassService {
	if int(class) >= len(s.classes) || s.classes[class] == nil {
		return ClassService{}
	}
	e := s.classes[class]
	c := ClassService{Ended: e.n}
	for i := range e.ring[:e.n] {
		if e.ring[i].Judged {
			c.Judged++
		}
		if e.ring[i].Attained {
			c.Attained++
		}
	}
	c.TTFT, c.TTFTs = e.p99(func(x *Ending) vtime.Duration { return x.TTFT })
	c.TPOT, c.TPOTs = e.p99(func(x *Ending) vtime.Duration { return x.TPOT })
	c.E2E, c.E2Es = e.p99(func(x *Ending) vtime.Duration { return x.E2E })
	return c
}

// p99 returns the 99th percentile of a latency over the n requests that have it, by
// linear interpolation at rank 0.99·(n−1).
func (e *endings) p99(of func(*Ending) vtime.Duration) (us float64, n int) {
	var sorted [RecentCompletions]vtime.Duration
	for i := range e.ring[:e.n] {
		if d := of(&e.ring[i]); d >= 0 {
			sorted[n] = d
			n++
		}
	}
	if n == 0 {
		return 0, 0
	}
	slices.Sort(sorted[:n])
	rank := float64(float64(n-1) * 99 / 100)
	low := int(math.Floor(rank))
	high := min(low+1, n-1)
	return float64(sorted[low]) + float64((rank-float64(low))*float64(sorted[high]-sorted[low])), n
}
