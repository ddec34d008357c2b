"""Ray: the series are one object of its store, which a machine has once; tiles are tasks that are repeated if lost."""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import partial
from typing import Any, Iterable, Iterator

from ._work import Function, Run, Work

#: Tasks under way for each of those that can run at once.
PER_PLACE = 2
#: Seconds after which it is asked again how many processors there are.
PAUSE = 1.0


def on_worker(function: Function, work: Work, job: Any) -> Any:
    """A task."""
    return function(work, job)


def _need(ray: Any, work: Work) -> dict[str, float]:
    """What a task of the work has to itself: as many processors as it has threads, or a GPU, which Ray hides from tasks
    that ask for none.

    Errors: `ValueError` if no machine has as much: the task would wait for ever; and for a GPU by its number.
    """
    device = work.given.device
    need: dict[str, float] = {"num_cpus": 1}
    if work.is_for_cpu:
        need["num_cpus"] = work.given.threads or 1
    elif isinstance(device, list):
        need["num_gpus"] = len(device)
    elif str(device).partition(":")[0] in ("cuda", "hip"):
        kind, _, number = str(device).partition(":")
        if number:
            raise ValueError(f"ray gives every task a GPU of its own: pass device={kind!r}, without a number")
        need["num_gpus"] = 1
    there = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    for name, what in (("num_cpus", "CPU"), ("num_gpus", "GPU")):
        most = max((node.get(what, 0) for node in there), default=0)
        if most < need.get(name, 0):
            raise ValueError(
                f"a tile needs {need[name]:g} of {what}, and no machine of ray's cluster has more than {most:g}: see "
                f"threads= and device=, or {name}= of ray.init"
            )
    return need


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

    @contextmanager
    def hold(self, work: Work) -> Iterator[Run]:
        self._need = _need(self._ray, work)
        self._asked = -PAUSE
        data = self._ray.put(work.on(1))
        task = self._ray.remote(**self._need, max_retries=-1)(on_worker)
        yield partial(self._run, task, data)

    def _run(self, task: Any, data: Any, function: Function, jobs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        ray, left = self._ray, iter(jobs)
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
