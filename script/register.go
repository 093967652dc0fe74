package script

import "blis/policy"

// defaultSteps is the default of max_steps.
const defaultSteps = "100000000"

func parameters(more ...policy.Parameter) []policy.Parameter {
	return append([]policy.Parameter{
		{Name: "file", Type: policy.Path, Content: "source", Quiet: true, Help: "file with the program, relative to the file that names it; at most 64 KiB"},
		{Name: "source", Type: policy.Text, Quiet: true, Help: "the program itself; then file is its name in messages and is not read"},
		{Name: "max_steps", Type: policy.Count, Default: defaultSteps, Min: 1, Max: 1e15, Help: "steps of the interpreter that all decisions of a run may take; one may take a million"},
	}, more...)
}

// tie is the parameter of the routing templates.
var tie = policy.Parameter{Name: "tie", Type: policy.Choice, Default: "random", Choices: []string{"random", "lowest"},
	Help: "among equal scores: a draw by seed, request number and attempt, or the lowest index; an index that the program returns is taken as it is"}

func init() {
	const help = "a program in Starlark, see docs/policies-as-code.md: "
	template := func(does string, more ...policy.Parameter) policy.Template {
		return policy.Template{Name: "starlark", Help: help + does, Parameters: parameters(more...), DrawsIf: drawsIf}
	}
	policy.Register(template("admit(req, i)"), func(v policy.Values, env policy.Env) (policy.Admission, error) {
		return made(v, func(p *program, steps uint64) (policy.Admission, error) { return newAdmission(p, env, steps) }, "admit")
	})
	policy.Register(template("priority(req, i)"), func(v policy.Values, env policy.Env) (policy.Priority, error) {
		return made(v, func(p *program, steps uint64) (policy.Priority, error) { return newPriority(p, env, steps) }, "priority")
	})
	policy.Register(template("route(req, i)", tie), func(v policy.Values, env policy.Env) (policy.Routing, error) {
		lowest := v.Text("tie") == "lowest"
		return made(v, func(p *program, steps uint64) (policy.Routing, error) { return newRouting(p, env, steps, lowest) }, "route")
	})
	policy.Register(template("order(req), and victim(running)"), func(v policy.Values, env policy.Env) (policy.Scheduler, error) {
		return made(v, func(p *program, steps uint64) (policy.Scheduler, error) { return newScheduler(p, env, steps) }, "order", "victim")
	})
	policy.Register(template("scale(ctx, i)"), func(v policy.Values, env policy.Env) (policy.Autoscale, error) {
		return made(v, func(p *program, steps uint64) (policy.Autoscale, error) { return newAutoscale(p, env, steps) }, "scale")
	})
}

// drawsIf reports whether the program may draw; one that cannot be read does not.
func drawsIf(v policy.Values) bool {
	p, err := load(v.Text("file"), v.Text("source"))
	return err == nil && p.draws
}

// made reads the program and makes a policy of it.
func made[P any](v policy.Values, build func(p *program, steps uint64) (P, error), wanted ...string) (P, error) {
	var none P
	if v.Text("source") == "" {
		return none, &Error{File: "program", Kind: SyntaxError, Message: "want a program: params: {file: mine.star}, or source with its text"}
	}
	p, err := cached(v.Text("file"), v.Text("source"), wanted...)
	if err != nil {
		return none, err
	}
	return build(p, uint64(v.Number("max_steps")))
}
