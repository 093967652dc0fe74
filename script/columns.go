package script

import (
	"slices"
	"sync"

	"blis/policy"
)

// column is something that is known of each instance.
type column struct {
	name    string
	alias   string // the name of the signal in bundles; empty: the same, or none
	help    string
	signals policy.Signals
	fill    func(n *now, rows []int32, dst []float64) // dst has an entry for each instance in rows
}

// each makes a column of a number of one instance.
func each(f func(v *policy.View, i int) float64) func(*now, []int32, []float64) {
	return func(n *now, rows []int32, dst []float64) {
		for k, i := range rows {
			dst[k] = f(n.view, int(i))
		}
	}
}

// share returns used/total, 1 for an instance without any.
func share(used, total int64) float64 {
	if used >= total {
		return 1
	}
	return float64(used) / float64(total)
}

// fixedColumns are those that every build has; see columnTable.
var fixedColumns = []column{
	{"queue", "queue_depth", "requests in the wait queue, preempted ones included", policy.QueueDepth, func(n *now, rows []int32, dst []float64) {
		for k, i := range rows {
			dst[k] = float64(n.view.QueueDepth(int(i)))
		}
	}},
	{"running", "batch_size", "requests in the running list", policy.BatchSize, func(n *now, rows []int32, dst []float64) {
		for k, i := range rows {
			dst[k] = float64(n.view.BatchSize(int(i)))
		}
	}},
	{"in_flight", "", "requests that the router sent there and that have not ended as far as it knows", policy.InFlight, func(n *now, rows []int32, dst []float64) {
		for k, i := range rows {
			dst[k] = float64(n.view.InFlight(int(i)))
		}
	}},
	{"kv", "kv_utilization", "share of KV blocks in use, 0 to 1", policy.KVUse, func(n *now, rows []int32, dst []float64) {
		for k, i := range rows {
			dst[k] = share(n.view.UsedBlocks(int(i)), n.view.TotalBlocks(int(i)))
		}
	}},
	{"prefix_hit", "", "share of the prompt's full blocks that the instance is expected to have cached, 0 to 1; not in scale", policy.Prefixes, fillPrefixHit},
	{"prefix_tokens", "", "tokens of the prompt that the instance is expected to have cached; not in scale", policy.Prefixes, fillPrefixTokens},
	{"free_seqs", "", "requests that the running list has room for", policy.BatchSize, each(func(v *policy.View, i int) float64 { return float64(v.FreeSeqs(i)) })},
	{"kv_blocks", "", "KV blocks that there are", policy.KVUse, each(func(v *policy.View, i int) float64 { return float64(v.TotalBlocks(i)) })},
	{"free_tokens", "", "tokens that the free KV blocks have room for", policy.KVUse, each(func(v *policy.View, i int) float64 { return float64(v.FreeTokens(i)) })},
	{"wait", "estimated_wait", "seconds until the prompts that wait are prefilled, estimated", policy.EstimatedWait, each(func(v *policy.View, i int) float64 { return v.EstimatedWait(i) / 1e6 })},
	{"hit_rate", "cache_hit_rate", "share of prompt tokens found in the prefix cache so far, 0 to 1", policy.HitRate, each((*policy.View).HitRate)},
	{"ttft", "recent_latency", "mean TTFT of the last 100 completed requests in seconds, 0 before the first", policy.RecentLatency, each(func(v *policy.View, i int) float64 { return v.RecentTTFT(i) / 1e6 })},
	{"tpot", "", "mean TPOT of these requests in seconds", policy.RecentLatency, each(func(v *policy.View, i int) float64 { return v.RecentTPOT(i) / 1e6 })},
	{"attainment", "", "share of these requests that met their targets, of those that have any; 0 before the first", policy.RecentLatency, each(func(v *policy.View, i int) float64 { x, _ := v.RecentAttainment(i); return x })},
	{"cpu_kv", "cpu_kv_utilization", "share of the entries of the CPU tier in use, 0 without a tier", policy.CPUKVUse, each(func(v *policy.View, i int) float64 {
		if v.CPUEntries == 0 {
			return 0
		}
		return share(v.UsedEntries(i), v.CPUEntries)
	})},
	{"stores", "", "transfers to the CPU tier under way", policy.TransferQueue, each(func(v *policy.View, i int) float64 { x, _ := v.Transfers(i); return float64(x) })},
	{"loads", "", "transfers from the CPU tier under way", policy.TransferQueue, each(func(v *policy.View, i int) float64 { _, x := v.Transfers(i); return float64(x) })},
	{"transfers", "transfer_queue", "both together", policy.TransferQueue, each(func(v *policy.View, i int) float64 { x, y := v.Transfers(i); return float64(x + y) })},
	{"pending_offloads", "", "stores to the CPU tier that are chosen and not submitted", policy.PendingOffloads, each(func(v *policy.View, i int) float64 { return float64(v.PendingOffloads(i)) })},
	{"storage_kv", "storage_kv_utilization", "entries in use of the storage tiers", policy.StorageKVUse, each(func(v *policy.View, i int) float64 { return float64(v.StorageEntries(i)) })},
	{"index", "", "number of the instance, from 0; it keeps it for ever", policy.NoSignals, func(_ *now, rows []int32, dst []float64) {
		for k, i := range rows {
			dst[k] = float64(i)
		}
	}},
	{"warming", "", "1 while it warms up, else 0", policy.NoSignals, each(func(v *policy.View, i int) float64 { return truth(v.Phase(i) == policy.Warming) })},
}

// fillPrefixHit reads the few instances that expect anything.
func fillPrefixHit(n *now, rows []int32, dst []float64) {
	clear(dst)
	index := n.router.Prefixes
	if index == nil {
		return
	}
	holders := index.Holders()
	for k := range holders {
		if row, found := slices.BinarySearch(rows, holders[k].Instance); found {
			dst[row] = index.Affinity(holders[k].Blocks)
		}
	}
}

func fillPrefixTokens(n *now, rows []int32, dst []float64) {
	for k, i := range rows {
		dst[k] = float64(n.router.Expected(int(i)))
	}
}

// columnTable is fixedColumns with the signals of other modules.
type columnTable struct {
	signals int // in the table of package policy when this was made
	list    []column
	byName  map[string]int
}

var madeColumns struct {
	sync.Mutex
	table *columnTable
}

// columns returns all columns: packages register signals while a program starts.
func columns() *columnTable {
	madeColumns.Lock()
	defer madeColumns.Unlock()
	signals := policy.SignalTable()
	if t := madeColumns.table; t != nil && t.signals == len(signals) {
		return t
	}
	t := &columnTable{signals: len(signals), list: slices.Clone(fixedColumns), byName: map[string]int{}}
	for k := range t.list {
		t.byName[t.list[k].name] = k
		if alias := t.list[k].alias; alias != "" {
			t.byName[alias] = k
		}
	}
	for k := range signals {
		if s := signals[k]; s.Bit&policy.OwnSignals != 0 {
			if _, taken := t.byName[s.Key]; taken {
				continue
			}
			t.byName[s.Key] = len(t.list)
			t.list = append(t.list, column{s.Key, "", "a signal of another module", s.Bit, each(func(v *policy.View, i int) float64 { return v.Value(s.Bit, i) })})
		}
	}
	madeColumns.table = t
	return t
}

// names are those of the columns, without aliases.
func (t *columnTable) names() []string {
	var list []string
	for k := range t.list {
		list = append(list, t.list[k].name)
	}
	return list
}
