package cli

import (
	"context"
	"fmt"
	"strings"

	"blis/input"
	"blis/report"
	"blis/study/evaluate"
	"blis/study/evaluator"
)

// gepaEvaluateCmd is blis gepa-evaluate: the command of the public simulator's plan.
type gepaEvaluateCmd struct {
	PolicyConfig string `required:"" placeholder:"FILE" group:"Evaluation" help:"Candidate, as --policy of blis evaluate."`
	Workload     string `required:"" placeholder:"FILE" group:"Evaluation" help:"Workload specification in whose traffic the candidate is compared with least-loaded; see docs/workloads.md."`
	Config       string `placeholder:"FILE" group:"Evaluation" help:"Settings of the cluster, as --config of blis run has them; not given: the defaults."`

	limitFlags
}

// Help is what the command does.
func (*gepaEvaluateCmd) Help() string {
	return `blis evaluate for one workload in place of a suite: the candidate and least-loaded serve its requests with two seeds, and every request counts. The answer is that of blis evaluate; docs/search.md has it.

Example:

    blis gepa-evaluate --policy-config candidate.yaml --workload chat.yaml`
}

// Run carries the command out.
func (r *gepaEvaluateCmd) Run(ctx context.Context, c *console) error {
	text, err := input.ReadFile(r.Workload, input.Specification)
	if err != nil {
		return inputError("--workload: " + pathProblem(err))
	}
	settings := []byte("{}")
	if r.Config != "" {
		if settings, err = input.ReadFile(r.Config, input.Settings); err != nil {
			return inputError("--config: " + pathProblem(err))
		}
	}
	suite, err := evaluator.WorkloadSuite(r.Workload, text, r.Config, settings)
	if err != nil {
		return err
	}
	err = evaluateFile(ctx, c, suite, r.PolicyConfig, "--policy-config", &r.limitFlags)
	if wrong, ok := strings.CutPrefix(fmt.Sprint(err), r.Workload+":1: "+evaluator.SettingsField); ok {
		return inputError("--config: " + r.Config + strings.Replace(wrong, ".", ": ", 1))
	}
	return err
}

// openevolveEvaluateCmd is blis openevolve-evaluate: the other command of that plan.
type openevolveEvaluateCmd struct {
	Config    string `required:"" placeholder:"FILE|NAME" group:"Evaluation" help:"Suite, as --suite of blis evaluate."`
	Candidate string `required:"" placeholder:"FILE" group:"Evaluation" help:"Candidate, as --policy of blis evaluate, or numbers by dotted names: routing.cache_affinity_weight: 0.7."`

	limitFlags
}

// Help is what the command does.
func (*openevolveEvaluateCmd) Help() string {
	return `blis evaluate for candidates that are numbers by dotted names, in YAML. A kind of policy without a type has that of the baseline if it takes these parameters, else the first template that does. The answer is that of blis evaluate; docs/search.md has it.

Example:

    blis openevolve-evaluate --config standard --candidate weights.yaml`
}

// Run carries the command out.
func (r *openevolveEvaluateCmd) Run(ctx context.Context, c *console) error {
	suite, err := suiteFile(r.Config)
	if err != nil {
		return err
	}
	return evaluateFile(ctx, c, suite, r.Candidate, "--candidate", &r.limitFlags)
}

// evaluateFile evaluates the candidate of a file and prints the answer as JSON.
func evaluateFile(ctx context.Context, c *console, suite evaluator.SuiteFile, name, flag string, l *limitFlags) error {
	text, err := readInput(name, c, input.Settings)
	if err != nil {
		return inputError(flag + ": " + pathProblem(err))
	}
	e, err := l.evaluator(ctx, c, suite, &suiteFlags{Stage: string(evaluate.Full)}, 1, l.Workers)
	if err != nil {
		return err
	}
	defer e.Close()
	candidate, dotted, err := evaluator.Dotted(e.Suite(), string(text))
	var a *evaluate.Answer
	switch {
	case err != nil:
		a = e.Suite().Failed(evaluator.Candidate(name, string(text)), e.Options, evaluate.Fault{Kind: evaluate.PolicyFault, Message: err.Error(), Repeatable: true})
	case !dotted:
		candidate = evaluator.Candidate(name, string(text))
		fallthrough
	default:
		a, err = e.Evaluate(ctx, candidate, nil)
		if err != nil {
			return err
		}
	}
	return c.print(&report.Evaluation{Answer: a, Suite: e.Suite().Name}, "json")
}
