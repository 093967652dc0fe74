package testsize

import (
	"flag"
	"testing"
)

// TestSizes: -short outweighs BLIS_LONG, BLIS_CASES outweighs both.
func TestSizes(t *testing.T) {
	short := flag.Lookup("test.short").Value
	defer short.Set(short.String())
	for _, c := range []struct {
		short, long, cases string
		of, number         int
		skipped            bool
	}{
		{"false", "", "", 2, 2, true}, {"true", "", "", 1, 1, true}, {"false", "1", "", 3, 3, false},
		{"true", "1", "", 1, 1, true}, {"false", "", "10000", 2, 10_000, true},
	} {
		short.Set(c.short)
		t.Setenv(longVariable, c.long)
		t.Setenv(casesVariable, c.cases)
		skipped := true
		t.Run("long", func(t *testing.T) {
			Long(t)
			skipped = false
		})
		if of, number := Of(1, 2, 3), Cases(t, 1, 2, 3); of != c.of || number != c.number || skipped != c.skipped {
			t.Errorf("%+v: %d, %d, skipped %v", c, of, number, skipped)
		}
	}
}
