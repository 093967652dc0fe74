package policy

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// WithOwn runs f, after which the table of signals is as it was.
func WithOwn(f func()) {
	table := signalTable
	defer func() { signalTable = table }()
	signalTable = append([]Signal(nil), table...)
	f()
}

// TestTableOfSignalsIsWhole: a bit belongs to one row, names and keys to one signal,
// and a signal of instances has numbers that no other one has.
func TestTableOfSignalsIsWhole(t *testing.T) {
	var all Signals
	names, of := map[string]bool{}, map[*int64]string{}
	var state InstanceState
	for _, r := range SignalTable() {
		if r.Bit == 0 || r.Bit&(r.Bit-1) != 0 || r.Bit&(all|OwnSignals) != 0 || names[r.Name] || r.Key != "" && names[r.Key] {
			t.Errorf("row %+v: want a bit, a name and a key of its own", r.Name)
		}
		all |= r.Bit
		names[r.Name], names[r.Key] = true, true
		if (r.Key != "") != (len(r.numbers) > 0) || r.Key == "" && (r.Every != 0 || r.EveryStep) {
			t.Errorf("%s: published as %q with %d numbers", r.Name, r.Key, len(r.numbers))
		}
		for _, n := range r.numbers {
			if other, taken := of[n(&state)]; taken {
				t.Errorf("%s and %s have a number in common", other, r.Name)
			}
			of[n(&state)] = r.Name
		}
	}
}

// TestPageNamesEverySignal looks for what instances publish in the table of signals.
func TestPageNamesEverySignal(t *testing.T) {
	page, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range SignalTable() {
		if r.Key != "" && !strings.Contains(string(page), "\n| `"+r.Key+"` |") {
			t.Errorf("docs/policies.md has no row of %s", r.Key)
		}
	}
}

// TestCopyCopiesTheSignalsAskedForAlone copies signals one by one.
func TestCopyCopiesTheSignalsAskedForAlone(t *testing.T) {
	WithOwn(func() {
		own := RegisterSignal("twice_waiting", func(s *InstanceState) float64 { return float64(2 * s.Waiting) })
		from := InstanceState{Waiting: 1, Running: 2, Used: 3, Service: Service{CachedTokens: 4, LookedUpTokens: 5, TTFT: 6, TTFTs: 7, TPOT: 8, TPOTs: 9, Judged: 10, Attained: 11, WaitingTokens: 12, PrefillTokens: 13, PrefillMicros: 14,
			TierUsed: 15, Stores: 17, Loads: 18, ChosenStores: 19, StorageUsed: 21}}
		from.Evaluate(own)
		for _, of := range []struct {
			signals Signals
			want    InstanceState
		}{
			{QueueDepth, InstanceState{Waiting: 1}},
			{BatchSize | KVUse, InstanceState{Running: 2, Used: 3}},
			{HitRate, InstanceState{Service: Service{CachedTokens: 4, LookedUpTokens: 5}}},
			{RecentLatency, InstanceState{Service: Service{TTFT: 6, TTFTs: 7, TPOT: 8, TPOTs: 9, Judged: 10, Attained: 11}}},
			{EstimatedWait, InstanceState{Service: Service{WaitingTokens: 12, PrefillTokens: 13, PrefillMicros: 14}}},
			{CPUKVUse, InstanceState{Service: Service{TierUsed: 15}}},
			{TransferQueue | PendingOffloads, InstanceState{Service: Service{Stores: 17, Loads: 18, ChosenStores: 19}}},
			{StorageKVUse, InstanceState{Service: Service{StorageUsed: 21}}},
			{own, InstanceState{Own: [MaxOwnSignals]float64{2}}},
			{InFlight | Active, InstanceState{}},
		} {
			var got InstanceState
			if got.Copy(&from, of.signals); got != of.want {
				t.Errorf("%v: %+v, want %+v", of.signals, got, of.want)
			}
		}
	})
}

// TestRegisterSignalRefuses names what cannot be a signal of another module.
func TestRegisterSignalRefuses(t *testing.T) {
	one := func(*InstanceState) float64 { return 1 }
	for _, name := range []string{"", "Upper", "with space", "queue_depth", "refresh", "kv_event_delay", "twice"} {
		WithOwn(func() {
			RegisterSignal("twice", one)
			if problem := panicked(func() { RegisterSignal(name, one) }); !strings.Contains(problem, name) || problem == "" {
				t.Errorf("%q: %q, want a panic that names it", name, problem)
			}
		})
	}
	WithOwn(func() {
		var all Signals
		for i := range MaxOwnSignals {
			all |= RegisterSignal(fmt.Sprint("signal_", i), one)
		}
		if all != OwnSignals || SignalNamed("signal_7") != 1<<23 || SignalNamed("queue_depth") != QueueDepth || SignalNamed("none") != NoSignals {
			t.Errorf("own signals are %b, the last one %b", all, SignalNamed("signal_7"))
		}
		if problem := panicked(func() { RegisterSignal("ninth", one) }); !strings.Contains(problem, "at most 8") {
			t.Errorf("the ninth: %q", problem)
		}
	})
}

// panicked returns with what f panics, empty if it does not.
func panicked(f func()) (problem string) {
	defer func() {
		if v := recover(); v != nil {
			problem = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}
