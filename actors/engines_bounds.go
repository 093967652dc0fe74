package actors

import (
	"blis/engine"
	"blis/vtime"
)

// What the engines of an instance say of their future.

// firstEnd is Engine.FirstEnd.
func (s *engines) firstEnd() vtime.Time {
	if s.ranks != nil {
		return s.ranks.FirstEnd()
	}
	return s.engine.FirstEnd()
}

// firstChange is Engine.FirstChange.
func (s *engines) firstChange() (vtime.Time, uint8) {
	if s.ranks != nil {
		return s.ranks.FirstChange()
	}
	return s.engine.FirstChange()
}

// firstStepState is Engine.FirstStepState.
func (s *engines) firstStepState(lengths bool) vtime.Time {
	if s.ranks != nil {
		return s.ranks.FirstStepState(lengths)
	}
	return s.engine.FirstStepState(lengths)
}

// firstPrefilled is PullPort.FirstPrefilled.
func (s *engines) firstPrefilled() vtime.Time {
	if s.ranks != nil {
		return s.ranks.FirstPrefilled()
	}
	return s.engine.Pulls.FirstPrefilled()
}

// firstPull is PullPort.FirstPull.
func (s *engines) firstPull() vtime.Time {
	if s.ranks != nil {
		return s.ranks.FirstPull()
	}
	return s.engine.Pulls.FirstPull()
}

// firstReleased is PullPort.FirstReleased.
func (s *engines) firstReleased() vtime.Time {
	if s.ranks != nil {
		return s.ranks.FirstReleased()
	}
	return s.engine.Pulls.FirstReleased()
}

// firstLeft is PullPort.FirstLeft.
func (s *engines) firstLeft() vtime.Time {
	if s.ranks != nil {
		return s.ranks.FirstLeft()
	}
	return s.engine.Pulls.FirstLeft()
}

// firstFailed is PullPort.FirstFailed.
func (s *engines) firstFailed() vtime.Time {
	if s.ranks != nil {
		return engine.FirstFailed(s.ranks)
	}
	return s.engine.Pulls.FirstFailed()
}

// firstSubmission is StoragePort.FirstSubmission.
func (s *engines) firstSubmission() vtime.Time {
	if s.ranks != nil {
		return s.ranks.FirstSubmission()
	}
	return s.engine.Storage.FirstSubmission()
}
