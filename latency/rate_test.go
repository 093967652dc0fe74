package latency

import "testing"

func TestRate(t *testing.T) {
	for text, want := range map[string]Rate{"48GB/s": 48e9, "1.5 GiB/s": 1.5 * (1 << 30), "500MB/s": 5e8, "0": 0, "2tb/s": 2e12, "1kB/s": 1e3} {
		var r Rate
		if err := r.UnmarshalText([]byte(text)); err != nil || r != want {
			t.Errorf("%q: %v, %v", text, float64(r), err)
		}
		var again Rate
		if err := again.UnmarshalText([]byte(r.String())); err != nil || again != r {
			t.Errorf("%q prints as %q, which reads as %v, %v", text, r, float64(again), err)
		}
	}
	for _, text := range []string{"", "48", "48GB", "100/s", "-3GB/s", "NaNGB/s", "infGB/s", "0GB/s", "1B/s", "GB/s", "9e99GB/s", "4 blocks/s", "1e3 /s"} {
		r := Rate(7)
		if err := r.UnmarshalText([]byte(text)); err == nil || r != 7 {
			t.Errorf("%q: read as %v", text, float64(r))
		}
	}
}
