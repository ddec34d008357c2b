"""Dask: the series are scattered to every worker; tiles are tasks, of which a few per thread are under way."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import CancelledError
from typing import Any, Iterable, Iterator

from ._work import Function, Work

#: Tasks under way for each thread of the workers: one is computed, one waits.
PER_THREAD = 2
#: Seconds after which it is asked again how many threads there are: workers come and go.
PAUSE = 1.0


def on_worker(function: Function, work: Work, job: Any) -> Any:
    """A task. The threads of a worker share one pool of as many threads of ours."""
    from distributed import get_worker

    return function(work.on(get_worker().state.nthreads), job)


class DaskWorkers:
    """The workers of a `dask.distributed.Client`.

    Errors: `ValueError` for an asynchronous client.
    """

    def __init__(self, client: Any) -> None:
        if getattr(client, "asynchronous", False):
            raise ValueError("client is asynchronous: make it with asynchronous=False, or call from another thread")
        self._client = client
        self._asked, self._threads = -PAUSE, 1

    def count(self) -> int:
        if time.monotonic() - self._asked >= PAUSE:
            self._threads = max(sum(self._client.nthreads().values()), 1)
            self._asked = time.monotonic()
        return self._threads

    def run(self, function: Function, work: Work, jobs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        from distributed import as_completed

        completed: Any = as_completed
        left, token, number = iter(jobs), uuid.uuid4().hex, 0
        again: list[Any] = []
        under_way: dict[Any, Any] = {}
        data = self._scattered(work)
        ended = completed()
        try:
            while True:
                while len(under_way) < PER_THREAD * self.count():
                    try:
                        job = again.pop() if again else next(left)
                    except StopIteration:
                        break
                    key, number = f"dtwave-tile-{token}-{number}", number + 1
                    task = self._client.submit(on_worker, function, data, job, key=key, pure=False)
                    under_way[task] = job
                    ended.add(task)
                if not under_way:
                    return
                task = next(ended)
                job = under_way.pop(task)
                found = self._result(task)
                if found is None:
                    # All workers that had the series are gone, and the tasks with them.
                    again.append(job)
                    if data.status != "finished":
                        data = self._scattered(work)
                    continue
                task.release()
                yield job, found[0]
        finally:
            # Also of an interruption: tiles that wait are not begun.
            self._client.cancel([*under_way], force=True)
            data.release()

    def _scattered(self, work: Work) -> Any:
        return self._client.scatter(work, broadcast=True, hash=False)

    @staticmethod
    def _result(task: Any) -> tuple[Any] | None:
        """What a task returned; `None` if it is lost. Dask itself repeats what a lost worker computed.

        Errors: those of the task.
        """
        if task.status in ("cancelled", "lost"):
            return None
        try:
            return (task.result(),)
        except CancelledError:
            return None
