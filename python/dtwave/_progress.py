"""Progress of a call: tqdm's bar where it is installed (also in notebooks), else one on stderr."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import Any, Callable, Iterator, Union

from . import _native

#: Hears how many cells are done.
Progress = Union[None, Callable[[int], object]]


def _advance(bar: Any, done: int) -> None:
    bar.update(done - bar.n)


@contextmanager
def shown(progress: bool, what: str, cells: Callable[[], int]) -> Iterator[Progress]:
    """A bar while the call runs, if one is wanted. `cells` counts the work; 0 if nobody knows."""
    if not progress:
        yield None
        return
    bar: Any
    tell: Progress
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,import-not-found,unused-ignore]

        bar = tqdm(total=cells() or None, desc=what, unit="cell", unit_scale=True, leave=False)
        tell = partial(_advance, bar)
    except ImportError:
        tell = bar = _native.Bar(what, cells())
    try:
        yield tell
    finally:
        bar.close()
