package actors

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"blis/internal/testsize"
	"blis/policy"
)

// contrast is a situation in which a policy makes a difference, and which.
// contrast_rows_test.go has them, contrast_site_test.go the clusters, their
// requests and the measures.
type contrast struct {
	kind     policy.Kind
	template string // or a scorer: weighted/queue-depth
	where    string // in words
	site     site
	base     string // bundle that it is compared with
	with     string // bundle that has it
	measure  measure
	sign     float64 // of with − base: 1 or −1
}

// measure is a number that a run is judged by.
type measure struct {
	name string
	of   func(*Result) float64
}

// seeds are those of the pairs, and quantile that of Student's t distribution
// for 0.975 and one degree of freedom less than there are pairs (t table).
var seeds = [10]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}

const quantile = 2.262

// pairs are the means over the seeds without and with a policy, and the 95 %
// confidence interval of the mean of the paired differences.
type pairs struct{ base, with, low, high float64 }

// run plays both bundles under each seed.
func (c *contrast) run(t *testing.T) pairs {
	t.Helper()
	var p pairs
	var differences []float64
	for _, seed := range seeds {
		base, with := c.measure.of(c.site.run(t, seed, c.base)), c.measure.of(c.site.run(t, seed, c.with))
		p.base += base / float64(len(seeds))
		p.with += with / float64(len(seeds))
		differences = append(differences, with-base)
	}
	mean, squares := p.with-p.base, 0.0
	for _, d := range differences {
		squares += float64((d - mean) * (d - mean))
	}
	n := float64(len(seeds))
	half := quantile * math.Sqrt(squares/(n-1)/n)
	p.low, p.high = mean-half, mean+half
	return p
}

// differs says whether the interval lies on the side of the sign.
func (p *pairs) differs(sign float64) bool {
	return sign > 0 && p.low > 0 || sign < 0 && p.high < 0
}

// TestContrasts shows of every template and scorer where it differs from the
// default, in which direction, and that chance does not explain it.
func TestContrasts(t *testing.T) {
	testsize.Long(t)
	t.Logf("seeds %v", seeds)
	rows := map[policy.Kind]string{}
	covered := map[string]bool{}
	played := 0
	for i := range contrasts {
		c := &contrasts[i]
		covered[string(c.kind)+"/"+c.template] = true
		t.Run(string(c.kind)+"/"+c.template, func(t *testing.T) {
			p := c.run(t)
			row := fmt.Sprintf("| %s | %s | %s | %s | %s | %s to %s |\n", c.title(), c.where, c.measure.name, digits(p.base), digits(p.with), signed(p.low), signed(p.high))
			t.Log(strings.TrimSuffix(row, "\n"))
			if !p.differs(c.sign) {
				t.Errorf("%s: with it %s, without %s, the difference from %s to %s: want it all on the side of %+g", c.measure.name, digits(p.with), digits(p.base), signed(p.low), signed(p.high), c.sign)
			}
			rows[c.kind] += row
			played++
		})
	}
	for _, name := range templatesToContrast() {
		if !covered[name] {
			t.Errorf("no situation in which %s makes a difference", name)
		}
	}
	if played < len(contrasts) {
		return // the others were left out by -run
	}
	wantPart(t, "../docs/contrasts.md", "contrasts", contrastTables(rows))
}

// title is what the table calls the policy.
func (c *contrast) title() string {
	if template, scorer, ok := strings.Cut(c.template, "/"); ok {
		return "`" + template + "`, scorer `" + scorer + "`"
	}
	return "`" + c.template + "`"
}

// templatesToContrast are all but the defaults, which the others are held
// against, and the scorers.
func templatesToContrast() []string {
	var names []string
	last := policy.Kind("")
	for _, template := range policy.Templates() {
		kind := string(template.Kind) + "/"
		if template.Kind == last && !isProgram(&template) {
			names = append(names, kind+template.Name)
		}
		last = template.Kind
		for _, p := range template.Parameters {
			if p.Type == policy.Weight {
				names = append(names, kind+template.Name+"/"+p.Name)
			}
		}
	}
	return names
}

// contrastTables are the rows by kind, each with a head.
func contrastTables(rows map[policy.Kind]string) string {
	var b strings.Builder
	for _, kind := range []policy.Kind{policy.AdmissionKind, policy.PriorityKind, policy.RoutingKind, policy.SchedulerKind, policy.AutoscaleKind} {
		fmt.Fprintf(&b, "\n| %s | where | measure | without | with | difference |\n|---|---|---|---|---|---|\n%s", kind, rows[kind])
	}
	return b.String() + "\n"
}

// digits is x in three digits.
func digits(x float64) string {
	if x == 0 {
		return "0"
	}
	places := max(0, 2-int(math.Floor(math.Log10(math.Abs(x)))))
	return fmt.Sprintf("%.*f", places, x)
}

func signed(x float64) string {
	if x > 0 {
		return "+" + digits(x)
	}
	return strings.Replace(digits(x), "-", "−", 1)
}
