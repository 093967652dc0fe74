package race

// Result is where a race stands.
type Result struct {
	// Selected is the system with the best mean of those that are in, the first
	// of equal ones. −1 before the first replicate of a race of several systems,
	// and where every system failed.
	Selected int

	// Decided: the race ended by its rule, so that its promise holds. False
	// while it goes on, at the limit of replicates, and where every system failed.
	Decided bool

	In         []int      // systems that are in, rising
	Systems    []Standing // all
	Replicates int        // observed so far
	Runs       int        // sum over systems
	Saved      int        // runs that it would have taken more had every system stayed to the end

	// AtMost bounds the replicates at the end, without MaxReplicates. 0 before the
	// end of the first stage.
	AtMost int
}

// Standing is where one system stands.
type Standing struct {
	Runs   int     // with a value
	Mean   float64 // of these; 0 without any
	Out    int     // replicates that had been observed when it left; 0: it is in
	By     int     // the system that eliminated it; −1 where it is in or failed
	Failed bool    // it left because a run of it had no value
}

// Result says where the race stands. It may be asked at any time.
func (r *Race) Result() Result {
	result := Result{Selected: -1, Decided: r.decided, In: append([]int{}, r.in...), Replicates: r.rounds, Runs: r.runs,
		Saved: r.rounds*len(r.systems) - r.runs, AtMost: r.atMost}
	for _, s := range r.systems {
		standing := Standing{Runs: s.runs, Out: s.out, By: -1, Failed: s.failed}
		if s.runs > 0 {
			standing.Mean = r.asHigher(s.mean())
		}
		if s.out > 0 && !s.failed {
			standing.By = s.by
		}
		result.Systems = append(result.Systems, standing)
	}
	for _, i := range r.in {
		s := r.systems[i]
		if len(r.in) == 1 || s.runs > 0 && (result.Selected < 0 || s.mean() > r.systems[result.Selected].mean()) {
			result.Selected = i
		}
	}
	return result
}
