package policy

import (
	"blis/vtime"
	"blis/workload"
)

// scoreParameter describes the score of one SLO class.
func scoreParameter(name, score, help string, aliases ...string) Parameter {
	return Parameter{Name: name, Aliases: aliases, Type: Number, Default: score, Min: -1e9, Max: 1e9, Help: help}
}

var priorityTemplates = []template[Priority]{{
	Template: Template{Kind: PriorityKind, Name: "constant", Help: "the same for every request: 0 (default)"},
	build:    func(values, Env) (Priority, error) { return constant{}, nil },
}, {
	Template: Template{
		Kind: PriorityKind, Name: "slo-based", Help: "by SLO class; higher is more urgent",
		Parameters: []Parameter{
			scoreParameter("critical", "100", "score of critical, also called realtime", "realtime"),
			scoreParameter("standard", "50", "score of standard, also called interactive", "interactive"),
			scoreParameter("batch", "10", "score of batch"),
			scoreParameter("background", "1", "score of background"),
			scoreParameter("sheddable", "0", "score of sheddable"),
			scoreParameter("default", "50", "score of any other class, and of none"),
		},
	},
	build: func(v values, env Env) (Priority, error) { return &sloBased{values: v, labels: env.Labels}, nil },
}}

type constant struct{}

func (constant) Observes() Signals { return NoSignals }

func (constant) Score(*Request, *RouterState, vtime.Time) float64 { return 0 }

// sloBased looks a class up by its name once; from then on its label, a small
// number, is the index of its score.
type sloBased struct {
	values values
	labels *workload.Labels
	scores []float64 // by class label
}

func (*sloBased) Observes() Signals { return NoSignals }

func (p *sloBased) Score(req *Request, _ *RouterState, _ vtime.Time) float64 {
	if int(req.Class) < len(p.scores) {
		return p.scores[req.Class]
	}
	return p.learn(req.Class)
}

// learn extends the scores up to the label class. A workload without classes
// has no name for label 0: its requests get the default.
func (p *sloBased) learn(class workload.Label) float64 {
	if p.labels == nil || int(class) >= p.labels.Classes.Len() {
		return p.values.number("default")
	}
	for int(class) >= len(p.scores) {
		p.scores = append(p.scores, p.class(p.labels.Classes.Name(workload.Label(len(p.scores)))))
	}
	return p.scores[class]
}

// class is the score of the class of that name.
func (p *sloBased) class(name string) float64 {
	if parameter := p.values.find(name); parameter >= 0 {
		return p.values.list[parameter].number
	}
	return p.values.number("default")
}
