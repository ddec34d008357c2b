"""The same jobs with the command and with the package: with the defaults of both, the same numbers."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import dtwave

ROOT = Path(__file__).parents[2]


def _found() -> str | None:
    """The command: `DTWAVE_COMMAND`, or what was built here last."""
    given = os.environ.get("DTWAVE_COMMAND")
    if given:
        return given
    built = [path for path in ROOT.glob("target/*/dtwave*") if path.name in ("dtwave", "dtwave.exe") and path.is_file()]
    return str(max(built, key=lambda path: path.stat().st_mtime)) if built else None


COMMAND = _found()
is_needed = os.environ.get("DTWAVE_TESTS") == "all"
pytestmark = pytest.mark.skipif(COMMAND is None and not is_needed, reason="the command dtwave is not built")

RNG = np.random.default_rng(7)
SERIES = RNG.normal(size=(6, 9)).cumsum(axis=1)
OTHERS = RNG.normal(size=(3, 9)).cumsum(axis=1)
CLASSES = ["a", "b", "a", "b", "a", "b"]
REFERENCE = RNG.normal(size=60).cumsum()
QUERY = REFERENCE[20:31] + 0.1

#: Measures that need a parameter.
NEEDED: dict[str, dict[str, float]] = {"edr": {"epsilon": 0.5}, "log_gak": {"sigma": 2.0}}


def run(*words: str, folder: Path) -> str:
    """What the command prints.

    Errors: an assertion that tells what it said if it failed.
    """
    assert COMMAND is not None, "build the command: cargo build -p dtwave-cli, or name it in DTWAVE_COMMAND"
    done = subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs as files."""
    folder = tmp_path_factory.mktemp("command")
    np.save(folder / "series.npy", SERIES)
    np.save(folder / "others.npy", OTHERS)
    np.save(folder / "reference.npy", REFERENCE)
    np.save(folder / "query.npy", QUERY)
    np.savez(folder / "labelled.npz", X=SERIES, y=np.array(CLASSES))
    return folder


Options = dict[str, Any]


def words_of(options: Options) -> list[str]:
    """Options of Python as words of the command: `epsilon=0.5` is `--epsilon 0.5`, `sqrt=True` is `--sqrt`."""
    words = []
    for name, value in options.items():
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    return words


def hits(found: list[dtwave.Match]) -> list[list[float]]:
    return [[hit.start, hit.end, hit.distance] for hit in found]


def clusters(found: Any) -> list[Any]:
    return [list(found.labels), getattr(found, "inertia", None) or found.loss]


def average(found: Any) -> list[Any]:
    return [*found.center, found.costs[-1]]


#: Words of the command, the same options for both, what Python gives, and what the command's JSON has of it.
Job = tuple[str, Options, Callable[[Options], Any], Callable[[Any], Any]]

PAIRWISE = ("pairwise series.npy others.npy", lambda o: dtwave.pairwise(SERIES, OTHERS, **o), lambda a: a["distances"])
ALIGN = (
    "align query.npy reference.npy",
    lambda o: [len(found := dtwave.align(QUERY, REFERENCE, **o)), found.distance],
    lambda a: [len(a["path"]), a["distance"]],
)
SEARCH = (
    "search --reference reference.npy --query query.npy",
    lambda o: hits(dtwave.search(QUERY, REFERENCE, **o)),
    lambda a: [[hit["start"], hit["end"], hit["distance"]] for hit in a["hits"]],
)
CLASSIFY = (
    "classify --train labelled.npz --test others.npy",
    lambda o: [CLASSES.index(label) for label in dtwave.classify(SERIES, CLASSES, OTHERS, **o)],
    lambda a: [CLASSES.index(label) for label in a["predictions"]],
)
KMEANS = (
    "cluster series.npy",
    lambda o: clusters(dtwave.kmeans(SERIES, **o)),
    lambda a: [a["labels"], a["cost"]],
)
KMEDOIDS = (
    "cluster series.npy --method kmedoids",
    lambda o: clusters(dtwave.kmedoids(SERIES, **o)),
    lambda a: [a["labels"], a["cost"]],
)
CLARA = (
    "cluster series.npy --method clara",
    lambda o: clusters(dtwave.kmedoids(SERIES, method="clara", **o)),
    lambda a: [a["labels"], a["cost"]],
)
BARYCENTER = (
    "barycenter series.npy",
    lambda o: average(dtwave.barycenter(SERIES, **o)),
    lambda a: [*np.ravel(a["averages"][0]["center"]), a["averages"][0]["cost"]],
)

