package latency

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAmountsOfMemory(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "1GB": 1e9, "1.5gb": 15e8, "8GiB": 8 << 30, "800 MiB": 800 << 20, "0.1TB": 1e11, "1TiB": 1 << 40, "12": 12, "12B": 12, "3kB": 3000, "3KiB": 3072, " 2 MB ": 2e6, "1e9": 1e9,
		"1152921504606846976": 1 << 60,
	} {
		if got, err := parseBytes(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GB", "-1GB", "1PB", "NaN", "inf", "1GB2", "2e18", "one", "1,5GB"} {
		if got, err := parseBytes(text); err == nil || !strings.Contains(err.Error(), "is not an amount of memory: want 1GB, 1.5GiB") {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
	for b, want := range map[Bytes]string{0: "0", 1e9: "1GB", 15e8: "1500MB", 8 << 30: "8GiB", 1 << 40: "1TiB", 1000: "1kB", 1536: "1536", 999: "999", 3 << 20: "3MiB"} {
		if b.String() != want {
			t.Errorf("%d prints as %s, want %s", int64(b), b, want)
		}
	}
}

func TestAmountsReadAsTheyPrint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Bytes(rapid.Int64Range(0, 1<<50).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "round") {
			b = b >> 30 << 30
		}
		text, err := b.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var again Bytes
		if err := again.UnmarshalText(text); err != nil || again != b {
			t.Fatalf("%d prints as %s, which reads as %d, %v", int64(b), text, int64(again), err)
		}
	})
}

// Engines that share the experts hold all other weights, their share of the experts, and
// whole routers.
func TestKVBlocksOfEnginesThatShareExperts(t *testing.T) {
	alone := deployment(t, "mixtral-8x7b", "H100", 2)
	shared := *alone
	shared.TP, shared.DataParallel.Ranks, shared.ExpertParallel = 1, 2, true
	s := *alone.Model
	expert := 3 * s.Hidden * s.ExpertIntermediate * 2 // bytes
	if got, want := shared.residentWeightBytes(), s.Counts().ResidentWeightBytes()-4*s.Layers*expert; got != want {
		t.Errorf("an engine holds %d bytes of weights, want %d", got, want)
	}
	blocks, err := shared.KVBlocks(DefaultMemory())
	if want := (int64(float64(shared.GPU.Memory)*0.9) - shared.residentWeightBytes() - 1e9) / (16 * shared.KVBytesPerToken()); blocks != want || err != nil {
		t.Errorf("%d blocks, %v; want %d", blocks, err, want)
	}
	shared.DataParallel.Ranks = 3 // three, three and two experts: the engine with three has the least room
	if got, want := shared.residentWeightBytes(), s.Counts().ResidentWeightBytes()-5*s.Layers*expert; got != want {
		t.Errorf("a third holds %d bytes of weights, want %d", got, want)
	}
	if got := alone.residentWeightBytes(); got != s.Counts().ResidentWeightBytes() {
		t.Errorf("one engine holds %d bytes", got)
	}
}
