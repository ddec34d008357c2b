"""Ray: the series are one object of its store, which a machine has once; tiles are tasks that are repeated if lost."""

from __future__ import annotations

import time
from typing import Any, Iterable, Iterator

from ._engines import Function
from ._work import Work

#: Tasks under way for each of those that can run at once.
PER_PLACE = 2
#: Seconds after which it is asked again how many processors there are.
PAUSE = 1.0


def on_worker(function: Function, work: Work, job: Any) -> Any:
    """A task."""
    return function(work, job)


class RayWorkers:
    """The processors, or GPUs, of the cluster that the module `ray` is connected to.

    Errors: `ValueError` if it is connected to none.
    """

    def __init__(self, ray: Any) -> None:
        if not ray.is_initialized():
            raise ValueError("ray is not connected to a cluster: call ray.init() first")
        self._ray = ray
        self._need: dict[str, float] = {"num_cpus": 1}
        self._asked, self._places = -PAUSE, 1

    def count(self) -> int:
        if time.monotonic() - self._asked >= PAUSE:
            there = self._ray.cluster_resources()
            names = {"num_cpus": "CPU", "num_gpus": "GPU"}
            places = [there.get(names[name], 0) // need for name, need in self._need.items() if need]
            self._places, self._asked = max(int(min(places)), 1), time.monotonic()
        return self._places

    def run(self, function: Function, work: Work, jobs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        ray, left = self._ray, iter(jobs)
        # A task has as many processors as it has threads. Ray hides the GPUs from tasks that ask for none.
        if work.is_for_cpu:
            self._need = {"num_cpus": work.given.threads or 1}
        elif str(work.given.device).partition(":")[0] in ("cuda", "hip"):
            self._need = {"num_cpus": 1, "num_gpus": 1}
        self._asked = -PAUSE
        data = ray.put(work.on(1))
        task = ray.remote(**self._need, max_retries=-1)(on_worker)
        under_way: dict[Any, Any] = {}
        try:
            while True:
                while len(under_way) < PER_PLACE * self.count():
                    try:
                        job = next(left)
                    except StopIteration:
                        break
                    under_way[task.remote(function, data, job)] = job
                if not under_way:
                    return
                for done in ray.wait([*under_way], num_returns=1)[0]:
                    found = ray.get(done)
                    yield under_way.pop(done), found
        finally:
            for each in under_way:
                ray.cancel(each)
