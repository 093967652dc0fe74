package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// try makes the policy of that kind and name and returns the error.
func try(kind Kind, name string, settings ...Setting) error {
	env := Env{BlockSize: 16, Instances: 2}
	var err error
	switch kind {
	case AdmissionKind:
		_, err = NewAdmission(name, settings, env)
	case PriorityKind:
		_, err = NewPriority(name, settings, env)
	case RoutingKind:
		_, err = NewRouting(name, settings, env)
	case SchedulerKind:
		_, err = NewScheduler(name, settings, env)
	case AutoscaleKind:
		_, err = NewAutoscale(name, settings, env)
	}
	return err
}

func TestBadChoicesGiveClearErrors(t *testing.T) {
	set := func(pairs ...string) (list []Setting) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, Setting{pairs[i], pairs[i+1]})
		}
		return list
	}
	for _, c := range []struct {
		name     string
		kind     Kind
		policy   string
		settings []Setting
		want     string
	}{
		{"unknown name", RoutingKind, "leastloaded", nil,
			`routing.type: unknown routing policy "leastloaded", the nearest is "least-loaded" (there are: ` + strings.Join(namesOf(RoutingKind), ", ") + `)`},
		{"empty name", SchedulerKind, "", nil, `scheduler.type: unknown scheduler policy "" (there are: fcfs, priority-fcfs, sjf, reverse-priority, backfill)`},
		{"name of another kind", AutoscaleKind, "fcfs", nil, `autoscale.type: unknown autoscale policy "fcfs" (there are: none, threshold, target-utilization, queue-depth, oscillator)`},
		{"unknown parameter", AdmissionKind, "token-bucket", set("refill-rate", "5"),
			`admission.params.refill-rate: token-bucket has no parameter "refill-rate", the nearest is "refill_rate" (there are: capacity, refill_rate, per_tenant)`},
		{"no parameters at all", PriorityKind, "constant", set("x", "1"), `priority.params.x: constant takes no parameters`},
		{"unknown scorer", RoutingKind, "weighted", set("queue", "1"),
			`routing.params.queue: weighted has no parameter "queue", the nearest is "queue-depth" (there are: prefix-affinity, queue-depth, waiting-queue, kv-utilization, load-balance, active-requests, session-affinity, cache-hit-rate, prefix-match, no-hit-lru, running-requests, vllm-dp, load-aware, tie, cpu_weight, storage_weight, session_ttl, max_queue, max_kv, max_in_flight, max_running, sticky_session, min_prefix)`},
		{"not a number", AdmissionKind, "token-bucket", set("capacity", "many"), `admission.params.capacity: "many" is not allowed, want a number ≥ 1`},
		{"below the range", AdmissionKind, "token-bucket", set("capacity", "0"), `admission.params.capacity: "0" is not allowed, want a number ≥ 1`},
		{"infinite", AdmissionKind, "token-bucket", set("refill_rate", "Inf"), `admission.params.refill_rate: "Inf" is not allowed, want a number ≥ 0`},
		{"not a flag", AdmissionKind, "token-bucket", set("per_tenant", "yes"), `admission.params.per_tenant: "yes" is not allowed, want true or false`},
		{"not a choice", SchedulerKind, "sjf", set("key", "output"), `scheduler.params.key: "output" is not allowed, want prompt | max_output | prompt+max_output`},
		{"not a preemption rule", SchedulerKind, "fcfs", set("preemption", "none"), `scheduler.params.preemption: "none" is not allowed, want auto | fcfs | priority`},
		{"NaN score", PriorityKind, "slo-based", set("batch", "NaN"), `priority.params.batch: "NaN" is not allowed, want a number in [-1e+09, 1e+09]`},
		{"one class by both its names", PriorityKind, "slo-based", set("critical", "1", "realtime", "2"), `priority.params.realtime: critical is given twice`},
		{"NaN weight", RoutingKind, "weighted", set("queue-depth", "NaN"), `routing.params.queue-depth: "NaN" is not allowed, want a number in [0, 1e+09]`},
		{"negative weight", RoutingKind, "weighted", set("queue-depth", "-1"), `routing.params.queue-depth: "-1" is not allowed, want a number in [0, 1e+09]`},
		{"infinite weight", RoutingKind, "weighted", set("queue-depth", "1e400"), `routing.params.queue-depth: "1e400" is not allowed, want a number in [0, 1e+09]`},
		{"duplicate scorer", RoutingKind, "weighted", set("queue-depth", "1", "load-balance", "2", "queue-depth", "1"), `routing.params.queue-depth: queue-depth is given twice`},
		{"CPU tier above the GPU", RoutingKind, "weighted", set("cpu_weight", "1.5"), `routing.params.cpu_weight: "1.5" is not allowed, want a number in [0, 1]`},
		{"no weight above zero", RoutingKind, "weighted", set("queue-depth", "0", "load-balance", "0"), `routing.params: the weight of every scorer is 0, want at least one above`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := try(c.kind, c.policy, c.settings...)
			var fault *Error
			if !errors.As(err, &fault) {
				t.Fatalf("error %v, want an *Error", err)
			}
			if err.Error() != c.want {
				t.Errorf("error\n%v, want\n%v", err, c.want)
			}
		})
	}
}

