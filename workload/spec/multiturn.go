package spec

import "blis/yamldoc"

// sessions reads what the arrivals of a client begin: request_types, or the
// public simulator's reasoning.
func (r *reader) sessions(o *object, c *client) {
	c.types = o.requestTypes("request_types")
	closed := o.flag("closed_loop")
	v, at := o.get("reasoning")
	if v == nil {
		if closed.set && closed.value && !o.has("concurrency") {
			r.note(closed.place, "has no effect without reasoning.multi_turn or concurrency")
		}
		return
	}
	if c.types != nil {
		r.fail(at, "given beside request_types, want one of them")
	}
	in := r.object(v, at, []string{"reason_ratio_distribution", "multi_turn"})
	r.reasonRatio(&in)
	if m, where := in.get("multi_turn"); m != nil {
		r.multiTurn(m, where, c, closed.or(true))
	}
}

// reasonRatio reads how much of an output is thought there, in percent: a
// label of requests, which changes no length.
func (r *reader) reasonRatio(o *object) {
	percent := measure{"percent", 0, 0, 100, false}
	d := o.distribution("reason_ratio_distribution", percent)
	if d == nil {
		return
	}
	if len(d.params) == 0 || d.params[0] != 0 || d.max.value != 0 {
		r.note(d.place, "changes no length: outputs are as long as output_distribution says, thoughts included")
	}
}

func (r *reader) multiTurn(v *yamldoc.Node, at place, c *client, closed bool) {
	in := r.object(v, at, []string{"max_rounds", "think_time_us", "context_growth", "single_session"})
	length := in.whole("max_rounds", 1, int64(rounds.most), "rounds from 1 to 100000")
	if !length.set {
		r.fail(length.place, "not given, want rounds from 1 to 100000")
	}
	think := in.duration("think_time_us")
	accumulate := in.choice("context_growth", "accumulate", "").value == "accumulate"
	s := chat(at, length.value, think.value, accumulate, !closed)
	c.types = []requestType{{place: at, kind: "chat", share: 1, session: s}}
	single := in.flag("single_session")
	if single.value {
		c.single = length.value
		if c.requests.set {
			r.fail(c.requests.place, "%d: given beside single_session, which has max_rounds requests", c.requests.value)
		}
	}
}
