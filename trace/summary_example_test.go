package trace_test

import (
	"fmt"
	"log"
	"strings"

	"blis/trace"
	"blis/vtime"
)

// A summary takes the records of a run, or of a file, one by one.
func ExampleSummary() {
	target, ttft := 100*vtime.Millisecond, 140*vtime.Millisecond
	instance, late := 1, false
	s := trace.NewSummary(trace.SummaryOptions{})
	for _, r := range []trace.Record{
		&trace.Header{Schema: trace.Schema, Level: "decisions", Instances: 2, Targets: []trace.ClassTargets{{Class: "chat", TTFT: &target}}},
		&trace.Admission{At: 5000, Request: 0, Class: "chat", Verdict: "admit"},
		&trace.Routing{At: 5000, Request: 0, Class: "chat", Input: 300, Target: &instance, Reason: "in turn"},
		&trace.Outcome{At: 900_000, Request: 0, State: "completed", Instance: &instance, Class: "chat", TTFT: &ttft, SLOMet: &late},
	} {
		if err := s.Consume(r); err != nil {
			log.Fatal(err)
		}
	}
	report, err := s.Report(trace.SummaryIssues, trace.DefaultSummaryTokens)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Issues[0].Kind, report.Issues[0].Name, report.Issues[0].Count)
	for _, line := range strings.Split(report.Text, "\n")[3:8] {
		fmt.Println(line)
	}
	// Output:
	// slo chat ttft 1
	// OUTCOMES AGAINST TARGETS
	// 1 request ended: 1 completed.
	// Class chat: 0 of 1 within all targets (0.0 %); 1 of 1 completed.
	//   TTFT p50 140 ms, p99 140 ms (target 100 ms, 1 beyond).
	// ISSUES, the most frequent first
}
