"""scikit-learn's own checks of estimators: all of them, none expected to fail."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from optional import need

need("sklearn")

from sklearn.utils.estimator_checks import estimator_checks_generator

import dtwave
from dtwave.sklearn import (
    KNeighborsTimeSeriesClassifier,
    KNeighborsTimeSeriesRegressor,
    SoftDTWBarycenter,
    TimeSeriesKMeans,
    TimeSeriesKMedoids,
)

ESTIMATORS = [
    KNeighborsTimeSeriesClassifier(),
    KNeighborsTimeSeriesClassifier(3, weights="distance", measure="msm", measure_params={"c": 0.5}, band=0.5),
    KNeighborsTimeSeriesClassifier(band="leave_one_out"),
    KNeighborsTimeSeriesRegressor(),
    KNeighborsTimeSeriesRegressor(2, weights="distance", measure=dtwave.Twed(nu=0.1)),
    TimeSeriesKMeans(),
    TimeSeriesKMeans(2, measure="soft_dtw", n_init=1, max_iter=5, random_state=0),
    TimeSeriesKMedoids(),
    TimeSeriesKMedoids(2, measure="erp", n_init=2),
    SoftDTWBarycenter(),
    SoftDTWBarycenter(0.5, divergence=True, init="mean", optimizer="adam", max_iter=10),
]


def name_of(check):
    return getattr(check, "func", check).__name__


def checks():
    """One test per estimator and check. Those of arrays of other libraries need a process of their own."""
    for estimator in ESTIMATORS:
        for made, check in estimator_checks_generator(estimator):
            if not name_of(check).startswith("check_array_api"):
                yield pytest.param(made, check, id=f"{estimator!r}-{name_of(check)}".replace("\n", ""))


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_check(estimator, check):
    check(estimator)


def test_checks_while_arrays_of_other_libraries_are_dispatched():
    # SciPy reads the variable when it is imported. What cannot be checked is an error.
    program = """
import sys, warnings
sys.path.insert(0, sys.argv[1])
from sklearn.utils.estimator_checks import check_estimator
from test_sklearn_checks import ESTIMATORS
for estimator in ESTIMATORS:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(estimator, on_skip=None)
    print(len(found), {one["status"] for one in found})
"""
    found = subprocess.run(
        [sys.executable, "-c", program, os.path.dirname(os.path.abspath(__file__))],
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
    ).stdout.splitlines()
    assert len(found) == len(ESTIMATORS)
    for line in found:
        count, statuses = line.split(" ", 1)
        assert int(count) > 40 and statuses == "{'passed'}"
