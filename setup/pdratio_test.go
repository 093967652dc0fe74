package setup

import "testing"

// TestRatioSharesInstances: all of them, both pools have one, and with one instance more exactly one
// of both has one more.
func TestRatioSharesInstances(t *testing.T) {
	for _, x := range []struct {
		ratio              string
		n, prefill, decode int
	}{{"1:1", 2, 1, 1}, {"1:3", 2, 1, 1}, {"1:3", 7, 2, 5}, {"1:1", 7, 4, 3}, {"3:1", 8, 6, 2}, {"1:1000", 8, 1, 7}, {"1000:1", 8, 7, 1}, {"2:3", 10, 4, 6}} {
		var r PDRatio
		if err := r.UnmarshalText([]byte(x.ratio)); err != nil {
			t.Fatal(err)
		}
		if p, d := r.Share(x.n); p != x.prefill || d != x.decode {
			t.Errorf("%s of %d: %d + %d, want %d + %d", x.ratio, x.n, p, d, x.prefill, x.decode)
		}
		last := 1
		for n := 3; n < 100; n++ {
			p, d := r.Share(n)
			if p+d != n || p < 1 || d < 1 || p < last || p > last+1 {
				t.Errorf("%s of %d: %d + %d after %d prefill instances", x.ratio, n, p, d, last)
			}
			last = p
		}
	}
}

// TestRatioIsReplicas: a run with a ratio is that with the replicas that it stands for.
func TestRatioIsReplicas(t *testing.T) {
	for ratio, replicas := range map[string]string{"pd-ratio=1:3 num-instances=7": "prefill-replicas=2 decode-replicas=5", "pd-ratio=1:1": "prefill-replicas=2 decode-replicas=2"} {
		c := configOf(t, "architecture=pd rate=4 "+ratio)
		got, want := resolved(t, "architecture=pd rate=4 "+ratio), resolved(t, "architecture=pd rate=4 "+replicas)
		if a, b := text(t, &got.Config), text(t, &want.Config); a != b {
			t.Errorf("%s\n%s", a, b)
		}
		if n := Instances(&c); n != Instances(&got.Config) {
			t.Errorf("%s: %d instances, the plan has %d", ratio, n, Instances(&got.Config))
		}
	}
}
