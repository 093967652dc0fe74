package policy

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"blis/vtime"
)

// Signals is a set of things that a policy may read of the instances.
type Signals uint32

// All signals. A policy's Observes is a union of them; the lookahead of a run
// follows from what its policies declare.
const (
	InFlight   Signals = 1 << iota // the router's own count per instance
	QueueDepth                     // length of the wait queue, with preempted requests
	BatchSize                      // length of the running list
	KVUse                          // used and free blocks
	// Active is what the router hears of requests that end: the numbers of active
	// requests, of a tenant and in all, and completions per second.
	Active
	// Rates are arrival rates and bursts, of a tenant and in all. The router
	// counts arrivals itself, so a run does not wait for them.
	Rates
	HitRate       // prefix cache hits, cumulative
	RecentLatency // TTFT and TPOT of the last completions
	// Prefixes is the part of the present prompt that each instance is expected
	// to have cached: the router's own knowledge, unless its index follows events.
	Prefixes
	// EstimatedWait is the number of tokens that wait to be prefilled on an
	// instance, and the speed of its last prefills.
	EstimatedWait
	// ClassLatency is what the router hears of the last requests of each SLO
	// class: latencies and attained targets.
	ClassLatency
	CPUKVUse        // used entries of the CPU tier
	TransferQueue   // transfers to and from the CPU tier under way, as far as the instance noticed
	PendingOffloads // stores to the CPU tier that are chosen and not submitted
	StorageKVUse    // used entries of the storage tiers, as of the last answers that the instance noticed

	NoSignals Signals = 0
)

// OwnSignals are the signals that RegisterSignal can return.
const OwnSignals Signals = (1<<MaxOwnSignals - 1) << firstOwn

// MaxOwnSignals is the number of signals that other modules can add.
const MaxOwnSignals = 8

const firstOwn = 16 // the bit of the first of OwnSignals

// MaxSignals is above the bit of any signal.
const MaxSignals = firstOwn + MaxOwnSignals

// InstanceState is what an instance can say of itself at one time. Counts are since
// the start of the run.
type InstanceState struct {
	Waiting, Running int64 // requests in the wait queue, preempted ones included, and in the running list
	Used             int64 // KV blocks that requests hold
	Service

	// For signals of other modules.
	Blocks      int64 // KV blocks that there are
	TierEntries int64 // entries that the CPU tier has room for
	Preemptions int64

	Own [MaxOwnSignals]float64 // values of the signals of other modules
}

// Service is what the router knows of how one instance serves. It changes slowly
// and is apart from Slot, so that slots stay short.
type Service struct {
	CachedTokens, LookedUpTokens int64 // prompt tokens found in the prefix cache, and looked up, at first admissions
	// Sums of TTFT and TPOT in µs, over the last RecentCompletions completed
	// requests, and the numbers of those that have a TTFT and a TPOT.
	TTFT, TPOT   int64
	TTFTs, TPOTs int64
	// The numbers of those requests whose tenant or class has targets, and of those that
	// met every target.
	Judged, Attained int64
	// Tokens of waiting requests that are to be prefilled; tokens prefilled in
	// the last steps that prefilled any, and the µs that these steps took.
	WaitingTokens, PrefillTokens, PrefillMicros int64
	// Of the CPU tier, 0 without one: entries in use; stores and loads that were
	// submitted and whose end the instance has not noticed; stores that are chosen and
	// not submitted.
	TierUsed, Stores, Loads, ChosenStores int64
	// Entries in use of the storage tiers, as of the last answer of each that the
	// instance noticed.
	StorageUsed int64
}

func (s *Service) hitRate() float64 { return mean(s.CachedTokens, s.LookedUpTokens) }

// mean returns sum/n, 0 for n = 0.
func mean(sum, n int64) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}

// RecentCompletions is the number of completed requests that recent latencies are
// about.
const RecentCompletions = 100

// Signal is a row of the table of signals. The first six columns hold for signals
// that instances publish alone.
type Signal struct {
	Bit  Signals
	Name string // in messages
	// Key is the name of its cadence in the section observability of a bundle;
	// empty: instances do not publish it.
	Key string
	// Every is the interval of its refreshes in a bundle that says nothing of it;
	// 0: it is always fresh.
	Every vtime.Duration
	// EveryStep says that it changes with every step. Other signals change only
	// when a request is queued, scheduled, preempted or ends.
	EveryStep bool

	numbers []numberOf // that it consists of
	own     int        // index in InstanceState.Own, of a signal of another module
	value   func(*InstanceState) float64
}

// numberOf says where an InstanceState has one number of a signal.
type numberOf func(*InstanceState) *int64