func TestParseScorers(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []Setting
		problem    string
	}{
		{"in the order given", "queue-depth:2,prefix-affinity:3.5", []Setting{{"queue-depth", "2"}, {"prefix-affinity", "3.5"}}, ""},
		{"spaces do not matter", " queue-depth : 2 , load-balance:1", []Setting{{"queue-depth", "2"}, {"load-balance", "1"}}, ""},
		{"no weight", "queue-depth:2,load-balance", nil, `routing.params: scorer 2 of "queue-depth:2,load-balance" is "load-balance", want name:weight`},
		{"empty weight", "queue-depth:", nil, `routing.params: scorer 1 of "queue-depth:" is "queue-depth:", want name:weight`},
		{"empty name", ":1", nil, `routing.params: scorer 1 of ":1" is ":1", want name:weight`},
		{"empty", "", nil, `routing.params: scorer 1 of "" is "", want name:weight`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseScorers(c.text)
			if !slices.Equal(got, c.want) {
				t.Errorf("settings %v, want %v", got, c.want)
			}
			if (err == nil) != (c.problem == "") || err != nil && err.Error() != c.problem {
				t.Errorf("error %v, want %s", err, c.problem)
			}
		})
	}
}

// TestTemplatesDescribeThemselves checks what blis policies prints, and that
// every default can be given explicitly.
func TestTemplatesDescribeThemselves(t *testing.T) {
	for _, template := range Templates() {
		if template.Help == "" {
			t.Errorf("%s has no help", template.Name)
		}
		var defaults []Setting
		for i := range template.Parameters {
			p := &template.Parameters[i]
			defaults = append(defaults, Setting{p.Name, p.Default})
			if p.Help == "" || p.Range() == "" || p.Type.String() == "" {
				t.Errorf("%s %s does not describe itself", template.Name, p.Name)
			}
		}
		if err := try(template.Kind, template.Name); err != nil {
			t.Errorf("%s without parameters: %v", template.Name, err)
		}
		if err := try(template.Kind, template.Name, defaults...); err != nil {
			t.Errorf("%s with its defaults: %v", template.Name, err)
		}
	}
	for kind, want := range map[Kind]string{AdmissionKind: "always-admit", PriorityKind: "constant", RoutingKind: "round-robin", SchedulerKind: "fcfs", AutoscaleKind: "none"} { // any order
		if got := namesOf(kind)[0]; got != want {
			t.Errorf("the default of %s is %s, want %s", kind, got, want)
		}
	}
}

// namesOf lists the policies of a kind.
func namesOf(kind Kind) (names []string) {
	for _, t := range OfKind(kind) {
		names = append(names, t.Name)
	}
	return names
}
