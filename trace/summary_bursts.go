package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"blis/vtime"
)

// course of judged requests of a group, by the bin of their arrival.
type promises struct{ judged, missed series }

// add counts a request with targets.
func (p *promises) add(bin int, met bool) {
	p.judged[bin]++
	if !met {
		p.missed[bin]++
	}
}

func (p *promises) fold() {
	fold(&p.judged, add)
	fold(&p.missed, add)
}

// arrivalBin is the bin of an arrival: the first one if it is before the first record. A trace that no run
// wrote may have it after its outcome.
func (s *Summary) arrivalBin(t vtime.Time) int { return s.time.bin(min(t, s.time.to)) }

// TenantBurst is what became of others while a tenant sent more than usual. It counts, and
// says nothing about causes.
type TenantBurst struct {
	Tenant string `json:"tenant"`
	// Bins are the bins of time in which the tenant sent more than twice its mean of all
	// bins, and at least two requests more.
	Bins     int   `json:"bins"`
	Requests int64 `json:"requests"` // of the tenant, new in these
	// Requests of other tenants with targets, by their arrival: in these bins and outside.
	Judged        int64 `json:"others_judged"`
	Missed        int64 `json:"others_missed"`
	OutsideJudged int64 `json:"others_judged_outside"`
	OutsideMissed int64 `json:"others_missed_outside"`

	Victims []BurstVictim `json:"by_tenant"` // the others with missed targets in these bins, the most first; 20 at most
}

// BurstVictim is another tenant during the bursts of one.
type BurstVictim struct {
	Tenant string `json:"tenant"`
	Judged int64  `json:"judged"`
	Missed int64  `json:"missed"`
}

// bursts are of the tenants during whose bursts others missed targets, the most first; at
// most mostListed.
func (s *Summary) bursts(bins int) []TenantBurst {
	list := []TenantBurst{}
	for i, tenant := range s.tenants.keys {
		b := s.burstOf(i, bins)
		if b.Missed > 0 {
			b.Tenant = tenant
			list = append(list, b)
		}
	}
	slices.SortStableFunc(list, func(a, b TenantBurst) int { return cmp.Compare(b.Missed, a.Missed) })
	return list[:min(len(list), mostListed)]
}

// burstOf counts the bursts of tenant i and what became of the others.
func (s *Summary) burstOf(i, bins int) (b TenantBurst) {
	g := &s.tenants.values[i]
	var in [maxBins]bool
	for k := range bins {
		if n := g.series[k]; n*int64(bins) > 2*g.Asked && (n-2)*int64(bins) >= g.Asked {
			in[k] = true
			b.Bins++
			b.Requests += n
		}
	}
	if b.Bins == 0 {
		return b
	}
	b.Victims = []BurstVictim{}
	for j, name := range s.tenants.keys {
		if j == i {
			continue
		}
		v := BurstVictim{Tenant: name}
		p := &s.tenants.values[j].promises
		for k := range bins {
			if in[k] {
				v.Judged += p.judged[k]
				v.Missed += p.missed[k]
			} else {
				b.OutsideJudged += p.judged[k]
				b.OutsideMissed += p.missed[k]
			}
		}
		b.Judged += v.Judged
		b.Missed += v.Missed
		if v.Missed > 0 {
			b.Victims = append(b.Victims, v)
		}
	}
	slices.SortStableFunc(b.Victims, func(x, y BurstVictim) int { return cmp.Compare(y.Missed, x.Missed) })
	b.Victims = b.Victims[:min(len(b.Victims), mostListed)]
	return b
}

// worse reports whether others missed a larger share of their targets in the bursts than
// outside of them.
func (b *TenantBurst) worse() bool {
	return float64(b.Missed)*float64(b.OutsideJudged) > float64(b.OutsideMissed)*float64(b.Judged)
}

// burstsText says whose targets were missed during bursts of a tenant: without all only where
// others fared worse than outside of them.
func (r *Report) burstsText(most int, all bool) section {
	p := section{name: "bursts of tenants", title: "BURSTS OF TENANTS, AND OTHERS MEANWHILE"}
	list := slices.DeleteFunc(slices.Clone(r.Patterns.Bursts), func(b TenantBurst) bool { return !all && !b.worse() })
	for i := range list {
		if i == most {
			p.add("%d more tenants.", len(list)-i)
			break
		}
		b := &list[i]
		text := fmt.Sprintf("Tenant %s (%s in %s): of the others' requests that arrived then %s of %s missed targets (%s)", named(b.Tenant), plural(b.Requests, "request"),
			plural(int64(b.Bins), "bin"), grouped(b.Missed), grouped(b.Judged), percent(b.Missed, b.Judged))
		text += fmt.Sprintf(", outside %s; that is %s of all that they missed", percent(b.OutsideMissed, b.OutsideJudged), percent(b.Missed, b.Missed+b.OutsideMissed))
		var parts []string
		for _, v := range b.Victims[:min(3, len(b.Victims))] {
			parts = append(parts, fmt.Sprintf("%s %s of %s", named(v.Tenant), grouped(v.Missed), grouped(v.Judged)))
		}
		p.add("%s: %s.", text, strings.Join(parts, ", "))
	}
	if len(p.lines) == 0 && all && r.From != nil {
		p.add("No tenant sent more than twice its mean while others missed targets.")
	}
	return p
}
