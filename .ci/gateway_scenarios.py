#!/usr/bin/env python3
"""Random scenarios of gateways, with what an oracle makes of them.

  gateway_scenarios.py ORACLE COUNT SEED FOLDER

ORACLE is a Python file with a function run(folder), which gives the rows of expected.csv for
flags.txt and requests.csv. FOLDER gets a folder for each scenario, which TestGatewayConformance reads.
"""
import csv
import importlib.util
import os
import random
import sys


def flags(r, tick):
    f = {
        "latency-model": "blackbox",
        "alpha-coeffs": "%d,0,%d" % (r.choice([0, 0, 500, 1000, 1300]), r.choice([0, 100])),
        "beta-coeffs": "%d,%d,%d" % (r.choice([900, 1000, 5000]), r.choice([0, 0, 3]), r.choice([0, 0, 20])),
        "total-kv-blocks": "4000", "num-instances": str(r.randint(1, 4)), "routing-policy": "round-robin",
        "max-num-batched-tokens": "65536", "max-num-seqs": str(r.choice([2, 4, 256])), "scheduler-reserve-full-isl": "false",
        "dispatch-tick-interval": str(tick),
    }
    if r.random() < 0.4:
        f["routing-latency"] = str(r.choice([1, 300, tick, 2 * tick, 2500]))
    kind = r.choice(["concurrency"] * 4 + ["utilization"] * 2 + ["never"])
    f["saturation-detector"] = kind
    if kind == "concurrency":
        f["max-concurrency"] = str(r.randint(1, 5))
    if kind == "utilization":
        f["queue-depth-threshold"] = str(r.randint(1, 4))
        f["kv-cache-util-threshold"] = r.choice(["0.02", "0.1", "0.8"])
    if r.random() < 0.5:
        f["fairness-policy"] = "round-robin"
    f["dispatch-order"] = r.choice(["priority", "fcfs", "slo-deadline"])
    if f["dispatch-order"] == "slo-deadline":
        f["slo-targets"] = "critical=%d,batch=%d,gold=40000" % (r.choice([20000, 90000]), r.choice([5000, 300000]))
    if r.random() < 0.5:
        f["usage-limit-threshold"] = r.choice(["0.3", "0.5", "0.75"])
    if r.random() < 0.4:
        f["per-band-capacity"] = str(r.randint(1, 8))
    if r.random() < 0.5:
        f["max-gateway-queue-depth"] = str(r.randint(1, 12))
        if r.random() < 0.6:
            f["queue-shedding"] = "true"
    if r.random() < 0.4:
        f["request-ttl"] = str(r.choice([1, tick, 3 * tick, 7777, 60000]))
    return f


def scenario(folder, r):
    tick = r.choice([1, 100, 1000, 1000, 5000, 50000])
    f = flags(r, tick)
    os.makedirs(folder)
    with open(os.path.join(folder, "flags.txt"), "w") as out:
        words = ["--flow-control"]
        for name, value in f.items():
            words += ["--" + name] if value == "true" else ["--%s=%s" % (name, value)]
        out.write(" ".join(words) + "\n")
    grid = r.choice([1, 1, 100, 1000, tick])  # arrivals that coincide with ticks, with ends of steps and with each other
    span = r.choice([20000, 100000, 400000])
    at = sorted(r.randrange(span) // grid * grid for _ in range(r.randint(5, 80)))
    tenants = ["tenant-%s" % c for c in "abcde"][: r.randint(1, 5)]
    classes = ["critical", "standard", "batch", "sheddable", "background", "gold"]
    classes = r.sample(classes, r.randint(1, len(classes)))
    with open(os.path.join(folder, "requests.csv"), "w", newline="") as out:
        w = csv.writer(out)
        w.writerow("arrival_us input_tokens output_tokens tenant slo_class prefix_group prefix_tokens deadline_us".split())
        for t in at:
            w.writerow([t, r.randint(1, 400), r.randint(1, 60), r.choice(tenants), r.choice(classes), "", "", ""])


def main():
    oracle_file, count, seed, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("oracle", oracle_file)
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)
    for k in range(count):
        here = os.path.join(folder, "%s-%d" % (seed, k))
        scenario(here, random.Random("%s/%d" % (seed, k)))
        rows = oracle.run(here)
        with open(os.path.join(here, "expected.csv"), "w", newline="") as out:
            w = csv.DictWriter(out, list(rows[0]))
            w.writeheader()
            w.writerows(rows)


main()
