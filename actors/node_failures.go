package actors

import (
	"slices"
	"strconv"

	"blis/lookahead"
	"blis/setup"
	"blis/vtime"
	"blis/vtime/heap"
)

// nodeFailure is a line of failures on a node: what happens to it happens to all instances with a GPU
// there. An instance that is not ready yet fails when it is, if the node still does. While a node is
// down nothing is placed there.
type nodeFailure struct {
	line  int32 // index in the plan's list
	node  setup.Node
	fails bool    // now
	hit   []int32 // servers that fail with it
}

// addNodes files the first failures of nodes.
func (f *failures) addNodes() {
	for k := range f.plan.List {
		x := &f.plan.List[k]
		for _, n := range x.Of.Nodes {
			e := dueFailure{at: x.At, begins: true, line: int32(k), instance: -1, node: int32(len(f.onNodes))}
			if x.MTBF > 0 {
				e.stream = vtime.NewStream(f.seed, "failure/"+strconv.Itoa(x.Line)+"/node-"+strconv.Itoa(int(n.Pool))+"-"+strconv.Itoa(int(n.Index)))
				e.at = vtime.Time(0).Add(f.uptime(&e))
			}
			f.onNodes = append(f.onNodes, nodeFailure{line: e.line, node: n})
			f.due = heap.Push(f.due, e)
		}
	}
}

// failNode lets the failure of a node begin or end.
func (f *failures) failNode(e *dueFailure, out *lookahead.Outbox, t *tracing) {
	n := &f.onNodes[e.node]
	if n.fails = e.begins; f.plan.List[e.line].Kind == setup.Crash {
		f.fleet.nodes.gpus.SetDown(n.node, e.begins)
	}
	if !e.begins {
		for _, i := range n.hit {
			if !f.list[i].Gone {
				f.happen(int(i), e, out, t)
			}
		}
		n.hit = n.hit[:0]
		return
	}
	for _, i := range f.fleet.serversOn(n.node) {
		if f.list[i].Ready > e.at {
			f.failLater(e, int32(i))
			continue
		}
		n.hit = append(n.hit, int32(i))
		f.happen(i, e, out, t)
	}
}

// failLater lets server i fail with its node when it is ready.
func (f *failures) failLater(e *dueFailure, i int32) {
	f.due = heap.Push(f.due, dueFailure{at: f.list[i].Ready, begins: true, line: e.line, instance: i, node: e.node})
}

// join lets a server that is ready fail with its node, if that fails still.
func (f *failures) join(e *dueFailure, out *lookahead.Outbox, t *tracing) {
	n := &f.onNodes[e.node]
	if !n.fails || f.list[e.instance].Gone || slices.Contains(n.hit, e.instance) {
		return
	}
	n.hit = append(n.hit, e.instance)
	f.happen(int(e.instance), e, out, t)
}

// placed lets server i, which is new, fail with the nodes that fail where it is.
func (f *failures) placed(i int32) {
	for k := range f.onNodes {
		if n := &f.onNodes[k]; n.fails && slices.Contains(f.fleet.servers[i].nodes, n.node) {
			f.failLater(&dueFailure{line: n.line, node: int32(k)}, i)
		}
	}
}
