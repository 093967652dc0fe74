package plaintext

import (
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload"
)

// The pictures draw what they should, and nothing but 0 vanishes.
func TestPictures(t *testing.T) {
	if got := strings.Join(Histogram([]int64{0, 1, 4, 8, 1000}, 2), "|"); got != "    █| ▁▁▁█" {
		t.Errorf("columns %q", got)
	}
	if got := strings.Join(Histogram([]int64{4, 8, 16}, 2), "|"); got != "  █|▄██" {
		t.Errorf("columns %q", got)
	}
	if Bar(1, 1_000_000, 24) != "▏" || Bar(1, 2, 24) != strings.Repeat("█", 12) || Bar(9, 9, 24) != strings.Repeat("█", 24) || Bar(3, 64, 24) != "█▏" {
		t.Errorf("bars %q %q %q %q", Bar(1, 1_000_000, 24), Bar(1, 2, 24), Bar(9, 9, 24), Bar(3, 64, 24))
	}
	for d, want := range map[vtime.Duration]string{
		0: "0 s", 250: "250 µs", 1500: "1.5 ms", vtime.Second: "1 s", 59*vtime.Second + 900*vtime.Millisecond: "59.9 s",
		vtime.Minute: "1 min", 61 * vtime.Second: "1 min 1 s", 25 * vtime.Hour: "1 days 1 h", vtime.Duration(workload.Latest): "53,375,995 days 14 h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) is %s, want %s", d, got, want)
		}
	}
	if got := Name(strings.Repeat("ä", 60)); got != strings.Repeat("ä", 40)+"…" {
		t.Errorf("long name %q", got)
	}
}
