package setup_test

import (
	"fmt"
	"log"

	"blis/latency"
	"blis/setup"
)

// The latency model of a configuration, without a run.
func ExampleLatencyModel() {
	c := setup.DefaultConfig()
	c.LatencyModel, c.TP = "roofline", 2
	model, summary, err := setup.LatencyModel(c)
	if err != nil {
		log.Fatal(err)
	}
	step := model.Step(&latency.Batch{PrefillTokens: 512, PrefillRequests: 1, PrefillPairs: 512 * 513 / 2, SampledRows: 1})
	fmt.Println(summary.LatencyModel, step > 0)
	// Output: roofline true
}
