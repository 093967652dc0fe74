"""Evaluator and adapter of GEPA 0.1.4. An example is the name of a scenario of the suite."""
from gepa.core.adapter import EvaluationBatch

import blis_search


def evaluator(candidate, example=None):  # for optimize_anything
    answer = blis_search.evaluate(candidate, *(["--scenarios", example] if example else []))
    return answer["score"], {"scores": answer["objectives"], "feedback": answer["feedback"]}


class Adapter:  # for optimize
    propose_new_texts = None

    def evaluate(self, batch, candidate, capture_traces=False):
        answers = [blis_search.evaluate(candidate, "--scenarios", name) for name in batch]
        return EvaluationBatch(answers, [a["score"] for a in answers], answers if capture_traces else None, [a["objectives"] for a in answers])

    def make_reflective_dataset(self, candidate, eval_batch, components_to_update):
        rows = [{"Inputs": a["per_scenario"][0]["id"], "Generated Outputs": a["metrics"], "Feedback": a["feedback"]} for a in eval_batch.trajectories]
        return {name: rows for name in components_to_update}
