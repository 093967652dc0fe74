package trace

import (
	"fmt"

	"blis/suggest"
	"blis/vtime"
)

// Schema names the form of a trace.
const Schema = "blis.trace/v1"

// Record is one decision or event: a *Header, *Admission,
// *Priority, *Routing, *Disaggregation, *Scale, *Batch, *Preemption, *Transfer, *Failure, *Anomaly or *Outcome. Its
// JSON form has its fields in their order, times and durations in whole µs, and
// null for missing values; lists with omitempty are left out when they are empty. AppendJSON prints it, not encoding/json,
// which would print durations in words.
type Record interface {
	Kind() string // the record's type

	// From the fields of the struct: record_methods.go.
	appendJSON(b []byte) []byte
	finite() bool // all floats are
	when() vtime.Time
}

// Consumer takes the records of a run in order of time: first the header.
// Records are valid during the call.
type Consumer interface {
	Consume(Record) error
}

// Level is how much a trace holds.
type Level uint8

// Levels.
const (
	None      Level = iota // nothing; costs nothing
	Decisions              // admission, priority, routing, disaggregation, scale, failures, and the outcomes of requests
	Detailed               // batches, preemptions, transfers, anomalies and all snapshots too
)

var levelNames = [...]string{"none", "decisions", "detailed"}

// String is the name of the level in files and flags.
func (l Level) String() string { return levelNames[l] }

// ParseLevel is the level of that name. The error names the nearest.
func ParseLevel(text string) (Level, error) {
	for l, name := range levelNames {
		if text == name {
			return Level(l), nil
		}
	}
	return None, fmt.Errorf("%q is no trace level%s: want none, decisions or detailed", text, suggest.Hint(text, levelNames[:]))
}

// Header is the first record. It describes the run of the others.
type Header struct {
	Type           string         `json:"type"` // header
	Schema         string         `json:"schema"`
	Level          string         `json:"level"`
	Seed           uint64         `json:"seed"`
	Instances      int            `json:"instances"` // at the start
	Admission      string         `json:"admission"` // names of the policies
	Priority       string         `json:"priority"`
	Routing        string         `json:"routing"`
	Scheduler      string         `json:"scheduler"`
	Autoscale      string         `json:"autoscale"`
	Counterfactual int            `json:"counterfactual_k"`
	Targets        []ClassTargets `json:"slo_targets"` // of classes that have any
}

// ClassTargets are the SLO targets of a class in µs, null: none. Those of the
// class "" are for every class that is not named; those of a tenant for its requests in
// place of those of their classes.
type ClassTargets struct {
	Class  string          `json:"slo_class"`
	Tenant string          `json:"tenant"` // empty: of a class
	TTFT   *vtime.Duration `json:"ttft_us"`
	TPOT   *vtime.Duration `json:"tpot_us"`
	E2E    *vtime.Duration `json:"e2e_us"`
}

// Admission is an admission decision. A request that is delayed has several.
type Admission struct {
	Type    string          `json:"type"` // admission
	At      vtime.Time      `json:"at_us"`
	Request int64           `json:"request"`
	Tenant  string          `json:"tenant"`
	Class   string          `json:"slo_class"`
	Input   int32           `json:"input_tokens"`
	Verdict string          `json:"verdict"`  // admit, reject, delay
	Reason  string          `json:"reason"`   // empty: none given
	Delay   *vtime.Duration `json:"delay_us"` // of a delay
}

// Priority is the priority that a request was given.
type Priority struct {
	Type     string     `json:"type"` // priority
	At       vtime.Time `json:"at_us"`
	Request  int64      `json:"request"`
	Class    string     `json:"slo_class"`
	Priority float64    `json:"priority"`
	Hints    []Hint     `json:"hints,omitempty"` // of policies that give any
}

