package plaintext

import (
	"fmt"
	"testing"
)

func TestNumbersForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -123456: "-123,456"} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) is %s, want %s", n, got, want)
		}
	}
	for _, c := range []struct {
		x        float64
		decimals int
		want     string
	}{{0, 2, "0.00"}, {-0.25, 2, "-0.25"}, {1234.567, 1, "1,234.6"}, {999.99, 1, "1,000.0"}, {1e21, 0, "1000000000000000000000"}} {
		if got := Decimal(&c.x, c.decimals); got != c.want {
			t.Errorf("Decimal(%v, %d) is %s, want %s", c.x, c.decimals, got, c.want)
		}
	}
	if Decimal(nil, 1) != "–" || Percent(nil) != "–" {
		t.Error("a missing number is not a dash")
	}
	if line, most := Sparkline([]int64{0, 1, 7, 2, 3}, 3); line != "▂█▄" || most != 7 {
		t.Errorf("sparkline %s up to %d", line, most)
	}
	if line, most := Sparkline([]int64{0, 0}, 3); line != "▁▁" || most != 0 {
		t.Errorf("sparkline %s up to %d", line, most)
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		x    float64
		unit string
		want string
	}{{0, "FLOP", "0 FLOP"}, {999, "FLOP", "999 FLOP"}, {999.6, "FLOP", "1,000 FLOP"}, {25.2e9, "FLOP", "25.2 GFLOP"}, {1e24, "FLOP", "1,000,000 EFLOP"}, {123456, "", "123 thousand"}, {6.71e11, "", "671 billion"}} {
		if got := Magnitude(c.x, c.unit); got != c.want {
			t.Errorf("%v %s is %s, want %s", c.x, c.unit, got, c.want)
		}
	}
	for x, want := range map[float64]string{0: "0 bytes", 12: "12.0 bytes", 1024: "1.00 KiB", 131072: "128 KiB", 1 << 40: "1.00 TiB"} {
		if got := Memory(x); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
	if got := fmt.Sprint(Plural(1, "head"), Plural(2000, "head")); got != "1 head2,000 heads" {
		t.Error(got)
	}
}
