"""Dask: the series are scattered to every worker; tiles are tasks, of which a few per thread are under way."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from typing import Any, Iterable, Iterator

from ._work import Function, Run, Work

#: Tasks under way for each thread of the workers: one is computed, one waits.
PER_THREAD = 2
#: Seconds after which it is asked again how many threads there are: workers come and go.
PAUSE = 1.0


def on_worker(function: Function, work: Work, job: Any) -> Any:
    """A task. The threads of a worker share one pool of as many threads of ours."""
    from distributed import get_worker

    return function(work.on(get_worker().state.nthreads), job)


class _Series:
    """The series of a work, scattered to all workers."""

    def __init__(self, client: Any, work: Work) -> None:
        self._client, self._work = client, work
        self.send()

    def send(self) -> None:
        self.data = self._client.scatter(self._work, broadcast=True, hash=False)


class DaskWorkers:
    """The workers of a `dask.distributed.Client`.

    Errors: `ValueError` for an asynchronous client, and for one that is closed.
    """

    def __init__(self, client: Any) -> None:
        if getattr(client, "asynchronous", False):
            raise ValueError("client is asynchronous: make it with asynchronous=False, or call from another thread")
        if getattr(client, "status", "running") == "closed":
            raise ValueError("client is closed: make a new one")
        self._client = client
        self._asked, self._threads = -PAUSE, 1

    def count(self) -> int:
        if time.monotonic() - self._asked >= PAUSE:
            self._threads = max(sum(self._client.nthreads().values()), 1)
            self._asked = time.monotonic()
        return self._threads

    @contextmanager
    def hold(self, work: Work) -> Iterator[Run]:
        series = _Series(self._client, work)
        try:
            yield partial(self._run, series)
        finally:
            series.data.release()

    def _run(self, series: _Series, function: Function, jobs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        from distributed import as_completed

        completed: Any = as_completed
        left, token, number = iter(jobs), uuid.uuid4().hex, 0
        again: list[Any] = []
        under_way: dict[Any, Any] = {}
        # Results are fetched as they are there, and not one by one when they are asked for.
        ended = completed(with_results=True)
        try:
            while True:
                while len(under_way) < PER_THREAD * self.count():
                    try:
                        job = again.pop() if again else next(left)
                    except StopIteration:
                        break
                    key, number = f"dtwave-tile-{token}-{number}", number + 1
                    task = self._client.submit(on_worker, function, series.data, job, key=key, pure=False)
                    under_way[task] = job
                    ended.add(task)
                if not under_way:
                    return
                # Errors of the task are raised here.
                task, found = next(ended)
                job = under_way.pop(task)
                if isinstance(found, CancelledError) or task.status in ("cancelled", "lost"):
                    # All workers that had the series are gone, and the tasks with them. Dask itself repeats what a lost
                    # worker computed.
                    again.append(job)
                    if series.data.status != "finished":
                        series.send()
                    continue
                task.release()
                yield job, found
        finally:
            # Also of an interruption: tiles that wait are not begun.
            self._client.cancel([*under_way], force=True)
