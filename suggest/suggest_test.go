package suggest

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}, {"tpye", "type", 1}, {"ab", "ba", 1}, {"ca", "abc", 3}} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"round-robin", "least-loaded", "weighted"}
	for typed, want := range map[string]string{"round-robbin": "round-robin", "least": "least-loaded", "wieghted": "weighted", "Weighted": "weighted"} {
		if got := Nearest(typed, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", typed, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("of no names the nearest is %q", got)
	}
}

// A far name would only mislead: row 36 of what new users ran into.
func TestNothingIsSuggestedForANameFarFromAll(t *testing.T) {
	for typed, names := range map[string][]string{
		"reject":  {"round-robin", "least-loaded", "weighted", "prefix-affinity", "power-of-two"},
		"nope":    {"round-robin", "least-loaded", "weighted"},
		"version": {"help", "model", "hardware"},
		"foo":     {"cost", "mean_ttft", "goodput"},
		"":        {"weighted", "a"},
		"x":       {"tie"},
	} {
		if got := Hint(typed, names); got != "" {
			t.Errorf("Hint(%q) = %q, want none", typed, got)
		}
	}
	if got, want := Hint("tpye", []string{"params", "type"}), `, the nearest is "type"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
