package policy

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"blis/workload"
)

// drawing are the routing policies that may find several instances equally
// good, with settings that leave them nothing but load to go by.
var drawing = []struct {
	name     string
	settings []Setting
	most     bool // the greatest load wins
}{
	{"least-loaded", nil, false}, {"always-busiest", nil, true}, {"prefix-affinity", nil, false},
	{"weighted", []Setting{{"queue-depth", "1"}}, false}, {"weighted", []Setting{{"load-balance", "1"}, {"prefix-affinity", "2"}}, false},
}

// tied is a view in which instances 0, 3 and 4 are equally good to choose, for
// policies of either direction, and 2 would be if it were routable.
func tied(most bool) *View {
	if most {
		return loads(4, 1, 4, 4, 4).close(2)
	}
	return loads(1, 4, 1, 1, 1).close(2)
}

// TestTiesAreSpread draws among the best only and all of them, by default and
// by name; with lowest, the lowest index wins.
func TestTiesAreSpread(t *testing.T) {
	for _, c := range drawing {
		for _, rule := range []string{"", "random", "lowest"} {
			t.Run(fmt.Sprint(c.name, c.settings, rule), func(t *testing.T) {
				settings := slices.Clone(c.settings)
				if rule != "" {
					settings = append(settings, Setting{"tie", rule})
				}
				const seed = 1
				p := mustRoute(t, c.name, Env{Instances: 5, BlockSize: 16, Draws: NewDraws(seed)}, settings...)
				counts, view := make([]int, 5), tied(c.most)
				for id := range int64(3000) {
					counts[route(p, &Request{Identity: workload.Identity{ID: id}}, view).Target]++
				}
				want := []int{1000, 0, 0, 1000, 1000}
				if rule == "lowest" {
					want = []int{3000, 0, 0, 0, 0}
				}
				for i := range want {
					if off := counts[i] - want[i]; off < -120 || off > 120 || want[i] == 0 && counts[i] > 0 {
						t.Fatalf("seed %d: %v, want about %v", seed, counts, want)
					}
				}
			})
		}
	}
}

// TestDrawsAreNoStream: a decision depends on no draw before it. So a policy
// that was asked about other requests before, or of which a choice was forced,
// decides as one that was not.
func TestDrawsAreNoStream(t *testing.T) {
	for _, name := range []string{"least-loaded", "always-busiest", "prefix-affinity", "weighted", "power-of-two"} {
		t.Run(name, func(t *testing.T) {
			one := mustRoute(t, name, Env{BlockSize: 16, Draws: NewDraws(5)})
			other := mustRoute(t, name, Env{BlockSize: 16, Draws: NewDraws(5)})
			view := loads(0, 0, 0, 0, 0, 0, 0)
			seeds, attempts := 0, 0
			for id := range int64(200) {
				for more := range id % 3 { // which the other never sees
					route(one, &Request{Identity: workload.Identity{ID: 1000 + 3*id + more}}, view)
				}
				got := route(one, &Request{Identity: workload.Identity{ID: id}}, view).Target
				if want := route(other, &Request{Identity: workload.Identity{ID: id}}, view).Target; got != want {
					t.Fatalf("request %d goes to %d, without other decisions before it to %d", id, got, want)
				}
				if route(mustRoute(t, name, Env{BlockSize: 16, Draws: NewDraws(6)}), &Request{Identity: workload.Identity{ID: id}}, view).Target != got {
					seeds++
				}
				if route(one, &Request{Identity: workload.Identity{ID: id}, Attempt: 1}, view).Target != got {
					attempts++
				}
			}
			// Of 200 draws of 7, 171 are others in the mean, with a deviation of 5.
			if min(seeds, attempts) < 146 || max(seeds, attempts) > 196 {
				t.Errorf("of 200 draws %d are others with another seed and %d with another attempt, want about 171", seeds, attempts)
			}
		})
	}
}

// TestDrawsAreEven counts by χ² what numbers in order, as those of requests are,
// draw: turns, attempts and seeds next to each other too.
func TestDrawsAreEven(t *testing.T) {
	for _, n := range []int{2, 3, 7, 16, 64, 256} {
		for _, c := range []struct {
			name string
			draw func(i int64) int
		}{
			{"requests", func(i int64) int { return NewDraws(42).IntN(&Request{Identity: workload.Identity{ID: i}}, 0, n) }},
			{"turns", func(i int64) int {
				return NewDraws(42).IntN(&Request{Identity: workload.Identity{ID: 1}}, uint32(i), n)
			}},
			{"attempts", func(i int64) int {
				return NewDraws(42).IntN(&Request{Identity: workload.Identity{ID: 1}, Attempt: int32(i)}, 0, n)
			}},
			{"seeds", func(i int64) int { return NewDraws(uint64(i)).IntN(&Request{Identity: workload.Identity{ID: 1}}, 0, n) }},
			{"pairs of turns", func(i int64) int {
				d, r := NewDraws(7), &Request{Identity: workload.Identity{ID: i}}
				return (d.IntN(r, 0, n) + d.IntN(r, 1, n)) % n
			}},
		} {
			const each = 500
			counts := make([]int, n)
			for i := range int64(each * n) {
				counts[c.draw(i)]++
			}
			chi := 0.0
			for _, count := range counts {
				chi += float64((count-each)*(count-each)) / each
			}
			if off := (chi - float64(n-1)) / math.Sqrt(2*float64(n-1)); off > 5 {
				t.Errorf("%s, n = %d: χ² is %v, %.1f deviations above its mean", c.name, n, chi, off)
			}
		}
	}
}

// TestNoDrawWithoutATie: the best is chosen whatever the seed is, by the fast
// ways through ties of prefixes and sessions too.
func TestNoDrawWithoutATie(t *testing.T) {
	content := []workload.Span{{Content: 1, Length: 64}}
	for _, c := range []struct {
		name     string
		settings []Setting
		view     *View
		want     int
	}{
		{"least-loaded", nil, loads(3, 1, 3, 2, 2), 1},
		{"always-busiest", nil, loads(3, 1, 4, 2, 2), 2},
		{"prefix-affinity", nil, loads(3, 1, 4, 2, 2), 2},
		{"weighted", []Setting{{"prefix-affinity", "1"}}, loads(1, 1, 4, 1, 1), 2},
		{"power-of-two", nil, loads(1, 1, 4, 1, 1).close(0, 2, 3, 4), 1},
	} {
		for seed := range uint64(20) {
			p := mustRoute(t, c.name, Env{BlockSize: 16, Draws: NewDraws(seed)}, c.settings...)
			first := loads(0, 0, 0, 0, 0)
			only(first, 2)
			route(p, &Request{Identity: workload.Identity{Input: 64}, Terms: workload.Terms{Spans: content}}, first)
			if d := route(p, &Request{Identity: workload.Identity{ID: 1, Input: 64}, Terms: workload.Terms{Spans: content}}, c.view); d.Target != c.want {
				t.Errorf("%s %v, seed %d: %+v, want %d", c.name, c.settings, seed, d, c.want)
			}
		}
	}
}
