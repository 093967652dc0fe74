package script

import (
	"math"
	"testing"

	"blis/policy"
)

// TestProgramsHaveTheseBits: whatever a program computes, it has the same bits on every
// machine.
func TestProgramsHaveTheseBits(t *testing.T) {
	p := mustRouting(t, `
def route(req, i):
    x = state.get("x", i.queue * 0 + 0.3)
    a = [rand() for _ in i]
    x = 0.37 * x + 0.61 * vec(a) * i.kv * 100 - 0.11 / (1 + x * x)
    y = exp(-x) + log(1 + x * x) * sqrt(abs(x)) + pow(1 + abs(x), 1.37) * mean(x) + normalize(abs(x)) * rank(x)
    z = minmax(y, 0.5) * 3.3 + where(above(y, 1.1), x * y, y / 3) + clip(x, 0.1, 0.9) * sum(y)
    scalar = 0.1
    for k in range(5): scalar = scalar * 1.7 + z[k % len(z)] * 0.3 - scalar / 3.0
    state["x"] = x
    return z + scalar
`)
	view := viewOf(9)
	view.Declared = p.Observes()
	st := &policy.RouterState{View: view, Declared: p.Observes()}
	hash := uint64(0)
	for n := range int64(500) {
		req := &policy.Request{}
		req.ID = n
		for _, x := range p.Route(req, 0, st, view, 0).Scores {
			hash = hash*0x9e3779b97f4a7c15 + math.Float64bits(x)
		}
	}
	if want := uint64(0x81ff13f57d63c646); hash != want {
		t.Errorf("hash of the bits %#x, want %#x", hash, want)
	}
}
