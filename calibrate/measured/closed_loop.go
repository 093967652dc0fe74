package measured

import (
	"fmt"
	"io"
	"strings"
)

// ClosedLoop is the result of one benchmark of a server: users who each ask, wait for
// the whole answer and ask again. All prompts have about the same length, and so have
// all answers; no prompt shares content with another.
type ClosedLoop struct {
	Line int // of the file

	Model         string
	GPU           string // as the source names it, with - in place of _
	Precision     string // of the checkpoint, lower case, as fp8; empty: the source does not say
	EngineVersion string // of vLLM; empty: the source does not say

	Input, Output int32 // tokens of a prompt, from 1, and of an answer, from 2
	Concurrency   int32 // users, from 1

	// TP is the number of GPUs of the server. Where AttentionDP is above 1 the file says
	// that each copy of attention has as many, but rows that differ in attention_dp and
	// moe_ep alone have the same times, some to the last digit: so the GPUs are divided.
	TP int
	PP int // pipeline stages
	// AttentionDP is the number of copies of the attention layers, each with a
	// scheduler of its own. They share users, GPUs and experts.
	AttentionDP int
	// MoETP and MoEEP divide the experts: each GPU has one of MoEEP groups of
	// experts, and 1/MoETP of each expert in it. 0: the source does not say.
	MoETP, MoEEP int
	// GEMMQuant and MoEQuant are methods that quantise the weights of dense layers and
	// of experts, lower case, as nvfp4; empty: the source does not say.
	GEMMQuant, MoEQuant string

	TTFT, TPOT float64 // µs, means over requests, above 0
}

// Columns of a file of closed loops.
const (
	loopModel = iota
	loopGPU
	loopInput
	loopOutput
	loopConcurrency
	loopTP
	loopTTFT
	loopTPOT
	loopRequired // what follows is optional
)

const (
	loopPrecision = loopRequired + iota
	loopVersion
	loopPP
	loopAttentionDP
	loopMoETP
	loopMoEEP
	loopGEMMQuant
	loopMoEQuant
)

var loopColumns = strings.Fields("model gpu input_tokens output_tokens concurrency tp mean_ttft_ms mean_tpot_ms " +
	"precision vllm_version pp attention_dp moe_tp moe_ep gemm_quant moe_quant")

// ReadClosedLoops reads benchmarks in which a fixed number of users asks again and
// again: a CSV file with a row for each, gzip too, columns in any order and others
// ignored. It needs
//
//	model, gpu                   text
//	input_tokens, output_tokens  of each request
//	concurrency                  users
//	tp                           tensor parallelism of the attention layers
//	mean_ttft_ms, mean_tpot_ms   above 0; TPOT is (E2E − TTFT)/(output_tokens − 1)
//
// and takes what there is of precision, vllm_version, pp, attention_dp, moe_tp, moe_ep,
// gemm_quant and moe_quant. Where attention_dp is empty it is moe_tp·moe_ep/tp, and 1 if
// these do not say. A row that contradicts itself is an error, and so is a file without
// rows.
func ReadClosedLoops(path string) ([]ClosedLoop, error) { return readFile(path, readClosedLoops) }

func readClosedLoops(name string, r io.Reader) ([]ClosedLoop, error) {
	t, err := openTable(name, r, loopColumns[:loopRequired], loopColumns[loopRequired:])
	if err != nil {
		return nil, err
	}
	var list []ClosedLoop
	for {
		more, err := t.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		point := parseClosedLoop(t)
		if err := t.err(); err != nil {
			return nil, err
		}
		list = append(list, point)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no benchmarks: want a row for each below the header", name)
	}
	return list, nil
}

// parseClosedLoop is the benchmark of the current row; see table.err.
func parseClosedLoop(t *table) ClosedLoop {
	const tokens, users = 1 << 30, 1 << 20 // sums of two fit
	p := ClosedLoop{
		Line: t.line, Model: t.text(loopModel), GPU: strings.ReplaceAll(t.text(loopGPU), "_", "-"),
		Precision: strings.ToLower(t.text(loopPrecision)), EngineVersion: t.text(loopVersion),
		Input:       int32(t.whole(loopInput, 1, tokens)),
		Output:      int32(t.whole(loopOutput, 2, tokens)),
		Concurrency: int32(t.whole(loopConcurrency, 1, users)),
		TP:          int(t.whole(loopTP, 1, maxTP)),
		PP:          int(t.wholeOr(loopPP, 1, maxTP, 1)),
		AttentionDP: int(t.wholeOr(loopAttentionDP, 1, maxTP, 0)),
		MoETP:       int(t.wholeOr(loopMoETP, 0, maxTP, 0)),
		MoEEP:       int(t.wholeOr(loopMoEEP, 0, maxTP, 0)),
		GEMMQuant:   strings.ToLower(t.text(loopGEMMQuant)), MoEQuant: strings.ToLower(t.text(loopMoEQuant)),
		TTFT: 1e3 * t.decimalOr(loopTTFT, longest/1e3), TPOT: 1e3 * t.decimalOr(loopTPOT, longest/1e3),
	}
	switch {
	case p.Model == "":
		t.bad(loopModel, "the id of a model")
	case p.GPU == "":
		t.bad(loopGPU, "the name of a GPU")
	case p.TTFT == 0:
		t.bad(loopTTFT, "a time above 0")
	case p.TPOT == 0:
		t.bad(loopTPOT, "a time above 0")
	}
	if t.err() == nil {
		p.divideAttention(t)
	}
	return p
}

// divideAttention settles AttentionDP, with which the GPUs of attention are those of
// the experts. Sources write 1 for moe_tp and moe_ep of dense models, or 0.
func (p *ClosedLoop) divideAttention(t *table) {
	experts := p.MoETP * p.MoEEP
	switch {
	case experts <= 1:
		p.AttentionDP = max(1, p.AttentionDP)
	case p.AttentionDP == 0 && experts%p.TP != 0:
		t.bad(loopAttentionDP, "a number: the %d GPUs of moe_tp·moe_ep are no multiple of tp %d", experts, p.TP)
	case p.AttentionDP == 0:
		p.AttentionDP = experts / p.TP
	case p.AttentionDP*p.TP != experts:
		t.bad(loopAttentionDP, "a number with which tp·attention_dp is the %d GPUs of moe_tp·moe_ep", experts)
	}
}

// AsyncScheduling reports whether the engine formed a batch while the one before ran,
// by its default: vLLM from 0.14 on, and where the version is not known.
func (p *ClosedLoop) AsyncScheduling() bool { return schedulesAsync(p.engine()) }

// ReserveFullISL reports whether the engine reserved KV for whole prompts, by its
// default: vLLM from 0.19 on, and where the version is not known.
func (p *ClosedLoop) ReserveFullISL() bool { return reservesFullISL(p.engine()) }

// engine is the engine as Run.Engine; a version that is no number, as of a nightly
// build, is a recent one.
func (p *ClosedLoop) engine() string {
	version := p.EngineVersion
	if leadingDigits(strings.TrimPrefix(version, "v")) == "" {
		version = "1.0"
	}
	return "vLLM " + version
}
