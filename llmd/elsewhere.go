package llmd

import (
	"math"
	"strconv"
)

// elsewhere exports what is decided outside of profiles, or names it.
func (e *exporter) elsewhere() error {
	if err := e.admission(); err != nil {
		return err
	}
	b := &e.plan.Config.Policies
	if b.Priority.Type != "constant" {
		e.differ("priority.type", "%s: priorities are InferenceObjective resources of llm-d, and order its flow control, not the queues of vLLM", b.Priority.Type)
	}
	for _, pool := range e.deployment.Pools() {
		e.scheduler(pool.Scheduler.Type, value(&pool.Scheduler, "preemption"))
		if pool.Scaling != nil {
			e.differ("autoscale.type", "%s: the number of replicas is the business of a HorizontalPodAutoscaler or of llm-d's workload variant autoscaler", pool.Scaling.Policy.Type)
		}
	}
	return nil
}

// saturation detector of llm-d.
const detector = "utilization-detector"

// admission exports the one policy that llm-d has, and names the others.
func (e *exporter) admission() error {
	s := &e.plan.Config.Policies.Admission
	switch s.Type {
	case "always-admit":
		e.differ("admission.type", "always-admit: llm-d rejects requests of negative priority while servers are saturated (%s); without an InferenceObjective nobody has one", detector)
	case "saturation-shed":
		e.saturationShed()
	case "reject-all":
		return inputErrorf("admission.type: reject-all serves nobody: want another admission policy")
	case "token-bucket", "rate-limit", "tenant-quota":
		e.differ("admission.type", "%s: limits of rates and quotas are the business of the gateway in front (rate limits of Envoy, for instance), not of the endpoint picker", s.Type)
	default:
		e.differ("admission.type", "%s has no counterpart: all requests are admitted", s.Type)
	}
	return nil
}

// saturationShed is what llm-d does with requests of negative priority.
func (e *exporter) saturationShed() {
	s := &e.plan.Config.Policies.Admission
	depth, _ := strconv.ParseFloat(value(s, "queue_depth"), 64)
	kv, _ := strconv.ParseFloat(value(s, "kv"), 64)
	whole := max(1, math.Round(depth))
	if whole != depth {
		e.differ("admission.params.queue_depth", "%v: llm-d wants a whole number, here %v", depth, whole)
	}
	if limit := value(s, "threshold"); limit != "1" {
		e.differ("admission.params.threshold", "%s: llm-d rejects from a mean saturation of 1 on", limit)
	}
	name := e.add(Plugin{Type: detector, Parameters: map[string]any{"queueDepthThreshold": int(whole), "kvCacheUtilThreshold": kv}})
	e.Config.FlowControl = &FlowControl{Detector: Ref{Plugin: name}}
	e.need("an InferenceObjective with a negative priority for requests of the class sheddable: llm-d rejects these while servers are saturated")
}

// scheduler names the order of the queues of servers.
func (e *exporter) scheduler(kind, preemption string) {
	field := "scheduler.type"
	switch kind {
	case "fcfs":
	case "priority-fcfs":
		e.differ(field, "priority-fcfs is vllm serve --scheduling-policy priority, which goes by the field priority of a request; llm-d does not set it")
	default:
		e.differ(field, "%s: vLLM knows the orders fcfs and priority alone", kind)
	}
	if own := map[string]string{"fcfs": "fcfs", "priority-fcfs": "priority"}[kind]; preemption != "" && preemption != "auto" && preemption != own {
		e.differ("scheduler.params.preemption", "%s: vLLM preempts as its --scheduling-policy says", preemption)
	}
}