// Hint is a number that the priority policy gave of a request besides its priority.
type Hint struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Routing is a routing decision.
type Routing struct {
	Type     string     `json:"type"` // routing
	At       vtime.Time `json:"at_us"`
	Request  int64      `json:"request"`
	Tenant   string     `json:"tenant"`
	Class    string     `json:"slo_class"`
	Input    int32      `json:"input_tokens"`
	Priority float64    `json:"priority"`
	Hints    []Hint     `json:"hints,omitempty"` // as those of Priority
	Pool     string     `json:"pool"`            // among whose instances: prefill, or chat/prefill of a deployment; empty: there is one pool
	Target   *int       `json:"target"`          // index of the instance; null: none was routable
	Reason   string     `json:"reason"`
	Forced   bool       `json:"forced"` // the target is not the policy's choice (--force-routing)

	// Score is the score of the target, Best the largest of a routable instance,
	// Regret max(0, Best − Score): null without counterfactuals. Policies that
	// do not score are given −effective load.
	Score  *float64 `json:"score"`
	Best   *float64 `json:"best"`
	Regret *float64 `json:"regret"`
	// ExpectedHit is how many prompt tokens the router's prefix index expects
	// the target to have cached; null without an index.
	ExpectedHit *int32 `json:"expected_hit_tokens"`

	// Candidates are the routable instances by score, the best first, then by
	// index: as many as --counterfactual-k.
	Candidates []Candidate `json:"candidates"`
	// FilteredOut are the routable instances that filters of the policy left out, ascending: they are no candidates.
	FilteredOut []int `json:"filtered_out"`
	// Held is who has the beginning of the prompt in its prefix cache; null where that is
	// of no use: no prefixes are cached, or others compute the prompt.
	Held *Held `json:"held"`

	// Snapshots are all instances as the decision saw them, Prefix is what the prompt
	// begins with, State what the router counts; null below detailed.
	Snapshots *Snapshots   `json:"snapshots"`
	Prefix    *Prefix      `json:"prefix"` // null too without content that other prompts may have
	State     *RouterState `json:"router_state"`
}

// Held is how many prompt tokens the caches of instances are expected to have at a
// decision: whole blocks from the start, and not the last token, which is always computed.
type Held struct {
	Target   int32 `json:"target_tokens"` // of the target; 0 without one
	Most     int32 `json:"most_tokens"`   // of the routable instance with the most
	Instance *int  `json:"most_at"`       // that instance, of several the first; null: none has a block
}

// Prefix names what a prompt begins with, as KV events do: each block has a key that stands
// for it and all before it, in 16 hexadecimal digits.
type Prefix struct {
	Blocks int32  `json:"blocks"` // full blocks whose content other prompts may have, at least 1
	First  string `json:"first"`  // key of the first block: prompts with the same one share it
	Last   string `json:"last"`   // key of the last one: prompts with the same one share all
}

// RouterState is what the router counts when it decides, the present request included. What the
// policies of the run do not read is null.
type RouterState struct {
	Arrived        int64    `json:"arrived"`
	Admitted       int64    `json:"admitted"`
	Rejected       int64    `json:"rejected"`
	Active         *int64   `json:"active"` // admitted and not known to have ended
	Rate           *float64 `json:"rate"`   // arrivals per second over the last 10 s
	TenantActive   *int64   `json:"tenant_active"`
	TenantRequests *int64   `json:"tenant_requests"` // that arrived
	TenantRate     *float64 `json:"tenant_rate"`
	TenantBurst    *bool    `json:"tenant_burst"` // its rate is above three times its mean
}