// signalTable has a row for each signal of this package, in the order of the bits.
// A new signal that instances publish is a constant above, a row here, a field of
// Service that engine.State fills in, a method of View below that reads it, and a row
// of docs/policies.md.
var signalTable = []Signal{
	{Bit: InFlight, Name: "in-flight"},
	{Bit: QueueDepth, Name: "queue depth", Key: "queue_depth", numbers: []numberOf{
		func(s *InstanceState) *int64 { return &s.Waiting }}},
	{Bit: BatchSize, Name: "batch size", Key: "batch_size", numbers: []numberOf{
		func(s *InstanceState) *int64 { return &s.Running }}},
	{Bit: KVUse, Name: "KV use", Key: "kv_utilization", EveryStep: true, numbers: []numberOf{
		func(s *InstanceState) *int64 { return &s.Used }}},
	{Bit: Active, Name: "active requests"},
	{Bit: Rates, Name: "arrival rates"},
	{Bit: HitRate, Name: "cache hit rate", Key: "cache_hit_rate", Every: 10 * vtime.Millisecond, numbers: []numberOf{
		func(s *InstanceState) *int64 { return &s.CachedTokens },
		func(s *InstanceState) *int64 { return &s.LookedUpTokens }}},
	{Bit: RecentLatency, Name: "recent latency", Key: "recent_latency", Every: 100 * vtime.Millisecond, numbers: []numberOf{
		func(s *InstanceState) *int64 { return &s.TTFT }, func(s *InstanceState) *int64 { return &s.TTFTs },
		func(s *InstanceState) *int64 { return &s.TPOT }, func(s *InstanceState) *int64 { return &s.TPOTs },
		func(s *InstanceState) *int64 { return &s.Judged }, func(s *InstanceState) *int64 { return &s.Attained }}},
	{Bit: Prefixes, Name: "expected prefix hits"},
	{Bit: EstimatedWait, Name: "estimated wait", Key: "estimated_wait", EveryStep: true, numbers: []numberOf{
		func(s *InstanceState) *int64 { return &s.WaitingTokens },
		func(s *InstanceState) *int64 { return &s.PrefillTokens },
		func(s *InstanceState) *int64 { return &s.PrefillMicros }}},
	{Bit: ClassLatency, Name: "latency by class"},
	{Bit: CPUKVUse, Name: "CPU KV use", Key: "cpu_kv_utilization", EveryStep: true, numbers: []numberOf{
		func(s *InstanceState) *int64 { return &s.TierUsed }}},
	{Bit: TransferQueue, Name: "transfer queue", Key: "transfer_queue", EveryStep: true, numbers: []numberOf{
		func(s *InstanceState) *int64 { return &s.Stores },
		func(s *InstanceState) *int64 { return &s.Loads }}},
	{Bit: PendingOffloads, Name: "pending offloads", Key: "pending_offloads", EveryStep: true, numbers: []numberOf{
		func(s *InstanceState) *int64 { return &s.ChosenStores }}},
	{Bit: StorageKVUse, Name: "storage KV use", Key: "storage_kv_utilization", EveryStep: true, numbers: []numberOf{
		func(s *InstanceState) *int64 { return &s.StorageUsed }}},
}

// SignalTable returns the rows of all signals, those of other modules last. The
// caller must not change them.
func SignalTable() []Signal { return signalTable }

// published and stepSignals are sets of rows with a Key, and of those among them
// with EveryStep.
var published, stepSignals = signalSets()

func signalSets() (published, steps Signals) {
	for i := range signalTable {
		if r := &signalTable[i]; r.Key != "" {
			published |= r.Bit
			if r.EveryStep {
				steps |= r.Bit
			}
		}
	}
	return published | OwnSignals, steps | OwnSignals
}

// Published returns the signals that instances publish.
func (s Signals) Published() Signals { return s & published }

// EveryStep returns the signals among the published ones that change with every
// step.
func (s Signals) EveryStep() Signals { return s & stepSignals }

// SignalNamed returns the published signal of that name in bundles, NoSignals if
// there is none.
func SignalNamed(name string) Signals {
	for i := range signalTable {
		if r := &signalTable[i]; r.Key == name && name != "" {
			return r.Bit
		}
	}
	return NoSignals
}

// Evaluate computes the values of the signals of other modules among signals from
// the rest of s.
func (s *InstanceState) Evaluate(signals Signals) {
	for i := range signalTable {
		r := &signalTable[i]
		if r.value == nil || signals&r.Bit == 0 {
			continue
		}
		x := r.value(s)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			panic(fmt.Sprintf("policy: the signal %q is %v: want a finite number", r.Name, x))
		}
		s.Own[r.own] = x
	}
}

// Copy copies the numbers of signals from another state.
func (s *InstanceState) Copy(from *InstanceState, signals Signals) {
	for i := range signalTable {
		r := &signalTable[i]
		if signals&r.Bit == 0 {
			continue
		}
		for _, n := range r.numbers {
			*n(s) = *n(from)
		}
		if r.value != nil {
			s.Own[r.own] = from.Own[r.own]
		}
	}
}

