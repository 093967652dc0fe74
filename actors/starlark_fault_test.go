package actors_test

import (
	"context"
	"errors"
	"testing"

	"blis/actors"
	"blis/bundle"
	"blis/policy"
	"blis/script"
)

// TestFaultsOfProgramsAreTheSameOnAnyExecutor: kind, place and text, as an error in the
// user's input; and what a program printed before.
func TestFaultsOfProgramsAreTheSameOnAnyExecutor(t *testing.T) {
	for _, c := range []struct {
		kind   policy.Kind
		source string
	}{
		{policy.AdmissionKind, "def admit(req):\n  print(req.input)\n  return [True][int(req.now)] == None or True"},
		{policy.PriorityKind, "def priority(req):\n  print(req.input)\n  return [1][int(req.now)]"},
		{policy.RoutingKind, "def route(req, i):\n  print(req.input)\n  return [0][int(req.now)]"},
		{policy.SchedulerKind, "def order(req):\n  print(req.input)\n  return [req.input][int(req.arrival)]"},
		{policy.AutoscaleKind, "def scale(ctx, i):\n  print(ctx.now)\n  return [None][int(ctx.now)]"},
		{policy.SchedulerKind, "# its answer shows which instance it is of\n\ndef make_batch(waiting, running, ctx):\n  print(ctx.now)\n  return [0] if ctx.now < 1 else [1000 * len(running) + len(waiting) + ctx.free_tokens]"},
		{policy.SchedulerKind, "def on_arrival(req):\n  print(req.input)\n  [0][int(req.now)]\ndef make_batch(waiting):\n  return range(len(waiting))"},
	} {
		kind, source := c.kind, c.source
		var first *script.Error
		for _, e := range []actors.Execution{{Workers: 1, Sequential: true}, {Workers: 1}, {Workers: 2, Inline: -1}, {Workers: 3, Inline: -1}, {Workers: 8, Inline: -1, Ahead: 40}} {
			cfg := actors.DefaultConfig()
			cfg.NumInstances, cfg.NumRequests, cfg.Rate, cfg.AutoscaleInterval, cfg.MaxNumSeqs = 6, 600, 200, 50_000, 2
			b, err := bundle.Parse("b.yaml", []byte("{}"))
			for _, field := range [][2]string{{".type", "starlark"}, {".params.source", source}, {".params.file", "mine.star"}} {
				if err == nil {
					err = b.Set(string(kind)+field[0], field[1])
				}
			}
			if err == nil { // the name of a file drops the text of another
				err = b.Set(string(kind)+".params.source", source)
			}
			if err != nil {
				t.Fatal(err)
			}
			cfg.Policies, cfg.Execution = b, e
			_, err = actors.Run(context.Background(), cfg)
			var fault *script.Error
			var input *actors.InputError
			if !errors.As(err, &fault) || !errors.As(err, &input) || input.Text != fault.Error() || fault.Line != 3 || fault.Kind != script.ValueError || fault.Printed == "" {
				t.Fatalf("%s, %+v: %v", kind, e, err)
			}
			if first == nil {
				first = fault
			}
			if *fault != *first && kind != policy.SchedulerKind || fault.Error() != first.Error() {
				t.Errorf("%s, %+v: %+v, want %+v", kind, e, *fault, *first)
			}
		}
	}
}
