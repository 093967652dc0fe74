package actors

import (
	"fmt"
	"strings"
	"testing"

	"blis/metrics"
	"blis/workload"
)

// Two models, a bucket of 25 tokens that does not fill: with one policy for all one of four prompts of
// 20 tokens enters, with one for each deployment one of each model. A second deployment of a model has
// its policy.
func TestAdmissionOfEachDeployment(t *testing.T) {
	for _, c := range []struct {
		scope string
		want  int64
	}{{"global", 1}, {"deployment", 2}} {
		file := fmt.Sprintf("admission: {scope: %s}\ndeployments:\n", c.scope)
		for i, model := range []int{0, 1, 1} {
			file += fmt.Sprintf("- {id: d%d, model: %s, replicas: 1}\n", i, apartModels[model])
		}
		x := &apartTrial{file: file, flags: strings.Fields("--total-kv-blocks 100 --latency-model blackbox --alpha-coeffs 0,0,0 --beta-coeffs 1000,0,0 --async-scheduling false " +
			"--admission-policy token-bucket --token-bucket-capacity 25 --token-bucket-refill-rate 0")}
		var requests []workload.Request
		for i := range 6 {
			r := request(0, 20, 3)
			r.Model = workload.Label(i % 2)
			requests = append(requests, r)
		}
		s := serveLabelled(t, x.config(t), modelLabels(), requests)
		if n := s.Report.Overall.States[metrics.Completed]; n != c.want || s.Report.Overall.States[metrics.Rejected] != 6-c.want {
			t.Errorf("%s: states %v, want %d completed", c.scope, s.Report.Overall.States, c.want)
		}
		for i := range s.rows[:c.want] {
			if s.rows[i].State != metrics.Completed {
				t.Errorf("%s: request %d is %v", c.scope, i, s.rows[i].State)
			}
		}
	}
}

// A quota of active requests of a tenant counts those of the deployment alone.
func TestQuotaOfEachDeployment(t *testing.T) {
	file := fmt.Sprintf("admission: {scope: deployment}\ndeployments: [{id: a, model: %s, replicas: 1}, {id: b, model: %s, replicas: 1}]", apartModels[0], apartModels[1])
	x := &apartTrial{file: file, flags: []string{"--total-kv-blocks", "100", "--latency-model", "blackbox", "--alpha-coeffs", "0,0,0", "--beta-coeffs", "1000,0,0", "--async-scheduling", "false",
		"--policies", "{admission: {type: tenant-quota, params: {max_active: 1}}}"}}
	late := asks(0, 2)
	late.Arrival = 5000 // the first one has ended
	for _, together := range []bool{false, true} {
		s, err := serveOn(t, x.config(t), Execution{Together: together}, modelLabels(), []workload.Request{asks(0, 3), asks(1, 9), asks(0, 2), late})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []metrics.State{metrics.Completed, metrics.Completed, metrics.Rejected, metrics.Completed} {
			if s.rows[i].State != want {
				t.Errorf("together %v: request %d is %v, want %v", together, i, s.rows[i].State, want)
			}
		}
	}
}
