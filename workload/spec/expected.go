package spec

import (
	"math"

	"blis/workload/traffic"
)

// expectedOf is expected for one kind of arrival. prefix, in and out are the
// client's mean tokens of a prefix, of a prompt besides it, and of an output.
func expectedOf(k *traffic.Kind, prefix, in, out float64) (requests, input, output float64) {
	if k.Input != nil {
		in = meanLength(k.Input)
	}
	if k.Output != nil {
		out = meanLength(k.Output)
	}
	s := k.Session
	if s == nil {
		return 1, prefix + in, out
	}
	if s.Graph != nil {
		return expectedGraph(s, prefix, in, out)
	}
	return expectedRounds(s, prefix, in, out)
}

// expectedRounds is the expectation for a conversation of its mean number of rounds.
func expectedRounds(s *traffic.Session, prefix, in, out float64) (requests, input, output float64) {
	n := math.Floor(meanLength(&s.Rounds) + 0.5)
	next, total := in, out // new tokens of a round after the first; output with thoughts
	if s.Follow != nil {
		next = meanLength(s.Follow)
	}
	carried := out // of an output by later prompts
	if r := s.Reasoning; r != nil {
		thoughts := float64(meanLength(&r.Steps) * meanLength(&r.Tokens))
		total += thoughts
		if r.Kept {
			carried += thoughts
		}
	}
	calls, result := 0.0, 0.0 // further requests of a round, and what each adds
	if t := s.Tools; t != nil {
		result = meanLength(&t.Result)
		p := 1.0
		for range int(math.Floor(meanLength(&t.Calls) + 0.5)) {
			p = float64(p * t.Probability)
			calls += p
		}
	}
	context := 0.0
	for k := 1.0; k <= n; k++ {
		step := func(weight, fresh float64) {
			input += float64(weight * (prefix + context + fresh))
			if s.Context == traffic.Accumulate {
				context += carry(s, k, float64(weight*(fresh+carried)))
			}
			if s.Growth == traffic.Bounded && s.Context == traffic.Accumulate {
				context = min(context, max(float64(s.Limit)-prefix, 0))
			}
		}
		fresh := in
		if k > 1 {
			fresh = next
		}
		step(1, fresh)
		if calls > 0 {
			step(calls, result)
		}
	}
	requests = float64(n * (1 + calls))
	return requests, input, float64(requests * total)
}

// carry is what round k adds to the context of tokens it says.
func carry(s *traffic.Session, k, tokens float64) float64 {
	if s.Growth == traffic.Sublinear {
		return tokens / math.Sqrt(k)
	}
	return tokens
}

// expectedGraph is the expectation for a graph of calls.
func expectedGraph(s *traffic.Session, prefix, in, out float64) (requests, input, output float64) {
	context := make([]float64, len(s.Graph)) // behind each node: its prompt, without prefix, and output
	outputs := make([]float64, len(s.Graph))
	for i := range s.Graph {
		n := &s.Graph[i]
		fresh, produced, before := in, out, 0.0
		if n.Input != nil {
			fresh = meanLength(n.Input)
		}
		if n.Output != nil {
			produced = meanLength(n.Output)
		}
		if s.Context == traffic.Accumulate {
			for k, j := range n.After {
				if k == 0 {
					before += context[j]
				} else {
					before += outputs[j]
				}
			}
		}
		context[i], outputs[i] = before+fresh+produced, produced
		input += prefix + before + fresh
		output += produced
	}
	return float64(len(s.Graph)), input, output
}
