package traffic

import (
	"blis/vtime"
	"blis/workload"
	"blis/workload/draw"
)

// node is the state of one node of a graph.
type node struct {
	pending int32           // nodes that it waits for and that have no answer yet
	ready   vtime.Time      // latest answer of the nodes that it waits for
	content []workload.Span // its prompt, and its answer once that is there
	answer  int32           // 1 if the last span of content is its answer, else 0
	length  int64           // most tokens of its prompt and answer
}

// followers is a graph in reverse: for each node the nodes that wait for it, in
// order.
type followers [][]int32

// followersOf reverses the graphs of all clients.
func followersOf(clients []Client) map[*Session]followers {
	all := map[*Session]followers{}
	for i := range clients {
		for j := range clients[i].Kinds {
			k := clients[i].Kinds[j].Session
			if k == nil || len(k.Graph) == 0 || all[k] != nil {
				continue
			}
			all[k] = make(followers, len(k.Graph))
			for n := range k.Graph {
				for _, a := range k.Graph[n].After {
					all[k][a] = append(all[k][a], int32(n))
				}
			}
		}
	}
	return all
}

// planGraph draws the lengths of a graph's nodes. A limit below their number
// leaves the last nodes out; no earlier node waits for them.
func (x *session) planGraph(c *client, kind *Kind, v *draw.Variates, limit int64) {
	graph := x.kind.Graph
	if int64(len(graph)) > limit {
		graph = graph[:limit]
	}
	for i := range graph {
		n := &graph[i]
		input, output := n.Input, n.Output
		if input == nil {
			input = c.inputs(kind.Input)
		}
		if output == nil {
			output = c.outputs(kind.Output)
		}
		st := step{input: max(1, input.Sample(v)), output: output.Sample(v)}
		if r := x.kind.Reasoning; r != nil {
			st.addReasoning(int64(max(0, r.Steps.Sample(v)))*int64(max(0, r.Tokens.Sample(v))), r.Kept)
		}
		if c.config.MaxOutput > 0 {
			st.output = min(st.output, c.config.MaxOutput)
		}
		x.steps = append(x.steps, st)
		x.addNode(int32(len(n.After)))
	}
}

// addNode appends a node. It reuses the memory of an earlier session's node.
func (x *session) addNode(pending int32) {
	if n := len(x.nodes); n < cap(x.nodes) {
		x.nodes = x.nodes[:n+1]
		x.nodes[n] = node{pending: pending, content: x.nodes[n].content[:0]}
		return
	}
	x.nodes = append(x.nodes, node{pending: pending})
}

// graphTokens is the length of the longest prompt with its output.
func (x *session) graphTokens() int64 {
	longest := int64(0)
	for k := range x.steps {
		n := int64(x.prefix.Length)
		if after := x.kind.Graph[k].After; x.kind.Context == Accumulate && len(after) > 0 {
			n = x.nodes[after[0]].length
			for _, a := range after[1:] {
				n += int64(x.steps[a].output)
			}
		}
		x.nodes[k].length = n + int64(x.steps[k].input) + int64(x.steps[k].output)
		longest = max(longest, x.nodes[k].length)
	}
	return longest
}

// buildNodePrompt writes the prompt of node k: the content of the first node
// that it waits for, the answers of the other nodes, and the new tokens.
func (s *Source) buildNodePrompt(c *client, x *session, k int, r *workload.Request) {
	n := &x.nodes[k]
	n.content = n.content[:0]
	after := x.kind.Graph[k].After
	switch {
	case x.kind.Context == NoContext || len(after) == 0:
		if x.prefix.Length > 0 {
			n.content = append(n.content, x.prefix)
		}
	default:
		n.content = append(n.content, x.nodes[after[0]].content...)
		for _, a := range after[1:] {
			if o := &x.nodes[a]; o.answer == 1 {
				n.content = append(n.content, o.content[len(o.content)-1])
			}
		}
	}
	r.Input = tokensOf(n.content) + x.steps[k].input
	spans := append(s.spans[s.side][:0], n.content...)
	own := workload.Span{Content: promptContent(c, x, k), Length: x.steps[k].input}
	n.content = append(n.content, own)
	if x.kind.Context == Accumulate && x.repeated(k) {
		spans = append(spans, own)
		if x.steps[k].thought == 0 {
			r.OutputContent = answerContent(c, x, k)
		}
	}
	s.setSpans(r, spans)
}

// repeated reports whether a later node waits for node k. A limit leaves nodes
// out from the end.
func (x *session) repeated(k int) bool {
	followers := x.shape[k]
	return len(followers) > 0 && int(followers[0]) < len(x.steps)
}

// appendNodeAnswer appends the answer to node k, and schedules the nodes that
// waited only for it.
func (s *Source) appendNodeAnswer(c *client, slot int32, k int, e *workload.End) {
	x := s.sessions.at(slot)
	n := &x.nodes[k]
	if tokens := e.Generated - x.steps[k].thought; tokens > 0 {
		n.content = append(n.content, workload.Span{Content: answerContent(c, x, k), Length: tokens})
		n.answer = 1
	}
	if x.failed {
		return
	}
	for _, i := range x.shape[k] {
		if int(i) >= len(x.steps) {
			return
		}
		d := &x.nodes[i]
		d.ready = max(d.ready, e.At)
		if d.pending--; d.pending == 0 {
			s.schedule(c, d.ready.Add(max(1, x.steps[i].wait)), x.number<<stepBits|uint64(i), slot)
		}
	}
}
