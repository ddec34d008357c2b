"""Other libraries' own tests, run on `dtwave.compat`: their source distributions, with the import swapped.

    pip install -r python/tests/requirements.txt
    python python/upstream/run.py [--folder FOLDER] [tslearn] [aeon] [dtaidistance]

pip downloads the source distributions from PyPI by name and version. Their tests are copied to a scratch folder, and
nothing of them is kept. A name that `dtwave.compat` has is imported from there; other names, such as helpers and data,
still come from the library itself, which must be installed. Then pytest runs, and the failures are compared with
`expected.txt`: one that is not listed is an error, and so is a listed test that passes.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Source:
    """A library's tests, and the modules of it that `dtwave.compat` stands for."""

    version: str
    tests: list[str]
    modules: dict[str, str]
    """Theirs to ours."""
    data: list[str] = field(default_factory=list)
    """Folders that the tests read, beside them."""
    before: str = ""
    """What runs before the tests."""


SOURCES = {
    "tslearn": Source(
        "0.10.0",
        ["tests/test_metrics.py", "tests/test_barycenters.py"],
        {
            "tslearn.metrics": "dtwave.compat.tslearn.metrics",
            "tslearn.barycenters": "dtwave.compat.tslearn.barycenters",
        },
    ),
    "aeon": Source(
        "1.6.0",
        [
            "aeon/distances/tests/test_distances.py",
            "aeon/distances/tests/test_pairwise.py",
            "aeon/distances/tests/test_numba_distance_parameters.py",
            "aeon/distances/tests/test_miscellaneous_distances.py",
            "aeon/distances/tests/test_sklearn_compatibility.py",
            "aeon/distances/elastic/tests/test_alignment_path.py",
            "aeon/distances/elastic/tests/test_bounding.py",
            "aeon/distances/elastic/tests/test_cost_matrix.py",
            "aeon/distances/elastic/tests/test_distance_correctness.py",
        ],
        {"aeon.distances": "dtwave.compat.aeon", "aeon.distances._distance": "dtwave.compat.aeon._distance"},
        before="import dtwave.compat.aeon\n\ndtwave.compat.aeon.set_strict(True)\n",
    ),
    "dtaidistance": Source(
        "2.5.1",
        [
            "tests/test_bugs.py",
            "tests/test_dtw.py",
            "tests/test_dtw2d.py",
            "tests/test_penalty.py",
            "tests/test_subsequence.py",
            "tests/test_warping.py",
        ],
        {
            "dtaidistance.dtw": "dtwave.compat.dtaidistance.dtw",
            "dtaidistance.dtw_ndim": "dtwave.compat.dtaidistance.dtw_ndim",
            "dtaidistance.subsequence.dtw": "dtwave.compat.dtaidistance.subsequence.dtw",
        },
        data=["tests/rsrc"],
        # In place of pytest-benchmark's fixture: the function runs once.
        before="import pytest\n\n\n@pytest.fixture\ndef benchmark():\n    return lambda run: run()\n",
    ),
}


def swapped(code: str, modules: dict[str, str]) -> str:
    """A test file whose imports of `modules` are ours, name by name where ours has the name."""
    lines = code.splitlines(keepends=True)
    for node in reversed(list(ast.walk(ast.parse(code)))):
        if not isinstance(node, ast.ImportFrom) or node.end_lineno is None:
            continue
        ours = modules.get(node.module or "")
        if ours is None:
            # `from library import module`
            names = {f"{node.module}.{alias.name}": alias for alias in node.names}
            moved = {full: alias for full, alias in names.items() if full in modules}
            new = [f"import {modules[full]} as {alias.asname or alias.name}" for full, alias in moved.items()]
            kept = [alias for full, alias in names.items() if full not in modules]
            if not moved:
                continue
        else:
            module = importlib.import_module(ours)
            has = [alias for alias in node.names if hasattr(module, alias.name)]
            kept = [alias for alias in node.names if not hasattr(module, alias.name)]
            new = [f"from {ours} import {ast.unparse(alias)}" for alias in has]
        new += [f"from {'.' * node.level}{node.module or ''} import {ast.unparse(alias)}" for alias in kept]
        indent = " " * node.col_offset
        lines[node.lineno - 1 : node.end_lineno] = [indent + line + "\n" for line in new]
    # `import library.module` and its uses; `from` was changed above.
    found = [line for whole in lines for line in whole.splitlines(keepends=True)]
    for at, line in enumerate(found):
        for theirs, ours in modules.items():
            if not line.lstrip().startswith("from "):
                found[at] = line = re.sub(rf"(?<![\w.]){re.escape(theirs)}\b(?!\._)", ours, line)
    return "".join(found)


