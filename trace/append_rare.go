package trace

import (
	"strconv"

	"blis/vtime"
)

// The JSON forms of records that are rare, or that only detailed traces have.

func appendHeader(b []byte, r *Header) []byte {
	b = append(b, `{"type":"header","schema":`...)
	b = appendString(b, r.Schema)
	b = append(b, `,"level":`...)
	b = appendString(b, r.Level)
	b = append(b, `,"seed":`...)
	b = strconv.AppendUint(b, r.Seed, 10)
	b = append(b, `,"instances":`...)
	b = appendInt(b, int64(r.Instances))
	for _, p := range [...]struct{ key, name string }{
		{`,"admission":`, r.Admission}, {`,"priority":`, r.Priority}, {`,"routing":`, r.Routing},
		{`,"scheduler":`, r.Scheduler}, {`,"autoscale":`, r.Autoscale},
	} {
		b = appendString(append(b, p.key...), p.name)
	}
	b = append(b, `,"counterfactual_k":`...)
	b = appendInt(b, int64(r.Counterfactual))
	b = append(b, `,"slo_targets":`...)
	b = appendList(b, r.Targets, func(b []byte, t ClassTargets) []byte {
		b = append(b, `{"slo_class":`...)
		b = appendString(b, t.Class)
		for _, d := range [...]struct {
			key   string
			value *vtime.Duration
		}{{`,"ttft_us":`, t.TTFT}, {`,"tpot_us":`, t.TPOT}, {`,"e2e_us":`, t.E2E}} {
			b = appendWhole(append(b, d.key...), d.value)
		}
		return append(b, '}')
	})
	return append(b, '}')
}

func appendScale(b []byte, r *Scale) []byte {
	b = append(b, `{"type":"scale","at_us":`...)
	b = appendInt(b, int64(r.At))
	b = append(b, `,"action":`...)
	b = appendString(b, r.Action)
	b = append(b, `,"from":`...)
	b = appendInt(b, int64(r.From))
	b = append(b, `,"to":`...)
	b = appendInt(b, int64(r.To))
	b = append(b, `,"wanted":`...)
	b = appendInt(b, int64(r.Wanted))
	b = append(b, `,"ready":`...)
	b = appendInt(b, int64(r.Ready))
	b = append(b, `,"reason":`...)
	return append(appendString(b, r.Reason), '}')
}

func appendBatch(b []byte, r *Batch) []byte {
	b = append(b, `{"type":"batch","at_us":`...)
	b = appendInt(b, int64(r.At))
	b = append(b, `,"instance":`...)
	b = appendInt(b, int64(r.Instance))
	b = append(b, `,"running":`...)
	b = appendInt(b, int64(r.Running))
	b = append(b, `,"waiting":`...)
	b = appendInt(b, int64(r.Waiting))
	b = append(b, `,"prefill_tokens":`...)
	b = appendInt(b, int64(r.PrefillTokens))
	b = append(b, `,"decode_tokens":`...)
	b = appendInt(b, int64(r.DecodeTokens))
	b = append(b, `,"kv_used_blocks":`...)
	b = appendInt(b, r.UsedBlocks)
	b = append(b, `,"end_us":`...)
	return append(appendInt(b, int64(r.End)), '}')
}

func appendPreemption(b []byte, r *Preemption) []byte {
	b = append(b, `{"type":"preemption","at_us":`...)
	b = appendInt(b, int64(r.At))
	b = append(b, `,"instance":`...)
	b = appendInt(b, int64(r.Instance))
	b = append(b, `,"request":`...)
	b = appendInt(b, r.Request)
	b = append(b, `,"for":`...)
	b = appendInt(b, r.For)
	b = append(b, `,"computed":`...)
	b = appendInt(b, int64(r.Computed))
	b = append(b, `,"free_blocks":`...)
	return append(appendInt(b, int64(r.Free)), '}')
}

func appendAnomaly(b []byte, r *Anomaly) []byte {
	b = append(b, `{"type":"anomaly","at_us":`...)
	b = appendInt(b, int64(r.At))
	b = append(b, `,"name":`...)
	b = appendString(b, r.Name)
	b = append(b, `,"detail":`...)
	b = appendString(b, r.Detail)
	b = append(b, `,"instance":`...)
	b = appendWhole(b, r.Instance)
	b = append(b, `,"requests":`...)
	b = appendList(b, r.Requests, appendInteger[int64])
	b = append(b, `,"severity":`...)
	return append(appendFloat(b, r.Severity), '}')
}
