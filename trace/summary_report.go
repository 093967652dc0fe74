package trace

// Report is a summary as facts and as text. Its JSON form has the fields in their
// order. Times and durations are whole µs, shares go from 0 to 1, and a value that
// does not exist is null. All strategies have the same facts; the strategy decides
// what the text says first. The types of the fields are exported for programs that
// read a report.
type Report struct {
	Schema     string       `json:"schema"` // blis.trace-summary/v1
	Strategy   Strategy     `json:"strategy"`
	Focus      []Area       `json:"focus"` // empty: what the strategy puts first
	TokenLimit int          `json:"token_limit"`
	Run        SummaryRun   `json:"run"`
	Records    RecordCounts `json:"records"`
	From       *int64       `json:"from_us"` // of the first and the last record after the header
	To         *int64       `json:"to_us"`

	Outcomes  OutcomeFacts   `json:"outcomes"`
	Issues    []Issue        `json:"issues"` // the most frequent first
	Compared  *Comparison    `json:"missed_and_met"`
	Decisions DecisionFacts  `json:"decisions"`
	Instances InstanceFacts  `json:"instances"`
	Regret    *RegretFacts   `json:"regret"` // null: the trace has no counterfactuals
	Patterns  PatternFacts   `json:"patterns"`
	Avoidable *AvoidableFact `json:"avoidable_misses"` // null: the trace does not say who had prefixes

	Text       string `json:"text"`
	TextTokens int    `json:"text_tokens"`         // characters/4, rounded up
	LeftOut    int    `json:"text_lines_left_out"` // to stay within TokenLimit
}

// SummaryRun is the run as the header of its trace describes it.
type SummaryRun struct {
	Level          string `json:"level"`
	Seed           uint64 `json:"seed"`
	Instances      int    `json:"instances"` // at the start
	Admission      string `json:"admission"`
	Priority       string `json:"priority"`
	Routing        string `json:"routing"`
	Scheduler      string `json:"scheduler"`
	Autoscale      string `json:"autoscale"`
	Counterfactual int    `json:"counterfactual_k"`
}

// OutcomeFacts is how requests ended.
type OutcomeFacts struct {
	Requests int64 `json:"requests"` // that have an outcome
	// WithoutOutcome is the number of requests that were delayed, admitted or
	// routed and had not ended when the trace ends.
	WithoutOutcome int64       `json:"without_outcome"`
	Ends           []Count     `json:"ends"` // by state and reason, in the order of states
	Classes        []ClassFact `json:"classes"`
}

// Count is the number of decisions or ends with one reason.
type Count struct {
	What   string `json:"what"`
	Reason string `json:"reason"` // empty: none given
	N      int64  `json:"n"`
}

// ClassFact counts the outcomes of a class. The classes beyond the first 64 are counted
// together, with Others set.
type ClassFact struct {
	Class     string       `json:"slo_class"`
	Others    bool         `json:"others"`
	Ended     int64        `json:"ended"`
	Completed int64        `json:"completed"`
	Judged    int64        `json:"judged"` // requests with targets
	Met       int64        `json:"met"`    // completed within all of them
	TTFT      *LatencyFact `json:"ttft"`   // null: no request has it
	TPOT      *LatencyFact `json:"tpot"`
	E2E       *LatencyFact `json:"e2e"`
}

// LatencyFact compares a latency with its target. Percentiles are by nearest rank
// and from a histogram: too low by less than 1/1024.
type LatencyFact struct {
	N      int64  `json:"n"`
	P50    int64  `json:"p50_us"`
	P90    int64  `json:"p90_us"`
	P99    int64  `json:"p99_us"`
	Max    int64  `json:"max_us"`    // exact
	Target *int64 `json:"target_us"` // of the class
	Beyond int64  `json:"beyond"`    // of N, exact; requests of tenants with targets of their own count by these
}

// Issue is something that went wrong.
type Issue struct {
	// Kind is slo (a latency beyond its target), ended (a state other than
	// completed), anomaly, preemption, hit_shortfall, delay, redirect or
	// unroutable.
	Kind     string    `json:"kind"`
	Name     string    `json:"name"`    // class and target, state and reason, name of the anomaly; else empty
	Count    int64     `json:"count"`   // requests, or records of the kind
	Of       *int64    `json:"of"`      // requests, or routings, to which it could have happened; null where that has no meaning
	Measure  string    `json:"measure"` // unit of the examples' values: latency_us, severity, tokens, delay_us; empty: they have none
	Sum      *float64  `json:"sum"`     // of the values where it has a meaning: tokens
	Examples []Example `json:"examples"`
}

