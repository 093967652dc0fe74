package bundle

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"blis/cputime"
)

func TestBadBundles(t *testing.T) {
	deep := func(open, end string, n int) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }
	stairs := ""
	for i := range 20 {
		margin := strings.Repeat("  ", i)
		stairs += fmt.Sprintf("%s  a:\n%s  -\n", margin, margin)
	}
	for _, c := range []struct{ name, text, want string }{
		{"unknown section", "\n\nroutng: {type: weighted}", `p.yaml:3: routng: unknown section "routng", the nearest is "routing" (there are: admission, priority, routing, scheduler, autoscale, observability, metadata)`},
		{"unknown field", "routing:\n  type: weighted\n  parms: {queue-depth: 1}", `p.yaml:3: routing.parms: unknown field "parms", the nearest is "params" (there are: type, params)`},
		{"a field within", "autoscale:\n  actuation:\n    warmup: {curv: step}", `p.yaml:3: autoscale.actuation.warmup.curv: unknown field "actuation.warmup.curv", the nearest is "actuation.warmup.curve" (there are: type, params, interval, min, max, refresh, trigger, actuation.provisioning, actuation.model_load, actuation.warmup.duration, actuation.warmup.curve, actuation.warmup.penalty, actuation.warmup.routable, actuation.drain, actuation.drain_timeout)`},
		{"a mapping that is none", "autoscale: {min: {is: 1}}", `p.yaml:1: autoscale.min: a mapping is not allowed, want a whole number in [0, 1.048576e+06]`},
		{"a mapping for a value", "autoscale: {actuation: 5}", `p.yaml:1: autoscale.actuation: unknown field "actuation", the nearest is "actuation.provisioning" (there are: type, params, interval, min, max, refresh, trigger, actuation.provisioning, actuation.model_load, actuation.warmup.duration, actuation.warmup.curve, actuation.warmup.penalty, actuation.warmup.routable, actuation.drain, actuation.drain_timeout)`},
		{"a penalty that speeds up", "autoscale: {actuation: {warmup: {penalty: 0.5}}}", `p.yaml:1: autoscale.actuation.warmup.penalty: "0.5" is not allowed, want a number in [1, 1000]`},
		{"another distribution", "autoscale: {actuation: {model_load: {type: normal, params: {mean: 4s, cv: 1}}}}", `p.yaml:1: autoscale.actuation.model_load: a mapping is not allowed, want a duration like 40s, or 40s,cv=0.2 with cv from 0 to 10`},
		{"a spread that is none", "autoscale: {actuation: {model_load: '40s,cv=-1'}}", `p.yaml:1: autoscale.actuation.model_load: "40s,cv=-1" is not allowed, want a duration like 40s, or 40s,cv=0.2 with cv from 0 to 10`},
		{"unknown observation", "observability: {refrsh: 5ms}", `p.yaml:1: observability.refrsh: unknown field "refrsh", the nearest is "refresh" (there are: refresh, in_flight, {signals}, prefix_index, prefix_index_blocks, kv_event_delay)`},
		{"unknown type", "routing:\n  type: leastloaded", `p.yaml:2: routing.type: unknown routing policy "leastloaded", the nearest is "least-loaded" (there are: {routing})`},
		{"empty type", "scheduler: {type: ''}", `p.yaml:1: scheduler.type: unknown scheduler policy "" (there are: {scheduler})`},
		{"type of another kind", "admission: {type: fcfs}", `p.yaml:1: admission.type: unknown admission policy "fcfs" (there are: {admission})`},
		{"unknown parameter", "admission:\n  type: token-bucket\n  params:\n    refill-rate: 5", `p.yaml:4: admission.params.refill-rate: token-bucket has no parameter "refill-rate", the nearest is "refill_rate" (there are: {token-bucket})`},
		{"parameter of another type", "routing:\n  type: least-loaded\n  params: {queue-depth: 1}", `p.yaml:3: routing.params.queue-depth: least-loaded has no parameter "queue-depth" (there are: {least-loaded})`},
		{"parameter without a type", "routing:\n  params: {queue-depth: 1}", `p.yaml:2: routing.params.queue-depth: round-robin has no parameter "queue-depth" (there are: max_queue, max_kv, max_in_flight, max_running, sticky_session, min_prefix)`},
		{"below the range", "# weights\nrouting:\n  params:\n    # here\n    queue-depth: -1\n  type: weighted", `p.yaml:5: routing.params.queue-depth: "-1" is not allowed, want a number in [0, 1e+09]`},
		{"NaN", "routing: {type: weighted, params: {queue-depth: .nan}}", `p.yaml:1: routing.params.queue-depth: ".nan" is not allowed, want a number in [0, 1e+09]`},
		{"infinite", "admission: {type: token-bucket, params: {capacity: .inf}}", `p.yaml:1: admission.params.capacity: ".inf" is not allowed, want a number ≥ 1`},
		{"beyond floats", "admission: {type: token-bucket, params: {capacity: 1e400}}", `p.yaml:1: admission.params.capacity: "1e400" is not allowed, want a number ≥ 1`},
		{"a number in quotes", `admission: {type: token-bucket, params: {capacity: "5"}}`, `p.yaml:1: admission.params.capacity: the string "5" is not allowed, want a number ≥ 1`},
		{"a word for a number", `admission: {type: token-bucket, params: {capacity: many}}`, `p.yaml:1: admission.params.capacity: the string "many" is not allowed, want a number ≥ 1`},
		{"a word for a flag", `admission: {type: token-bucket, params: {per_tenant: yes}}`, `p.yaml:1: admission.params.per_tenant: the string "yes" is not allowed, want true or false`},
		{"a number for a choice", `routing: {type: least-loaded, params: {tie: 1}}`, `p.yaml:1: routing.params.tie: 1 is not allowed, want random | lowest`},
		{"not a choice", `routing: {type: least-loaded, params: {tie: first}}`, `p.yaml:1: routing.params.tie: "first" is not allowed, want random | lowest`},
		{"null parameter", "routing: {type: least-loaded, params: {tie: }}", `p.yaml:1: routing.params.tie: null is not allowed, want random | lowest`},
		{"a list for a parameter", "routing:\n  type: weighted\n  params:\n    queue-depth: [1]", `p.yaml:4: routing.params.queue-depth: a list is not allowed, want a number in [0, 1e+09]`},
		{"a mapping for a parameter", "routing:\n  type: weighted\n  params:\n    queue-depth: {weight: 1}", `p.yaml:4: routing.params.queue-depth: a mapping is not allowed, want a number in [0, 1e+09]`},
		{"an unknown parameter with a list", "routing:\n  type: weighted\n  params:\n    queue: [1]", `p.yaml:4: routing.params.queue: weighted has no parameter "queue", the nearest is "queue-depth" (there are: {weighted})`},
		{"one parameter by both its names", "priority:\n  type: slo-based\n  params:\n    critical: 1\n    realtime: 2", `p.yaml:5: priority.params.realtime: critical is given twice, want it once`},
		{"a parameter twice", "routing:\n  type: weighted\n  params:\n    queue-depth: 1\n    queue-depth: 1", `p.yaml:5: routing.params.queue-depth: is given twice, first on line 4, want it once`},
		{"a section twice", "routing: {}\npriority: {}\nrouting: {}", `p.yaml:3: routing: is given twice, first on line 1, want it once`},
		{"metadata twice", "metadata:\n  a:\n    - x\n    - b: 1\n      b: 2", `p.yaml:5: metadata.a[1].b: is given twice, first on line 4, want it once`},
		{"a number for a type", "routing: {type: 5}", `p.yaml:1: routing.type: 5 is not allowed, want the name of a policy like round-robin`},
		{"a word for a section", "observability: fresh", `p.yaml:1: observability: the string "fresh" is not allowed, want a mapping like {name: value}`},
		{"a list for parameters", "routing:\n  type: weighted\n  params: [queue-depth]", `p.yaml:3: routing.params: a list is not allowed, want a mapping like {parameter: value}`},
		{"a list for metadata", "metadata: [1]", `p.yaml:1: metadata: a list is not allowed, want a mapping like {name: value}`},
		{"no duration", "observability: {refresh: soon}", `p.yaml:1: observability.refresh: "soon" is not allowed, want a duration like 250ms or 5s`},
		{"half a microsecond", "observability: {refresh: 0.5}", `p.yaml:1: observability.refresh: 0.5 is not allowed, want a duration like 250ms or 5s`},
		{"no time between evaluations", "autoscale: {interval: -5s}", `p.yaml:1: autoscale.interval: "-5s" is not allowed, want a duration like 250ms or 5s`},
		{"a flag for in_flight", "observability: {in_flight: true}", `p.yaml:1: observability.in_flight: true is not allowed, want immediate | periodic`},
		{"a list for a file", "- routing", `p.yaml:1: a list is not allowed, want sections like routing: {type: least-loaded}`},
		{"a word for a file", "# only\nrouting", `p.yaml:2: the string "routing" is not allowed, want sections like routing: {type: least-loaded}`},
		{"a second document", "routing: {}\n---\npriority: {}", `p.yaml:3: a second document, want one`},
		{"an infinite number in metadata", "metadata:\n  x:\n  - 1\n  - .inf", `p.yaml:2: metadata.x[1]: .inf is not allowed, want a finite number`},
		{"names without values", "metadata: {a, b: 1}", `p.yaml:1: metadata.a: has no value, want name: value`},
		{"an anchor", "metadata:\n  a: &x 1", `p.yaml:2: anchors are not supported, write the value where it is needed`},
		{"an alias", "metadata:\n  a: *x", `p.yaml:2: aliases are not supported, write the value out`},
		{"a merge key", "metadata:\n  <<: {a: 1}", `p.yaml:2: merge keys are not supported, write the fields out`},
		{"a tag", "metadata:\n  a: !!str 1", `p.yaml:2: tags are not supported, write the value alone`},
		{"an explicit name", "? routing\n: {}", `p.yaml:1: names after ? are not supported, write name: value`},
		{"a directive", "%YAML 1.2\n---\nrouting: {}", `p.yaml:1: directives are not supported, leave the line out`},
		{"an open quote", "routing:\n  type: \"weighted\n", `p.yaml:2: not valid YAML: could not find end character of double-quoted text`},
		{"an open brace", "routing:\n  {type: weighted", `p.yaml:2: not valid YAML: could not find flow mapping end token '}'`},
		{"two colons", "routing: type: weighted", `p.yaml:1: not valid YAML: mapping value is not allowed in this context`},
		{"a tab", "routing:\n\ttype: weighted", `p.yaml:2: not valid YAML: found character '	' that cannot start any token`},
		{"no UTF-8", "metadata:\n  a: \xe9", `p.yaml:2: byte 0xe9 is not UTF-8, want text in UTF-8`},
		{"a control character", "metadata:\n  a: \x00", `p.yaml:2: control character U+0000, want text without, or "\x00" in quotes`},
		{"a name with a line break", "metadata: {}\n\"a\\nb\": 1", `p.yaml:2: "a\nb": unknown section "a\nb" (there are: admission, priority, routing, scheduler, autoscale, observability, metadata)`},
		{"too deep in braces", "metadata: " + deep("{a: ", "}", 40), `p.yaml:1: nested deeper than 32 levels, want less`},
		{"too deep in lists right below their names", "metadata:\n" + stairs, `p.yaml:33: metadata` + strings.Repeat(".a[0]", 15) + `.a: nested deeper than 32 levels, want less`},
		{"a long name", "metadata:\n  " + strings.Repeat("x", 129) + ": 1", `p.yaml:2: a name of 129 bytes, want at most 128`},
		{"a large file", strings.Repeat("# comment\n", 10000), `p.yaml: has 100000 bytes, want at most 65536`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Parse("p.yaml", []byte(c.text))
			var fault *Error
			if !errors.As(err, &fault) || err.Error() != listed(c.want) {
				t.Errorf("error\n%v, want\n%s\n%+v", err, listed(c.want), b)
			}
		})
	}
}

