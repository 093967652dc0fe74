package study_test

import (
	"context"
	"encoding/json"
	"fmt"

	"blis/setup"
	"blis/study"
	"blis/study/pointlog"
)

// A sweep needs no file: rows are handed out as points end.
func ExampleSweepPlan_Run() {
	base := setup.DefaultConfig()
	base.NumRequests = 200
	axis := study.Axis{Name: "num-instances"}
	for _, n := range []string{"1", "2", "4"} {
		axis.Values = append(axis.Values, study.AxisValue{Value: json.RawMessage(n), Assign: []setup.Assignment{{Name: "num-instances", Text: n}}})
	}
	ctx := context.Background()
	plan, err := study.NewSweepPlan(ctx, study.NewSweep(base, axis), study.Pool{})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := make([]*pointlog.Row, plan.Len())
	err = plan.Run(ctx, plan.Order(), study.Pool{}, func(r *pointlog.Row) error {
		rows[r.Index] = r
		return nil
	})
	for _, r := range rows {
		fmt.Printf("%s instances: %s\n", r.Axes[0].Value, r.Status)
	}
	fmt.Println(err)
	// Output:
	// 1 instances: ok
	// 2 instances: ok
	// 4 instances: ok
	// <nil>
}