// Example is one case of an issue. Those with the largest values are kept, or the
// first ones where there are no values.
type Example struct {
	At       int64    `json:"at_us"`
	Request  *int64   `json:"request"`
	Instance *int     `json:"instance"`
	Tenant   string   `json:"tenant"`
	Class    string   `json:"slo_class"`
	Value    *float64 `json:"value"`
}

// Comparison compares requests that missed their targets with requests that met
// them. It shows what occurs together, not what causes what.
type Comparison struct {
	Missed int64   `json:"missed"`
	Met    int64   `json:"met"`
	Traits []Trait `json:"traits"` // those that some request has
	// Over the requests that entered the wait queue of an instance.
	MissedQueueWait *float64 `json:"missed_mean_queue_wait_us"`
	MetQueueWait    *float64 `json:"met_mean_queue_wait_us"`
}

// Trait is a property that a request has or has not.
type Trait struct {
	// Name is not_completed, preempted, redirected, delayed, regret (of the
	// routing) or hit_shortfall.
	Name     string `json:"name"`
	Missed   int64  `json:"missed"`
	OfMissed int64  `json:"of_missed"` // requests of which it is known
	Met      int64  `json:"met"`
	OfMet    int64  `json:"of_met"`
}

// DecisionFacts counts the decisions by kind and reason, the most frequent first.
type DecisionFacts struct {
	Admission  []Count         `json:"admission"`
	Delays     int64           `json:"delays"`
	MeanDelay  *float64        `json:"mean_delay_us"`
	Priority   []PriorityFact  `json:"priority"` // by class
	Routing    []Count         `json:"routing"`  // Count.What is always route
	Forced     int64           `json:"forced"`
	Unroutable int64           `json:"unroutable"` // no instance was routable
	Redirects  int64           `json:"redirects"`  // routings of requests that had been routed before
	Scale      *ScaleFacts     `json:"scale"`      // null: never evaluated
	Preemption PreemptionFacts `json:"preemption"`
	Hits       *HitFacts       `json:"prefix_hits"` // null: nothing to compare
	Steps      *StepFacts      `json:"steps"`       // null: the trace has no batches
}

// PriorityFact holds the priorities that requests of a class were given.
type PriorityFact struct {
	Class  string  `json:"slo_class"`
	Others bool    `json:"others"`
	N      int64   `json:"n"`
	Min    float64 `json:"min"`
	Mean   float64 `json:"mean"`
	Max    float64 `json:"max"`
}

// ScaleFacts counts the scale checks: evaluations of the autoscaler.
type ScaleFacts struct {
	Evaluations int64         `json:"evaluations"`
	Up          int64         `json:"up"`
	Down        int64         `json:"down"`
	Bounded     int64         `json:"bounded"`     // the policy wanted another number than the bounds allow
	Reversals   int64         `json:"reversals"`   // changes in the other direction than the change before of the same pool
	NoCapacity  int64         `json:"no_capacity"` // times that no node had room for an instance that was wanted
	Reasons     []Count       `json:"reasons"`
	Changes     []ScaleChange `json:"changes"` // the first eight
}

// ScaleChange is a change of the number of instances.
type ScaleChange struct {
	At     int64  `json:"at_us"`
	Pool   string `json:"pool"` // empty: there is one pool
	From   int32  `json:"from"`
	To     int32  `json:"to"`
	Reason string `json:"reason"`
}

// PreemptionFacts counts the preemptions: first by outcomes of requests, then by
// preemption records, which only level detailed has.
type PreemptionFacts struct {
	Requests    int64 `json:"requests"` // that were preempted
	Repeatedly  int64 `json:"requests_repeatedly"`
	Preemptions int64 `json:"preemptions"` // of requests with an outcome
	Records     int64 `json:"records"`
	Tokens      int64 `json:"tokens_lost"` // that had been computed, by records
}

// HitFacts compare prompt tokens that the router expected in the prefix cache
// with those that were found, over the requests of which both are known.
type HitFacts struct {
	Requests    int64 `json:"requests"`
	Expected    int64 `json:"expected_tokens"`
	Found       int64 `json:"found_tokens"`
	Equal       int64 `json:"equal"`
	Fewer       int64 `json:"fewer"` // requests that found fewer than expected
	FewerTokens int64 `json:"fewer_tokens"`
	More        int64 `json:"more"`
	MoreTokens  int64 `json:"more_tokens"`
}

