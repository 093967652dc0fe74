package script

import (
	"math"

	"go.starlark.net/starlark"

	"blis/policy"
	"blis/vtime"
)

// admission is a program's admit.
type admission struct{ decider }

func newAdmission(p *program, env policy.Env, maxSteps uint64) (policy.Admission, error) {
	d, err := newDecider(policy.AdmissionKind, "admit", admissionDraws, p, env, maxSteps)
	if err != nil {
		return nil, err
	}
	return &admission{d}, d.noHints(policy.AdmissionKind)
}

// Decide implements policy.Admission.
func (a *admission) Decide(req *policy.Request, st *policy.RouterState, now vtime.Time) policy.AdmissionDecision {
	switch answer := a.decide(req, st, st.View, now).(type) {
	case starlark.Bool:
		if answer {
			return policy.AdmissionDecision{Verdict: policy.Admit}
		}
	case starlark.String: // why, for those who read the program
	case postponed:
		return policy.AdmissionDecision{Verdict: policy.Delay, Reason: policy.ByPolicy, Wait: vtime.Duration(answer)}
	default:
		a.fail(TypeError, "returns a %s: want True, False, a text that says why not, or delay(seconds)", answer.Type())
	}
	return policy.AdmissionDecision{Verdict: policy.Reject, Reason: policy.ByPolicy}
}

// number reads an answer that is a finite number.
func (d *decider) number(answer starlark.Value) float64 {
	x, ok := starlark.AsFloat(answer)
	switch {
	case !ok:
		d.fail(TypeError, "returns a %s: want a number", answer.Type())
	case math.IsNaN(x) || math.IsInf(x, 0):
		d.fail(ValueError, "returns %v: want a finite number", x)
	}
	return x
}
