package cli

import (
	"strings"
	"testing"
)

// What is wrong with the policies in a configuration file has the line where it
// stands in that file, however it is written there.
func TestPoliciesInAConfigFileHaveItsLines(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"block", "seed: 7\n\n# why\npolicies:\n  routing:\n    type: least-loaded\n    # a word\n\n    params:\n      tie: heads\nrate: 5\n",
			`FILE:10: routing.params.tie: "heads" is not allowed`},
		{"first and alone", "policies:\n  routing:\n    typ: least-loaded\n", `FILE:3: routing.typ: unknown field "typ", the nearest is "type"`},
		{"indented by one", "policies:\n routing:\n  type: nowhere\nrate: 4\n", `FILE:3: routing.type: unknown routing policy "nowhere"`},
		{"in one line", "rate: 5\npolicies: {routing: {type: weighted, params: {queue-depht: 3}}}\nseed: 1\n",
			`FILE:2: routing.params.queue-depht: weighted has no parameter "queue-depht", the nearest is "queue-depth"`},
		{"braces over lines", "rate: 5\npolicies: {routing: {type: weighted,\n  params: {queue-depth: 3,\n   queue-depht: 3}}} # until here\nseed: 1\n",
			`FILE:4: routing.params.queue-depht: weighted has no parameter`},
		{"as JSON", "{\"seed\": 7,\n \"policies\": {\"routing\":\n  {\"type\": \"nowhere\"}}, \"rate\": 5}\n", `FILE:3: routing.type: unknown routing policy "nowhere"`},
		{"all of JSON in one line", `{"seed": 7, "policies": {"routing": {"type": "nowhere"}}, "rate": 5}`, `FILE:1: routing.type: unknown routing policy "nowhere"`},
		{"lines of another system", "seed: 7\r\npolicies:\r\n  routing:\r\n    type: nowhere\r\n", `FILE:4: routing.type: unknown routing policy "nowhere"`},
		{"other letters before it", "policies: {metadata: {name: größer}, routing: {type: nowhere}}\n", `FILE:1: routing.type: unknown routing policy "nowhere"`},
		{"found when the policy is made", "seed: 7\npolicies:\n  routing:\n    type: weighted\n    params: {queue-depth: 0}\n", "FILE:5: routing.params: the weight of every scorer is 0"},
		{"a section that there is not", "seed: 7\npolicies:\n  rooting: {type: weighted}\n", `FILE:3: rooting: unknown section "rooting", the nearest is "routing"`},
		{"twice", "policies:\n  priority: {type: constant}\n  priority: {type: constant}\n", "FILE:3:"},
		{"no mapping", "seed: 7\npolicies: 5\n", "FILE:2: 5 is not allowed, want sections like"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := file(t, "settings.yaml", c.text)
			s := blis(t, nil, "run", "--config", path)
			want := "blis: " + strings.ReplaceAll(c.want, "FILE", path)
			if s.code != exitInput || !strings.HasPrefix(s.err, want) || strings.Count(s.err, "\n") != 1 || s.out != "" {
				t.Errorf("exit %d: %s\nwant %s", s.code, s.err, want)
			}
		})
	}
}

// What stands around them is not theirs, and they are read as they are written.
func TestPoliciesInAConfigFileAreRead(t *testing.T) {
	for name, text := range map[string]string{
		"block":      "num-instances: 3\npolicies:\n  # load\n  routing:\n    type: weighted\n    params: {load-balance: 2}\n\nseed: 9\n",
		"braces":     "num-instances: 3\npolicies: {routing: {type: weighted,\n  params: {load-balance: 2}}} # so\nseed: 9\n",
		"JSON":       "{\"num-instances\": 3, \"policies\": {\"routing\": {\"type\": \"weighted\",\n\"params\": {\"load-balance\": 2}}}, \"seed\": 9}",
		"before all": "policies:\n  routing: {type: weighted, params: {load-balance: 2}}\nseed: 9\nnum-instances: 3\n",
	} {
		s := blis(t, nil, "run", "--config", file(t, "settings.yaml", text), "--print-config")
		for _, want := range []string{`"params":{"load-balance":2,"tie":"random"}`, "seed: 9\n", "num-instances: 3\n"} {
			if s.code != exitDone || !strings.Contains(s.out, want) {
				t.Errorf("%s: exit %d, %s%s\nwant %s", name, s.code, s.err, s.out, want)
			}
		}
	}
	// A flag beats the file: what it gives has no line there.
	path := file(t, "settings.yaml", "policies:\n  routing:\n    type: weighted\n    params: {queue-depth: 1}\n")
	s := blis(t, nil, "run", "--config", path, "--set", "routing.params.queue-depth=0")
	if s.code != exitInput || strings.Contains(s.err, path) || !strings.Contains(s.err, "the weight of every scorer is 0") {
		t.Errorf("exit %d: %s", s.code, s.err)
	}
}
