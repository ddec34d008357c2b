"""Progress of a call: tqdm's bar where it is installed (also in notebooks), else one on stderr."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, Union

from . import _native

#: Hears how many cells are done.
Progress = Union[None, Callable[[int], object]]


class _Tqdm:
    """A bar of tqdm."""

    def __init__(self, tqdm: Any, what: str, cells: int) -> None:
        self._bar = tqdm(total=cells or None, desc=what, unit="cell", unit_scale=True, leave=False)

    def __call__(self, done: int) -> None:
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


@contextmanager
def shown(progress: bool, what: str, cells: Callable[[], int]) -> Iterator[Progress]:
    """A bar while the call runs, if one is wanted. `cells` counts the work; 0 if nobody knows."""
    if not progress:
        yield None
        return
    bar: Any
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,import-not-found,unused-ignore]

        bar = _Tqdm(tqdm, what, cells())
    except ImportError:
        bar = _native.Bar(what, cells())
    try:
        yield bar
    finally:
        bar.close()
