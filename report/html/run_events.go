package html

import (
	"fmt"
	"math"
)

// eventsPart writes what changed the cluster, and what moved between instances.
type eventsPart struct{ *sheet }

// scaling is what the autoscaler did.
func (s eventsPart) scaling() {
	d := s.doc
	s.section("scaling", "Autoscaler and failures")
	pools := d.get("pool_scaling")
	switch {
	case d.get("scaling").has():
		s.scaled("", d.get("scaling"))
	case len(pools.keys) > 0:
		for i, k := range pools.keys {
			s.scaled(name(k)+": ", pools.members[i])
		}
	default:
		s.absent("The number of instances was constant. " + code("blis run --autoscale-policy queue-depth --max-replicas 8") + " lets it follow the load.")
	}
	s.nodes()
}

// scaled is how the instances of a pool changed.
func (s eventsPart) scaled(pool string, v value) {
	events := v.get("events").items()
	text := fmt.Sprintf("%s%d changes in %s checks, from %s to %s instances, %s on average", pool, len(events), count(v.get("checks").float()),
		count(v.get("least_replicas").float()), count(v.get("peak_replicas").float()), fixed(v.get("mean_replicas").float(), 2))
	if x := v.get("cost").float(); !math.IsNaN(x) {
		text += ", cost " + figure(x)
	}
	if x := v.get("scale_oscillations").float(); x > 0 {
		text += ", " + count(x) + " times in the other direction within a minute"
	}
	if x := v.get("redirected_requests").float(); x > 0 {
		text += "; " + count(x) + " requests were moved from instances that left"
	}
	s.paragraph(text + ".")
	if signal := v.get("signal"); signal.has() {
		passed := "was never passed"
		if signal.get("passed").isTrue() {
			passed = "was passed"
		}
		s.paragraph(fmt.Sprintf("It goes by %s: the threshold of %s %s; the value went as far as %s.", words(signal.get("name").words()), figure(signal.get("threshold").float()), passed, figure(signal.get("nearest").float())))
	}
	if x := v.get("no_capacity", "checks").float(); x > 0 {
		s.paragraph("No node had room for a wanted instance in " + count(x) + " checks.")
	}
	if len(events) == 0 {
		return
	}
	const most = 100
	t := s.table("Changes", "#At, s", "#From", "#To", "~Reason")
	for _, e := range events[:min(len(events), most)] {
		t.row(seconds(e.get("at_us").float()), count(e.get("from").float()), count(e.get("to").float()), words(e.get("reason").words()))
	}
	t.end()
	if len(events) > most {
		s.paragraph(fmt.Sprintf("The first %d of %s changes.", most, count(float64(len(events)))))
	}
	s.lives(v.get("instances").items())
}

// lives are the times of instances.
func (s eventsPart) lives(list []value) {
	s.folded(fmt.Sprintf("Lives of %s instances", count(float64(len(list)))))
	t := s.table("Times in s", "Instance", "#Asked for", "#Paid from", "#Ready", "#Warm", "#Draining", "#Gone")
	for _, v := range list[:min(len(list), mostScopes)] {
		at := func(key string) string { return seconds(v.get(key).float()) }
		t.row(name(v.get("name").words()), at("asked_us"), at("billed_us"), at("ready_us"), at("warm_us"), at("draining_us"), at("gone_us"))
	}
	t.end()
	s.leftOut("instances", len(list))
	s.unfold()
}

// nodes are the pools of machines.
func (s eventsPart) nodes() {
	list := s.doc.get("node_pools")
	if len(list.keys) == 0 {
		return
	}
	t := s.table("Nodes", "Pool", "GPU", "#Nodes", "#GPUs", "#Taken, mean", "#Taken, peak", "#Paid GPU-hours", "#Cost")
	for i, k := range list.keys {
		v := list.members[i]
		t.row(name(k), name(v.get("gpu").words()), count(v.get("nodes").float()), count(v.get("gpus").float()), percent(v.get("utilisation").float()), count(v.get("peak_gpus").float()), figure(v.get("paid_gpu_hours").float()), figure(v.get("cost").float()))
	}
	t.end()
}

// failing is what failed, below the autoscaler.
func (s eventsPart) failing() {
	v := s.doc.get("failures")
	if !v.has() {
		s.absent("Nothing could fail. " + code("blis run --mtbf 30s --mttr 5s") + " lets instances crash.")
		return
	}
	s.paragraph(fmt.Sprintf("Availability %s: %s requests were lost and not tried again. %s attempts were lost with their instance or refused by it; %s requests were tried again, %s of them completed.",
		percent(v.get("availability").float()), count(v.get("failed_requests").float()), count(v.get("attempts_lost").float()), count(v.get("retried_requests").float()), count(v.get("recovered_requests").float())))
	list := v.get("per_instance")
	t := s.table("Crashes", "Instance", "#Crashes", "#Up, s", "#Down, s", "#Detected", "#Mean time to detect, s")
	shown := 0
	for i, k := range list.keys {
		x := list.members[i]
		if x.get("crashes").float() > 0 && shown < mostScopes {
			shown++
			t.row(name(k), count(x.get("crashes").float()), seconds(x.get("up_us").float()), seconds(x.get("down_us").float()), count(x.get("crashes_detected").float()), seconds(x.get("detection_mean_us").float()))
		}
	}
	t.end()
	if shown == 0 {
		s.paragraph("No instance crashed.")
	}
}