// TestHostileBundlesEndSoon holds inputs on which the YAML parser alone takes
// minutes or gigabytes. The worst of them needs less than half a second; the
// limit leaves room for the race detector on a busy machine.
func TestHostileBundlesEndSoon(t *testing.T) {
	repeat := func(prefix, unit string, size int) string { return prefix + strings.Repeat(unit, size/len(unit)) }
	laughs := "a0: &a0 x\n"
	for i := 1; i < 50; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	lines := func(format string, size int) string {
		var s strings.Builder
		for i := 0; s.Len() < size; i++ {
			fmt.Fprintf(&s, format, i)
		}
		return s.String()
	}
	deepest := "metadata: " + strings.Repeat("{"+strings.Repeat("x", maxName)+": ", maxDepth-2)
	for _, size := range []int{maxText - 5000, 1 << 20} {
		for _, c := range []struct{ name, text string }{
			{"lists in lists", repeat("metadata: ", "[", size)},
			{"mappings in mappings", repeat("metadata: ", "{a: ", size)},
			{"lists in lists in block style", repeat("", "- ", size)},
			{"names of names", repeat("", "? ", size)},
			{"many names after ?", repeat("", "? a\n", size)},
			{"stairs", func() string {
				var s strings.Builder
				for i := 0; s.Len() < size; i++ {
					s.WriteString(strings.Repeat(" ", i) + "a:\n")
				}
				return s.String()
			}()},
			{"laughs", laughs + repeat("b: [", "*a49, ", size-len(laughs)) + "]"},
			{"anchors of anchors", repeat("metadata: ", "&a ", size)},
			{"tags of tags", repeat("metadata: ", "!!str ", size)},
			{"no values", lines("k%d:\n", size)},
			{"no items", repeat("metadata:\n", "-\n", size)},
			{"many values at the bottom", repeat(deepest+"[", "1,", size-len(deepest))},
			{"a long name", repeat("", "x", size/2) + ": [" + repeat("", "1,", size/2) + "]"},
			{"many parameters", "priority:\n  type: slo-based\n  params:\n" + lines("    a%d: 1\n", size)},
			{"much metadata", "metadata:\n" + lines("  a%d: 1\n", size)},
			{"commas", repeat("[", ",", size)},
			{"documents", repeat("", "---\n", size)},
			{"quotes", repeat("", "\"a\" ", size)},
			{"pipes", repeat("", "|\n", size)},
			{"one word", repeat("", "x", size)},
		} {
			t.Run(fmt.Sprintf("%s, %d bytes", c.name, size), func(t *testing.T) {
				var err error
				if spent := cputime.Of(func() { _, err = Parse("p.yaml", []byte(c.text)) }); spent > 3*time.Second {
					t.Errorf("took %v", spent)
				}
				if len(c.text) > maxText && err == nil {
					t.Error("no error")
				}
				if err != nil && strings.Contains(err.Error(), "\n") {
					t.Errorf("more than a line: %v", err)
				}
			})
		}
	}
}
