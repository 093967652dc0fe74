package cli

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"blis/bench"
)

// collectionPercent is what the runtime collects garbage by at the moment.
func collectionPercent() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

func TestOnlyTheFirstCollectionIsLate(t *testing.T) {
	const child = "BLIS_FIRST_COLLECTION"
	if os.Getenv(child) == "" { // sweeps of other tests set the percentage after every collection
		command := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		command.Env = append(os.Environ(), child+"=1")
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	const usual = 120
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	runtime.GC() // none is due for a while
	collectLate()
	if got := collectionPercent(); got != firstCollection {
		t.Errorf("before the first collection: %d %%, want %d", got, firstCollection)
	}
	runtime.GC()
	for collectionPercent() != usual { // in a moment, or the test never ends
		time.Sleep(time.Millisecond)
	}
}

// BenchmarkParse is what the command line costs before a run.
func BenchmarkParse(b *testing.B) {
	line1 := bench.Scenarios()[0]
	flags, err := line1.Arguments()
	if err != nil {
		b.Fatal(err)
	}
	c := &console{out: io.Discard, err: io.Discard, lookup: os.LookupEnv, environ: os.Environ}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse(append([]string{"run"}, flags...), c); err != nil {
			b.Fatal(err)
		}
	}
}
