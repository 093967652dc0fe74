package report

import (
	"fmt"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
	"blis/vtime"
)

// nodePool is what was used of a node pool.
type nodePool struct {
	GPU         string   `json:"gpu"`
	Nodes       int      `json:"nodes"`
	GPUsPerNode int      `json:"gpus_per_node"`
	GPUs        int      `json:"gpus"`
	GPUHours    float64  `json:"gpu_hours"` // from the request for an instance to its end
	Utilisation *float64 `json:"utilisation"`
	Peak        int      `json:"peak_gpus"`
	PaidHours   float64  `json:"paid_gpu_hours"` // from when the machine of an instance was there
	Price       *float64 `json:"cost_per_gpu_hour"`
	Cost        *float64 `json:"cost"`
}

// nodePools is by node pool, in their order.
type nodePools []actors.NodePoolUse

// MarshalJSON prints an object from node pool to its use that keeps the order.
func (s nodePools) MarshalJSON() ([]byte, error) {
	names := make([]string, len(s))
	for i := range s {
		names[i] = s[i].ID
	}
	return metrics.Object(names, func(i int) any {
		u := &s[i]
		j := nodePool{
			GPU: u.GPU, Nodes: u.Nodes, GPUsPerNode: u.GPUsPerNode, GPUs: u.GPUs(), GPUHours: hours(u.TakenMicros), Utilisation: u.Utilisation(),
			Peak: u.Peak, PaidHours: hours(u.PaidMicros), Cost: u.Cost,
		}
		if u.CostPerGPUHour > 0 {
			j.Price = &u.CostPerGPUHour
		}
		return &j
	})
}

func hours(micros float64) float64 { return micros / float64(vtime.Hour) }

// instanceNodes has the node of each instance, by their numbers.
type instanceNodes struct{ instances, nodes []string }

// newInstanceNodes returns nil where GPUs are unlimited.
func newInstanceNodes(r *actors.Result) *instanceNodes {
	if len(r.NodePools()) == 0 {
		return nil
	}
	return &instanceNodes{r.Names.Instances, r.InstanceNodes()}
}

// MarshalJSON prints an object from instance to node that keeps the order.
func (s *instanceNodes) MarshalJSON() ([]byte, error) {
	return metrics.Object(s.instances, func(i int) any { return s.nodes[i] })
}

// nodePools prints a table of node pools, if there are any.
func (t *runText) nodePools(list []actors.NodePoolUse) {
	if len(list) == 0 {
		return
	}
	rows := []string{"node pool\tnodes\tGPUs each\tGPUs\tmost taken\ttaken\tGPU-hours\tcost"}
	for i := range list {
		u := &list[i]
		rows = append(rows, strings.Join([]string{
			plaintext.Name(u.ID), plaintext.Grouped(int64(u.Nodes)), fmt.Sprintf("%s %s", plaintext.Grouped(int64(u.GPUsPerNode)), u.GPU), plaintext.Grouped(int64(u.GPUs())),
			plaintext.Grouped(int64(u.Peak)), plaintext.Percent(u.Utilisation()), plaintext.Significant(hours(u.TakenMicros)), optional(u.Cost),
		}, "\t"))
	}
	fmt.Fprint(t, plaintext.Columns(strings.Join(rows, "\n")+"\n", t.Width, "GPUs", "GPU-hours"))
	t.Gap()
}

// noCapacity is how often no node had room for an instance that was wanted.
type noCapacity struct {
	Checks int64           `json:"checks"`
	Events []capacityEvent `json:"events"`
}

// capacityEvent is a change of the instances that are wanted and not there; as many there as wanted: none is.
type capacityEvent struct {
	At     vtime.Time `json:"at_us"`
	There  int32      `json:"there"`
	Wanted int32      `json:"wanted"`
}

// newNoCapacity returns nil where GPUs are unlimited.
func newNoCapacity(r *actors.Result, s *actors.PoolScaling) *noCapacity {
	if len(r.NodePools()) == 0 {
		return nil
	}
	j := &noCapacity{s.NoCapacity, []capacityEvent{}}
	for _, x := range s.Shortages {
		j.Events = append(j.Events, capacityEvent{x.At, x.There, x.Wanted})
	}
	return j
}
