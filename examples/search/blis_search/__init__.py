"""Scores scheduling policies of LLM serving clusters with `blis evaluate`."""
import json
import os
import shlex
import subprocess

from .py2star import translate

BLIS = shlex.split(os.environ.get("BLIS", "blis"))  # the command, BLIS="go run ./cmd/blis" in a checkout
FLAGS = shlex.split(os.environ.get("BLIS_FLAGS", ""))  # as --suite mine.yaml


def evaluate(policy, *flags, language="auto"):
    """The answer of blis (blis.eval/v1) to one candidate: a program in Python or Starlark, or a bundle in YAML.

    A candidate that is bad, hangs or crashes has ok False, score 0 and a reason. An exception is a fault of the
    set-up: no command blis, a suite that is not there."""
    if language == "python" or language == "auto" and ("import " in policy or "->" in policy):
        try:
            policy = translate(policy)
        except SyntaxError as e:
            policy = f"def route(req, i):\n    fail({str(e)!r})\n"  # scores 0 with this reason
    done = subprocess.run(BLIS + ["evaluate", "--batch", "-"] + FLAGS + list(flags), input=json.dumps({"id": 0, "policy": policy}) + "\n",
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


def numbers(answer):
    """The metrics that are finite, with combined_score."""
    return {**{k: v for k, v in answer["metrics"].items() if v is not None}, "combined_score": answer["score"]}
