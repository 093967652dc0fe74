package plaintext

import (
	"testing"
)

func TestColumns(t *testing.T) {
	text := "NAME\tA\tB\tTEXT\none\t1\t2\tsome words that go on and on and on\nshort\t10\n\n  prose: that is longer than a line may be\n"
	for _, c := range []struct {
		width int
		want  string
	}{
		{60, "NAME   A   B  TEXT\none    1   2  some words that go on and on and on\nshort  10\n\n  prose: that is longer than a line may be\n"},
		{38, "NAME   A   TEXT\none    1   some words that go on and\n           on and on\nshort  10\n\n  prose: that is longer than a line\n    may be\n"},
		{10, "NAME   TEXT\none    some words that go on and\n       on and on\nshort\n\n  prose:\n    that\n    is\n    longer\n    than a\n    line\n    may be\n"},
	} {
		if got := Columns(text, c.width, "B", "A"); got != c.want {
			t.Errorf("width %d:\n%s\nwant\n%s", c.width, got, c.want)
		}
	}
}
