package cli

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"blis/vtime"
)

// decodeTimeout takes how long clients wait. Scripts for the public simulator,
// whose flag has the same name, give it in whole seconds, or negative for no
// timeout; a bare number is µs for all other durations. So here it must say.
func decodeTimeout(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 0 && !math.IsInf(n, 0) {
		return fmt.Errorf("%s has no unit: want %ss for seconds (as the public simulator has it) or %sus for microseconds", text, text, text)
	}
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		if _, err := vtime.ParseDuration(rest); err == nil {
			target.SetInt(0)
			return nil
		}
	}
	d, err := vtime.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a duration: want 50ms, 300s or 2m, or 0 for none", text)
	}
	target.SetInt(int64(d))
	return nil
}
