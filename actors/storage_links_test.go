package actors

import (
	"testing"

	"blis/setup"
	"blis/vtime"
)

// What the link of a storage tier is at a time follows from the lines about it alone, in whatever order it is asked.
func TestLinksOfStorageTiers(t *testing.T) {
	c := DefaultConfig()
	assign(&c, "kv-cpu-size", "1GiB", "kv-storage", "nvme,1TiB")
	p, err := setup.Resolve(withFailures(c, "failures:\n  - {link: nvme, at: 1ms, for: 1ms, bandwidth: 0.5}\n  - {link: nvme, at: 1500us, for: 1ms, bandwidth: 0}\n  - {link: nvme, at: 4ms, bandwidth: 0.1}\n").Config)
	if err != nil {
		t.Fatal(err)
	}
	f := newStorageFaults(p, "nvme")
	for _, x := range []struct {
		at    vtime.Time
		share float64
		down  vtime.Time
	}{{0, 1, 1500}, {1000, 1, 1500}, {1001, 0.5, 1500}, {1500, 0.5, 1500}, {1501, 0, vtime.Never}, {2500, 0, vtime.Never}, {2501, 1, vtime.Never}, {4000, 1, vtime.Never}, {4001, 0.1, vtime.Never}, {1000, 1, 1500}} {
		if share, down := f.Share(x.at); share != x.share || down != x.down {
			t.Errorf("at %v: %v of the bandwidth, down at %v; want %v and %v", x.at, share, down, x.share, x.down)
		}
	}
	if newStorageFaults(p, "other") != nil {
		t.Error("another tier fails")
	}
	if p, err = setup.Resolve(withFailures(c, "failures: [{link: nvme, mtbf: 1ms, mttr: 300us, bandwidth: 0}]").Config); err != nil {
		t.Fatal(err)
	}
	forward, backward := newStorageFaults(p, "nvme"), newStorageFaults(p, "nvme")
	backward.Share(100_000)
	downs := 0
	for at := vtime.Time(0); at < 100_000; at += 7 {
		a, b := forward.Share(at)
		c, d := backward.Share(at)
		if a != c || b != d || b < at {
			t.Fatalf("at %v: %v, %v asked in order, %v, %v else", at, a, b, c, d)
		}
		if a == 0 {
			downs++
		}
	}
	if share := float64(downs) / (100_000 / 7); share < 0.15 || share > 0.32 {
		t.Errorf("down for %v of the time, want about 0.3 / 1.3", share)
	}
}
