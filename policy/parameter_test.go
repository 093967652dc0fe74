package policy

import (
	"math"
	"testing"
)

func TestParametersOfEachTypeAreChecked(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   Kind
		policy string
		give   []Setting
		want   string // the error; empty: none
	}{
		{"duration with a unit", PriorityKind, "deadline-aware", []Setting{{"default_target", "1.5s"}}, ""},
		{"duration in µs", PriorityKind, "deadline-aware", []Setting{{"default_target", "250"}}, ""},
		{"the longest duration", PriorityKind, "deadline-aware", []Setting{{"default_target", "24h"}}, ""},
		{"not a duration", PriorityKind, "deadline-aware", []Setting{{"default_target", "soon"}}, `priority.params.default_target: "soon" is not allowed, want a duration like 250ms or 5s, at most 86400s`},
		{"negative duration", AdmissionKind, "tenant-quota", []Setting{{"delay", "-5ms"}}, `admission.params.delay: "-5ms" is not allowed, want a duration like 250ms or 5s, at most 86400s`},
		{"duration too long", AdmissionKind, "tenant-quota", []Setting{{"delay", "25h"}}, `admission.params.delay: "25h" is not allowed, want a duration like 250ms or 5s, at most 86400s`},
		{"endless duration", AdmissionKind, "tenant-quota", []Setting{{"delay", "Inf"}}, `admission.params.delay: "Inf" is not allowed, want a duration like 250ms or 5s, at most 86400s`},
		{"count", AdmissionKind, "tenant-quota", []Setting{{"max_active", "0"}, {"max_delays", "1e3"}}, ""},
		{"count with a fraction", AdmissionKind, "tenant-quota", []Setting{{"max_active", "2.5"}}, `admission.params.max_active: "2.5" is not allowed, want a whole number in [0, 1e+09]`},
		{"negative count", AdmissionKind, "tenant-quota", []Setting{{"max_delays", "-1"}}, `admission.params.max_delays: "-1" is not allowed, want a whole number in [0, 1e+09]`},
		{"count that is none", AdmissionKind, "tenant-quota", []Setting{{"max_active", "NaN"}}, `admission.params.max_active: "NaN" is not allowed, want a whole number in [0, 1e+09]`},
		{"endless count", AdmissionKind, "tenant-quota", []Setting{{"max_active", "Inf"}}, `admission.params.max_active: "Inf" is not allowed, want a whole number in [0, 1e+09]`},
		{"tenants", AdmissionKind, "tenant-quota", []Setting{{"tenants.alice", "5"}, {"max_active", "1"}, {"tenants.bob", "0"}}, ""},
		{"a tenant's bad count", AdmissionKind, "tenant-quota", []Setting{{"tenants.alice", "five"}}, `admission.tenants.alice: "five" is not allowed, want a whole number in [0, 1e+09]`},
		{"a tenant twice", AdmissionKind, "tenant-quota", []Setting{{"tenants.alice", "5"}, {"tenants.alice", "5"}}, `admission.tenants.alice: alice is given twice`},
		{"a tenant's bad score", PriorityKind, "tenant-priority", []Setting{{"tenants.alice", "NaN"}}, `priority.tenants.alice: "NaN" is not allowed, want a number in [-1e+09, 1e+09]`},
		{"a score out of range", PriorityKind, "tenant-priority", []Setting{{"default", "2e9"}}, `priority.params.default: "2e9" is not allowed, want a number in [-1e+09, 1e+09]`},
		{"default twice", PriorityKind, "tenant-priority", []Setting{{"default", "2"}, {"default", "2"}}, `priority.params.default: default is given twice`},
		{"no rate", AdmissionKind, "rate-limit", []Setting{{"rate", "0"}}, `admission.params.rate: "0" is not allowed, want a number in [1e-06, 1e+06]`},
		{"no burst", AdmissionKind, "rate-limit", []Setting{{"burst", "0.5"}}, `admission.params.burst: "0.5" is not allowed, want a number in [1, 1e+06]`},
		{"misspelt", AdmissionKind, "rate-limit", []Setting{{"bursts", "5"}}, `admission.params.bursts: rate-limit has no parameter "bursts", the nearest is "burst" (there are: rate, burst, per_tenant)`},
		{"no queue", AdmissionKind, "saturation-shed", []Setting{{"queue_depth", "0"}}, `admission.params.queue_depth: "0" is not allowed, want a number in [0.01, 100000]`},
		{"percent", AdmissionKind, "saturation-shed", []Setting{{"kv", "80"}}, `admission.params.kv: "80" is not allowed, want a number in [0.01, 1]`},
		{"negative threshold", AdmissionKind, "saturation-shed", []Setting{{"threshold", "-1"}}, `admission.params.threshold: "-1" is not allowed, want a number in [0, 100]`},
		{"the class is fixed", AdmissionKind, "saturation-shed", []Setting{{"class", "batch"}}, `admission.params.class: saturation-shed has no parameter "class" (there are: queue_depth, kv, threshold)`},
		{"not a score", PriorityKind, "inverted-slo", []Setting{{"batch", "low"}}, `priority.params.batch: "low" is not allowed, want a number in [-1e+09, 1e+09]`},
		{"not a preemption rule", SchedulerKind, "reverse-priority", []Setting{{"preemption", "reverse"}}, `scheduler.params.preemption: "reverse" is not allowed, want auto | fcfs | priority`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := try(c.kind, c.policy, c.give...); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("error\n%v, want\n%v", got, c.want)
			}
		})
	}
}

func TestRangesInWords(t *testing.T) {
	for want, p := range map[string]Parameter{
		"a duration like 250ms or 5s":                              {Type: Duration, Max: math.MaxFloat64},
		"a duration like 250ms or 5s, at least 10ms":               {Type: Duration, Min: 10_000, Max: math.MaxFloat64},
		"a duration like 250ms or 5s, at least 2s, at most 86400s": {Type: Duration, Min: 2e6, Max: day},
		"a whole number ≥ 1":                                       {Type: Count, Min: 1, Max: math.MaxFloat64},
		"a whole number in [1, 9]":                                 {Type: Count, Min: 1, Max: 9},
		"a number ≥ 0.5":                                           {Type: Number, Min: 0.5, Max: math.MaxFloat64},
	} {
		if got := p.Range(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