// transfers is how instances handed requests over.
func (s eventsPart) transfers() {
	s.section("pd", "Prefill and decode")
	v := s.doc.get("pd")
	if !v.has() {
		s.absent("Instances did prefill and decode themselves. " + code("blis run --architecture pd --prefill-replicas 2 --decode-replicas 2") + " splits them.")
		return
	}
	all := v.get("overall")
	s.paragraph(fmt.Sprintf("%s requests were handed over, %s decoded where they had their prefill. %s pulls moved %s in %s each on average; prefill instances held %s blocks for pulls on average, and at most %s requests awaited theirs.",
		count(all.get("hand_overs").float()), count(all.get("direct_requests").float()), count(all.get("pulls").float()), dataSize(all.get("pulled_bytes").float()), duration(all.get("pull_mean_us").float()),
		fixed(all.get("held_blocks_mean").float(), 1), count(all.get("awaiting_peak").float())))
	phases := v.get("phases_us")
	t := s.table("Phases of requests that were handed over, ms", "Phase", "#Mean", "#p50", "#p90", "#p99", "#Max")
	for i, k := range phases.keys {
		p := phases.members[i]
		in := func(key string) string { return millis(p.get(key).float()) }
		t.row(measureWords(k), in("mean"), in("p50"), in("p90"), in("p99"), in("max"))
	}
	t.end()
	list := v.get("per_instance")
	t = s.table("Transfers by instance", "Instance", "#Handed over", "#Held blocks, mean", "#Awaiting, peak", "#Pulls", "#Pulled", "#Pull, mean ms", "#Failed", "#Expired")
	for i, k := range list.keys[:min(len(list.keys), mostScopes)] {
		x := list.members[i]
		t.row(name(k), count(x.get("hand_overs").float()), fixed(x.get("held_blocks_mean").float(), 1), count(x.get("awaiting_peak").float()), count(x.get("pulls").float()), dataSize(x.get("pulled_bytes").float()), millis(x.get("pull_mean_us").float()), count(x.get("failed_pulls").float()), count(x.get("expired").float()))
	}
	t.end()
	s.leftOut("instances", len(list.keys))
}

// tiers are the caches: of prefixes on GPUs, and the stores below.
func (s eventsPart) tiers() {
	s.section("kv", "KV caches")
	cache := s.doc.get("cache")
	s.paragraph(fmt.Sprintf("Prefix cache of the GPUs: %s of %s looked up prompt tokens were found, %s.", count(cache.get("cached_tokens").float()), count(cache.get("looked_up_tokens").float()), percent(cache.get("hit_rate").float())))
	v := s.doc.get("kv_tiers")
	if !v.has() {
		s.absent("There was no tier of KV below the GPUs. " + code("blis run --kv-cpu-size 32GB") + " adds one in the memory of the CPU.")
		return
	}
	cpu := v.get("cpu", "overall")
	t := s.table("Where prompt tokens were found", "Tier", "#Hit rate", "", "#Tokens", "#Used, mean", "#Evicted entries")
	share := func(x float64) string { return bar("s0", axis{0, 1, false}, 0, x) }
	gpu := cpu.get("gpu_hit_rate").float()
	t.row("GPU", percent(gpu), share(gpu), count(cpu.get("gpu_tokens").float()), missing, missing)
	hit := cpu.get("hit_rate").float()
	t.row("CPU, of what the GPU missed", percent(hit), share(hit), count(cpu.get("tier_tokens").float()), percent(cpu.get("used_mean").float()), count(cpu.get("evicted_entries").float()))
	for _, storage := range v.get("storage").items() {
		x := storage.get("hit_rate").float()
		t.row("storage "+name(storage.get("name").words())+", of what was asked", percent(x), share(x), count(cpu.get("storage_tokens").float()), figure(storage.get("used_entries_mean").float())+" entries", count(storage.get("evicted_entries").float()))
	}
	t.end()
	t = s.table("Transfers of the CPU tier", "Direction", "#Transfers", "#Blocks", "#Data", "#Busy", "#Mean wait, ms", "#Mean time to notice, ms")
	for _, k := range []struct{ key, title string }{{"store", "GPU to CPU"}, {"load", "CPU to GPU"}} {
		x := cpu.get(k.key)
		t.row(k.title, count(x.get("transfers").float()), count(x.get("blocks").float()), dataSize(x.get("bytes").float()), percent(x.get("busy_share").float()), millis(x.get("wait_mean_us").float()), millis(x.get("notice_mean_us").float()))
	}
	t.end()
	s.paragraph("GPU blocks that ended requests held for their transfers: " + fixed(cpu.get("held_blocks_mean").float(), 1) + " of an instance on average.")
}
