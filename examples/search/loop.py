"""A search without a framework: 100 candidates, weights of the router drawn around the best so far.

    BLIS="go run ./cmd/blis" python examples/search/loop.py

The candidates of a generation are one batch, which blis evaluates on all cores."""
import json
import os
import random
import shlex
import subprocess

BLIS = shlex.split(os.environ.get("BLIS", "blis"))
SCORERS = ["prefix-affinity", "queue-depth", "kv-utilization", "active-requests"]


def bundle(weights):
    params = {name: round(w, 3) for name, w in zip(SCORERS, weights)}
    return json.dumps({"routing": {"type": "weighted", "params": params}})  # JSON is YAML


def scores(generation):
    lines = "".join(json.dumps({"id": n, "policy": bundle(w)}) + "\n" for n, w in enumerate(generation))
    done = subprocess.run(BLIS + ["evaluate", "--batch", "-"], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line)["score"] for line in done.stdout.splitlines()]


draw = random.Random(1)
best = [1.0] * len(SCORERS)
best_score = scores([best])[0]
print(f"start {best_score:.4f}")
for number in range(1, 12):
    generation = [[max(0.01, w * draw.lognormvariate(0, 0.5)) for w in best] for _ in range(9)]
    for score, weights in zip(scores(generation), generation):
        if score > best_score:
            best, best_score = weights, score
    print(f"generation {number:2} best {best_score:.4f}  {bundle(best)}")