// Disaggregation is a step of a request whose prompt and output may be of two instances.
type Disaggregation struct {
	Type    string     `json:"type"` // disaggregation
	At      vtime.Time `json:"at_us"`
	Event   string     `json:"event"` // prefill: an instance computes the prompt for another one; alone: one does both; hand_over: the prompt is computed; expired: its KV was not pulled in time
	Request int64      `json:"request"`
	// Reason is, of prefill and alone, the decider, or why it was not asked: resumed, a request that has
	// tokens since an instance gave it back, or was lost with it; no_output; no_prefill_instance. Else empty.
	Reason      string `json:"reason"`
	Input       int32  `json:"input_tokens"`        // 0 of expired
	ExpectedHit *int32 `json:"expected_hit_tokens"` // in the cache of the decode instance; null: none is chosen, or no index
	Prefill     *int   `json:"prefill"`             // index of the instance that computes the prompt; null: none
	Decode      *int   `json:"decode"`              // index of the one that decodes; null: not chosen yet, or not known of expired
	Blocks      *int32 `json:"blocks"`              // held for the pull, of hand_over and expired
}

// Candidate is an instance that a routing decision could have chosen, as it saw
// it. Signals that the run does not read are null.
type Candidate struct {
	Instance   int         `json:"instance"`
	Score      float64     `json:"score"`
	Breakdown  []Breakdown `json:"breakdown"` // by scorer, in their order; empty from policies that do not score
	QueueDepth *int32      `json:"queue_depth"`
	BatchSize  *int32      `json:"batch_size"`
	InFlight   *int32      `json:"in_flight"`
	UsedBlocks *int64      `json:"kv_used_blocks"`
}

// Breakdown is the share of one scorer in a score: weight · score.
type Breakdown struct {
	Scorer string  `json:"scorer"`
	Share  float64 `json:"share"`
}

// Snapshots are signals of all instances, one list per signal in the order of
// instances; null for signals that the run does not read.
type Snapshots struct {
	Routable   []bool  `json:"routable"`
	QueueDepth []int32 `json:"queue_depth"`
	BatchSize  []int32 `json:"batch_size"`
	InFlight   []int32 `json:"in_flight"`
	UsedBlocks []int64 `json:"kv_used_blocks"`
}

// NoCapacity is the action of a Scale when no node has room for an instance that is wanted. From and
// Ready are then the instances that start, warm or serve, To and Wanted those that are wanted.
const NoCapacity = "no_capacity"

// Scale is an evaluation of the autoscaler, or what came of one.
type Scale struct {
	Type   string     `json:"type"` // scale
	At     vtime.Time `json:"at_us"`
	Pool   string     `json:"pool"`   // as that of a routing decision
	Action string     `json:"action"` // hold, up, down: after bounds; NoCapacity
	From   int32      `json:"from"`   // instances that start, warm or serve
	To     int32      `json:"to"`
	Wanted int32      `json:"wanted"` // by the policy, before bounds
	Ready  int32      `json:"ready"`  // loaded and in service
	Reason string     `json:"reason"`
}

// Batch is one step of an instance, as it was formed.
type Batch struct {
	Type          string     `json:"type"` // batch
	At            vtime.Time `json:"at_us"`
	Instance      int        `json:"instance"`
	Running       int32      `json:"running"` // requests in the running list
	Waiting       int32      `json:"waiting"` // in the wait queue after admission to the batch
	PrefillTokens int32      `json:"prefill_tokens"`
	DecodeTokens  int32      `json:"decode_tokens"`
	UsedBlocks    int64      `json:"kv_used_blocks"`
	End           vtime.Time `json:"end_us"`
}

// Preemption is a running request that loses its KV blocks.
type Preemption struct {
	Type     string     `json:"type"` // preemption
	At       vtime.Time `json:"at_us"`
	Instance int        `json:"instance"`
	Request  int64      `json:"request"`  // the victim
	For      int64      `json:"for"`      // the request that needed blocks
	Computed int32      `json:"computed"` // tokens of the victim that were in the cache
	Free     int32      `json:"free_blocks"`
}

