package setup

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"blis/latency"
)

// Bandwidth is the rate of transfers between GPUs and their host, one way. As text it is that of
// one GPU, "48GB/s", or a number without a unit: tokens per µs of an instance, as simulators have
// it whose blocks move. The zero value stands for a rate to derive.
type Bandwidth struct {
	latency.Rate         // 0 with Tokens
	Tokens       float64 // per µs; 0: the Rate holds
}

// leastTokens and mostTokens bound tokens per µs.
const leastTokens, mostTokens = 1e-6, 1e12

// String is the bandwidth as UnmarshalText reads it.
func (b Bandwidth) String() string {
	if b.Tokens > 0 {
		return strconv.FormatFloat(b.Tokens, 'g', -1, 64)
	}
	return b.Rate.String()
}

// MarshalText prints the bandwidth as UnmarshalText reads it.
func (b Bandwidth) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads a rate, or a number of tokens per µs.
func (b *Bandwidth) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || s == "0" {
		b.Tokens = 0
		return b.Rate.UnmarshalText(text)
	}
	if math.IsNaN(n) || n < leastTokens || n > mostTokens {
		return fmt.Errorf("%s is not a rate: want 48GB/s, or with --kv-offload-policy threshold %g to %g tokens per µs", s, leastTokens, mostTokens)
	}
	*b = Bandwidth{Tokens: n}
	return nil
}
