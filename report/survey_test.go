package report

import (
	"strings"
	"testing"

	"blis/workload/survey"
)

// Of many tenants the first are named.
func TestSharesText(t *testing.T) {
	list := []survey.Share{}
	for range 9 {
		list = append(list, survey.Share{Name: "x", Requests: 1})
	}
	if got := sharesText(list, &survey.Survey{Requests: 9, InputTokens: 9}); !strings.HasSuffix(got, "x 11.1 % (0.0 % of the tokens), 3 more") {
		t.Errorf("shares %q", got)
	}
}
