"""What is not offered: functions and arguments that raise, and say what to use instead."""

from __future__ import annotations

from typing import Any, Callable, NoReturn


def function(module: str, name: str, instead: str) -> Callable[..., NoReturn]:
    """A function that raises `NotImplementedError` with its name and what to use instead."""

    def refused(*args: Any, **options: Any) -> NoReturn:
        raise NotImplementedError(f"{module}.{name} is not offered: {instead}")

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = f"Not offered: {instead}."
    return refused


def argument(function: str, name: str, value: object, instead: str) -> NotImplementedError:
    """The error for an argument, or a value of it, that is not offered."""
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"a {type(value).__name__}"
    return NotImplementedError(f"{function} does not offer {name}={shown}: {instead}")


def workers(n_jobs: int | None) -> int | None:
    """Threads for joblib's `n_jobs`: None and 1 are one, -1 is all cores (None), -2 is all but one.

    Errors: `ValueError` for 0, `TypeError` for what is no whole number.
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__"):
        raise TypeError(f"n_jobs must be a whole number or None, got {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: 1 is one thread, -1 all cores")
    if n_jobs > 0:
        return int(n_jobs)
    if n_jobs == -1:
        return None
    import os

    return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
