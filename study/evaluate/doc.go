// Package evaluate scores policies for programs that search for better ones. A suite is
// scenarios and a baseline bundle; the score of a candidate says how much better than the
// baseline it serves the requests of the scenarios. It starts no process and reads no file:
// the command `blis evaluate` runs it in a child with limits.
//
//	suite, _ := evaluate.Shipped("")
//	reference, _ := suite.Reference(ctx, evaluate.Options{})
//	answer, _ := suite.Evaluate(ctx, reference, evaluate.Candidate{File: "mine.yaml", Text: text}, evaluate.Options{})
//
// Same candidate, same suite: the same bytes, on any number of workers.
//
//	suite.go       Suite, Scenario, Options: what is evaluated
//	parse.go       Parse: the file of a suite; settings.go the settings of a scenario
//	shipped.go     suites that are part of the program
//	measure.go     the measures that may count, of all requests or of a class or tenant, and their metrics
//	candidate.go   Candidate: its policies, without what belongs to the cluster
//	play.go        runs of policies in scenarios; figures.go what they yield
//	reference.go   Reference: the figures of the baseline
//	score.go       scores and objectives from figures
//	answer.go      Answer: the result as blis.eval/v1; evaluate.go Evaluate and Failed
//	fault.go       Fault: why a candidate has no score
//	feedback.go    what a language model is told; decisions.go the decisions in it
//	ids.go         hashes of policies, traffic and cluster
//
// docs/search.md says what the numbers mean.
package evaluate
