"""Evaluator and adapter of GEPA 0.1.4. An example is the name of a scenario of the suite."""
from gepa.core.adapter import EvaluationBatch

import blis_search


def evaluator(candidate, example=None):  # for gepa.optimize_anything
    text = candidate if isinstance(candidate, str) else candidate["policy"]
    answer = blis_search.evaluate(text, *(["--scenarios", example] if example else []))
    return answer["score"], {"scores": answer["objectives"], "feedback": answer["feedback"]}


class Adapter:  # for gepa.optimize
    propose_new_texts = None

    def evaluate(self, batch, candidate, capture_traces=False):
        answers = [blis_search.evaluate(candidate["policy"], "--scenarios", name) for name in batch]
        return EvaluationBatch(answers, [a["score"] for a in answers], answers if capture_traces else None, [a["objectives"] for a in answers])

    def make_reflective_dataset(self, candidate, eval_batch, components_to_update):
        rows = [{"Inputs": ",".join(s["id"] for s in a["per_scenario"]), "Generated Outputs": a["metrics"], "Feedback": a["feedback"]} for a in eval_batch.trajectories]
        return {name: rows for name in components_to_update}
