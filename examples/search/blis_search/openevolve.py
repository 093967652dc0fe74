"""Evaluator of OpenEvolve 0.3.2: openevolve-run seed.py blis_search/openevolve.py --config config.yaml"""
from openevolve.evaluation_result import EvaluationResult

import blis_search


def result(program_path, *flags):
    with open(program_path) as f:
        answer = blis_search.evaluate(f.read(), *flags)
    return EvaluationResult(metrics=blis_search.numbers(answer), artifacts={"feedback": answer["feedback"]})


def evaluate(program_path):
    return result(program_path)


evaluate_stage2 = evaluate


def evaluate_stage1(program_path):
    return result(program_path, "--stage", "smoke")
