"""Evaluation program of ShinkaEvolve 0.0.7: eval_program_path of JobConfig."""
import argparse
import json
import pathlib

import blis_search


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--program_path", required=True, type=pathlib.Path)
    p.add_argument("--results_dir", required=True, type=pathlib.Path)
    a = p.parse_args()
    answer = blis_search.evaluate(a.program_path.read_text())
    metrics = {"combined_score": answer["score"], "public": blis_search.numbers(answer), "private": {}, "text_feedback": answer["feedback"]}
    a.results_dir.mkdir(parents=True, exist_ok=True)
    (a.results_dir / "metrics.json").write_text(json.dumps(metrics))
    (a.results_dir / "correct.json").write_text(json.dumps({"correct": answer["ok"], "error": (answer["error"] or {}).get("message", "")}))


if __name__ == "__main__":
    main()
