package latency

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
)

// dataSum is what the files of data/ were on DataDate.
const dataSum = "aeccedd041068d28"

// Whoever changes shipped data changes its date: blis version and every result
// carry it.
func TestDataDateIsThatOfTheData(t *testing.T) {
	if _, err := time.Parse(time.DateOnly, DataDate); err != nil {
		t.Error(err)
	}
	sum := xxhash.New()
	for _, pattern := range []string{"data/*.yaml", "data/physics/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range paths { // Glob sorts
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(sum, path, len(text))
			sum.Write(text)
		}
	}
	if got := fmt.Sprintf("%016x", sum.Sum64()); got != dataSum {
		t.Errorf("data/ changed: set DataDate (%s) to the day of the change, and dataSum to %q", DataDate, got)
	}
}