// StepFacts holds means over all steps.
type StepFacts struct {
	Steps         int64   `json:"steps"`
	MeanRunning   float64 `json:"mean_running"` // requests in the running list, per step
	MeanWaiting   float64 `json:"mean_waiting"`
	PrefillTokens float64 `json:"mean_prefill_tokens"`
	DecodeTokens  float64 `json:"mean_decode_tokens"`
}

// InstanceFacts is the work of each instance.
type InstanceFacts struct {
	N      int      `json:"n"`           // at the start, or named by a record
	Unused int      `json:"unused"`      // instances to which no request was routed
	Routed *Balance `json:"routed"`      // null: nothing was
	Input  *Balance `json:"input"`       // input tokens
	Worst  *Balance `json:"peak_of_bin"` // routings in one bin of time, of the instance and bin that exceed the mean of their bin the most

	List    []InstanceFact `json:"list"` // by requests routed, the most first; 20 at most
	LeftOut int            `json:"left_out"`
}

// Balance compares the instance with the largest number with the mean over all.
type Balance struct {
	Instance *int    `json:"instance"` // the largest; of equal ones the first
	From     *int64  `json:"from_us"`  // of the bin; null: the whole trace
	To       *int64  `json:"to_us"`
	Max      int64   `json:"max"`
	Total    int64   `json:"total"`
	Mean     float64 `json:"mean"` // over all instances
	Ratio    float64 `json:"max_over_mean"`
}

// InstanceFact holds the requests that one instance got, and their outcomes.
type InstanceFact struct {
	Instance    int      `json:"instance"`
	Routed      int64    `json:"routed"`
	Share       float64  `json:"share"` // of all that were routed
	Input       int64    `json:"input_tokens"`
	Ended       int64    `json:"ended"`
	Judged      int64    `json:"judged"`
	Met         int64    `json:"met"`
	HitRate     *float64 `json:"hit_rate"` // prompt tokens found in the prefix cache; null: nothing was looked up
	Preemptions int64    `json:"preemptions"`
	Anomalies   int64    `json:"anomalies"`
	Steps       int64    `json:"steps"`
	MeanRunning *float64 `json:"mean_running"` // per step; null without batches
	MeanWaiting *float64 `json:"mean_waiting"`
	MaxWaiting  *int64   `json:"max_waiting"`
	MaxBlocks   *int64   `json:"max_kv_used_blocks"`
}

// RegretFacts is the regret of the last routing decision of each request, except
// forced ones, which are not the policy's.
type RegretFacts struct {
	Decisions   int64         `json:"decisions"`
	Forced      int64         `json:"forced"`
	Unscored    int64         `json:"unscored"`   // without target or scores
	Superseded  int64         `json:"superseded"` // followed by another routing of their request
	None        int64         `json:"none"`       // without regret: the target had the best score
	Mean        float64       `json:"mean"`
	P50         float64       `json:"p50"` // by nearest rank and from a histogram: too low by less than 1/1024
	P90         float64       `json:"p90"`
	P99         float64       `json:"p99"`
	Max         float64       `json:"max"`
	ByInstance  []RegretShare `json:"by_instance"` // by the target; the largest share first, 20 at most
	ByClass     []RegretShare `json:"by_class"`
	ByTime      []RegretBin   `json:"by_time"` // in order of time, bins with decisions
	Worst       []Decision    `json:"worst"`   // by regret, then by request
	LeftOut     int           `json:"instances_left_out"`
	WithOutcome int64         `json:"with_outcome"` // decisions whose request has an outcome
}

// RegretShare is a part of the decisions and its share of the sum of all regret.
type RegretShare struct {
	Name   string  `json:"name"` // class, or index of the instance
	Others bool    `json:"others"`
	N      int64   `json:"n"`
	Mean   float64 `json:"mean"`
	Max    float64 `json:"max"`
	Share  float64 `json:"share"`
}

// RegretBin holds the decisions of a bin of time and their share of all regret.
type RegretBin struct {
	From  int64   `json:"from_us"`
	To    int64   `json:"to_us"` // exclusive
	N     int64   `json:"n"`
	Mean  float64 `json:"mean"`
	Max   float64 `json:"max"`
	Share float64 `json:"share"`
}

