package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestReplayRegret asks for the worst decisions and forces one of them by hand.
func TestReplayRegret(t *testing.T) {
	flags := []string{"run", "--num-requests=200", "--num-instances=3", "--max-num-seqs=4", "--rate=9"}
	type run struct {
		Digest string `json:"digest"`
		Replay *struct {
			Replayed []struct {
				Request    int64  `json:"request"`
				Best       int    `json:"best"`
				TTFT       *int64 `json:"ttft_us"`
				Other      *int64 `json:"other_ttft_us"`
				Difference *int64 `json:"ttft_difference_us"`
			} `json:"replayed"`
		} `json:"replay_regret"`
		Requests []struct {
			TTFT *float64 `json:"ttft_ms"`
		} `json:"requests"`
	}
	play := func(more ...string) (r run) {
		t.Helper()
		path := file(t, "result.json", "")
		done(t, append(append(flags, "--results-path", path), more...)...)
		if err := json.Unmarshal([]byte(read(t, path)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	plain, asked := play(), play("--replay-regret=4")
	if plain.Replay != nil || asked.Replay == nil || len(asked.Replay.Replayed) != 4 || plain.Digest != asked.Digest {
		t.Fatalf("replay %v unasked, %+v asked; digests %s and %s", plain.Replay, asked.Replay, plain.Digest, asked.Digest)
	}
	for _, d := range asked.Replay.Replayed {
		forced := play("--force-routing", fmt.Sprintf("%d=%d", d.Request, d.Best))
		before, after := *plain.Requests[d.Request].TTFT, *forced.Requests[d.Request].TTFT
		if float64(*d.TTFT)/1e3 != before || float64(*d.Other)/1e3 != after || *d.Difference != *d.Other-*d.TTFT {
			t.Errorf("request %d: TTFT %d, then %d, difference %d µs; want %v and %v ms", d.Request, *d.TTFT, *d.Other, *d.Difference, before, after)
		}
	}
	text := done(t, append(flags, "--replay-regret=4")...).out
	if want := fmt.Sprintf("%d", asked.Replay.Replayed[0].Request); !strings.Contains(text, "The worst 4 decided the other way") || !strings.Contains(text, "\n     "+want) {
		t.Errorf("no replay of request %s in\n%s", want, text)
	}
	if text := done(t, append(flags, "--routing-policy=least-loaded", "--replay-regret=4")...).out; !strings.Contains(text, "there is nothing to replay") {
		t.Errorf("least-loaded regrets nothing, but:\n%s", text)
	}
}
