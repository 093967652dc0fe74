"""Scores scheduling policies of LLM serving clusters with `blis evaluate`."""
import json
import os
import re
import shlex
import subprocess

from .py2star import translate

BLIS = shlex.split(os.environ.get("BLIS", "blis"))  # the command, BLIS="go run ./cmd/blis" in a checkout
FLAGS = shlex.split(os.environ.get("BLIS_EVALUATE", ""))  # as --suite mine.yaml


def starlark(policy):
    """A text in which a program in Python is one in Starlark."""
    if not re.search(r"^def ", policy, re.M):
        return policy
    try:
        return translate(policy)
    except SyntaxError as e:  # of the translator, or of a text that is not Python: blis says what is wrong with it
        return policy if e.lineno else f"fail({str(e)!r})\ndef route(req, i):\n    pass\n"


def evaluate(policy, *flags):
    """The answer of blis (blis.eval/v1) to one candidate: a program in Python or Starlark, a bundle in YAML, or a
    dictionary with such a text per kind of policy.

    A candidate that is bad, hangs or crashes has ok False, score 0 and a reason. An exception is a fault of the
    set-up: no command blis, a suite that is not there."""
    policy = {k: starlark(v) for k, v in policy.items()} if isinstance(policy, dict) else starlark(policy)
    order = json.dumps({"id": 0, "policy": policy}) + "\n"
    done = subprocess.run(BLIS + ["evaluate", "--batch", "-"] + FLAGS + list(flags), input=order, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "blis failed").splitlines()[-1])
    return json.loads(done.stdout)


def numbers(answer):
    """The metrics with combined_score, all finite: 1e9 for what is infinite, as for a failure, and 0 for what no request has."""
    missing = {k: 1e9 if "infinite" in reason else 0.0 for k, reason in answer["unmeasured"].items()}
    return {**answer["metrics"], **missing, "combined_score": answer["score"]}
