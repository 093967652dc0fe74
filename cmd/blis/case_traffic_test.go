package main

import (
	"strings"
	"testing"
)

// Cases of people who described traffic and got other traffic.

// usersSpec is eight users who ask for ten seconds.
const usersSpec = `
version: "2"
horizon: 10s
clients:
  - id: u
    concurrency: 8
    input_distribution: {type: constant, params: {value: 100}}
    output_distribution: {type: constant, params: {value: 50}}
`

// Users who are refused do not ask a million times a second: with any admission
// policy they offer about one request per user and second, and a warning says
// what makes the load.
func TestCaseClosedLoopStormOfRejections(t *testing.T) {
	spec := file(t, "users.yaml", usersSpec)
	loop := []string{"--concurrency", "8", "--num-requests", "1000"}
	for _, x := range []struct {
		name     string
		args     []string
		most     float64 // offered per second
		refused  bool    // most were
		requests float64 // 0: as many as come
	}{
		{"a rate limit far below", append(loop, "--admission-policy", "rate-limit", "--set", "admission.params.rate=2", "--set", "admission.params.burst=1"), 12, true, 1000},
		{"a quota", append(loop, "--set", "admission.type=tenant-quota", "--set", "admission.params.max_active=4"), 12, true, 1000},
		{"nobody waits", append(loop, "--timeout", "1us"), 12, true, 1000},
		{"a rate limit near the load", []string{"--workload-spec", spec, "--admission-policy", "rate-limit", "--set", "admission.params.rate=10"}, 25, false, 0},
		{"nobody is admitted", []string{"--workload-spec", spec, "--admission-policy", "reject-all"}, 9, true, 80},
		{"everybody is admitted", []string{"--workload-spec", spec}, 25, false, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := done(t, append([]string{"run", "--num-instances", "1", "--format", "json"}, x.args...)...)
			r := resultOf(t, s.out)
			if offered := r["offered_per_sec"].(float64); offered > x.most {
				t.Errorf("%v requests offered per second, want at most %v", offered, x.most)
			}
			if n := r["injected_requests"].(float64); x.requests > 0 && n != x.requests {
				t.Errorf("%v requests, want %v", n, x.requests)
			}
			warned := false
			for _, w := range r["warnings"].([]any) {
				warned = warned || strings.Contains(w.(string), "requests were refused")
			}
			if warned != x.refused {
				t.Errorf("warned of refusals: %v, want %v", warned, x.refused)
			}
		})
	}
}

// The flag says how long users pause, for specifications too where they leave it
// open.
func TestRefusalPauseIsThatOfTheFlagOrTheSpecification(t *testing.T) {
	open := file(t, "open.yaml", usersSpec)
	own := file(t, "own.yaml", usersSpec+"    refusal_pause: 2s\n")
	for _, x := range []struct {
		spec, pause string
		want        float64 // requests of 8 users in 10 s who are all refused
	}{{open, "1s", 80}, {open, "500ms", 160}, {own, "500ms", 40}} {
		s := done(t, "run", "--workload-spec", x.spec, "--admission-policy", "reject-all", "--refusal-pause", x.pause, "--format", "json")
		if n := resultOf(t, s.out)["injected_requests"].(float64); n != x.want {
			t.Errorf("%s with %s: %v requests, want %v", x.spec, x.pause, n, x.want)
		}
	}
	for _, args := range [][]string{{"--concurrency", "2", "--refusal-pause", "0"}, {"--concurrency", "2", "--refusal-pause", "999us"}} {
		if s := blis(t, nil, append([]string{"run"}, args...)...); s.code != exitInput || !strings.Contains(s.err, "--refusal-pause is ") || !strings.Contains(s.err, "1ms or more") {
			t.Errorf("%q: exit %d, %s", args, s.code, s.err)
		}
	}
	if s := done(t, "run", "--workload-spec", file(t, "rate.yaml", "num_requests: 5\nclients: [{rate: 1, input_distribution: {type: constant, params: {value: 9}}, output_distribution: {type: constant, params: {value: 9}}}]"), "--refusal-pause", "2s"); !strings.Contains(s.out+s.err, "refusal-pause has no effect") {
		t.Errorf("nothing says that there are no users:\n%s", s.out)
	}
}
