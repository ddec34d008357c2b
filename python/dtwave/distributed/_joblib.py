"""joblib: its own processes, or those of the backend that is active; series are mapped from a file where they can be."""

from __future__ import annotations

import tempfile
import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Iterable, Iterator

import numpy as np

from ._work import Function, Stored, Run, Work

#: Backends whose workers are processes of this machine.
LOCAL = ("LokyBackend", "MultiprocessingBackend")
#: Jobs of each worker in a call of a `Parallel` that returns lists.
PER_WORKER = 8


def on_worker(function: Function, work: Work, job: Any) -> tuple[Any, Any]:
    """A job."""
    return job, function(work, job)


class JoblibWorkers:
    """The workers of a `joblib.Parallel`, or, for the module, of the backend that is active.

    Errors: `ValueError` if the active backend has one worker only.
    """

    def __init__(self, client: Any) -> None:
        import joblib

        self._delayed = joblib.delayed
        is_module = hasattr(client, "parallel_config")
        self._parallel = joblib.Parallel(return_as="generator_unordered") if is_module else client
        if is_module and self.count() == 1:
            raise ValueError(
                "joblib has one worker here: write `with joblib.parallel_config(n_jobs=4):` around the call, or pass "
                "client=joblib.Parallel(n_jobs=4)"
            )

    def count(self) -> int:
        return max(int(self._parallel._effective_n_jobs()), 1)

    @contextmanager
    def hold(self, work: Work) -> Iterator[Run]:
        workers, backend = self.count(), self._parallel._backend
        if workers > 1:
            # Threads of one process share one pool of ours.
            work = work.on(workers if getattr(backend, "uses_threads", False) else 1)
        with _mapped(work, type(backend).__name__ in LOCAL and workers > 1) as data:
            yield partial(self._run, data)

    def _run(self, data: Work, function: Function, jobs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        calls = (self._delayed(on_worker)(function, data, job) for job in jobs)
        try:
            if getattr(self._parallel, "return_generator", False):
                found = self._parallel(calls)
                try:
                    for each in found:
                        yield each
                finally:
                    with warnings.catch_warnings():
                        # What is not used was not wanted any more.
                        warnings.simplefilter("ignore")
                        found.close()
                return
            while some := list(islice(calls, PER_WORKER * self.count())):
                yield from self._parallel(some)
        except Exception as error:
            if "TerminatedWorker" in type(error).__name__ or "BrokenProcessPool" in type(error).__name__:
                raise RuntimeError(
                    "a worker of joblib was killed, perhaps because memory was short, and joblib does not replace "
                    "it: give it less to do with memory_limit= or fewer n_jobs, or use Dask or Ray, which do"
                ) from error
            raise


@contextmanager
def _mapped(work: Work, is_local: bool) -> Iterator[Work]:
    """The work with its series in files of this machine, which processes map into memory: they are not sent with jobs."""
    packed = [side for side in work.sides if not isinstance(side, Stored)]
    if not is_local or not packed:
        yield work
        return
    with tempfile.TemporaryDirectory(prefix="dtwave-", ignore_cleanup_errors=True) as folder:
        known: dict[int, Any] = {}

        def mapped(array: Any) -> Any:
            if array is None or array.nbytes == 0:
                return array
            if id(array) not in known:
                path = Path(folder) / f"{len(known)}.npy"
                np.save(path, array)
                known[id(array)] = np.load(path, mmap_mode="r")
            return known[id(array)]

        sides: Any = tuple(tuple(map(mapped, side)) for side in packed)
        yield replace(work, sides=sides)
