"""Which engine a client is of, and what all of them do: give workers their data once, and jobs one after the other."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any, Iterable, Iterator, Protocol

from ._work import Function, Run, Work

class Workers(Protocol):
    """The workers of an engine."""

    def count(self) -> int:
        """How many jobs they can compute at once now."""

    def hold(self, work: Work) -> AbstractContextManager[Run]:
        """Gives every worker the series, which it has until the block is left, however often jobs are run."""


def workers_of(client: Any) -> Workers:
    """The workers of a client, which is told by what it offers.

    Errors: `TypeError` for what is none, `ValueError` for one that cannot be used now.
    """
    if _offers(client, "submit", "scatter", "cancel", "nthreads"):
        from ._dask import DaskWorkers

        return DaskWorkers(client)
    if _offers(client, "remote", "put", "wait", "get"):
        from ._ray import RayWorkers

        return RayWorkers(client)
    if _offers(client, "Parallel", "delayed", "parallel_config") or (
        callable(client) and hasattr(client, "n_jobs") and hasattr(client, "pre_dispatch")
    ):
        from ._joblib import JoblibWorkers

        return JoblibWorkers(client)
    raise TypeError(
        "client must be a dask.distributed.Client, the module ray, the module joblib, or a joblib.Parallel, got "
        f"{type(client).__name__}"
    )


def _offers(client: Any, *names: str) -> bool:
    return all(callable(getattr(client, name, None)) for name in names)


@contextmanager
def results(
    workers: Workers, function: Function, work: Work, jobs: Iterable[Any]
) -> Iterator[Iterator[tuple[Any, Any]]]:
    """The results of jobs. Jobs that are under way when the block is left, by whatever error, are cancelled."""
    with workers.hold(work) as run, closing(run(function, jobs)) as found:  # type: ignore[type-var]
        yield found


def all_of(run: Run, function: Function, jobs: Iterable[Any]) -> list[tuple[Any, Any]]:
    """All jobs and their results, in no order. If one fails, those that are under way are cancelled."""
    with closing(run(function, jobs)) as found:  # type: ignore[type-var]
        return list(found)
