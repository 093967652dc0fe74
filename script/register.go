package script

import "blis/policy"

// defaultSteps is the default of max_steps.
const defaultSteps = "100000000"

// file, source and steps are parameters of both templates.
func file(what string) policy.Parameter {
	return policy.Parameter{Name: "file", Type: policy.Path, Content: "source", Quiet: true, Help: "file with the " + what + ", relative to the file that names it; at most 64 KiB"}
}

func source(what string) policy.Parameter {
	return policy.Parameter{Name: "source", Type: policy.Text, Quiet: true, Help: "the " + what + " itself; then file is its name in messages and is not read"}
}

var (
	inline = policy.Parameter{Name: "tree", Type: policy.Mapping, Quiet: true, Help: "the tree itself, as a mapping"}
	steps  = policy.Parameter{Name: "max_steps", Type: policy.Count, Default: defaultSteps, Min: 1, Max: 1e15, Help: "steps of the interpreter that all decisions of a run may take; one may take a million"}
	tie    = policy.Parameter{Name: "tie", Type: policy.Choice, Default: "random", Choices: []string{"random", "lowest"},
		Help: "among equal scores: a draw by seed, request number and attempt, or the lowest index; an index that the program returns is taken as it is"}
)

// build makes a policy of a program.
type build[P any] func(p *program, v policy.Values, env policy.Env, maxSteps uint64) (P, error)

// register adds both templates of a kind. does names the functions that a policy calls.
func register[P any](kind policy.Kind, does string, make build[P], wanted []string, more ...policy.Parameter) {
	policy.Register(policy.Template{
		Name: "starlark", Help: "a program in Starlark, see docs/policies-as-code.md: " + does,
		Parameters: append([]policy.Parameter{file("program"), source("program"), steps}, more...),
		DrawsIf:    func(v policy.Values) bool { p, err := read(v, "", wanted...); return err == nil && p.draws },
		Verify:     func(v policy.Values) error { return verify(v, "", wanted...) },
	}, func(v policy.Values, env policy.Env) (P, error) { return made(v, env, make, "", wanted) })
	policy.Register(policy.Template{
		Name: "tree", Help: "a decision tree of conditions, see docs/policies-as-code.md",
		Parameters: append([]policy.Parameter{inline, file("tree in YAML"), source("tree in YAML"), steps}, more...),
		DrawsIf:    func(v policy.Values) bool { p, err := read(v, kind); return err == nil && p.draws },
		Verify:     func(v policy.Values) error { return verify(v, kind) },
	}, func(v policy.Values, env policy.Env) (P, error) { return made(v, env, make, kind, nil) })
}

func init() {
	register(policy.AdmissionKind, "admit(req, i)", func(p *program, _ policy.Values, env policy.Env, steps uint64) (policy.Admission, error) {
		return newAdmission(p, env, steps)
	}, []string{"admit"})
	register(policy.PriorityKind, "priority(req, i)", func(p *program, _ policy.Values, env policy.Env, steps uint64) (policy.Priority, error) {
		return newPriority(p, env, steps)
	}, []string{"priority"})
	register(policy.RoutingKind, "route(req, i), filter(req, i)", func(p *program, v policy.Values, env policy.Env, steps uint64) (policy.Routing, error) {
		return newRouting(p, env, steps, v.Text("tie") == "lowest")
	}, []string{"route", "filter"}, tie)
	register(policy.SchedulerKind, "order(req), make_batch(waiting, running, ctx), on_arrival(req, ctx), victim(running)", func(p *program, _ policy.Values, env policy.Env, steps uint64) (policy.Scheduler, error) {
		return newScheduler(p, env, steps)
	}, []string{"order", "victim", "make_batch", "on_arrival"})
	register(policy.AutoscaleKind, "scale(ctx, i)", func(p *program, _ policy.Values, env policy.Env, steps uint64) (policy.Autoscale, error) {
		return newAutoscale(p, env, steps)
	}, []string{"scale"})
}

// read reads the program of a policy, or its tree.
func read(v policy.Values, tree policy.Kind, wanted ...string) (*program, error) {
	what, name, text := "program", v.Text("file"), v.Text("source")
	if tree != "" {
		what = "tree"
		switch inline := v.Text("tree"); {
		case inline != "" && text != "":
			return nil, &Error{File: what, Kind: SyntaxError, Message: "want one of tree, file and source"}
		case inline != "":
			text = inline
		}
	}
	if text == "" {
		more := map[string]string{"program": "params: {file: mine.star}, or source with its text", "tree": "params: {tree: {if: \"kv > 0.9\", then: …, else: …}}, or file"}
		return nil, &Error{File: what, Kind: SyntaxError, Message: "want a " + what + ": " + more[what]}
	}
	return cached(tree, name, text, wanted...)
}

// verify reads the program of a policy, if it is there.
func verify(v policy.Values, tree policy.Kind, wanted ...string) error {
	if v.Text("source") == "" && (tree == "" || v.Text("tree") == "") {
		return nil
	}
	_, err := read(v, tree, wanted...)
	return err
}

// made reads the program and makes a policy of it.
func made[P any](v policy.Values, env policy.Env, make build[P], tree policy.Kind, wanted []string) (P, error) {
	p, err := read(v, tree, wanted...)
	if err != nil {
		var none P
		return none, err
	}
	return make(p, v, env, uint64(v.Number("max_steps")))
}
