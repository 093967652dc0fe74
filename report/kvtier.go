package report

import (
	"fmt"
	"strings"

	"blis/actors"
	"blis/metrics"
	"blis/report/plaintext"
	"blis/setup"
)

// cpuTier says what the CPU tier saved, and what its transfers took.
func (t *runText) cpuTier(r *metrics.Report) {
	if r.KVTiers == nil {
		return
	}
	u := &r.KVTiers.CPU.Overall
	below := ""
	if u.StorageRate != nil {
		below = ", storage " + plaintext.Percent(u.StorageRate) + " of the rest"
	}
	t.Line("CPU tier", fmt.Sprintf("hit rate %s of what the GPU missed%s (GPU %s, total %s); mean use %s, peak %s; %s stored, %s loaded, %s evicted",
		plaintext.Percent(u.HitRate), below, plaintext.Percent(u.GPURate), plaintext.Percent(u.TotalRate), plaintext.Percent(u.UsedMean), plaintext.Percent(u.UsedPeak),
		entries(u.Stored), plaintext.Grouped(u.Loaded), plaintext.Grouped(u.Evicted)))
	if parts := transfers(u); parts != nil {
		t.Line("transfers", strings.Join(parts, "; "))
	}
	for i := range r.KVTiers.Storage {
		t.Line(r.KVTiers.Storage[i].Name, storageTier(&r.KVTiers.Storage[i]))
	}
}

// storageTier says what a storage tier was good for.
func storageTier(s *metrics.KVStorageUse) string {
	where := map[string]string{setup.StorageLocal: "of each instance", setup.StorageNode: "of each node", setup.StorageShared: "shared by all"}[s.Scope]
	text := fmt.Sprintf("storage %s; %s, %s of the entries found; %s written, %s read, %s evicted; peak %s",
		where, plaintext.Plural(s.Questions, "question"), plaintext.Percent(s.HitRate),
		entries(s.WrittenEntries), plaintext.Grouped(s.ReadEntries), plaintext.Grouped(s.Evicted), plaintext.Grouped(s.UsedPeak))
	if s.Capacity != nil {
		text += " of " + plaintext.Grouped(*s.Capacity/s.Places)
	}
	return fmt.Sprintf("%s; busy reading %s, writing %s of the time", text, plaintext.Percent(s.Read.BusyShare), plaintext.Percent(s.Write.BusyShare))
}

// entries is a number of entries of a tier.
func entries(n int64) string {
	if n == 1 {
		return "1 entry"
	}
	return plaintext.Grouped(n) + " entries"
}

// transfers says what moved between GPU and tier, and what waited, without what is zero.
func transfers(u *metrics.KVTierUse) (parts []string) {
	for _, way := range []struct {
		to string
		*metrics.KVTransfers
	}{{"CPU", &u.Store}, {"GPU", &u.Load}} {
		if way.Transfers > 0 {
			parts = append(parts, fmt.Sprintf("%s to the %s in %s (busy %s of the time)",
				plaintext.Magnitude(float64(way.Bytes), "B"), way.to, plaintext.Plural(way.Transfers, "transfer"), plaintext.Percent(way.BusyShare)))
		}
	}
	if u.FlushWaits > 0 {
		ms := float64(u.FlushMicros) / 1e3
		parts = append(parts, fmt.Sprintf("%s waited %s ms for stores of preempted requests", plaintext.Plural(u.FlushWaits, "step"), plaintext.Decimal(&ms, 1)))
	}
	if u.AskedAgain > 0 {
		parts = append(parts, fmt.Sprintf("%s put off behind an equal load", plaintext.Plural(u.AskedAgain, "lookup")))
	}
	if u.NoRoom > 0 {
		parts = append(parts, fmt.Sprintf("%s to store found no room", plaintext.Plural(u.NoRoom, "attempt")))
	}
	if u.DeadlockBreaks > 0 {
		parts = append(parts, fmt.Sprintf("%s broken", plaintext.Plural(u.DeadlockBreaks, "deadlock")))
	}
	return parts
}

// deadlocks warns that vLLM would have stood still.
func deadlocks(r *actors.Result) string {
	breaks := int64(0)
	if t := r.Report.KVTiers; t != nil {
		breaks = t.CPU.Overall.DeadlockBreaks
	}
	if p := r.Report.PD; p != nil { // it counts those of tiers too
		breaks = max(breaks, p.Overall.DeadlockBreaks)
	}
	if breaks == 0 {
		return ""
	}
	return fmt.Sprintf("KV deadlock broken %s: waiting requests held blocks for what they had loaded, and none got the rest; vLLM 0.19 stands still for ever there, here the last of them gives its blocks back (docs/kv-tiers.md); more KV blocks or a lower --max-num-seqs avoid it",
		plaintext.Plural(breaks, "time"))
}
