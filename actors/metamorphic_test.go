package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"blis/bundle"
	"blis/engine"
	"blis/kv"
	"blis/lookahead"
	"blis/metrics"
	"blis/policy"
	"blis/vtime"
	"blis/workload"
)

// Metamorphic tests change a configuration in a way whose effect is known
// without knowing the result.

// listed calls test for the first n random trials that keep is content with,
// that have a list of requests and that cannot preempt themselves for ever.
func listed(t *testing.T, n int, keep func(*trial) bool, test func(t *testing.T, x *trial)) {
	for seed := uint64(1); n > 0; seed++ {
		if x := drawTrial(seed); x.Requests != nil && x.Config.SchedulerReserveFullISL && keep(x) {
			n--
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { test(t, x) })
		}
	}
}

// mustPlay runs x with decode runs on two workers.
func mustPlay(t *testing.T, x *trial) *yield {
	t.Helper()
	y, err := x.play(Executor{"2 workers", Execution{Workers: 2}})
	if err != nil {
		t.Fatalf("%v\n%s", err, x.describe())
	}
	return y
}

// TestShiftedArrivalsShiftTimesAndNothingElse. The shift is a multiple of
// every interval, so that refreshes and scale checks keep their phase.
func TestShiftedArrivalsShiftTimesAndNothingElse(t *testing.T) {
	const shift = 105 * vtime.Second
	scripted := func(x *trial) bool {
		// The signal of the trials is above 0 on an idle instance, but 0 before it is
		// refreshed for the first time.
		return x.NoisyAutoscaler == policy.NoSignals && x.Config.AutoscalePolicy == "none" && x.ReadsSignals&trialSignal == 0
	} // others look at the clock
	listed(t, 40, scripted, func(t *testing.T, x *trial) {
		if 105*vtime.Second%max(1, x.Config.SnapshotRefreshInterval) != 0 || 105*vtime.Second%max(1, x.Config.AutoscaleInterval) != 0 {
			t.Fatal("the shift is not a multiple of an interval")
		}
		later := *x
		later.Requests = slices.Clone(x.Requests)
		for i := range later.Requests {
			r := &later.Requests[i]
			r.Arrival, r.Deadline = r.Arrival.Add(shift), r.Deadline.Add(shift)
		}
		for _, d := range []*vtime.Duration{&later.Config.Horizon, &later.Config.MeasureTo} {
			if *d > 0 {
				*d += shift
			}
		}
		later.Config.MeasureFrom += shift
		want, got := mustPlay(t, x), mustPlay(t, &later)
		for i := range want.rows {
			o := &want.rows[i]
			for _, at := range []*vtime.Time{&o.Arrival, &o.Admitted, &o.Routed, &o.Queued, &o.Scheduled, &o.FirstToken, &o.LastToken, &o.Finished} {
				*at = at.Add(shift)
			}
		}
		if d := (&yield{rows: got.rows}).difference(&yield{rows: want.rows}); d != "" {
			t.Errorf("%s\n%s", d, x.describe())
		}
		if a, b := latencies(t, got), latencies(t, want); a != b {
			t.Errorf("summary\n%s\nbefore the shift\n%s\n%s", a, b, x.describe())
		}
	})
}

