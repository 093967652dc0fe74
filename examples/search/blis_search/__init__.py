"""Scores scheduling policies of LLM serving clusters with `blis evaluate`."""
import json
import os
import re
import shlex
import subprocess

from .py2star import translate

BLIS = shlex.split(os.environ.get("BLIS", "blis"))  # the command, BLIS="go run ./cmd/blis" in a checkout
FLAGS = shlex.split(os.environ.get("BLIS_EVALUATE", ""))  # as --suite mine.yaml


def evaluate(policy, *flags):
    """The answer of blis (blis.eval/v1) to one candidate: a program in Python or Starlark, or a bundle in YAML.

    A candidate that is bad, hangs or crashes has ok False, score 0 and a reason. An exception is a fault of the
    set-up: no command blis, a suite that is not there."""
    if re.search(r"^def ", policy, re.M):
        try:
            policy = translate(policy)
        except SyntaxError as e:  # of the translator, or of a text that is not Python: blis says what is wrong with it
            policy = policy if e.lineno else f"fail({str(e)!r})\ndef route(req, i):\n    pass\n"
    order = json.dumps({"id": 0, "policy": policy}) + "\n"
    done = subprocess.run(BLIS + ["evaluate", "--batch", "-"] + FLAGS + list(flags), input=order, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "blis failed").splitlines()[-1])
    return json.loads(done.stdout)


def numbers(answer):
    """The metrics that are finite, with combined_score."""
    return {**{k: v for k, v in answer["metrics"].items() if v is not None}, "combined_score": answer["score"]}
