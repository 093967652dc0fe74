#!/usr/bin/env python3
"""Writes physics_features.json beside it: what the features of the physics
model have to be, worked out from the formulas of docs/latency.md in rational
numbers, the logarithm to 50 digits. It shares nothing with the Go code, not
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
}
BUILT_IN = list(MODELS)[:4]  # the others' sizes are put into the cases
# Peak FLOP/s, memory, link and PCIe bytes/s, the last two one way.
GPUS = {
    "H100": (989 * 10**12, 3350 * 10**9, 450 * 10**9, 64 * 10**9),
    "A100-80": (312 * 10**12, 2039 * 10**9, 300 * 10**9, 32 * 10**9),
}
ALL_REDUCE_US = {1: 0, 2: 5, 4: 6, 8: 8}
PCIE_EFFICIENCY = Fraction(3, 4)
MATRICES, BYTES, KV_BYTES = 3, 2, 2  # all are gated and in 16 bits
EPSILON = Fraction(1, 10**6)


class Constants:
    """What depends on model, GPU and TP."""

    def __init__(self, model, gpu, tp):
        h, n, heads, kv_heads, d, f, vocab, experts, active = MODELS[model]
        peak, hbm, link, pcie = GPUS[gpu]
        q, kv = heads * d, kv_heads * d
        self.h, self.n, self.tp, self.link = h, n, tp, link
        self.experts, self.active = experts, active
        self.compute, self.bandwidth = peak * tp, hbm * tp
        self.pcie = pcie * PCIE_EFFICIENCY
        self.kv_share = Fraction(kv_heads, heads)
        attention = 2 * h * (q + 2 * kv) + 2 * q * h
        if experts:
            mlp = active * MATRICES * 2 * h * f + 2 * h * experts
        else:
            mlp = MATRICES * 2 * h * f
        self.head = 2 * h * vocab
        self.linear = n * (attention + mlp) + self.head
        self.pair = 4 * n * q
        self.kv_token = 2 * n * kv * KV_BYTES * max(Fraction(1), Fraction(tp, kv_heads))
        self.attention_bytes = n * (h * (q + 2 * kv) + q * h) * BYTES
        self.mlp_bytes = n * MATRICES * h * f * BYTES  # of all dense MLPs, or of one expert per layer
        self.head_bytes = h * vocab * BYTES

    def touched(self, tokens):
        """The share of experts that so many tokens are expected to use."""
        return 1 - (1 - Fraction(self.active, self.experts)) ** tokens

    def streamed(self, tokens):
        if tokens == 0:
            return 0
        mlp = self.mlp_bytes * self.experts * self.touched(tokens) if self.experts else self.mlp_bytes
        return self.attention_bytes + mlp + self.head_bytes

    def all_reduce(self, x):
        return Fraction(ALL_REDUCE_US[self.tp], 10**6) + Fraction(2 * (self.tp - 1), self.tp) * x / self.link

    def full_step(self, tokens):
        return max(Fraction(tokens * self.linear, self.compute), Fraction(self.streamed(tokens)) / self.bandwidth)


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
        over(Fraction(prefill * (c.linear - c.head) + b["SampledRows"] * c.head), c.compute),
        over(Fraction(c.pair * b["PrefillPairs"]), c.compute),
        over(Fraction(c.streamed(scheduled)), c.bandwidth),
        over(Fraction(c.pair * b["DecodeContext"]), c.compute),
        over(c.kv_token * (b["DecodeContext"] + b["PrefillContext"]), c.bandwidth),
        over(Fraction(scheduled), limits["MaxBatchedTokens"]),
        over(Fraction(prefill), scheduled),
        c.touched(scheduled) if c.experts and scheduled > 0 else 0,
        2 * c.n * c.all_reduce(scheduled * c.h * BYTES),
        c.kv_share,
        Fraction(1, max(1, scheduled)),
        Fraction(b["PreemptionEMA"]),
        over(b["Transferred"] * block, c.pcie) if offload else 0,
        over(b["CPUBlocks"] * block, c.pcie) if offload else 0,
        1 if mixed else 0,
        1,
    ]
    return [clamp(x) for x in features]


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
        over(Fraction(q["Input"] * c.linear), c.compute),
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


LLAMA, MHA, LARGE, MOE, NEMO, MQA = MODELS
PROMPT = batch([(512, 0)])
DECODES = batch(decode=[(513, 20), (1700, 43), (9000, 1)])
MIXED = batch([(512, 0), (300, 1024)], [(700, 60)], PreemptionEMA=0.09)
CHUNK = batch([(2048, 4096)], [(4000, 17)], rows=17)
ONE = batch(decode=[(2, 1)])
BUSY = state(cached=700, prompts=2000, ema=0.3)


def cases():
    # name, model, GPU, TP, limits, batch or None, state or None
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
    if isinstance(x, list):
        return "[" + ", ".join(map(dump, x)) + "]"
    if isinstance(x, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {dump(v)}" for k, v in x.items() if v not in (0, False)) + "}"
    return json.dumps(x, ensure_ascii=False)


def main():
    texts = []
    for name, model, gpu, tp, e, b, q in cases():
        c = Constants(model, gpu, tp)
        lines = [f'"name": {json.dumps(name, ensure_ascii=False)}, "model": "{model}", "gpu": "{gpu}", "tp": {tp}']
        if model not in BUILT_IN:
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
