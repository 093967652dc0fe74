package spec

import (
	"fmt"
	"math"

	"blis/vtime"
)

// inferencePerf is a workload as the benchmark inference-perf describes it:
// users of shared system prompts, whose rate changes in stages.
type inferencePerf struct {
	place
	stages                               []stage
	prompts, users                       int64
	promptTokens, inTokens, outTokens    int64
	multiTurn                            bool
	promptPlace, inputPlace, outputPlace place
}

type stage struct {
	place
	start, end vtime.Time
	rate       float64 // requests per second of all users
}

func (r *reader) inferencePerf(o *object) {
	v, at := o.get("inference_perf")
	if v == nil {
		return
	}
	in := r.object(v, at, []string{"stages", "shared_prefix"})
	p := &inferencePerf{place: at}
	items, where := in.items("stages", "stages like {rate: 8, duration: 600}")
	if len(items) == 0 {
		r.fail(where, "no stages, want at least one like {rate: 8, duration: 600}")
	}
	for i, item := range items {
		p.readStage(r, item, where.item(i, item.line))
	}
	v, where = in.get("shared_prefix")
	if v == nil {
		r.fail(where, "not given, want the system prompts and lengths")
		return
	}
	p.readShared(r, v, where)
	if n := p.prompts * p.users; n > maxClients || p.multiTurn && n*int64(len(items)) > maxClients {
		r.fail(where, "%d users of %d prompts are more than %d clients, want less", p.users, p.prompts, maxClients)
	}
	if r.spec.rate.value > 0 {
		r.note(r.spec.rate.place, "has no effect with inference_perf, whose stages say the rate")
	}
	if r.spec.share.set {
		r.fail(r.spec.share.place, "%v: given beside inference_perf, whose stages say the rate", r.spec.share.value)
	}
	r.spec.perf = p
}

func (p *inferencePerf) readStage(r *reader, v *node, at place) {
	o := r.object(v, at, []string{"rate", "duration"})
	s := stage{place: at}
	rate := o.number("rate", positive, maxRate, "requests per second, above 0 up to 1e9")
	seconds := o.whole("duration", 1, 1_000_000_000, "whole seconds from 1 to 1e9")
	if !rate.set || !seconds.set {
		r.fail(at, "want rate and duration")
	}
	s.rate = rate.value
	if n := len(p.stages); n > 0 {
		s.start = p.stages[n-1].end
	}
	s.end = s.start.Add(vtime.Duration(seconds.value) * vtime.Second)
	p.stages = append(p.stages, s)
}

func (p *inferencePerf) readShared(r *reader, v *node, at place) {
	o := r.object(v, at, []string{"num_unique_system_prompts", "num_users_per_system_prompt", "system_prompt_len", "question_len", "output_len", "enable_multi_turn_chat"})
	prompts := o.whole("num_unique_system_prompts", 1, maxClients, "from 1 to 100000")
	users := o.whole("num_users_per_system_prompt", 1, maxClients, "from 1 to 100000")
	if !prompts.set || !users.set {
		r.fail(at, "want num_unique_system_prompts and num_users_per_system_prompt")
	}
	p.prompts, p.users = prompts.value, users.value
	length := func(name string) (int64, place) {
		g := o.whole(name, 0, maxTokens, "tokens from 0 to 10000000")
		return g.value, g.place
	}
	p.promptTokens, p.promptPlace = length("system_prompt_len")
	p.inTokens, p.inputPlace = length("question_len")
	p.outTokens, p.outputPlace = length("output_len")
	p.multiTurn = o.flag("enable_multi_turn_chat").value
}

// clients are the users, each with an equal part of the rate. A user of a chat
// has one conversation in each stage: the requests of the stage are shared out
// as its rounds, which follow each other as often as there are users per rate.
func (p *inferencePerf) clients() []client {
	users := p.prompts * p.users
	var all []client
	for i := range p.prompts {
		for k := range p.users {
			c := p.user(fmt.Sprintf("prompt-%d", i), k)
			if !p.multiTurn {
				for _, s := range p.stages {
					w := window{place: s.place, start: s.start, end: s.end}
					w.rate = given[float64]{s.place, s.rate / float64(users), true}
					c.windows = append(c.windows, w)
				}
				all = append(all, c)
				continue
			}
			for n, s := range p.stages {
				if d, ok := p.conversation(c, n, s, i*p.users+k, users); ok {
					all = append(all, d)
				}
			}
		}
	}
	return all
}

func (p *inferencePerf) user(group string, k int64) client {
	c := client{place: p.place, class: "standard"}
	c.id.value = fmt.Sprintf("%s-user-%d", group, k)
	c.tenant = given[string]{p.place, group, true}
	c.arrival = arrival{place: p.place, process: poisson}
	c.input = constantOf(p.inputPlace, inputTokens, float64(max(p.inTokens, 1)))
	c.output = constantOf(p.outputPlace, outputTokens, float64(p.outTokens))
	if p.promptTokens > 0 {
		c.prefix = prefix{place: p.promptPlace, group: given[string]{p.promptPlace, group, true}, length: given[int64]{p.promptPlace, p.promptTokens, true}}
		c.prefix.line = max(c.prefix.line, 1)
	}
	return c
}

// conversation is the client c in one stage, number of so many users; false if
// it has no round there.
func (p *inferencePerf) conversation(c client, n int, s stage, number, users int64) (client, bool) {
	total := int64(math.Min(float64(s.rate*s.end.Sub(s.start).Seconds()), 1e15))
	length := total / users
	if number < total%users {
		length++
	}
	if length == 0 {
		return c, false
	}
	if len(p.stages) > 1 {
		c.id.value = fmt.Sprintf("stage-%d-%s", n, c.id.value)
	}
	think, _ := vtime.Truncate(float64(float64(users) / s.rate * 1e6))
	c.types = []requestType{{place: p.place, kind: "chat", share: 1, session: chat(p.place, min(length, int64(rounds.most)), think, false, false)}}
	c.single = min(length, int64(rounds.most))
	w := window{place: s.place, start: s.start, end: s.end}
	w.rate = given[float64]{s.place, s.rate / float64(users), true}
	c.windows = []window{w}
	return c, true
}
