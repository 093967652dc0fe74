package setup

import (
	"math"
	"slices"
	"strings"

	"blis/latency"
)

// summarizeParts makes the summary of the run from those of its pools.
func summarizeParts(p *resolver) {
	s := &p.Summary
	var latencies, models, sets, policies []string
	for i, q := range p.parts {
		of := &q.Summary
		s.Pools = append(s.Pools, PoolSummary{
			Name: q.label, Instances: q.Config.NumInstances, Hardware: of.Hardware, TP: of.TP, Ranks: of.Ranks, KVBlocks: of.KVBlocks, MaxModelLen: of.MaxModelLen,
			MaxNumSeqs: q.Config.MaxNumSeqs, MaxNumBatchedTokens: q.Config.MaxNumBatchedTokens,
			Latency: of.Latency, Accuracy: of.Accuracy, LatencyModel: of.LatencyModel, CoefficientSet: of.CoefficientSet, Policies: of.Policies,
			Price: q.Config.CostPerReplicaHour + float64(q.Config.GPUHourPrice*float64(InstanceGPUs(&q.Config))), // one of them
		})
		latencies, models, sets, policies = append(latencies, of.Latency), append(models, of.LatencyModel), append(sets, of.CoefficientSet), append(policies, of.Policies)
		if i == 0 || !lessAccurate(s.Accuracy, of.Accuracy) {
			s.Accuracy = of.Accuracy
		}
	}
	last := &s.Pools[len(s.Pools)-1]
	s.Model, s.Hardware, s.TP, s.Ranks, s.KVBlocks, s.MaxModelLen = modelsOf(p.Deployments), last.Hardware, last.TP, last.Ranks, last.KVBlocks, last.MaxModelLen
	s.Latency, s.LatencyModel, s.CoefficientSet, s.Policies = ofAll(p, latencies, true), ofAll(p, models, false), ofAll(p, sets, false), ofAll(p, policies, true)
	takeNotes(p)
}

// modelsOf returns the model of all deployments, else that of each with its name.
func modelsOf(list []Deployment) string {
	var texts []string
	alike := true
	for i := range list {
		name := list[i].Serving.Model.Name
		alike = alike && name == list[0].Serving.Model.Name
		texts = append(texts, list[i].ID+": "+name)
	}
	if alike {
		return list[0].Serving.Model.Name
	}
	return strings.Join(texts, "; ")
}

// ofAll returns a text that all pools have, else those of each in its turn, with its name if named.
func ofAll(p *resolver, texts []string, named bool) string {
	if all := slices.Compact(slices.Clone(texts)); len(all) == 1 {
		return all[0]
	}
	if !named {
		return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), " and ")
	}
	for i := range texts {
		texts[i] = p.parts[i].label + ": " + texts[i]
	}
	return strings.Join(texts, "; ")
}

// takeNotes takes the notes and warnings of the pools, those that all have once.
func takeNotes(p *resolver) {
	for _, list := range []func(*Summary) *[]string{func(s *Summary) *[]string { return &s.Notes }, func(s *Summary) *[]string { return &s.Warnings }} {
		into := list(&p.Summary)
		*into = slices.Clip(*into)
		for i, q := range p.parts {
			for _, text := range *list(&q.Summary) {
				everywhere := !slices.ContainsFunc(p.parts, func(other *resolver) bool { return !slices.Contains(*list(&other.Summary), text) })
				if !everywhere {
					text = q.label + ": " + text
				}
				if !everywhere || i == 0 {
					*into = append(*into, text)
				}
			}
		}
	}
}

// lessAccurate reports whether less is known of a, or its stated error is larger.
func lessAccurate(a, b *latency.Accuracy) bool {
	stated := func(x *latency.Accuracy) float64 {
		if x == nil || x.Stated == nil {
			return math.Inf(1)
		}
		_, d := x.Stated.Ranked()
		return d.Expected
	}
	return stated(a) >= stated(b)
}
