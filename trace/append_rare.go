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
	b = strconv.AppendInt(b, int64(r.Instances), 10)
	for _, p := range [...]struct{ key, name string }{
		{`,"admission":`, r.Admission}, {`,"priority":`, r.Priority}, {`,"routing":`, r.Routing},
		{`,"scheduler":`, r.Scheduler}, {`,"autoscale":`, r.Autoscale},
	} {
		b = appendString(append(b, p.key...), p.name)
	}
	b = append(b, `,"counterfactual_k":`...)
	b = strconv.AppendInt(b, int64(r.Counterfactual), 10)
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
	b = strconv.AppendInt(b, int64(r.At), 10)
	b = append(b, `,"action":`...)
	b = appendString(b, r.Action)
	b = append(b, `,"from":`...)
	b = strconv.AppendInt(b, int64(r.From), 10)
	b = append(b, `,"to":`...)
	b = strconv.AppendInt(b, int64(r.To), 10)
	b = append(b, `,"wanted":`...)
	b = strconv.AppendInt(b, int64(r.Wanted), 10)
	b = append(b, `,"ready":`...)
	b = strconv.AppendInt(b, int64(r.Ready), 10)
	b = append(b, `,"reason":`...)
	return append(appendString(b, r.Reason), '}')
}

func appendBatch(b []byte, r *Batch) []byte {
	b = append(b, `{"type":"batch","at_us":`...)
	b = strconv.AppendInt(b, int64(r.At), 10)
	b = append(b, `,"instance":`...)
	b = strconv.AppendInt(b, int64(r.Instance), 10)
	b = append(b, `,"running":`...)
	b = strconv.AppendInt(b, int64(r.Running), 10)
	b = append(b, `,"waiting":`...)
	b = strconv.AppendInt(b, int64(r.Waiting), 10)
	b = append(b, `,"prefill_tokens":`...)
	b = strconv.AppendInt(b, int64(r.PrefillTokens), 10)
	b = append(b, `,"decode_tokens":`...)
	b = strconv.AppendInt(b, int64(r.DecodeTokens), 10)
	b = append(b, `,"kv_used_blocks":`...)
	b = strconv.AppendInt(b, r.UsedBlocks, 10)
	b = append(b, `,"end_us":`...)
	return append(strconv.AppendInt(b, int64(r.End), 10), '}')
}

func appendPreemption(b []byte, r *Preemption) []byte {
	b = append(b, `{"type":"preemption","at_us":`...)
	b = strconv.AppendInt(b, int64(r.At), 10)
	b = append(b, `,"instance":`...)
	b = strconv.AppendInt(b, int64(r.Instance), 10)
	b = append(b, `,"request":`...)
	b = strconv.AppendInt(b, r.Request, 10)
	b = append(b, `,"for":`...)
	b = strconv.AppendInt(b, r.For, 10)
	b = append(b, `,"computed":`...)
	b = strconv.AppendInt(b, int64(r.Computed), 10)
	b = append(b, `,"free_blocks":`...)
	return append(strconv.AppendInt(b, int64(r.Free), 10), '}')
}

func appendAnomaly(b []byte, r *Anomaly) []byte {
	b = append(b, `{"type":"anomaly","at_us":`...)
	b = strconv.AppendInt(b, int64(r.At), 10)
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