// Decision is a routing decision with what it saw and what came of it.
type Decision struct {
	At          int64       `json:"at_us"`
	Request     int64       `json:"request"`
	Tenant      string      `json:"tenant"`
	Class       string      `json:"slo_class"`
	Input       int32       `json:"input_tokens"`
	Target      int         `json:"target"`
	Reason      string      `json:"reason"`
	Score       *float64    `json:"score"`
	Best        *float64    `json:"best"`
	Regret      float64     `json:"regret"`
	ExpectedHit *int32      `json:"expected_hit_tokens"`
	Candidates  []Candidate `json:"candidates"`
	Outcome     *Ending     `json:"outcome"` // null: the request had not ended when the trace ends
}

// Ending is the outcome of the request of a decision.
type Ending struct {
	State     string `json:"state"`
	Instance  *int   `json:"instance"`
	TTFT      *int64 `json:"ttft_us"`
	E2E       *int64 `json:"e2e_us"`
	QueueWait *int64 `json:"queue_wait_us"`
	ActualHit *int32 `json:"actual_hit_tokens"`
	Preempted int32  `json:"preemptions"`
	SLOMet    *bool  `json:"slo_met"`
}

// PatternFacts is the course of time, and the traffic of classes and tenants.
type PatternFacts struct {
	BinWidth *int64      `json:"bin_width_us"` // null: no records
	Bins     []Bin       `json:"bins"`         // from the first to the last, 24 at most
	Classes  []GroupFact `json:"classes"`      // by requests, the most first; 20 at most
	Tenants  []GroupFact `json:"tenants"`
	// ClassesLeftOut and TenantsLeftOut are the numbers of those that are not
	// listed; all others beyond the limits of a summary count as one.
	ClassesLeftOut int `json:"classes_left_out"`
	TenantsLeftOut int `json:"tenants_left_out"`
	// Bursts are of the tenants during whose bursts others missed targets, the most
	// first; 20 at most. Tenants beyond the limits of a summary do not count.
	Bursts  []TenantBurst `json:"tenant_bursts"`
	Streaks []Streak      `json:"streaks"`
}

// Bin counts the events of a bin of time.
type Bin struct {
	From        int64    `json:"from_us"`
	To          int64    `json:"to_us"` // exclusive
	Asked       int64    `json:"asked"` // requests with their first admission decision
	Burst       bool     `json:"burst"` // Asked is more than twice the mean of all bins
	Rejected    int64    `json:"rejected"`
	Routed      int64    `json:"routed"`
	Redirected  int64    `json:"redirected"`
	Ended       int64    `json:"ended"`
	Judged      int64    `json:"judged"`
	Met         int64    `json:"met"`
	Preemptions int64    `json:"preemptions"`
	Anomalies   int64    `json:"anomalies"`
	ScaledUp    int64    `json:"scaled_up"`
	ScaledDown  int64    `json:"scaled_down"`
	Regret      *float64 `json:"mean_regret"` // of decisions in it; null: of none
}

// GroupFact holds the traffic and the outcomes of a class or a tenant.
type GroupFact struct {
	Name     string   `json:"name"`
	Asked    int64    `json:"asked"`
	Rejected int64    `json:"rejected"`
	Ended    int64    `json:"ended"`
	Judged   int64    `json:"judged"`
	Met      int64    `json:"met"`
	LateTTFT int64    `json:"late_ttft"` // beyond the target
	LateTPOT int64    `json:"late_tpot"`
	LateE2E  int64    `json:"late_e2e"`
	TTFT     *float64 `json:"mean_ttft_us"`
	Peak     *Peak    `json:"peak"` // null: no request
}

// Peak is the bin with the most new requests of a group; of equal ones the first.
type Peak struct {
	From  int64   `json:"from_us"`
	To    int64   `json:"to_us"`
	N     int64   `json:"n"`
	Mean  float64 `json:"mean"` // over all bins
	Ratio float64 `json:"n_over_mean"`
}

// Streak is the longest row of equal decisions; of equal rows the first.
type Streak struct {
	Kind     string `json:"kind"` // routed (to one instance), rejected
	Instance *int   `json:"instance"`
	N        int64  `json:"n"`
	From     int64  `json:"from_us"` // the first decision and the last
	To       int64  `json:"to_us"`
}
