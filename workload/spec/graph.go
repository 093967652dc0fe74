package spec

import (
	"fmt"
	"strings"

	"blis/workload/traffic"
	"blis/yamldoc"
)

// graphNode is one request of a graph, or several copies of it, as the
// specification gives it.
type graphNode struct {
	place
	id            string
	after         []int // indices of the nodes it waits for, in the order given
	wait          *distribution
	input, output *distribution
	repeat        int64
}

// maxGraph is the number of requests of a graph, copies included, and
// maxEdges how many waits there are between them.
const (
	maxGraph = 1000
	maxEdges = 100_000
)

// graph reads nodes and sorts them so that each comes after the nodes that it
// waits for, otherwise in the order of the file.
func (o *object) graph(name string) []graphNode {
	items, at := o.items(name, "nodes like {id: plan, wait_for: [read]}")
	if !o.has(name) {
		return nil
	}
	if len(items) == 0 {
		o.fail(at, "an empty list, want at least one node")
	}
	nodes := make([]graphNode, len(items))
	waits := make([][]given[string], len(items))
	index := map[string]int{}
	var ids []string
	total := int64(0)
	for i, v := range items {
		nodes[i], waits[i] = o.graphNode(v, at.Item(i, v.Line))
		n := &nodes[i]
		if first, again := index[n.id]; again {
			o.fail(n.Within("id", n.Line), "%q is given twice, first on line %d, want unique names", yamldoc.Clip(n.id), nodes[first].Line)
		}
		index[n.id] = i
		ids = append(ids, n.id)
		if total += n.repeat; total > maxGraph {
			o.fail(n.place, "the graph has more than %d requests with its repeats, want less", maxGraph)
		}
	}
	edges := int64(0)
	for i := range nodes {
		for _, w := range waits[i] {
			j, found := index[w.value]
			if !found && o.ok() {
				o.fail(w.place, "%s", yamldoc.Unknown("node", w.value, ids))
			}
			nodes[i].after = append(nodes[i].after, j)
			if edges += nodes[i].repeat * nodes[j].repeat; edges > maxEdges {
				o.fail(w.place, "the graph has more than %d waits with its repeats, want less", maxEdges)
			}
		}
	}
	o.checkCopies(nodes)
	if !o.ok() {
		return nil
	}
	return o.sorted(nodes, at)
}

// checkCopies refuses a node that is called like a copy of another.
func (o *object) checkCopies(nodes []graphNode) {
	names := map[string]string{}
	for i := range nodes {
		if n := &nodes[i]; n.repeat > 1 {
			for k := range n.repeat {
				names[copyName(n.id, k)] = n.id
			}
		}
	}
	for i := range nodes {
		if of, taken := names[nodes[i].id]; taken && (nodes[i].repeat == 1) {
			o.fail(nodes[i].Within("id", nodes[i].Line), "%q is the name of a copy of %q, want another", yamldoc.Clip(nodes[i].id), yamldoc.Clip(of))
		}
	}
}

// copyName is the name of copy k of a node, from 0.
func copyName(id string, k int64) string { return fmt.Sprintf("%s-%d", id, k+1) }

func (o *object) graphNode(v *yamldoc.Node, at place) (graphNode, []given[string]) {
	in := o.object(v, at, []string{"id", "wait_for", "tool_wait", "input_distribution", "output_distribution", "repeat"})
	id := in.text("id", "a name")
	if !id.set {
		o.fail(id.place, "not given, want a name")
	}
	n := graphNode{place: at, id: id.value}
	n.repeat = in.whole("repeat", 1, maxGraph, "copies from 1 to 1000").or(1)
	n.wait = in.quantity("tool_wait", delays)
	n.input, n.output = in.distribution("input_distribution", inputTokens), in.distribution("output_distribution", outputTokens)
	names, where := in.items("wait_for", "names of nodes")
	var waits []given[string]
	seen := map[string]bool{}
	for i, w := range names {
		here := where.Item(i, w.Line)
		if w.Kind == yamldoc.List || w.Kind == yamldoc.Mapping || w.Kind == yamldoc.Null {
			o.fail(here, "%s is not allowed, want the name of a node", w.Describe())
		}
		if seen[w.Text] {
			o.fail(here, "%q is given twice, want it once", yamldoc.Clip(w.Text))
		}
		seen[w.Text] = true
		waits = append(waits, given[string]{here, w.Text, true})
	}
	return n, waits
}

// sorted is the nodes in topological order, the first of the file first among
// those that could be next. A cycle is a fault that names its nodes.
func (o *object) sorted(nodes []graphNode, at place) []graphNode {
	place := make([]int, len(nodes)) // in the result, from 1
	var out []graphNode
	for len(out) < len(nodes) {
		next := -1
		for i := range nodes {
			ready := place[i] == 0
			for _, j := range nodes[i].after {
				ready = ready && place[j] > 0
			}
			if ready {
				next = i
				break
			}
		}
		if next < 0 {
			o.fail(at, "nodes wait for each other in a circle: %s; want none to wait for itself", cycle(nodes, place))
			return nil
		}
		out = append(out, nodes[next])
		place[next] = len(out)
	}
	for i := range out {
		after := make([]int, len(out[i].after))
		for k, j := range out[i].after {
			after[k] = place[j] - 1
		}
		out[i].after = after
	}
	return out
}

// cycle names nodes that wait for each other: from any that is left, to one it
// waits for that is left too, until one comes again.
func cycle(nodes []graphNode, place []int) string {
	at := 0
	for place[at] > 0 {
		at++
	}
	var path []int
	seen := map[int]int{}
	for {
		if first, again := seen[at]; again {
			var names []string
			for _, i := range append(path[first:], at) {
				names = append(names, yamldoc.Clip(nodes[i].id))
			}
			return strings.Join(names, " waits for ")
		}
		seen[at] = len(path)
		path = append(path, at)
		for _, j := range nodes[at].after {
			if place[j] == 0 {
				at = j
				break
			}
		}
	}
}

// graph is the nodes for the engine, copies written out: a node that waits
// for another waits for all its copies.
func (b *builder) graph(nodes []graphNode, tune *tuning) []traffic.Node {
	var out []traffic.Node
	first := make([]int, len(nodes)) // index of the first copy
	for i := range nodes {
		n := &nodes[i]
		first[i] = len(out)
		var after []int
		for _, j := range n.after {
			for k := range nodes[j].repeat {
				after = append(after, first[j]+int(k))
			}
		}
		node := traffic.Node{Name: n.id, After: after, Wait: b.draws.delay(n.wait), Output: b.draws.lengthOf(n.output)}
		if n.input != nil {
			node.Input = b.draws.lengthOf(b.draws.times(n.input, tune.prompts))
		}
		for k := range n.repeat {
			if n.repeat > 1 {
				node.Name = copyName(n.id, k)
			}
			out = append(out, node)
		}
	}
	return out
}