// String lists the signals of the set, or says "nothing".
func (s Signals) String() string {
	if s == NoSignals {
		return "nothing"
	}
	var names []string
	for i := range signalTable {
		if r := &signalTable[i]; s&r.Bit != 0 {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}

// How policies read signals of a view. A build with the tag debug checks that the
// policy declared what it reads.

// QueueDepth returns the length of the wait queue of instance i, with preempted
// requests, without those that are still in their queueing delay.
func (v *View) QueueDepth(i int) int64 {
	if checkReads {
		v.check(QueueDepth)
	}
	return int64(v.slots[i].Queue)
}

// BatchSize returns the length of the running list of instance i.
func (v *View) BatchSize(i int) int64 {
	if checkReads {
		v.check(BatchSize)
	}
	return int64(v.slots[i].Batch)
}

// InFlight returns the router's count of requests that it sent to instance i and
// that have not ended as far as it knows.
func (v *View) InFlight(i int) int64 {
	if checkReads {
		v.check(InFlight)
	}
	return int64(v.slots[i].InFlight)
}

// effectiveLoad is the set of signals behind View.Load.
const effectiveLoad = QueueDepth | BatchSize | InFlight

// Load is the effective load of instance i: queue depth + batch size +
// in-flight. A queued or running request counts twice, as in the public
// simulator.
func (v *View) Load(i int) int64 {
	if checkReads {
		v.check(effectiveLoad)
	}
	return v.slots[i].load()
}

// UsedBlocks returns the number of KV blocks in use on instance i.
func (v *View) UsedBlocks(i int) int64 {
	if checkReads {
		v.check(KVUse)
	}
	return v.slots[i].Used
}

// TotalBlocks returns the number of KV blocks of instance i.
func (v *View) TotalBlocks(i int) int64 {
	if checkReads {
		v.check(KVUse)
	}
	return v.slots[i].Total
}

// FreeSeqs returns the number of requests that the running list of instance i has
// room for. It is part of the signal BatchSize.
func (v *View) FreeSeqs(i int) int64 {
	if checkReads {
		v.check(BatchSize)
	}
	return max(0, int64(v.MaxNumSeqs)-int64(v.slots[i].Batch))
}

// FreeTokens returns the number of tokens that the free KV blocks of instance i
// have room for. It is part of the signal KVUse.
func (v *View) FreeTokens(i int) int64 {
	if checkReads {
		v.check(KVUse)
	}
	return (v.slots[i].Total - v.slots[i].Used) * int64(v.BlockSize)
}

// EstimatedWait returns the µs that the prompts which wait on instance i take to be
// prefilled: their tokens over the rate of the last steps that prefilled anything,
// whatever else these did. It is 0 when nothing waits, and before the first
// prefill.
func (v *View) EstimatedWait(i int) float64 {
	if checkReads {
		v.check(EstimatedWait)
	}
	s := &v.services[i]
	if s.PrefillTokens == 0 {
		return 0
	}
	return float64(float64(s.WaitingTokens) * (float64(s.PrefillMicros) / float64(s.PrefillTokens)))
}

// HitRate returns the share of prompt tokens of instance i that were found in its
// prefix cache so far, 0 before the first was looked up.
func (v *View) HitRate(i int) float64 {
	if checkReads {
		v.check(HitRate)
	}
	return v.services[i].hitRate()
}

// RecentTTFT returns the mean TTFT in µs of the last RecentCompletions requests that
// completed on instance i, 0 before the first.
func (v *View) RecentTTFT(i int) float64 {
	if checkReads {
		v.check(RecentLatency)
	}
	s := &v.services[i]
	return mean(s.TTFT, s.TTFTs)
}

// RecentTPOT returns the mean TPOT in µs of the requests among these that have one.
func (v *View) RecentTPOT(i int) float64 {
	if checkReads {
		v.check(RecentLatency)
	}
	s := &v.services[i]
	return mean(s.TPOT, s.TPOTs)
}

// RecentAttainment returns the number of these requests whose tenant or class has targets,
// and the share of them that met every target.
func (v *View) RecentAttainment(i int) (share float64, of int64) {
	if checkReads {
		v.check(RecentLatency)
	}
	s := &v.services[i]
	return mean(s.Attained, s.Judged), s.Judged
}

// Value returns the value on instance i of a signal that RegisterSignal returned, 0
// before it was shown.
func (v *View) Value(s Signals, i int) float64 {
	if checkReads {
		v.check(s)
	}
	if i >= len(v.own) {
		return 0
	}
	return v.own[i][bits.TrailingZeros32(uint32(s))-firstOwn]
}
