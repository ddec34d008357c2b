"""What functions with `client=` need of `dtwave.distributed`."""

from __future__ import annotations

from .distributed._edges import edges
from .distributed._matrices import check_array, check_resume, is_zarr, pairwise
from .distributed._means import Asked, kmeans
from .distributed._neighbors import nearest
from .distributed._searches import search
from .distributed._tiles import on_host
from .distributed._windows import of_bands
from .distributed._work import local

__all__ = [
    "Asked",
    "check_array",
    "check_resume",
    "edges",
    "is_zarr",
    "kmeans",
    "local",
    "nearest",
    "of_bands",
    "on_host",
    "pairwise",
    "search",
]
