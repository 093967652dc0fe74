package setup

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"blis/latency"
	"blis/vtime"
	"blis/workload"
)

// resolveModels finds the deployments of each model that requests name.
func resolveModels(p *resolver) error {
	if p.Config.Deployments.Empty() { // one deployment, for all requests
		noteModels(p.Plan, p.pool.Model.Is, "all requests run on "+p.Summary.Model)
		return nil
	}
	names := &p.Source.Labels().Models
	p.Models = make([][]int, max(names.Len(), 1)) // label 0 of a workload without names is the empty one
	for label := range p.Models {
		name := ""
		if label < names.Len() {
			name = names.Name(workload.Label(label))
		}
		if name == "" && !oneModel(p.Deployments) {
			return inputErrorf("requests name no model, and there are %d deployments of several models: want model in each client of the specification, or a column model in the trace", len(p.Deployments))
		}
		for i := range p.Deployments {
			if name == "" || p.Deployments[i].Serving.Model.Is(name) {
				p.Models[label] = append(p.Models[label], i)
			}
		}
	}
	noteModels(p.Plan, func(name string) bool {
		return slices.ContainsFunc(p.Deployments, func(d Deployment) bool { return d.Serving.Model.Is(name) })
	}, "such requests are dropped")
	noteScope(p.Plan)
	return nil
}

// oneModel reports whether all deployments serve the same model.
func oneModel(list []Deployment) bool {
	for i := range list {
		if list[i].Serving.Model.Name != list[0].Serving.Model.Name {
			return false
		}
	}
	return true
}

// noteModels notes the models that requests name and that the cluster does not
// serve, and what becomes of them.
func noteModels(p *Plan, served func(name string) bool, and string) {
	names := &p.Source.Labels().Models
	var others []string
	for i := range names.Len() {
		if name := names.Name(workload.Label(i)); name != "" && !served(name) {
			others = append(others, strconv.Quote(name))
		}
	}
	if len(others) == 0 {
		return
	}
	slices.Sort(others)
	text := "model " + others[0]
	if len(others) > 1 {
		text = "models " + strings.Join(others[:min(len(others), 3)], ", ")
	}
	if more := len(others) - 3; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	p.note("%s: named by requests and not served; %s", text, and)
}

// Alone returns how long the answer to a request takes on an idle instance with an empty
// cache: the prompt in one step, then each token as long as the one in the middle. With
// disaggregation a prefill instance computes the prompt, whose last token is computed again
// after the pull of its KV.
// Of several deployments that serve it the fastest counts.
func (p *Plan) Alone(r *workload.Request) vtime.Duration {
	least := vtime.Duration(math.MaxInt64)
	for i := range p.Deployments {
		if p.Models == nil || int(r.Model) >= len(p.Models) || slices.Contains(p.Models[r.Model], i) {
			least = min(least, p.Deployments[i].alone(r))
		}
	}
	if least == math.MaxInt64 { // nobody serves it: it ends as it arrives
		return 1
	}
	return least
}

func (d *Deployment) alone(r *workload.Request) vtime.Duration {
	m := d.Serving.Latency
	input, output := int64(r.Input), int64(r.Output)
	prefill := latency.Batch{PrefillTokens: input, PrefillRequests: 1, PrefillPairs: input * (input + 1) / 2, SampledRows: 1}
	before := 0.0
	if d.Prefill != nil && d.PD.Decider == DecideAlways {
		first, size := d.Prefill.Latency, int64(d.Serving.BlockSize)
		before = first.Queueing(latency.QueueInput{Input: input}) + first.Step(&prefill) + float64(d.PD.HandOffLatency)
		before += d.PD.Pull.Base + float64(d.PD.Pull.PerBlock*float64((input+size-1)/size))
		prefill = latency.Batch{PrefillTokens: 1, PrefillRequests: 1, PrefillPairs: input, PrefillContext: input - 1, SampledRows: 1}
	}
	us := before + m.Queueing(latency.QueueInput{Input: input}) + m.Step(&prefill) + m.RequestOverhead()
	if output > 1 {
		context := input + output/2
		decode := latency.Batch{DecodeTokens: 1, DecodeRequests: 1, DecodeContext: context, DecodeBlocks: context/int64(d.Serving.BlockSize) + 1, SampledRows: 1}
		us += float64(float64(output-1) * m.Step(&decode))
	}
	us += float64(float64(output) * m.TokenOverhead())
	t, err := vtime.Truncate(us)
	if err != nil { // a model that yields no number fails in a run too, and says when
		return 1
	}
	return t
}
