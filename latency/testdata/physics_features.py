#!/usr/bin/env python3
"""Writes physics_features.json beside it: what the features of the physics
model have to be, worked out from the formulas of docs/latency.md in rational
numbers, logarithms and roots to 50 digits. It shares nothing with the Go code, not
even the sizes of models and GPUs.

    python3 latency/testdata/physics_features.py
"""

import json
import os
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 50

# Sizes from the models' config.json on Hugging Face: h, layers, query heads,
# KV heads, head dimension, intermediate size, vocabulary, experts, active.
MODELS = {
    "Llama-3.1-8B": (4096, 32, 32, 8, 128, 14336, 128256, 0, 0),
    "Llama-2-7b-hf": (4096, 32, 32, 32, 128, 11008, 32000, 0, 0),
    "Llama-2-70b-hf": (8192, 80, 64, 8, 128, 28672, 32000, 0, 0),
    "Mixtral-8x7B-v0.1": (4096, 32, 32, 8, 128, 14336, 32000, 8, 2),
    "Mistral-Nemo-Base-2407": (5120, 40, 32, 8, 128, 14336, 131072, 0, 0),
    "one KV head": (4096, 32, 32, 1, 128, 14336, 128256, 0, 0),  # made up
    "gpt-oss-20b": (2880, 24, 64, 8, 64, 2880, 201088, 32, 4),
}
OTHERS = ["Mistral-Nemo-Base-2407", "one KV head"]  # not built in: their sizes are put into the cases
WINDOWS = {"gpt-oss-20b": (12, 128)}  # layers that have a sliding window, and its tokens
# Peak FLOP/s for operands of 16, 8 and 4 bits, memory, link and PCIe bytes/s, the last two one way.
GPUS = {
    "H100": ({16: 989 * 10**12, 8: 1979 * 10**12, 4: 989 * 10**12}, 3350 * 10**9, 450 * 10**9, 64 * 10**9),
    "A100-80": ({16: 312 * 10**12, 8: 312 * 10**12, 4: 312 * 10**12}, 2039 * 10**9, 300 * 10**9, 32 * 10**9),
    "B200": ({16: 2250 * 10**12, 8: 4500 * 10**12, 4: 9000 * 10**12}, 8000 * 10**9, 900 * 10**9, 128 * 10**9),
}
# Bits of a weight, of its share of the scales and of an activation, and the GPUs that
# have no units for such weights, so that they are converted before use.
METHODS = {
    "bf16": (16, Fraction(0), 16, []),
    "fp8": (8, Fraction(0), 8, []),
    "nvfp4": (4, Fraction(1, 2), 4, ["H100", "A100-80"]),
    "mxfp4": (4, Fraction(1, 4), 16, ["H100", "A100-80"]),
    "awq": (4, Fraction(20, 128), 16, list(GPUS)),
    "gptq": (4, Fraction(16, 128), 16, list(GPUS)),
    "int8": (8, Fraction(0), 16, list(GPUS)),
}
CONVERSION = Fraction(1, 10**13)  # s per weight
# vLLM captures CUDA graphs of these numbers of decodes.
CAPTURED = [1, 2, 4] + list(range(8, 257, 8)) + list(range(272, 513, 16))
ALL_REDUCE_US = {1: 0, 2: 5, 4: 6, 8: 8}
PCIE_EFFICIENCY = Fraction(3, 4)
MATRICES, BYTES, KV_BYTES = 3, 2, 2  # MLPs are gated; activations and KV have 16 bits
EPSILON = Fraction(1, 10**6)