JOBS: list[tuple[tuple[str, Callable[..., Any], Callable[..., Any]], Options]] = [
    *((PAIRWISE, {"measure": key, **NEEDED.get(key, {})}) for key in dtwave.MEASURES),
    (PAIRWISE, {}),
    (PAIRWISE, {"sqrt": True}),
    (PAIRWISE, {"normalize": "z"}),
    (PAIRWISE, {"band": "10%"}),
    (PAIRWISE, {"band": "slanted:2", "measure": "soft-dtw"}),
    (PAIRWISE, {"band": "itakura:2", "cost": "manhattan"}),
    (PAIRWISE, {"dtype": "f32", "memory_limit": "64MiB"}),
    (ALIGN, {}),
    (ALIGN, {"normalize": "z", "sqrt": True}),
    (SEARCH, {}),
    (SEARCH, {"k": 3}),
    (SEARCH, {"exclusion": 0}),
    (SEARCH, {"normalize": "z"}),
    (SEARCH, {"normalize": "z", "normalized_window": 7, "band": "20%"}),
    (SEARCH, {"threshold": 2.5, "sqrt": True}),
    (CLASSIFY, {}),
    (CLASSIFY, {"k": 3, "normalize": "z"}),
    (KMEANS, {"clusters": 2}),
    (KMEANS, {"clusters": 3, "measure": "soft_dtw"}),
    (KMEANS, {"clusters": 2, "sample_size": 3, "batch_size": 3, "seed": 4}),
    (CLARA, {"clusters": 2}),
    (CLARA, {"clusters": 2, "samples": 2, "sample_size": 3, "seed": 4, "measure": "twed"}),
    (KMEDOIDS, {"clusters": 2}),
    (KMEDOIDS, {"clusters": 2, "measure": "msm", "normalize": "z"}),
    (BARYCENTER, {}),
    (BARYCENTER, {"sample_size": 2, "seed": 3}),
    (BARYCENTER, {"measure": "soft_dtw", "start": "mean"}),
    (BARYCENTER, {"normalize": "z", "max_iterations": 3}),
    (BARYCENTER, {"measure": "msm", "c": 0.5}),
    (BARYCENTER, {"measure": "wddtw", "max_iterations": 4}),
    (KMEANS, {"clusters": 2, "measure": "twed"}),
]


@pytest.mark.parametrize(("job", "options"), JOBS, ids=lambda value: value[0] if isinstance(value, tuple) else None)
def test_jobs_give_the_same_numbers(folder: Path, job: Any, options: Options) -> None:
    words, in_python, in_answer = job
    answer = json.loads(run(*words.split(), *words_of(options), "--json", folder=folder))
    found, expected = in_python(options), in_answer(answer)
    tolerance = 1e-6 if options.get("dtype") == "f32" else 1e-12
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("resample", ["median", "0.7", "1min"])
@pytest.mark.parametrize("missing", ["linear", "previous"])
def test_both_resample_alike(folder: Path, resample: str, missing: str) -> None:
    pandas = pytest.importorskip("pandas")
    seconds = np.cumsum(np.random.default_rng(2).uniform(0.1, 40.0, size=30)).round(3)
    index = pandas.Timestamp("2024-02-29 23:59:00") + pandas.to_timedelta(seconds, unit="s")
    table = pandas.DataFrame(np.random.default_rng(3).normal(size=(30, 2)), index=index, columns=["a", "b"])
    table.iloc[[4, 5, 11], 0] = np.nan
    table.to_csv(folder / "timed.csv", index_label="time")
    words = ["pairwise", "timed.csv", "--resample", resample, "--missing", missing, "--json"]
    answer = json.loads(run(*words, folder=folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dtwave.MissingWarning)
        found = dtwave.pairwise([table["a"], table["b"]], resample=resample, missing=missing)
    np.testing.assert_allclose(found, answer["distances"], rtol=1e-6)


def rows() -> list[list[str]]:
    """The table of options in the documents: command, option, function, argument, default."""
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `(\w+)` \| `(--[\w-]+)` \| `(\w+)` \| `(\w+)` \| (.*) \|$", text, re.MULTILINE)
    return [list(line) for line in lines]


def test_the_table_of_options_is_true(folder: Path) -> None:
    """The command's help and Python's signatures have the options of the table, with its defaults."""
    helps: dict[str, str] = {}
    table = rows()
    assert len(table) > 25
    for command, option, function, argument, default in table:
        where = f"{command} {option}"
        if command not in helps:
            helps[command] = run(command, "--help", folder=folder)
        blocks = re.split(r"\n(?= {2,6}-)", helps[command])
        # In the line that names it, or among the aliases.
        names = rf"^\s+(-\w, )?{option}(\s|$)|\[aliases: [^\]]*{option}[,\]]"
        own = [block for block in blocks if re.search(names, block)]
        assert own, f"{where}: no such option"
        told = re.search(r"\[default: ([^\];]+)[\];]", " ".join(own[0].split()))
        value = default.strip("`")
        assert (told.group(1) if told else "none") == value, f"{where}: the command says {told}"
        signature = inspect.signature(getattr(dtwave, function))
        assert argument in signature.parameters, f"{function} takes no {argument}"
        known = signature.parameters[argument].default
        if known is None:
            continue
        shown = "none" if known is False or known is inspect.Parameter.empty else str(known).replace("_", "-")
        same = shown in (value, *re.split(r"[ ,]+", value)) or (isinstance(known, float) and float(value) == known)
        assert same, f"{function}: {argument} is {known!r}, and the table says {value}"
