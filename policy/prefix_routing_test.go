package policy

import (
	"testing"

	"blis/workload"
)

// TestPrefixAffinity starts each case with prompts of one content that went to
// certain instances, and asks about one that begins with 80 tokens of it.
func TestPrefixAffinity(t *testing.T) {
	type past struct{ instance, tokens int32 }
	for _, c := range []struct {
		name      string
		past      []past
		imbalance string
		view      *View
		want      int
		reason    Reason
	}{
		{"the longest prefix", []past{{1, 32}, {3, 64}, {2, 48}}, "32", loads(0, 0, 0, 9), 3, LongestPrefix},
		{"of equals the least loaded", []past{{1, 64}, {2, 64}, {3, 64}}, "32", loads(0, 9, 5, 7), 2, LongestPrefix},
		{"nothing matches: least loaded", nil, "32", loads(4, 3, 1, 2), 2, LeastLoad},
		{"less than a block matches nothing", []past{{0, 15}}, "32", loads(4, 3, 1, 2), 2, LeastLoad},
		{"a shorter prefix where the longest is not routable", []past{{1, 64}, {3, 48}}, "32", loads(0, 0, 0, 9).close(1), 3, LongestPrefix},
		{"no holder is routable: least loaded", []past{{1, 64}}, "32", loads(4, 0, 3, 9).close(1), 2, LeastLoad},
		{"as far above the least as allowed", []past{{1, 64}}, "5", loads(2, 7, 3, 9), 1, LongestPrefix},
		{"farther above than allowed", []past{{1, 64}}, "5", loads(2, 8, 3, 9), 0, LeastLoad},
		{"then not even a shorter prefix counts", []past{{1, 64}, {2, 48}}, "5", loads(2, 8, 3, 9), 0, LeastLoad},
		{"the gap is to the least of the routable", []past{{1, 64}}, "5", loads(2, 8, 3, 9).close(0), 1, LongestPrefix},
		{"the default is 32", []past{{1, 64}}, "", loads(0, 32, 3, 9), 1, LongestPrefix},
		{"and not 33", []past{{1, 64}}, "", loads(0, 33, 3, 9), 0, LeastLoad},
		{"none routable", []past{{1, 64}}, "32", loads(0, 0, 0, 0).close(0, 1, 2, 3), -1, NoInstance},
	} {
		t.Run(c.name, func(t *testing.T) {
			var settings []Setting
			if c.imbalance != "" {
				settings = append(settings, Setting{"max_imbalance", c.imbalance})
			}
			p := mustRoute(t, "prefix-affinity", Env{BlockSize: 16, Instances: 4}, settings...)
			for _, past := range c.past {
				view := loads(0, 0, 0, 0)
				only(view, int(past.instance))
				req := Request{Identity: workload.Identity{Input: past.tokens}, Terms: workload.Terms{Spans: []workload.Span{{Content: 1, Length: past.tokens}}}}
				if d := route(p, &req, view); d.Target != int(past.instance) {
					t.Fatalf("%+v, want the only routable one, %d", d, past.instance)
				}
			}
			req := Request{Identity: workload.Identity{Input: 100}, Terms: workload.Terms{Spans: []workload.Span{{Content: 1, Length: 80}}}}
			if d := route(p, &req, c.view); d.Target != c.want || d.Reason != c.reason {
				t.Errorf("%+v, want %d because of %s", d, c.want, c.reason)
			}
		})
	}
}

// TestPrefixAffinityWantsAShareOfThePrompt: a prompt of ten blocks, of which the
// only holder, which is not the least loaded, has some.
func TestPrefixAffinityWantsAShareOfThePrompt(t *testing.T) {
	for _, c := range []struct {
		match  string // empty: the default
		cached int32  // blocks
		want   Reason
	}{
		{"", 4, LeastLoad}, {"", 5, LongestPrefix}, {"0.5", 5, LongestPrefix}, {"0.51", 5, LeastLoad},
		{"0", 1, LongestPrefix}, {"0", 0, LeastLoad}, {"1", 9, LeastLoad}, {"1", 10, LongestPrefix},
	} {
		var settings []Setting
		if c.match != "" {
			settings = []Setting{{"min_match", c.match}}
		}
		p := mustRoute(t, "prefix-affinity", Env{BlockSize: 16, Instances: 2}, settings...)
		past := loads(0, 0)
		only(past, 1)
		route(p, &Request{Identity: workload.Identity{Input: 16 * c.cached}, Terms: workload.Terms{Spans: []workload.Span{{Content: 1, Length: 16 * c.cached}}}}, past)
		d := route(p, &Request{Identity: workload.Identity{Input: 163}, Terms: workload.Terms{Spans: []workload.Span{{Content: 1, Length: 160}}}}, loads(3, 4))
		if target := map[Reason]int{LeastLoad: 0, LongestPrefix: 1}[c.want]; d.Reason != c.want || d.Target != target {
			t.Errorf("min_match %q, %d of 10 blocks cached: %+v, want %v", c.match, c.cached, d, c.want)
		}
	}
}
