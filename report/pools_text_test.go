package report

import (
	"strings"
	"testing"

	"blis/actors"
	"blis/report/plaintext"
	"blis/setup"
)

// The header tells of each pool, and of a latency model that all have once.
func TestHeaderOfTwoPools(t *testing.T) {
	for _, c := range []struct {
		hardware string
		want     []string
	}{
		{"H100", []string{"prefill", "3 instances of 2 H100, each 64,369 KV blocks of 16 tokens, max_num_seqs 1,024, max_num_batched_tokens 8,192, max_model_len 131,072", "decode", "5 instances of 1 H100, each 28,355 KV blocks", "latency physics h100", "error expected"}},
		{"H200", []string{"5 instances of 1 H200, each 56,284 KV blocks", "latency prefill: physics h100", "error", "latency decode: roofline"}},
	} {
		cfg := setup.DefaultConfig()
		for _, s := range [][2]string{{"architecture", "pd"}, {"prefill-replicas", "3"}, {"decode-replicas", "5"}, {"prefill-tp", "2"}, {"decode-hardware", c.hardware}} {
			if err := cfg.Set(s[0], s[1]); err != nil {
				t.Fatal(err)
			}
		}
		p, err := setup.Resolve(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Header(&b, &p.Summary, &actors.Config{Config: p.Config}, plaintext.Style{}); err != nil {
			t.Fatal(err)
		}
		at, text := 0, strings.Join(strings.Fields(b.String()), " ")
		for _, want := range c.want {
			i := strings.Index(text[at:], want)
			if i < 0 {
				t.Fatalf("%s: %q is missing or out of order in\n%s", c.hardware, want, b.String())
			}
			at += i
		}
	}
}
