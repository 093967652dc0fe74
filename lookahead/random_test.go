package lookahead

import (
	"testing"

	"blis/internal/testsize"
	"blis/vtime"
)

// Random models, with servers and notices of several kinds in most of them, have
// one digest.
func TestRandomModelsHaveOneDigest(t *testing.T) {
	ways := map[string]Config{
		"windows":         {},
		"8 workers":       {Workers: 8, InlineBelow: -1},
		"windows of 15µs": {Workers: 2, InlineBelow: -1, MaxWindow: 15},
	}
	for seed := range uint64(testsize.Cases(t, 30, 100, 1000)) {
		p := randomModel(seed)
		want := finish(t, p.build(Config{Sequential: true}))
		for way, cfg := range ways {
			if got := finish(t, p.build(cfg)); got != want {
				t.Errorf("seed %d, %s: digest %x, one by one %x, of %+v", seed, way, got, want, p)
				describe(t, p, cfg)
			}
		}
	}
}

// randomModel draws a model. It ends early: some models would grow for ever.
func randomModel(seed uint64) phold {
	draws := vtime.NewStream(seed, "model")
	half := func() bool { return draws.IntN(2) == 0 }
	observed := [][]string{{"", "live", "slots"}, {"", "stable"}}[draws.IntN(2)]
	p := phold{
		seed: seed, leaves: 1 + draws.IntN(12), arrivals: 20 + draws.IntN(60), spread: []int{1, 5, 20, 60}[draws.IntN(4)],
		observe: observed[draws.IntN(len(observed))],
		checks:  half(), noNotices: half(), hubLast: half(), serversFirst: half(), replies: half(),
		end: Key{3000, 8},
	}
	for range draws.IntN(3) {
		p.watchers = append(p.watchers, observed[draws.IntN(len(observed))])
	}
	if half() {
		p.stream = 1 + draws.IntN(40)
	} else {
		p.grow = half()
	}
	if len(observed) == 2 && len(p.watchers) > 0 { // stable leaves are made for a hub that reads them
		p.observe = "stable"
	}
	for range draws.IntN(4) {
		set := []NoticeKind{NoticeKind(1 + draws.IntN(3))}
		if half() {
			set = append(set, NoticeKind(1+draws.IntN(3)))
		}
		p.servers = append(p.servers, set)
	}
	if draws.IntN(4) == 0 {
		p.receives = []NoticeKind{0, NoticeKind(1 + draws.IntN(3))}
	}
	return p
}
