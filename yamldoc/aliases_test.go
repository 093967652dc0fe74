package yamldoc

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// bomb is a text in which clients bring a distribution of many values in again.
func bomb(values, clients int, first string, item string) string {
	var b strings.Builder
	b.WriteString("num_requests: 10\nclients:\n")
	var weights strings.Builder
	for i := range values {
		fmt.Fprintf(&weights, "%d: 1, ", i+1)
	}
	fmt.Fprintf(&b, first, weights.String())
	for range clients {
		b.WriteString(item)
	}
	return b.String()
}

// A short text that stands for a great deal is refused before the YAML parser sees
// it, in flow and in block style, behind merge keys and plain aliases.
func TestFaultF15AliasesOfALargeDistribution(t *testing.T) {
	const lengths = "input_distribution: %s, output_distribution: {type: constant, params: {value: 5}}"
	for name, text := range map[string]string{
		"a client in braces":  bomb(20_000, 90_000, "- &b {rate: 1, input_distribution: {type: empirical, params: {%s}}, output_distribution: {type: constant, params: {value: 5}}}\n", "- {<<: *b}\n"),
		"a client as a block": bomb(20_000, 90_000, "- &b\n  rate: 1\n  input_distribution: {type: empirical, params: {%s}}\n  output_distribution: {type: constant, params: {value: 5}}\n", "- <<: *b\n  rate: 2\n"),
		"values alone":        bomb(20_000, 90_000, "- {rate: 1, input_distribution: {type: empirical, params: &b {%s}}, output_distribution: {type: constant, params: {value: 5}}}\n", "- {rate: 1, input_distribution: {type: empirical, params: *b}, output_distribution: {type: constant, params: {value: 5}}}\n"),
	} {
		line := tooMany([]byte(text), roomy.Values)
		if line < 100 || line > 1000 {
			t.Errorf("%s: found on line %d", name, line)
		}
		if _, err := Read("w.yaml", []byte(text), roomy); err == nil || err.Error() != fmt.Sprintf("w.yaml:%d: has more than 8388608 values with its aliases written out, want less", line) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What has no aliases, or few, is never refused here.
	for _, text := range []string{bomb(20_000, 0, "- {rate: 1, input_distribution: {type: empirical, params: {%s}}, "+strings.TrimPrefix(lengths, "input_distribution: %s, ")+"}\n", ""), "a: &b [1, 2]\nc: *b\n"} {
		if line := tooMany([]byte(text), roomy.Values); line > 0 {
			t.Errorf("line %d is refused", line)
		}
	}
}

// The count is no more than what the parser counts, on texts that have no commas
// but those between values.
func TestAliasesAreCountedAsTheParserDoes(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 15))
		var b strings.Builder
		names := 0
		var value func(depth int) string
		value = func(depth int) string {
			switch k := r.IntN(5); {
			case k == 0 && names > 0:
				return fmt.Sprintf("*n%d", r.IntN(names))
			case k < 3 || depth > 3:
				return "1"
			}
			var list []string
			for range r.IntN(6) + 1 {
				list = append(list, value(depth+1))
			}
			return "[" + strings.Join(list, ", ") + "]"
		}
		for i := range r.IntN(12) + 1 {
			text := "[" + value(0) + "]"
			fmt.Fprintf(&b, "k%d: &n%d %s\n", i, i, text)
			names++
		}
		root, err := Read("w.yaml", []byte(b.String()), roomy)
		if err != nil {
			t.Fatalf("seed %d: %v in\n%s", seed, err, b.String())
		}
		if root == nil {
			continue
		}
		c := aliasCount{most: roomy.Values, sizes: map[string]int{}}
		for _, line := range strings.Split(b.String(), "\n") {
			c.line([]byte(line))
		}
		if c.values > root.size {
			t.Errorf("seed %d: %d values, the parser counts %d in\n%s", seed, c.values, root.size, b.String())
		}
	}
}