class Constants:
    """What depends on model, GPU, TP, widths and on who shares the experts."""

    def __init__(self, model, gpu, tp, widths=("bf16", "bf16", "bf16"), ep=False, dp=1):
        h, n, heads, kv_heads, d, f, vocab, experts, active = MODELS[model]
        peaks, self.hbm, self.link, pcie = GPUS[gpu]
        self.window_layers, self.window = WINDOWS.get(model, (0, 0))
        q, kv = heads * d, kv_heads * d
        self.h, self.n, self.tp, self.ep, self.dp = h, n, tp, ep, dp
        self.experts, self.active = experts, active
        self.widths = [METHODS[name] for name in widths]
        self.peaks = [peaks[activation] * tp for _, _, activation, _ in self.widths]
        self.compute, self.bandwidth = self.peaks[0], self.hbm * tp
        self.pcie = pcie * PCIE_EFFICIENCY
        self.kv_share = Fraction(kv_heads, heads)
        # Per token and layer, in FLOP: projections and router, dense MLP, chosen experts.
        flops = [2 * h * (q + 2 * kv) + 2 * q * h + 2 * h * experts, 0, 0]
        flops[2 if experts else 1] = max(1, active) * MATRICES * 2 * h * f
        self.token = sum(Fraction(n * x, peak) for x, peak in zip(flops, self.peaks))
        self.head = Fraction(2 * h * vocab, self.compute)
        self.linear = self.token + self.head
        self.pair = 4 * n * q
        self.kv_token = 2 * n * kv * KV_BYTES * max(Fraction(1), Fraction(tp, kv_heads))
        # Weights of all layers: projections, dense MLPs, all experts.
        self.weights = [n * (h * (q + 2 * kv) + q * h), 0, 0]
        self.weights[2 if experts else 1] = n * max(1, experts) * MATRICES * h * f
        self.bytes = [count * (bits + scales) / 8 for count, (bits, scales, _, _) in zip(self.weights, self.widths)]
        self.head_bytes = h * vocab * BYTES
        self.converted = [count if gpu in without else 0 for count, (_, _, _, without) in zip(self.weights, self.widths)]

    def touched(self, tokens):
        """The share of its experts that the GPU with most to read is expected to read."""
        miss = (1 - Fraction(self.active, self.experts)) ** (tokens * self.dp)
        gpus = self.tp * self.dp
        if not self.ep or gpus == 1:
            return 1 - miss
        share, miss = 1 - miss, Decimal(miss.numerator) / Decimal(miss.denominator)
        deviation = ((1 - miss) * miss * gpus / self.experts).sqrt()  # of a mean over its experts
        return min(Fraction(1), share + Fraction((2 * Decimal(gpus).ln()).sqrt() * deviation))

    def experts_read(self, tokens):
        """The bytes of experts that the GPUs of one engine read."""
        return self.bytes[2] * self.touched(tokens) / self.dp if self.experts else 0

    def streamed(self, tokens):
        if tokens == 0:
            return 0
        return self.bytes[0] + self.bytes[1] + self.experts_read(tokens) + self.head_bytes

    def keys(self, total, tokens):
        """Pairs or keys in the mean over the layers."""
        return total - Fraction(self.window_layers, self.n) * (total - min(total, tokens * self.window))

    def sent(self, x):
        """The time of an all-reduce beyond its latency."""
        return Fraction(2 * (self.tp - 1), self.tp) * x / self.link

    def all_reduce(self, x):
        return Fraction(ALL_REDUCE_US[self.tp], 10**6) + self.sent(x)

    def full_step(self, tokens):
        return max(tokens * self.linear, Fraction(self.streamed(tokens)) / self.bandwidth)


def clamp(x):
    return min(max(x, 0), 100)


def over(x, y):
    """x/y with the guard of every denominator."""
    return x / max(EPSILON, Fraction(y))


