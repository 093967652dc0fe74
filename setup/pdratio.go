package setup

import (
	"fmt"
	"strconv"
	"strings"
)

// PDRatio is how many prefill instances there are for how many decode instances: "1:3". The zero
// value is none.
type PDRatio struct{ Prefill, Decode int }

// given reports whether there is a ratio.
func (r PDRatio) given() bool { return r != PDRatio{} }

// Share shares n instances, 2 or more, in the ratio: the prefill instances are rounded, half up, and
// both have at least one. With one instance more, one of both has one more.
func (r PDRatio) Share(n int) (prefill, decode int) {
	all := r.Prefill + r.Decode
	prefill = min(max(1, (2*n*r.Prefill+all)/(2*all)), n-1)
	return prefill, n - prefill
}

// Equal reports whether two ratios are set alike.
func (r PDRatio) Equal(o PDRatio) bool { return r == o }

// String is the ratio as UnmarshalText reads it.
func (r PDRatio) String() string {
	if !r.given() {
		return ""
	}
	return fmt.Sprintf("%d:%d", r.Prefill, r.Decode)
}

// MarshalText prints the ratio as UnmarshalText reads it.
func (r PDRatio) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads two numbers, or nothing.
func (r *PDRatio) UnmarshalText(text []byte) error {
	*r = PDRatio{}
	if len(text) == 0 {
		return nil
	}
	left, right, _ := strings.Cut(string(text), ":")
	p, err := strconv.Atoi(left)
	d, other := strconv.Atoi(right)
	if err != nil || other != nil || p < 1 || d < 1 || p > MostInstances || d > MostInstances {
		return fmt.Errorf("%q: want prefill instances for decode instances, like 1:3", text)
	}
	*r = PDRatio{p, d}
	return nil
}

// checkRatio refuses a ratio beside what it is in place of.
func checkRatio(c *Config, check func(ok bool, name string, value any, want string)) {
	if !c.PDRatio.given() {
		return
	}
	usual := defaults().Interface().(Config)
	const instead = "none with --pd-ratio, which shares --num-instances"
	check(c.PrefillReplicas == usual.PrefillReplicas, "prefill-replicas", c.PrefillReplicas, instead)
	check(c.DecodeReplicas == usual.DecodeReplicas, "decode-replicas", c.DecodeReplicas, instead)
	check(c.NumInstances >= 2 && c.NumInstances <= MostInstances, "num-instances", c.NumInstances, fmt.Sprintf("2 to %d with --pd-ratio: an instance of each pool, or more", MostInstances))
}
