"""What can compute."""

from __future__ import annotations

from dataclasses import dataclass

from . import _native


@dataclass(frozen=True)
class Device:
    """A device, or a backend that has none here.

    backend: "cpu", "cuda", "hip" or "wgpu".
    description: what it is.
    unavailable: why it cannot be used and what to do about it; None for one that can.
    """

    backend: str
    description: str
    unavailable: str | None

    @property
    def available(self) -> bool:
        """Whether it can be used."""
        return self.unavailable is None


def devices() -> list[Device]:
    """Every device that can compute, and every backend that cannot be used here, with the reason.

    >>> import dtwave
    >>> dtwave.devices()[0].backend
    'cpu'
    """
    return [Device(**entry) for entry in _native.devices()]