def beta(c, limits, b):
    prefill, decode = b["PrefillTokens"], b["DecodeTokens"]
    scheduled = prefill + decode
    block = c.kv_token * limits["BlockSize"]
    offload = limits["CPUBlocks"] > 0
    mixed = limits["ChunkedPrefill"] and prefill > 0 and decode > 0
    features = [
        prefill * c.token + b["SampledRows"] * c.head,
        over(c.pair * c.keys(b["PrefillPairs"], prefill), c.compute),
        over(Fraction(c.streamed(scheduled)), c.bandwidth),
        over(c.pair * c.keys(b["DecodeContext"], decode), c.compute),
        over(c.kv_token * (c.keys(b["DecodeContext"], decode) + c.keys(b["PrefillContext"], b["PrefillRequests"])), c.bandwidth),
        over(Fraction(scheduled), limits["MaxBatchedTokens"]),
        over(Fraction(prefill), scheduled),
        c.touched(scheduled) if c.experts and scheduled > 0 else 0,
        2 * c.n * c.all_reduce(scheduled * c.h * BYTES),
        c.kv_share,
        Fraction(1, max(1, scheduled)),
        Fraction(b["PreemptionEMA"]),
        over(b["Transferred"] * block, c.pcie * c.tp) if offload else 0,
        over(b["CPUBlocks"] * block, c.pcie * c.tp) if offload else 0,
        1 if mixed else 0,
        1,
        *second(c, b),
    ]
    return [clamp(x) for x in features]


def second(c, b):
    """Features 17 to 28, which version 2 of the specification added."""
    prefill, decode = b["PrefillTokens"], b["DecodeTokens"]
    scheduled = prefill + decode
    graph = decode if prefill > 0 else next((size for size in CAPTURED if size >= decode), decode) if decode else 0
    layers = Fraction(c.n, 10**6)
    expert_layers = layers if c.experts else 0
    # An engine's tokens, one row of h numbers for each of their experts. The rows of all
    # engines go to the GPUs of all: to one that has the expert, or a slice to each of them.
    row = c.n * c.active * c.h * BYTES * c.dp / Fraction(c.hbm)
    if c.ep:
        row /= c.tp * c.dp
    touched = c.touched(scheduled) if c.experts and scheduled > 0 else 0
    fp8_experts = c.widths[2] == METHODS["fp8"] and scheduled > 0
    conversion = c.converted[0] + c.converted[1] + c.converted[2] * touched / c.dp
    return [
        graph * c.token,
        scheduled * c.token - Fraction(c.streamed(scheduled)) / c.bandwidth,
        layers,
        expert_layers,
        2 * c.n * c.sent(scheduled * c.h * BYTES),
        row * decode,
        row * prefill,
        2 * c.n * c.sent(min(scheduled, 512) * c.h * BYTES),
        over(Fraction(c.experts_read(scheduled)), c.bandwidth) if fp8_experts else 0,
        conversion * CONVERSION / c.tp,
        2 * c.n * scheduled * c.h * BYTES * (c.dp - 1) / Fraction(c.link),
        layers * b["DecodeRequests"],
    ]


def alpha(c, limits, q):
    s = min(Fraction(1), over(Fraction(q["Running"]), limits["MaxSeqs"]))
    m = over(Fraction(q["UsedBlocks"]), q["UsedBlocks"] + q["FreeBlocks"])
    g = s + m - s * m
    hits = over(Fraction(q["CachedTokens"]), q["PromptTokens"])
    free = q["FreeBlocks"] * limits["BlockSize"] * c.kv_token
    logarithm = Fraction(Decimal(1 + q["Waiting"]).ln())
    features = [
        s,
        m,
        q["Input"] * c.linear,
        1,
        g * logarithm * c.full_step(limits["MaxBatchedTokens"]),
        over(g * m * q["Waiting"], limits["MaxSeqs"]),
        over(g * hits * q["Input"], limits["MaxBatchedTokens"]),
        over(g * q["Input"] * c.kv_token, free),
        g * Fraction(q["PreemptionEMA"]),
        g * Fraction(limits["CPUBlocks"], limits["GPUBlocks"]) if limits["CPUBlocks"] > 0 else 0,
        g,
    ]
    return [clamp(x) for x in features]


