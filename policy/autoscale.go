package policy

var autoscaleTemplates = []template[Autoscale]{{
	Template: Template{Kind: AutoscaleKind, Name: "none", Help: "keeps the number of instances as it is (default)"},
	build:    func(values, Env) (Autoscale, error) { return noScaling{}, nil },
}}

type noScaling struct{}

func (noScaling) Observes() Signals { return NoSignals }

func (noScaling) Evaluate(ctx *AutoscaleContext) ScaleDecision {
	return ScaleDecision{Action: Hold, Target: ctx.Replicas}
}