// Transfer is a transfer of KV between two tiers, when it is noticed.
type Transfer struct {
	Type      string     `json:"type"` // kv_transfer
	At        vtime.Time `json:"at_us"`
	Instance  int        `json:"instance"`
	Request   int64      `json:"request"`
	Reason    string     `json:"reason"` // offload, reload, promotion, pd
	From      string     `json:"from"`   // gpu, cpu, or the name of a storage tier; of pd, of an instance
	To        string     `json:"to"`
	Blocks    int32      `json:"blocks"` // of the GPU
	Bytes     int64      `json:"bytes"`
	Submitted vtime.Time `json:"submitted_us"`
	Start     vtime.Time `json:"start_us"`
	End       vtime.Time `json:"end_us"`
	Noticed   vtime.Time `json:"noticed_us"` // behind At where the worker first waits for the stores of a victim
}

// Failure is something that happens to an instance that fails, or to a request because of it.
type Failure struct {
	Type     string     `json:"type"` // failure
	At       vtime.Time `json:"at_us"`
	Event    string     `json:"event"`    // crash, repair, slow, slow_end, link, link_end; down, up: the router knows; cut_off, retry: of a request
	Instance *int       `json:"instance"` // null of a retry: no instance has it
	Request  *int64     `json:"request"`  // of cut_off and retry, else null
	Retries  *int32     `json:"retries"`  // times that the request was tried again before, else null
	Pool     string     `json:"pool"`     // of the instance, chat/decode; empty without one, and in a run of one pool
}

// Anomaly is an anomaly of package metrics at the instant at which it is counted.
type Anomaly struct {
	Type     string     `json:"type"` // anomaly
	At       vtime.Time `json:"at_us"`
	Name     string     `json:"name"`
	Detail   string     `json:"detail"`   // slo_violation: the target, ttft, tpot or e2e; else empty
	Instance *int       `json:"instance"` // null: of the control plane
	Requests []int64    `json:"requests"` // concerned, first the one that suffers; empty: it concerns no requests
	Severity float64    `json:"severity"` // in the unit that docs/traces.md gives for its name
}

// Outcome is the end of a request, at the instant at which the router can know of it.
type Outcome struct {
	Type      string          `json:"type"` // outcome
	At        vtime.Time      `json:"at_us"`
	Request   int64           `json:"request"`
	State     string          `json:"state"`
	Reason    string          `json:"reason"`
	Instance  *int            `json:"instance"`
	Tenant    string          `json:"tenant"`
	Class     string          `json:"slo_class"`
	Arrival   vtime.Time      `json:"arrival_us"`
	TTFT      *vtime.Duration `json:"ttft_us"`
	TPOT      *vtime.Duration `json:"tpot_us"`
	E2E       *vtime.Duration `json:"e2e_us"`
	QueueWait *vtime.Duration `json:"queue_wait_us"`
	ActualHit *int32          `json:"actual_hit_tokens"` // prompt tokens found in the prefix cache; null: never scheduled
	Expected  *int32          `json:"expected_hit_tokens"`
	Tier      *string         `json:"tier"` // the lowest that some were found in: gpu, cpu, storage; null: none were
	Generated int32           `json:"output_tokens"`
	Preempted int32           `json:"preemptions"`
	SLOMet    *bool           `json:"slo_met"` // null: neither its tenant nor its class has targets
}

// Kind implements Record.
func (*Header) Kind() string { return "header" }

// Kind implements Record.
func (*Admission) Kind() string { return "admission" }

// Kind implements Record.
func (*Priority) Kind() string { return "priority" }

// Kind implements Record.
func (*Routing) Kind() string { return "routing" }

// Kind implements Record.
func (*Scale) Kind() string { return "scale" }

// Kind implements Record.
func (*Batch) Kind() string { return "batch" }

// Kind implements Record.
func (*Preemption) Kind() string { return "preemption" }

// Kind implements Record.
func (*Transfer) Kind() string { return "kv_transfer" }

// Kind implements Record.
func (*Disaggregation) Kind() string { return "disaggregation" }

// Kind implements Record.
func (*Failure) Kind() string { return "failure" }

// Kind implements Record.
func (*Anomaly) Kind() string { return "anomaly" }

// Kind implements Record.
func (*Outcome) Kind() string { return "outcome" }
