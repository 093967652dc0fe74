package policy

import "testing"

// Who waits at the gateway counts as who waits at instances does, and where there is no instance alone. Without any of
// them queue-depth goes down to none, if that is allowed.
func TestQueueDepthSeesTheGateway(t *testing.T) {
	for _, c := range []struct {
		name      string
		source    string
		queues    []int32 // of the instances
		least     int32
		atGateway int64
		want      int32
	}{
		{"both", "both", []int32{4, 4}, 1, 12, 5},
		{"instances", "instances", []int32{4, 4}, 1, 12, 2},
		{"gateway", "gateway", []int32{40, 40}, 1, 12, 3},
		{"nobody is ready", "both", nil, 0, 9, 3},
		{"nobody is ready, nobody waits", "both", nil, 0, 0, 0},
		{"nobody is ready, and the gateway does not count", "instances", nil, 0, 9, 0},
		{"down to none", "both", []int32{0}, 0, 0, 0},
		{"down to none of two, one at a time", "gateway", []int32{0, 0}, 0, 0, 1},
		{"not below the least", "both", []int32{0}, 1, 0, 1},
		{"one waits", "both", []int32{0}, 0, 1, 1},
	} {
		p := mustScale(t, "queue-depth", Setting{"down_window", "0"}, Setting{"tolerance", "0"}, Setting{"source", c.source})
		var slots []Slot
		for _, q := range c.queues {
			slots = append(slots, light(Slot{Queue: q, Routable: true}))
		}
		ctx := fleet(p, 0, slots...)
		ctx.Min, ctx.AtGateway = c.least, c.atGateway
		if d := p.Evaluate(ctx); d.Target != c.want {
			t.Errorf("%s: %+v, want %d replicas", c.name, d, c.want)
		}
	}
}