def fetched(name: str, version: str, folder: Path) -> Path:
    """The unpacked source distribution."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    # Only this package is built: what builds it comes as wheels.
    command += ["--no-binary", name, "--dest", str(folder), f"{name}=={version}"]
    subprocess.run(command, check=True)
    with tarfile.open(folder / f"{name}-{version}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / f"{name}-{version}"


def run(name: str, source: Source, folder: Path) -> dict[str, str]:
    """Runs the tests: the outcome of each."""
    unpacked = fetched(name, source.version, folder)
    tests = folder / "tests" / name
    tests.mkdir(parents=True)
    (tests / "conftest.py").write_text(source.before or "\n", encoding="utf-8")
    (tests / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    for path in source.tests:
        code = (unpacked / path).read_text(encoding="utf-8")
        (tests / Path(path).name).write_text(swapped(code, source.modules), encoding="utf-8")
    for path in source.data:
        (tests / Path(path).name).symlink_to(unpacked / path)
    report = folder / f"{name}.xml"
    environment = {"NUMBA_DISABLE_JIT": "1"} | dict(os.environ)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "--no-header", "-p", "no:cacheprovider"]
    command += ["--no-summary", f"--junitxml={report}", "."]
    subprocess.run(command, cwd=tests, env=environment, stdout=sys.stderr, check=False)
    outcomes = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        test = "::".join(part for part in (case.get("classname", "").replace(".", "::"), case.get("name", "")) if part)
        outcomes[test] = "passed"
        for child in case:
            if child.tag in ("failure", "error", "skipped"):
                message = child.get("message", "")
                refused = re.match(r"NotImplementedError: (.*?)(?: is not offered| does not offer)", message)
                outcomes[test] = f"not offered: {refused[1]}" if refused else child.tag
    return outcomes


def expected() -> dict[str, dict[str, str]]:
    """The failures that are known, by library and test, or by function that is not offered, with their reasons."""
    found: dict[str, dict[str, str]] = {name: {} for name in SOURCES}
    for line in (HERE / "expected.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            library, test, reason = (part.strip() for part in line.split(" | "))
            found[library][test] = reason
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="keeps what is downloaded and the tests in this empty folder")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=f"of {', '.join(SOURCES)}; all unless given")
    options = parser.parse_args()
    unknown = set(options.libraries) - set(SOURCES)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}: the libraries are {', '.join(SOURCES)}")
    known = expected()
    is_well = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.folder or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for name in options.libraries or SOURCES:
            outcomes = run(name, SOURCES[name], folder)
            # A test that calls what is not offered stands under the name of that function.
            refused = {outcome for outcome in outcomes.values() if outcome.startswith("not offered: ")}
            failed = refused | {test for test, outcome in outcomes.items() if outcome in ("failure", "error")}
            counts = Counter(outcomes.values())
            print(
                f"{name} {SOURCES[name].version}: {len(outcomes)} tests, {counts['passed']} passed, "
                f"{sum(counts[outcome] for outcome in refused)} call what is not offered, "
                f"{counts['failure'] + counts['error']} failed, {counts['skipped']} skipped"
            )
            for test in sorted(failed - set(known[name])):
                print(f"  failed, and is not in expected.txt: {test}")
            # What another processor's last digits may change.
            sure = {test for test, reason in known[name].items() if not reason.startswith("may pass: ")}
            for test in sorted(sure - failed):
                print(f"  is in expected.txt, and did not fail: {test} ({outcomes.get(test, 'not there')})")
            is_well = is_well and bool(outcomes) and sure <= failed <= set(known[name])
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
