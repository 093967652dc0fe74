package trace

// Lists of a report are no longer than that; what is beyond is a number.
const mostListed = 20

// InstanceFacts are the work of each instance.
type InstanceFacts struct {
	N      int      `json:"n"`           // at the start, or named by a record
	Unused int      `json:"unused"`      // that no request was routed to
	Routed *Balance `json:"routed"`      // null: nothing was
	Input  *Balance `json:"input"`       // input tokens
	Worst  *Balance `json:"peak_of_bin"` // routings in one bin of time, of the instance and bin that exceed the mean of their bin the most

	List    []InstanceFact `json:"list"` // by requests routed, the most first; 20 at most
	LeftOut int            `json:"left_out"`
}

// Balance is how far the largest of several is above their mean.
type Balance struct {
	Instance *int    `json:"instance"` // the largest; of equal ones the first
	From     *int64  `json:"from_us"`  // of the bin; null: the whole trace
	To       *int64  `json:"to_us"`
	Max      int64   `json:"max"`
	Total    int64   `json:"total"`
	Mean     float64 `json:"mean"` // over all instances
	Ratio    float64 `json:"max_over_mean"`
}

// InstanceFact is what one got, and what came of it.
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

// RegretFacts are of the last routing decision of each request. Decisions that
// were forced are not the policy's and not among them.
type RegretFacts struct {
	Decisions   int64       `json:"decisions"`
	Forced      int64       `json:"forced"`
	Unscored    int64       `json:"unscored"`   // without target or scores
	Superseded  int64       `json:"superseded"` // followed by another routing of their request
	None        int64       `json:"none"`       // chose a best candidate
	Mean        float64     `json:"mean"`
	P50         float64     `json:"p50"` // by nearest rank and from a histogram: too low by less than 1/1024
	P90         float64     `json:"p90"`
	P99         float64     `json:"p99"`
	Max         float64     `json:"max"`
	ByInstance  []Where     `json:"by_instance"` // by the target; the largest share first, 20 at most
	ByClass     []Where     `json:"by_class"`
	ByTime      []WhereTime `json:"by_time"` // in order of time, bins with decisions
	Worst       []Decision  `json:"worst"`   // by regret, then by request
	LeftOut     int         `json:"instances_left_out"`
	WithOutcome int64       `json:"with_outcome"` // decisions whose request has an outcome
}

// Where is a part of the decisions and its share of the sum of all regret.
type Where struct {
	Name   string  `json:"name"` // class, or index of the instance
	Others bool    `json:"others"`
	N      int64   `json:"n"`
	Mean   float64 `json:"mean"`
	Max    float64 `json:"max"`
	Share  float64 `json:"share"`
}

// WhereTime is the same of a bin of time.
type WhereTime struct {
	From  int64   `json:"from_us"`
	To    int64   `json:"to_us"` // not within
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
	Outcome     *Ending     `json:"outcome"` // null: the trace ends before
}

// Ending is what became of the request of a decision.
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

// PatternFacts are the course of time, and the traffic of classes and tenants.
type PatternFacts struct {
	BinWidth *int64      `json:"bin_width_us"` // null: no records
	Bins     []Bin       `json:"bins"`         // from the first to the last, 24 at most
	Classes  []GroupFact `json:"classes"`      // by requests, the most first; 20 at most
	Tenants  []GroupFact `json:"tenants"`
	// ClassesLeftOut and TenantsLeftOut are those beyond, "others" included.
	ClassesLeftOut int      `json:"classes_left_out"`
	TenantsLeftOut int      `json:"tenants_left_out"`
	Streaks        []Streak `json:"streaks"`
}

// Bin is what happened in a stretch of time.
type Bin struct {
	From        int64    `json:"from_us"`
	To          int64    `json:"to_us"` // not within
	Asked       int64    `json:"asked"` // requests whose first admission decision it was
	Burst       bool     `json:"burst"` // more than twice the mean of all bins
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

// GroupFact is a class or a tenant.
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
	Peak     *Peak    `json:"peak"` // null: asked for nothing
}

// Peak is the bin in which a group asked for the most; of equal ones the first.
type Peak struct {
	From  int64   `json:"from_us"`
	To    int64   `json:"to_us"`
	N     int64   `json:"n"`
	Mean  float64 `json:"mean"` // over all bins
	Ratio float64 `json:"n_over_mean"`
}

// Streak is the longest row of decisions that were alike; of equal ones the
// first.
type Streak struct {
	Kind     string `json:"kind"` // routed (to one instance), rejected
	Instance *int   `json:"instance"`
	N        int64  `json:"n"`
	From     int64  `json:"from_us"` // the first decision and the last
	To       int64  `json:"to_us"`
}
