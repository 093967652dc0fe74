package spec

import (
	"fmt"

	"blis/vtime"
	"blis/workload/draw"
	"blis/yamldoc"
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
	requests   int64   // of all users: rate × duration, cut off to a whole number
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
		p.readStage(r, item, where.Item(i, item.Line))
	}
	v, where = in.get("shared_prefix")
	if v == nil {
		r.fail(where, "not given, want the system prompts and lengths")
		return
	}
	p.readShared(r, v, where)
	p.checkRounds(r)
	if n := p.prompts * p.users; n > maxClients || p.multiTurn && n*int64(len(items)) > maxClients {
		r.fail(where, "%d users of %d prompts are more than %d clients, want less", p.users, p.prompts, maxClients)
	}
	if r.spec.rate.value > 0 {
		r.note(r.spec.rate.place, "has no effect with inference_perf, whose stages say the rate")
	}
	if r.spec.profile != nil {
		r.fail(r.spec.profile.place, "given beside inference_perf, whose stages say how many requests come")
	}
	if r.spec.share.set {
		r.fail(r.spec.share.place, "%v: given beside inference_perf, whose stages say the rate", r.spec.share.value)
	}
	r.spec.perf = p
}

func (p *inferencePerf) readStage(r *reader, v *yamldoc.Node, at place) {
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
	if s.requests = int64(float64(s.rate * float64(seconds.value))); s.requests < 1 && rate.set && seconds.set {
		r.fail(at, "rate %v for %d s is less than one request, want a higher rate or a longer duration", s.rate, seconds.value)
	}
	p.stages = append(p.stages, s)
}

// checkRounds refuses a chat with more rounds than a session can have, rather
// than send fewer.
func (p *inferencePerf) checkRounds(r *reader) {
	users := p.prompts * p.users
	for _, s := range p.stages {
		if p.multiTurn && users > 0 && (s.requests-1)/users >= mostRounds {
			r.fail(s.place, "%d requests of %d users are more than %d rounds of a chat each, want more users or shorter stages", s.requests, users, mostRounds)
		}
	}
}

// mostRounds is how many requests a session can have.
const mostRounds = 1 << 16

func (p *inferencePerf) readShared(r *reader, v *yamldoc.Node, at place) {
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

// clients are the users, each with an equal part of the requests of every stage,
// the first ones with one more where that leaves a rest. A user of a chat has one
// conversation in each stage, whose rounds are its part.
func (p *inferencePerf) clients() []client {
	users := p.prompts * p.users
	var all []client
	for i := range p.prompts {
		for k := range p.users {
			c := p.user(fmt.Sprintf("prompt-%d", i), k)
			number := i*p.users + k
			if p.multiTurn {
				all = append(all, p.conversations(c, number, users)...)
				continue
			}
			for _, s := range p.stages {
				if n := s.part(number, users); n > 0 {
					c.stages = append(c.stages, draw.Stage{Start: s.start, End: s.end, Count: n})
				}
			}
			if c.stages != nil {
				all = append(all, c)
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
		c.prefix.Line = max(c.prefix.Line, 1)
	}
	return c
}

// part is the number of the stage's requests that come from user number number of users.
func (s *stage) part(number, users int64) int64 {
	n := s.requests / users
	if number < s.requests%users {
		n++
	}
	return n
}

// conversations are the conversations of user number number, the client c: one in each stage
// in which it has a part. The benchmark asks its users in turn, at the rate of the
// stage. So each round has a place of its own: the first of user number n is in
// the n-th part of 1/rate, and the next ones follow as often as there are users
// per rate. A lost round ends no conversation, as prompts repeat nothing.
func (p *inferencePerf) conversations(c client, number, users int64) []client {
	var all []client
	name := c.id.value
	for n, s := range p.stages {
		rounds := s.part(number, users)
		if rounds == 0 {
			continue
		}
		if c.id.value = name; len(p.stages) > 1 {
			c.id.value = fmt.Sprintf("stage-%d-%s", n, name)
		}
		think, _ := vtime.Truncate(float64(float64(users) / s.rate * 1e6))
		talk := chat(p.place, rounds, think, false, false)
		talk.persists = true
		c.types = []requestType{{place: p.place, kind: "chat", share: 1, session: talk}}
		c.single = rounds
		c.stages = []draw.Stage{s.slot(number)}
		all = append(all, c)
	}
	return all
}

// slot is the n-th part of 1/rate of the stage, with one arrival.
func (s *stage) slot(n int64) draw.Stage {
	from, _ := vtime.Truncate(float64(float64(n) / s.rate * 1e6))
	to, _ := vtime.Truncate(float64(float64(n+1) / s.rate * 1e6))
	start := min(s.start.Add(from), s.end-1)
	return draw.Stage{Start: start, End: min(max(s.start.Add(to), start+1), s.end), Count: 1}
}
