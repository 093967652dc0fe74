package cli

import (
	"context"
	"fmt"
	"reflect"

	"github.com/alecthomas/kong"

	"blis/study"
	"blis/vtime"
)

// autoWarmup is --measure-from auto, until warmUp replaces it.
const autoWarmup vtime.Duration = -1

// decodeWarmup reads --measure-from: a duration, or auto.
func decodeWarmup(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := vtime.ParseDuration(text)
	switch {
	case text == "auto":
		d = autoWarmup
	case err != nil:
		return fmt.Errorf("%q is not a duration: want 50ms, 20s or 2m, or auto", text)
	case d == autoWarmup: // of a range that setup refuses all the same
		d--
	}
	target.SetInt(int64(d))
	return nil
}

// warmUp replaces --measure-from auto by the warm-up of the configuration, and says it.
func (s *settings) warmUp(ctx context.Context, c *console) error {
	if s.MeasureFrom != autoWarmup {
		return nil
	}
	s.MeasureFrom = 0
	w, err := study.Warmup(ctx, s.Config)
	if err != nil {
		return err
	}
	s.MeasureFrom = w
	c.note("measured from %v on: five times the mean E2E of a pilot run", w)
	return nil
}
