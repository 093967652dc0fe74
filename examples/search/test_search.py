"""Two generations of OpenEvolve, GEPA and ShinkaEvolve with a proposer that follows a script, each twice.

BLIS_SEARCH_SOURCES names folders with the sources of the frameworks, separated by colons; what is not there
is replaced by stand-ins with the same signatures. go test ./examples/search runs this."""
import asyncio
import dataclasses
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE)] + [p for p in os.environ.get("BLIS_SEARCH_SOURCES", "").split(":") if p]
SHIMS = HERE / "blis_search"
SEED = (HERE / "seeds" / "linear.star").read_text()
SCRIPT = [SEED.replace("3.0 * i.prefix_hit", "4.0 * i.prefix_hit"), "def route(req, i):\n    while True: pass\n"]  # the proposals


class LanguageModels(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Packages of language models and the like, which a scripted proposer does not need, as mocks."""

    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in {"hydra", "radon", "openai", "anthropic", "google", "instructor", "Levenshtein", "unidiff", "dill",
                                  "omegaconf", "backoff", "boto3", "sklearn", "seaborn", "aiofiles", "networkx", "markdown", "dotenv"}:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = mock.MagicMock(name=spec.name)
        module.__spec__, module.__path__, module.__name__ = spec, [], spec.name
        return module

    def exec_module(self, module):
        pass


sys.meta_path.append(LanguageModels())


def real(name):
    """Whether a framework is there; says so."""
    try:
        importlib.import_module(name)
    except ImportError as e:
        print(f"{name}: a stand-in, as there is none ({e})")
        return False
    print(f"{name}: the real one")
    return True


def stand_in(name, **values):
    parts = name.split(".")
    for k in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:k]), types.ModuleType(".".join(parts[:k])))
    vars(sys.modules[name]).update(values)


OPENEVOLVE = real("openevolve.evaluator")
if not OPENEVOLVE:
    fields = [("metrics", dict), ("artifacts", dict, dataclasses.field(default_factory=dict))]
    stand_in("openevolve.evaluation_result", EvaluationResult=dataclasses.make_dataclass("EvaluationResult", fields))
GEPA = real("gepa")
if not GEPA:
    fields = [("outputs", list), ("scores", list), ("trajectories", list, None), ("objective_scores", list, None)]
    stand_in("gepa.core.adapter", EvaluationBatch=dataclasses.make_dataclass("EvaluationBatch", fields))
SHINKA = real("shinka.launch.scheduler")


def openevolve_metrics(evaluator, program):
    """What OpenEvolve keeps of a program: its stages, one after the other."""
    if OPENEVOLVE:
        return asyncio.run(evaluator.evaluate_program(program, "p"))
    with tempfile.NamedTemporaryFile("w", suffix=".star") as f:
        f.write(program)
        f.flush()
        first = evaluator.evaluate_stage1(f.name)
        return {**first.metrics, **(evaluator.evaluate_stage2(f.name).metrics if first.metrics["combined_score"] >= 0.4 else {})}


def openevolve_evaluator():
    path = str(SHIMS / "openevolve.py")
    if not OPENEVOLVE:
        spec = importlib.util.spec_from_file_location("evaluation_module", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    from openevolve.config import DatabaseConfig, EvaluatorConfig
    from openevolve.database import ProgramDatabase
    from openevolve.evaluator import Evaluator
    return Evaluator(EvaluatorConfig(cascade_thresholds=[0.4]), path, database=ProgramDatabase(DatabaseConfig()), suffix=".star")


class Generations(unittest.TestCase):
    def twice(self, generations):
        first, second = generations(), generations()
        self.assertEqual(first, second, "another result on repetition")
        return first

    def check_scores(self, scores):
        self.assertEqual(len(scores), 3)
        self.assertTrue(0 < scores[0] < 1 and 0 < scores[1] < 1, scores)
        self.assertEqual(scores[2], 0, "an endless loop scores exactly 0")

    def test_openevolve(self):
        def generations():
            evaluator, database, scores = openevolve_evaluator(), [], []
            for program in [SEED] + SCRIPT:
                metrics = openevolve_metrics(evaluator, program)
                self.assertTrue(all(isinstance(v, (int, float)) and v == v and abs(v) < 1e12 for v in metrics.values()), metrics)
                database.append(set(metrics))
                scores.append(metrics["combined_score"])
            self.assertEqual(database[0] & database[2], database[2], "a failure has metrics that others lack")
            self.assertLessEqual({"p99_ttft_ms", "slo_attainment", "combined_score"}, database[2], "features of a failure are missing")
            return scores
        self.check_scores(self.twice(generations))

    def test_gepa(self):
        from blis_search import gepa as shim

        def generations():
            adapter, script, scores = shim.Adapter(), iter(SCRIPT), []
            if not GEPA:
                for program in [SEED] + SCRIPT:
                    batch = adapter.evaluate(["bursts", "prefixes"], {"policy": program}, capture_traces=True)
                    rows = adapter.make_reflective_dataset({"policy": program}, batch, ["policy"])["policy"]
                    self.assertTrue(all(r["Feedback"] for r in rows))
                    scores.append(sum(batch.scores) / 2)
                return scores
            import gepa
            texts = []

            def propose(candidate, dataset, components, metadata=None):
                self.assertTrue(all(r["Feedback"] for r in dataset["policy"]))
                texts.append(next(script))
                return {"policy": texts[-1]}
            result = gepa.optimize({"policy": SEED}, ["bursts", "prefixes"], ["bursts", "prefixes"], adapter=adapter, custom_candidate_proposer=propose,
                                   reflection_minibatch_size=1, max_metric_calls=20, stop_callbacks=lambda state: len(texts) == len(SCRIPT), seed=1)
            self.assertEqual(texts, SCRIPT)
            scored = dict(zip((c["policy"] for c in result.candidates), result.val_aggregate_scores))
            self.assertNotIn(SCRIPT[1], scored, "an endless loop was accepted")
            return [scored[SEED], scored.get(SCRIPT[0], 0.5), 0]
        self.check_scores(self.twice(generations))

    def test_gepa_evaluator(self):
        from blis_search import gepa as shim
        score, info = shim.evaluator({"policy": SEED}, "prefixes")
        self.assertTrue(0 < score < 1 and info["scores"] and info["feedback"])
        self.assertEqual(shim.evaluator(SEED, "prefixes"), (score, info))

    def test_gepa_components(self):
        from blis_search import gepa as shim
        python = "def route(req, i):\n    return argmin([x.queue + x.running for x in i])\n"
        batch = shim.Adapter().evaluate(["bursts"], {"routing": python, "scheduler": "type: sjf"}, capture_traces=True)
        rows = shim.Adapter().make_reflective_dataset({}, batch, ["routing"])
        self.assertTrue(0 < batch.scores[0] < 1 and rows["routing"][0]["Feedback"], batch)
        self.assertEqual(shim.Adapter().evaluate(["bursts"], {"rooting": python}).scores, [0])

    def test_what_is_not_measured_is_finite(self):
        import blis_search
        answer = blis_search.evaluate("admission: reject-all")
        found = blis_search.numbers(answer)
        self.assertEqual(set(found), set(answer["metrics"]) | {"combined_score"})
        self.assertTrue(answer["ok"] and found["p99_ttft_ms"] == 1e9 and found["goodput_rps"] == 0 and found["combined_score"] > 0, found)

    def test_shinka(self):
        def run(program, folder):
            source, results = folder / "main.star", folder / "results"
            source.write_text(program)
            if SHINKA:
                from shinka.launch.scheduler import JobScheduler, LocalJobConfig
                found, _ = JobScheduler("local", LocalJobConfig(eval_program_path=str(SHIMS / "shinka.py"))).run(str(source), str(results))
                return found["metrics"], found["correct"]
            subprocess.run([sys.executable, str(SHIMS / "shinka.py"), "--program_path", str(source), "--results_dir", str(results)], check=True)
            return json.loads((results / "metrics.json").read_text()), json.loads((results / "correct.json").read_text())

        def generations():
            scores = []
            for program in [SEED] + SCRIPT:
                with tempfile.TemporaryDirectory() as folder:
                    metrics, correct = run(program, pathlib.Path(folder))
                self.assertEqual(correct["correct"], metrics["combined_score"] > 0)
                self.assertEqual(bool(correct["error"]), metrics["combined_score"] == 0)
                self.assertTrue(metrics["text_feedback"])
                scores.append(metrics["combined_score"])
            return scores
        with mock.patch.dict(os.environ, PYTHONPATH=":".join(sys.path)):
            self.check_scores(self.twice(generations))


CONSTRUCTS = """
import math
from typing import List

K: float = 2.0

def f(x: float, load: int = 3) -> float:
    \"\"\"Of numbers.\"\"\"
    assert x >= 0, "x is negative"
    y = x ** 2 + K ** 3
    if 1 < x <= 4 and y is not None:
        y -= sum(k * load for k in range(3))
    elif x > 4:
        y **= 2
    else:
        y = math.sqrt(math.fabs(y))
    s = {a for a in (1, 2, 2)} | {7}
    text = f"{load}-{len(s)}"
    return round(y + len(text) + math.floor(x), 3) if y < 1e9 else -1.0
"""


class Translator(unittest.TestCase):
    def test_same_numbers(self):
        import blis_search
        space = {}
        exec(CONSTRUCTS, space)
        values = [0.5 * k for k in range(12)]
        want = [space["f"](x) for x in values]
        answer = blis_search.evaluate(CONSTRUCTS + f"\nassert False, 'got ' + str([f(x) for x in {values}])\n\ndef route(req, i): return 0\n")
        message = answer["error"]["message"]
        got = json.loads(message[message.index("["):message.index("]") + 1])
        self.assertEqual(len(got), len(want))
        for a, b in zip(got, want):
            self.assertAlmostEqual(a, b, places=9)

    def test_lines_stay(self):
        from blis_search.py2star import translate
        self.assertEqual(translate("import math\n\n# a comment\nx = (1 +\n     2)\ny = 3\n"), "pass\n\n\nx = 1 + 2\n\ny = 3\n")

    def test_refusals(self):
        from blis_search.py2star import translate
        for text, reason in [("class A: pass", "class"), ("def f():\n    global a", "line 2: no global"), ("import os", "import"), ("try: pass\nexcept: pass", "try"),
                             ("with a: pass", "with"), ("x = (y := 2)", ":="), ("from os import path", "import"), ("@a\ndef f(): pass", "decorators"),
                             ("def f(): yield 1", "yield"), ("a @ b", "@"), ("a, *b = c", "*")]:
            with self.subTest(text), self.assertRaises(SyntaxError) as e:
                translate(text)
            self.assertIn(reason, str(e.exception))
            self.assertRegex(str(e.exception), r"^line \d+: ")

    def test_refusal_scores_zero(self):
        import blis_search
        answer = blis_search.evaluate("import os\n\ndef route(req, i):\n    return 0\n")
        self.assertEqual(answer["score"], 0)
        self.assertIn("no import but math", answer["error"]["message"])


class Package(unittest.TestCase):
    def test_installs_from_the_folder(self):
        try:
            import setuptools  # noqa: F401
            import wheel  # noqa: F401
        except ImportError as e:
            self.skipTest(str(e))
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "source"
            subprocess.run(["cp", "-r", str(HERE), str(source)], check=True)  # a build writes beside its source
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "--no-deps", "--target", folder + "/site", str(source)],
                           check=True, capture_output=True)
            text = subprocess.run([sys.executable, "-c", "import blis_search.py2star as p; print(p.__file__)"], env={**os.environ, "PYTHONPATH": folder + "/site"},
                                  cwd=folder, capture_output=True, text=True, check=True).stdout
            self.assertTrue(text.startswith(folder), text)


class Loop(unittest.TestCase):
    def test_loop_of_a_hundred(self):
        done = subprocess.run([sys.executable, str(HERE / "loop.py")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        best = [float(line.split("best ")[1].split()[0]) for line in done.stdout.splitlines() if "best" in line]
        self.assertEqual(len(best), 11)
        self.assertEqual(best, sorted(best))
        print(done.stdout.splitlines()[-1])


class Seeds(unittest.TestCase):
    def test_seeds_run(self):
        import blis_search
        for path in sorted((HERE / "seeds").iterdir()):
            with self.subTest(path.name):
                answer = blis_search.evaluate(path.read_text())
                self.assertTrue(answer["ok"], answer["error"])
                print(f"{path.name:16} {answer['score']:.4f}")


if __name__ == "__main__":
    unittest.main()