// latencies is the part of the report that does not depend on when the run
// began.
func latencies(t *testing.T, y *yield) string {
	var report struct {
		Overall   map[string]json.RawMessage
		PerClass  map[string]map[string]json.RawMessage `json:"per_class"`
		JainIndex json.RawMessage                       `json:"jain_index"`
	}
	if err := json.Unmarshal(y.report, &report); err != nil {
		t.Fatal(err)
	}
	delete(report.Overall, "resources")
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWeightsTimesSixteenChangeNothing. Weights are relative to each other. A power
// of two scales them without rounding, which may decide between sums that are all
// but equal.
func TestWeightsTimesSixteenChangeNothing(t *testing.T) {
	weighted := func(x *trial) bool {
		return x.Config.RoutingPolicy == "weighted" && x.Config.NumInstances > 1 && x.Config.RoutingScorers != ""
	}
	listed(t, 30, weighted, func(t *testing.T, x *trial) {
		times := *x
		var scorers []string
		for _, s := range strings.Split(x.Config.RoutingScorers, ",") {
			name, weight, _ := strings.Cut(s, ":")
			var w float64
			if _, err := fmt.Sscan(weight, &w); err != nil {
				t.Fatal(err)
			}
			scorers = append(scorers, fmt.Sprintf("%s:%g", name, float64(16*w)))
		}
		times.Config.RoutingScorers = strings.Join(scorers, ",")
		want, got := mustPlay(t, x), mustPlay(t, &times)
		want.rest, got.rest = "", "" // the configuration is another
		if d := got.difference(want); d != "" {
			t.Errorf("%s in place of %s: %s", times.Config.RoutingScorers, x.Config.RoutingScorers, d)
		}
	})
}

// TestOneInstanceEqualsBareEngine: a cluster that decides nothing adds nothing.
func TestOneInstanceEqualsBareEngine(t *testing.T) {
	listed(t, 60, func(x *trial) bool {
		return x.Config.PriorityPolicy == "constant" && x.Delay == 0 && x.ReadsSignals == 0 && x.NoisyAutoscaler == 0
	}, func(t *testing.T, x *trial) {
		c, usual := &x.Config, DefaultConfig()
		c.AutoscalePolicy, c.MinReplicas, c.MaxReplicas, c.Policies.Admission = "none", 1, 0, bundle.Selection{}
		c.TokenBucketCapacity, c.TokenBucketRefillRate = usual.TokenBucketCapacity, usual.TokenBucketRefillRate
		c.NumInstances, c.AdmissionPolicy, c.AdmissionLatency, c.RoutingLatency, c.Horizon, c.ForceRouting = 1, "always-admit", 0, 0, 0, ""
		y := mustPlay(t, x)
		var mail []bareMail
		for i, r := range x.Requests {
			r.ID = int64(i)
			mail = append(mail, bareMail{at: r.Arrival, delivery: &engine.Delivery{Request: r, Admitted: r.Arrival, Expected: y.rows[i].Expected}})
		}
		got := bare(t, x, 0, mail, false)
		if d := (&yield{rows: got}).difference(&yield{rows: y.rows}); d != "" {
			t.Errorf("%s\n%s", d, x.describe())
		}
	})
}

// TestRecordingReplaysOneInstance: what an instance did follows from the
// frames that it was sent, read with the msgpack library.
func TestRecordingReplaysOneInstance(t *testing.T) {
	listed(t, 30, func(x *trial) bool {
		return x.Config.NumInstances > 1 && x.NoisyAutoscaler == 0 && x.Config.AutoscalePolicy == "none"
	}, func(t *testing.T, x *trial) {
		x.Config.Horizon = 0
		cfg, err := x.config()
		if err != nil {
			t.Fatal(err)
		}
		var recording bytes.Buffer
		rows := make([][]metrics.Outcome, cfg.NumInstances)
		cfg.Record, cfg.Workers, cfg.Inline = &recording, 3, -1
		cfg.Row = func(r *Row) {
			if r.Instance >= 0 {
				rows[r.Instance] = append(rows[r.Instance], *r.Outcome)
			}
		}
		if _, err := Run(context.Background(), cfg); err != nil {
			t.Fatal(err)
		}
		sent := readRecording(t, &recording)
		for i, want := range rows {
			mail := sent[lookahead.FirstLeaf+lookahead.ProcessID(i)]
			slices.SortFunc(mail, func(a, b recorded) int {
				if a.stamp.Less(b.stamp) {
					return -1
				}
				return 1
			})
			var list []bareMail
			for _, m := range mail {
				list = append(list, m.mail(t))
			}
			got := bare(t, x, i, list, true)
			if d := (&yield{rows: got}).difference(&yield{rows: want}); d != "" {
				t.Fatalf("instance %d: %s\n%s", i, d, x.describe())
			}
		}
	})
}

// recorded is one message of a recording.
type recorded struct {
	stamp  lookahead.Stamp
	kind   int64
	fields []any
}

// readRecording reads [receiver, [source, [[at, class, seq, kind, fields…], …]]]
// until the end, by receiver.
func readRecording(t *testing.T, in io.Reader) map[lookahead.ProcessID][]recorded {
	mail := map[lookahead.ProcessID][]recorded{}
	d := msgpack.NewDecoder(in)
	for {
		v, err := d.DecodeInterface()
		if err == io.EOF {
			return mail
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, seen := v.([]any)[0].(string); seen {
			continue // what a decision saw
		}
		receiver, frame := lookahead.ProcessID(number(v.([]any)[0])), v.([]any)[1].([]any)
		for _, m := range frame[1].([]any) {
			f := m.([]any)
			mail[receiver] = append(mail[receiver], recorded{
				lookahead.Stamp{At: vtime.Time(number(f[0])), Class: uint8(number(f[1])), Source: uint32(number(frame[0])), Seq: uint64(number(f[2]))},
				number(f[3]), f[4:],
			})
		}
	}
}

// number is an integer in whatever width the library found it.
func number(v any) int64 {
	r := reflect.ValueOf(v)
	if r.CanUint() {
		return int64(r.Uint())
	}
	return r.Int()
}

// delivery reads the fields of message.go.
func (m *recorded) delivery(t *testing.T) engine.Delivery {
	if m.kind != int64(kindDelivery) || m.stamp.Class != vtime.ClassDelivery {
		t.Fatalf("an instance was sent kind %d at class %d", m.kind, m.stamp.Class)
	}
	f := m.fields
	arrival, labels := vtime.Time(number(f[1])), uint64(number(f[7]))
	d := engine.Delivery{Admitted: after(arrival, number(f[2])), Priority: f[8].(float64)}
	d.ID, d.Arrival, d.Input, d.Output = number(f[0]), arrival, int32(number(f[4])), int32(number(f[5]))
	setLabels(&d.Tags, labels)
	d.Deadline, d.MaxOutput = after(arrival, number(f[3])), int32(number(f[6]))
	if f = f[9:]; len(f) > 0 {
		d.Session, d.Round, d.OutputContent = uint64(number(f[0])), int32(number(f[1])), workload.ContentID(number(f[2]))
		d.Expected = int32(number(f[3]))
		f = f[4:]
	}
	for ; len(f) > 0; f = f[2:] {
		d.Spans = append(d.Spans, workload.Span{Content: workload.ContentID(number(f[0])), Length: int32(number(f[1]))})
	}
	return d
}

// bare drives an engine without a cluster: gives it its mail, then runs it to the end. With
// answered the mail has the answers of shared storage tiers, which otherwise are its own. The
// outcomes are in order of request number.
func bare(t *testing.T, x *trial, index int, mail []bareMail, answered bool) []metrics.Outcome {
	t.Helper()
	cfg, err := x.config()
	if err != nil {
		t.Fatal(err)
	}
	p, err := resolve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := &p.Config
	scheduler, err := policy.NewScheduler(c.Scheduler, []policy.Setting{{Name: "preemption", Value: c.PreemptionPolicy}}, policy.Env{})
	if err != nil {
		t.Fatal(err)
	}
	s := &outcomes{}
	d := &p.Pools[0].Server
	on := d.Engine()
	on.Scheduler, on.Sink, on.Cache = scheduler, s, kv.NewPool(int(d.Blocks), d.BlockSize, d.EnablePrefixCaching)
	if t := d.CPUTier; t != nil {
		t.AddTo(&on, kv.NewTier(t.TierConfig))
		for i := range d.Storage {
			if s := &d.Storage[i]; answered && s.Places(1) > 0 {
				on.Offload.Storage = append(on.Offload.Storage, mute{})
			} else {
				on.Offload.Storage = append(on.Offload.Storage, engine.NewStorageTier(s.Storage(kv.NewTier(s.TierConfig))))
			}
		}
	}
	e := engine.New(index, on)
	for _, m := range mail {
		if m.delivery == nil {
			e.Advance(m.at, vtime.ClassTransfer)
			e.Storage.Answer(m.answer, m.at)
			continue
		}
		e.Advance(m.at, vtime.ClassDelivery)
		e.Deliver(m.delivery, m.at)
	}
	e.Advance(vtime.Never, 255)
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(s.list, func(a, b metrics.Outcome) int { return int(a.ID - b.ID) })
	return s.list
}

// bareMail is what an engine gets by itself: a request, or the answer of a storage tier.
type bareMail struct {
	at       vtime.Time
	delivery *engine.Delivery
	answer   engine.StorageAnswer
}

// mute is a storage tier that answers by mail.
type mute struct{}

func (mute) Submit(*engine.StorageOp, vtime.Time) (engine.StorageAnswer, bool) {
	return engine.StorageAnswer{}, false
}

// mail is the message as what an engine gets.
func (m recorded) mail(t *testing.T) bareMail {
	if m.kind == int64(kindStorageAnswer) {
		f := m.fields
		return bareMail{at: m.stamp.At, answer: engine.StorageAnswer{Number: int32(number(f[0])), Entries: int32(number(f[1])), Start: vtime.Time(number(f[2])), Used: number(f[3]), End: m.stamp.At}}
	}
	d := m.delivery(t)
	return bareMail{at: m.stamp.At, delivery: &d}
}

// outcomes is an engine's sink that keeps outcomes.
type outcomes struct{ list []metrics.Outcome }

func (*outcomes) Group(workload.Label, workload.Label, vtime.Time) int { return 0 }
func (*outcomes) ITL(int, vtime.Duration, int)                         {}
func (s *outcomes) Done(o *metrics.Outcome, _ vtime.Time)              { s.list = append(s.list, *o) }