def batch(prefill=(), decode=(), rows=None, **more):
    """A batch of prefills (chunk, computed before) and of decodes (keys read,
    how many such requests). Rows: all decodes and the prefills that end."""
    b = {
        "PrefillTokens": sum(chunk for chunk, _ in prefill),
        "DecodeTokens": sum(n for _, n in decode),
        "PrefillRequests": len(prefill),
        "DecodeRequests": sum(n for _, n in decode),
        "PrefillPairs": sum(chunk * p + chunk * (chunk + 1) // 2 for chunk, p in prefill),
        "PrefillContext": sum(p for _, p in prefill),
        "DecodeContext": sum(keys * n for keys, n in decode),
        "DecodeBlocks": sum((keys + 15) // 16 * n for keys, n in decode),
        "SampledRows": sum(n for _, n in decode) + len(prefill) if rows is None else rows,
        "Preempted": 0, "Transferred": 0, "CPUBlocks": 0, "PreemptionEMA": 0,
    }
    return {**b, **more}


def state(input=512, running=24, waiting=8, used=7200, free=2800, cached=0, prompts=0, ema=0):
    return {"Input": input, "Running": running, "Waiting": waiting, "UsedBlocks": used, "FreeBlocks": free,
            "CachedTokens": cached, "PromptTokens": prompts, "PreemptionEMA": ema}


def limits(tokens=8192, seqs=256, block=16, gpu=10000, cpu=0, chunked=True):
    return {"MaxBatchedTokens": tokens, "MaxSeqs": seqs, "BlockSize": block, "GPUBlocks": gpu, "CPUBlocks": cpu, "ChunkedPrefill": chunked}


LLAMA, MHA, LARGE, MOE, NEMO, MQA, OSS = MODELS
PROMPT = batch([(512, 0)])
DECODES = batch(decode=[(513, 20), (1700, 43), (9000, 1)])
MIXED = batch([(512, 0), (300, 1024)], [(700, 60)], PreemptionEMA=0.09)
CHUNK = batch([(2048, 4096)], [(4000, 17)], rows=17)
ONE = batch(decode=[(2, 1)])
BUSY = state(cached=700, prompts=2000, ema=0.3)


def cases():
    # name, model, GPU, TP, limits, batch or None, state or None, and what is not usual
    yield "golden values of the design", LLAMA, "H100", 1, limits(), PROMPT, state()
    for model, gpu in [(LLAMA, "H100"), (MHA, "A100-80"), (MOE, "H100"), (NEMO, "A100-80"), (LARGE, "H100")]:
        for tp in [1, 2, 4]:
            for name, b in [("one prompt", PROMPT), ("decodes", DECODES), ("mixed", MIXED)]:
                yield f"{name}, TP {tp}", model, gpu, tp, limits(), b, BUSY if name == "mixed" else None
    for model in [LLAMA, MOE, NEMO]:
        yield "chunk in the middle of a prompt, no row of its own", model, "H100", 2, limits(2065), CHUNK, None
        yield "chunked prefill off", model, "A100-80", 1, limits(chunked=False), MIXED, None
        yield "one decode", model, "H100", 1, limits(2048, 1024), ONE, None
    yield "MoE, 2,048 tokens", MOE, "A100-80", 2, limits(2048), batch([(2048, 0)]), state()
    yield "MoE, one token", MOE, "A100-80", 4, limits(), ONE, None
    yield "MoE, two tokens", MOE, "A100-80", 1, limits(), batch(decode=[(100, 2)]), None
    yield "prompt whose last token alone is missing", LLAMA, "H100", 1, limits(), batch([(1, 511)]), None
    yield "as many GPUs as KV heads", LARGE, "H100", 8, limits(), MIXED, BUSY
    for tp in [1, 2, 4]:
        yield f"one KV head on {tp} GPUs", MQA, "H100", tp, limits(cpu=2500), {**MIXED, "Transferred": 7}, BUSY
    moved = batch([(512, 0)], [(700, 60)], Transferred=96, CPUBlocks=40, PreemptionEMA=0.5)
    for model, gpu, tp in [(LLAMA, "H100", 1), (MOE, "A100-80", 2), (MHA, "H100", 4)]:
        yield "offload on", model, gpu, tp, limits(cpu=2500), moved, BUSY
        yield "offload off, blocks moved nevertheless", model, gpu, tp, limits(), moved, None
    for name, q in [
        ("nobody there", state(running=0, waiting=0, used=0, free=10000)),
        ("empty cache", state(used=0, free=10000)),
        ("full cache: free bytes at ε", state(used=10000, free=0)),
        ("full cache, nothing asked", state(input=0, used=10000, free=0)),
        ("no block at all: total at ε", state(used=0, free=0)),
        ("every seat taken", state(running=256)),
        ("more running than seats", state(running=300)),
        ("nobody waits", state(waiting=0)),
        ("one waits", state(waiting=1)),
        ("a million wait: clamped", state(waiting=10**6)),
        ("all cached", state(cached=5000, prompts=5000)),
        ("no prompt yet: hits at ε", state(cached=0, prompts=0)),
        ("long prompt: α3 and α7 large", state(input=10**6, cached=900, prompts=1000)),
        ("endless prompt: clamped", state(input=10**9, cached=900, prompts=1000)),
        ("steady preemption", state(ema=1)),
    ]:
        yield name, LLAMA, "H100", 1, limits(), None, q
    yield "free bytes at ε, and yet no clamp", LLAMA, "H100", 1, limits(seqs=10**12), None, state(input=1, running=1, used=0, free=0)
    yield "host memory 200 times the GPU's: clamped", MHA, "A100-80", 1, limits(cpu=2000000), None, BUSY
    yield "a million wait, no clamp at seats", LLAMA, "H100", 4, limits(seqs=10**6), None, state(waiting=10**6)
    yield "full step bound by memory", MOE, "H100", 2, limits(tokens=16), ONE, state()
    yield "full step of one token", NEMO, "A100-80", 4, limits(tokens=1), ONE, state()
    yield "budget of one token: β6 clamped", LLAMA, "H100", 1, limits(tokens=1), PROMPT, None
    yield "a million tokens: β2 clamped", LLAMA, "H100", 1, limits(tokens=2**20), batch([(10**6, 0)]), None
    yield "endless contexts: β4 and β5 clamped", LLAMA, "H100", 1, limits(), batch(decode=[(10**10, 100)]), None
    yield "endless prefill: β1 and β9 clamped", LARGE, "A100-80", 2, limits(), batch([(10**9, 0)]), None
    yield "endless transfers: β13 and β14 clamped", LLAMA, "A100-80", 1, limits(cpu=1), batch(decode=[(9, 1)], Transferred=10**9, CPUBlocks=10**9), None
    yield "preemption beyond reason: clamped", LLAMA, "H100", 1, limits(), batch(decode=[(9, 1)], PreemptionEMA=1000), state(ema=1000)
    yield "nothing scheduled: β11 at its guard", MOE, "H100", 2, limits(), batch(), None
    for decodes in [3, 5, 9, 256, 257, 300, 512, 513, 600]:
        yield f"{decodes} decodes: the captured size", LLAMA, "H100", 2, limits(), batch(decode=[(500, decodes)]), None
    few, many = batch(decode=[(700, 6)]), batch([(6000, 0)], [(900, 200)])
    for engines, ep in [(1, True), (2, False), (2, True), (4, False), (4, True)]:
        for tp in [1, 4]:
            for name, b, q in [("few", few, state()), ("one", ONE, None), ("many", many, None), ("mixed", MIXED, None)]:
                what = f"{name}, {engines} engines" + (", expert parallel" if ep else "")
                yield what, MOE, "H100", tp, limits(cpu=100), b, q, {"dp": engines, "ep": ep}
    yield "every expert is read", OSS, "B200", 2, limits(), many, None, {"widths": ("bf16", "bf16", "mxfp4"), "ep": True}
    for gpu in ["H100", "B200"]:
        for name, b in [("decodes", DECODES), ("mixed", MIXED), ("one decode", ONE)]:
            for method in ["fp8", "nvfp4", "gptq", "mxfp4", "int8"]:
                yield f"experts of {method}, {name}", MOE, gpu, 2, limits(), b, BUSY, {"widths": ("bf16", "bf16", method)}
            for method in ["fp8", "nvfp4", "awq"]:
                yield f"all {method}, {name}", MOE, gpu, 4, limits(), b, None, {"widths": (method,) * 3, "ep": True, "dp": 2}
                yield f"all {method}, {name}", LLAMA, gpu, 1, limits(), b, BUSY, {"widths": (method,) * 3}
            yield f"MXFP4 and windows, {name}", OSS, gpu, 1, limits(), b, BUSY, {"widths": ("bf16", "bf16", "mxfp4")}
    yield "MLPs alone of 8 bits", LLAMA, "H100", 2, limits(), MIXED, None, {"widths": ("bf16", "fp8", "bf16")}
    yield "FP8 without units for it", MHA, "A100-80", 1, limits(), MIXED, None, {"widths": ("fp8",) * 3}
    yield "windows that are not reached", OSS, "H100", 1, limits(), batch([(64, 0)], [(100, 7)]), None, {"widths": ("bf16", "bf16", "mxfp4")}


class Digits(float):
    """A number that json writes with 17 significant digits."""

    def __new__(cls, x):
        d = Decimal(x.numerator) / Decimal(x.denominator) if isinstance(x, Fraction) else Decimal(x)
        self = super().__new__(cls, d)
        self.text = "0" if d == 0 else f"{d:.16e}"
        return self


def dump(x):
    if isinstance(x, Digits):
        return x.text
    if isinstance(x, Fraction):
        return dump(Digits(x))
    if isinstance(x, list):
        return "[" + ", ".join(map(dump, x)) + "]"
    if isinstance(x, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {dump(v)}" for k, v in x.items() if v not in (0, False)) + "}"
    return json.dumps(x, ensure_ascii=False)


def main():
    texts = []
    for name, model, gpu, tp, e, b, q, *more in cases():
        more = more[0] if more else {}
        c = Constants(model, gpu, tp, **more)
        lines = [f'"name": {json.dumps(name, ensure_ascii=False)}, "model": "{model}", "gpu": "{gpu}", "tp": {tp}']
        shared = {"ExpertParallel": more.get("ep", False), "DataParallel": more.get("dp", 0)}
        if any(shared.values()):
            lines[0] += f', {dump(shared)[1:-1]}'
        if "widths" in more:
            fields = [dict(zip(("WeightBits", "ScaleBits", "ActivationBits"), METHODS[name])) for name in more["widths"]]
            lines.append(f'"widths": {dump(fields)}')
        if model in OTHERS:
            shape = dict(zip(("Hidden", "Layers", "Heads", "KVHeads", "HeadDim", "Intermediate", "Vocab"), MODELS[model]))
            lines.append(f'"shape": {dump(shape)}')
        lines.append(f'"limits": {dump(e)}')
        if b is not None:
            lines += [f'"batch": {dump(b)}', f'"beta": {dump([Digits(x) for x in beta(c, e, b)])}']
        if q is not None:
            lines += [f'"queue": {dump(q)}', f'"alpha": {dump([Digits(x) for x in alpha(c, e, q)])}']
        texts.append("  {" + ",\n   ".join(lines) + "}")
    about = "Made by physics_features.py; fields that are 0 or false are left out."
    with open(os.path.splitext(os.path.abspath(__file__))[0] + ".json", "w", encoding="utf-8") as out:
        out.write('{"about": "%s",\n "cases": [\n%s\n]}\n' % (about, ",\n".join(texts)))
    print(len(texts), "cases")


if __name__ == "__main__":
    main()
