"""Runs one library's call on request, so that two libraries can be timed in turn by one clock each.

Reads commands from standard input, one per line, fields separated by tabs; answers each with one line:

    load  FILE  COUNT  LENGTH   reads COUNT series of LENGTH values (float64, native order)  -> "ok"
    time  TASK                  runs the task once, keeps its matrix                          -> seconds
    save  FILE                  writes the matrix of the last task (float64)                  -> its shape
    versions                                                                                  -> "name version, ..."

An error ends the process with a traceback on standard error.
"""

import importlib.metadata
import sys
import time

import numpy as np
import tsdistances
from tslearn.metrics import cdist_soft_dtw

TASKS = {
    "tsdistances_dtw": lambda x: tsdistances.dtw_distance(x, par=False, device="cpu"),
    "tslearn_soft_dtw": lambda x: cdist_soft_dtw(x, gamma=1.0),
}


def main() -> None:
    series = None
    matrix = None
    for line in sys.stdin:
        command, *fields = line.rstrip("\n").split("\t")
        if command == "load":
            path, count, length = fields
            series = np.fromfile(path, dtype=np.float64).reshape(int(count), int(length))
            answer = "ok"
        elif command == "time":
            task = TASKS[fields[0]]
            began = time.perf_counter()
            matrix = task(series)
            answer = repr(time.perf_counter() - began)
        elif command == "save":
            np.ascontiguousarray(matrix, dtype=np.float64).tofile(fields[0])
            answer = repr(matrix.shape)
        elif command == "versions":
            names = ("tsdistances", "tslearn", "numpy", "numba")
            answer = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
        else:
            raise ValueError(f"unknown command {command!r}")
        # Libraries may print what they like; the answer is what follows this mark.
        print(f"\n=> {answer}", flush=True)


main()
