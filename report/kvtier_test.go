package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blis/metrics"
	"blis/report/plaintext"
)

func TestCPUTierInWords(t *testing.T) {
	x := func(v float64) *float64 { return &v }
	text := func(u metrics.KVTierUse) string {
		var b strings.Builder
		w := runText{plaintext.NewWriter(&b, plaintext.Style{Width: 1000})}
		w.cpuTier(&metrics.Report{KVTiers: &metrics.KVTiers{CPU: metrics.KVTierReport{Overall: u}}})
		return b.String()
	}
	if d := cmp.Diff("CPU tier   hit rate – of what the GPU missed (GPU –, total –); mean use 0.0 %, peak 0.0 %; 0 entries stored, 0 loaded, 0 evicted\n",
		text(metrics.KVTierUse{UsedMean: x(0), UsedPeak: x(0)})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff("CPU tier   hit rate 23.1 % of what the GPU missed (GPU 10.2 %, total 30.9 %); mean use 41.0 %, peak 97.0 %; 12,345 entries stored, 2,301 loaded, 801 evicted\n"+
		"transfers  12.3 GB to the CPU in 4,000 transfers (busy 4.0 % of the time); 2.30 GB to the GPU in 1 transfer (busy 0.7 % of the time); "+
		"12 steps waited 3.4 ms for stores of preempted requests; 1 lookup put off behind an equal load; 2 attempts to store found no room; 3 deadlocks broken\n",
		text(metrics.KVTierUse{
			HitRate: x(.231), GPURate: x(.102), TotalRate: x(.309), UsedMean: x(.41), UsedPeak: x(.97), Stored: 12345, Loaded: 2301, Evicted: 801,
			Store: metrics.KVTransfers{Transfers: 4000, Bytes: 12_345_000_000, BusyShare: x(.04)}, Load: metrics.KVTransfers{Transfers: 1, Bytes: 2_301_000_000, BusyShare: x(.007)},
			FlushWaits: 12, FlushMicros: 3400, AskedAgain: 1, NoRoom: 2, DeadlockBreaks: 3,
		})); d != "" {
		t.Error(d)
	}
	var b strings.Builder
	w := runText{plaintext.NewWriter(&b, plaintext.Style{})}
	if w.cpuTier(&metrics.Report{}); b.Len() > 0 {
		t.Errorf("without a tier: %s", &b)
	}
}
