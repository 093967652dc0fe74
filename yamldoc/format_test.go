package yamldoc

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFormatKeepsLines: what Format writes is read as the same tree, with every
// name and value on its line.
func TestFormatKeepsLines(t *testing.T) {
	values := []string{"1", "-1.50", "1e5", ".inf", ".nan", "true", "~", "'a: b'", `"x\ty"`, "größer", "0x10", "[]", "{}", "[1, [a, {b: c}]]", "{a: 1, b: [2]}"}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 17))
		var b strings.Builder
		for i := range 1 + r.IntN(5) {
			b.WriteString(strings.Repeat("\n", r.IntN(3)) + strings.Repeat("# why\n", r.IntN(2)) + string(rune('a'+i)) + ":")
			switch v := values[r.IntN(len(values))]; r.IntN(3) {
			case 0:
				b.WriteString(" " + v + "\n")
			case 1:
				b.WriteString("\n  x: " + v + "\n\n  y:\n  - " + v + "\n  -\n    z: " + v + "\n")
			default:
				b.WriteString("\n- " + v + "\n- " + v + "\n")
			}
		}
		n, err := Read("f.yaml", []byte(b.String()), strict)
		if err != nil {
			t.Fatalf("seed %d: %v in\n%s", seed, err, b.String())
		}
		again, err := Read("f.yaml", []byte(n.Format()), strict)
		if err != nil {
			t.Fatalf("seed %d: %v in\n%s\nof\n%s", seed, err, n.Format(), b.String())
		}
		if print(again) != print(n) || lines(again) != lines(n) {
			t.Fatalf("seed %d:\n%s\nis\n%s\nfirst\n%s", seed, b.String(), n.Format(), lines(n))
		}
	}
}

// lines are the lines of names and scalars, in order.
func lines(n *Node) string {
	text := ""
	if n.Kind != List && n.Kind != Mapping {
		text = string(rune('0' + n.Line))
	}
	for _, item := range n.Items {
		text += lines(item)
	}
	for _, m := range n.Members {
		text += string(rune('0'+m.Line)) + lines(m.Value)
	}
	return text
}
