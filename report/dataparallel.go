package report

import (
	"fmt"

	"blis/metrics"
	"blis/report/plaintext"
)

// dataParallel says how data-parallel ranks stepped together.
func (t *runText) dataParallel(r *metrics.Report) {
	if r.DataParallel == nil {
		return
	}
	u := &r.DataParallel.Overall
	text := fmt.Sprintf("%s of all ranks of an instance together", plaintext.Plural(u.GroupSteps, "step"))
	if u.GroupSteps > 0 {
		wait := *u.WaitMean / 1e3
		text += fmt.Sprintf("; %s of the steps of ranks are dummies, without a request; a rank waits %s ms for the slowest on average", plaintext.Percent(u.DummyShare), plaintext.Significant(wait))
	}
	if u.Imbalance != nil {
		text += fmt.Sprintf("; the fullest rank has %s times the tokens of the mean one", plaintext.Decimal(u.Imbalance, 2))
	}
	t.Line("ranks", text)
}
