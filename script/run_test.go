package script_test

import (
	"context"
	"fmt"
	"testing"

	"blis/actors"
	"blis/bundle"
	_ "blis/script"
)

// asWeighted is weighted as by default, in Starlark.
const asWeighted = `
W = [3.0 / 7.0, 2.0 / 7.0, 2.0 / 7.0]

def route(req, i):
    s = W[0] * i.prefix_hit + W[1] * minmax(0 - (i.queue + i.running + i.in_flight), 1)
    return s + W[2] * (1 - i.kv)
`

// BenchmarkRun is a run of 100,000 requests on 16 instances with weighted in Go and in
// Starlark, which decide alike. Starlark may take twice as long.
func BenchmarkRun(b *testing.B) {
	digest := ""
	for _, c := range []struct{ name, routing string }{{"weighted", "{type: weighted}"}, {"starlark", fmt.Sprintf("{type: starlark, params: {source: %q}}", asWeighted)}} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				cfg := actors.DefaultConfig()
				cfg.NumInstances, cfg.NumRequests, cfg.PrefixTokens = 16, 100_000, 128
				policies, err := bundle.Parse("b.yaml", []byte("routing: "+c.routing))
				if err != nil {
					b.Fatal(err)
				}
				cfg.Policies, cfg.Workers = policies, 1
				r, err := actors.Run(context.Background(), cfg)
				if err != nil {
					b.Fatal(err)
				}
				if digest == "" {
					digest = r.Digest
				}
				if r.Digest != digest {
					b.Fatal("they do not decide alike")
				}
			}
		})
	}
}
