"""The public part: the function `soft_dtw` and the module `SoftDTW`. They check arguments, and choose the type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import torch
from torch import Tensor

from dtwave import Band, _inputs, _notes
from dtwave._inputs import Layout

from . import _operators
from ._bands import to_text
from ._checks import check_no_tangent, check_normalize, check_numbers, checked_gamma, whole_lengths
from ._cosine import halved_directions

__all__ = ["SoftDTW", "soft_dtw"]

#: The local costs that `dist` may name, and what the library calls them.
_COSTS = {
    "sqeuclidean": "squared_euclidean",
    "sq_euclidean": "squared_euclidean",
    "squared_euclidean": "squared_euclidean",
    "euclidean": "euclidean",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "cosine": "cosine",
}


def soft_dtw(
    x: Tensor,
    y: Tensor,
    *,
    gamma: float = 1.0,
    normalize: bool = False,
    bandwidth: Band = None,
    dist: str = "sqeuclidean",
    lengths_x: Tensor | Sequence[int] | None = None,
    lengths_y: Tensor | Sequence[int] | None = None,
    layout: Layout = None,
) -> Tensor:
    """Soft-DTW of each series of `x` with the series of `y` at the same place, differentiable.

    x, y: tensors `[batch, n, channels]` and `[batch, m, channels]` on the CPU or on one NVIDIA GPU, of any strides; `n`
        and `m` may differ. A contiguous `float32` or `float64` tensor is not copied.
    gamma: how smooth the minimum is, above 0, in units of the cost. With a small one the result is near DTW's.
    normalize: the divergence `s(x, y) - (s(x, x) + s(y, y)) / 2`, which is zero for `x = y`; lengths may differ here
        too.
    bandwidth: how many points a path may be away from the diagonal: a whole number, at least 1 (a Sakoe-Chiba band), or
        one of dtwave's bands, such as `dtwave.SakoeChiba(0.1)`. `None`: no band.
    dist: the cost of matching two points: "sqeuclidean", "euclidean", "manhattan" (or "cityblock"), or "cosine", which
        is 1 less the cosine of the angle between them. Where points agree, the gradient of a Euclidean or Manhattan
        cost is 0, a subgradient. A point that is zero has no angle: it is an error on the CPU, and gives NaN on a GPU.
        For other costs see `soft_dtw_from_costs`.
    lengths_x, lengths_y: length of each series, `[batch]` of whole numbers from 1 to `n` or `m`, if they are padded at
        the end. The padding is not read, and its gradient is 0. For tensors on a GPU, lengths on the CPU are better:
        others are fetched, which waits for the GPU.
    layout: "channels_first" for `[batch, channels, length]`, as convolutions have it. Unless given, tensors are read as
        above, and those that may be either and have more channels than points get a `dtwave.LayoutWarning`;
        "channels_last" says that they are so.

    Returns `[batch]`, one value per pair; take its mean or sum as a loss. Without `normalize` it may be negative. It is
    `float64` if one of the tensors is, otherwise `float32`. Half-precision tensors, also those that autocast makes, are
    computed in `float32`, because a sum of squares is too large for half precision. Only tensors that require a
    gradient get one, of their own type. Where a value is not finite, because a cost is too large for the type, all
    gradients of the pair are NaN. There is no second derivative.

    Time: `O(batch * n * m * channels)`, on the CPU on `torch.get_num_threads()` threads. The gradients are computed
    together with the values and kept for the backward pass; they take as much memory as the tensors. The matrix of
    costs is never stored.

    On a GPU a call puts its work on PyTorch's current stream and does not wait for it. It may be captured into a CUDA
    graph, after one such call of the same shapes and arguments. Values are not checked: NaN and infinity give results
    that mean nothing.

    Errors: `ValueError` for shapes, lengths or parameters that do not fit and, on the CPU, for values that are not
    finite; `TypeError` for what is no tensor, and tensors that are not of floating point; `dtwave.DeviceError` on
    another device than the CPU or an NVIDIA GPU, or on a GPU that dtwave cannot use (pass `x.cpu()`; the gradient flows
    back through the copy).

    Definitions: docs/measures.md. Cuturi & Blondel 2017, arXiv 1703.01541; for the divergence Blondel, Mensch & Vert
    2021, arXiv 2010.08354.
    """
    check_normalize(normalize)
    cost = _cost_of(dist)
    _inputs.check_layout(layout)
    return _soft_dtw(x, y, checked_gamma(gamma), normalize, to_text(bandwidth), cost, lengths_x, lengths_y, layout)


class SoftDTW(torch.nn.Module):
    """`soft_dtw` as a module: `loss = SoftDTW(gamma=0.1)(x, y).mean()`.

    It replaces the classes of other packages, so it also takes arguments in their orders:

    - `SoftDTW(gamma, normalize, bandwidth, dist, fused)`, as softdtw-cuda-torch names them;
    - `SoftDTW(use_cuda, gamma, normalize, bandwidth)` of pytorch-softdtw-cuda, if the first is `True` or `False`;
    - `SoftDTW(gamma, dist_func, use_cuda, bandwidth, normalize)` of pysdtw, if the second is `None` or a function.

    gamma, normalize, bandwidth: as for `soft_dtw`. The other packages read a bandwidth of 0 as no band; here it is an
        error that says so.
    dist: as for `soft_dtw`: "sqeuclidean", "euclidean", "manhattan" or "cosine".
    dist_func: `None`, which is their default, the squared Euclidean distance. The others take a function here: pass
        what it returns to `soft_dtw_from_costs`.
    fused: `None`, `True` or `False`, without effect, because the matrix of costs is never stored.
    layout: as for `soft_dtw`; by its name alone.
    use_cuda: `True` or `False` says where the tensors are; tensors elsewhere are an error. `None` does not check.
        Tensors are never copied from one device to another.
    """

    gamma: float
    normalize: bool
    use_cuda: bool | None
    layout: Layout = None

    @overload
    def __init__(
        self,
        gamma: float = ...,
        normalize: bool = ...,
        bandwidth: Band = ...,
        dist: str = ...,
        fused: bool | None = ...,
        *,
        use_cuda: bool | None = ...,
        dist_func: None = ...,
        layout: Layout = ...,
    ) -> None: ...

    @overload
    def __init__(
        self,
        use_cuda: bool,
        gamma: float = ...,
        normalize: bool = ...,
        bandwidth: Band = ...,
    ) -> None: ...

    @overload
    def __init__(
        self,
        gamma: float,
        dist_func: None,
        use_cuda: bool | None = ...,
        bandwidth: Band = ...,
        normalize: bool = ...,
    ) -> None: ...

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        options = _arguments(args, kwargs)
        if options["dist_func"] is not None:
            raise ValueError(
                "dist_func must be None: pass dist, or the matrix that your function computes to"
                " dtwave.torch.soft_dtw_from_costs"
            )
        for name in ("fused", "use_cuda"):
            if options[name] not in (None, True, False):
                raise TypeError(f"{name} must be None, True or False, not {options[name]!r}")
        check_normalize(options["normalize"])
        _inputs.check_layout(options["layout"])
        self.gamma = checked_gamma(options["gamma"])
        self.normalize = options["normalize"]
        self.bandwidth = options["bandwidth"]
        self.dist = options["dist"]
        self.use_cuda = options["use_cuda"]
        self.layout = options["layout"]

    @property
    def bandwidth(self) -> Band:
        """As it was given."""
        return self._bandwidth

    @bandwidth.setter
    def bandwidth(self, bandwidth: Band) -> None:
        self._band = to_text(bandwidth)
        self._bandwidth = bandwidth

    @property
    def dist(self) -> str:
        """As it was given."""
        return self._dist

    @dist.setter
    def dist(self, dist: str) -> None:
        self._cost = _cost_of(dist)
        self._dist = dist

    def forward(
        self,
        x: Tensor,
        y: Tensor,
        lengths_x: Tensor | Sequence[int] | None = None,
        lengths_y: Tensor | Sequence[int] | None = None,
    ) -> Tensor:
        """As `soft_dtw`: `[batch, n, channels]` and `[batch, m, channels]` to `[batch]`."""
        if self.use_cuda is not None:
            for name, series in (("x", x), ("y", y)):
                if isinstance(series, Tensor) and series.is_cuda != self.use_cuda:
                    raise ValueError(
                        f"use_cuda={self.use_cuda}, and {name} is on {series.device}: move the tensors, or leave"
                        " use_cuda out"
                    )
        return _soft_dtw(x, y, self.gamma, self.normalize, self._band, self._cost, lengths_x, lengths_y, self.layout)

    def extra_repr(self) -> str:
        """What `repr` shows between the parentheses."""
        dist = "" if self._cost == "squared_euclidean" else f", dist={self.dist!r}"
        layout = "" if self.layout is None else f", layout={self.layout!r}"
        return f"gamma={self.gamma}, normalize={self.normalize}, bandwidth={self.bandwidth}{dist}{layout}"


_ORDERS = {
    "dtwave": ("gamma", "normalize", "bandwidth", "dist", "fused"),
    "use_cuda first": ("use_cuda", "gamma", "normalize", "bandwidth"),
    "dist_func second": ("gamma", "dist_func", "use_cuda", "bandwidth", "normalize"),
}
_DEFAULTS: dict[str, Any] = {
    "gamma": 1.0,
    "normalize": False,
    "bandwidth": None,
    "dist": "sqeuclidean",
    "fused": None,
    "use_cuda": None,
    "dist_func": None,
    "layout": None,
}


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `SoftDTW` by name."""
    if args and isinstance(args[0], bool):
        order = _ORDERS["use_cuda first"]
    elif len(args) > 1 and (args[1] is None or callable(args[1])):
        order = _ORDERS["dist_func second"]
    else:
        order = _ORDERS["dtwave"]
    if len(args) > len(order):
        raise TypeError(f"SoftDTW takes {len(order)} positional arguments ({', '.join(order)}), not {len(args)}")
    given = dict(zip(order, args))
    for name, value in kwargs.items():
        if name not in _DEFAULTS:
            raise TypeError(f"SoftDTW has no argument {name!r}; it has {', '.join(_DEFAULTS)}")
        if name in given:
            raise TypeError(f"SoftDTW got {name!r} twice, by its position and by its name")
        given[name] = value
    return _DEFAULTS | given


def _cost_of(dist: str) -> str:
    cost = _COSTS.get(dist) if isinstance(dist, str) else None
    if cost is None:
        raise ValueError(
            f"dist must be 'sqeuclidean', 'euclidean', 'manhattan' or 'cosine', not {dist!r}: for another cost, pass"
            " its matrix to dtwave.torch.soft_dtw_from_costs, such as torch.cdist(x, y, p=3)"
        )
    return cost


def _soft_dtw(
    x: Tensor,
    y: Tensor,
    gamma: float,
    normalize: bool,
    band: str,
    cost: str,
    lengths_x: Tensor | Sequence[int] | None,
    lengths_y: Tensor | Sequence[int] | None,
    layout: Layout,
) -> Tensor:
    for name, series in (("x", x), ("y", y)):
        check_numbers(name, series)
        if series.ndim != 3:
            raise ValueError(
                f"{name} must be [batch, length, channels], not of shape {tuple(series.shape)}:"
                f" {name}[None] is a batch of one series, {name}[..., None] has one channel"
            )
    if layout == "channels_first":
        x, y = x.mT, y.mT
    if x.device != y.device:
        raise ValueError(f"x is on {x.device} and y on {y.device}: move one to the other")
    if x.device.type not in ("cpu", "cuda", "meta"):
        raise _operators.no_device(x.device)
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"x has {x.shape[0]} series and y has {y.shape[0]}: pairs need as many of both")
    if x.shape[2] != y.shape[2]:
        raise ValueError(f"x has {x.shape[2]} channels and y has {y.shape[2]}: they need as many")
    for name, series in (("x", x), ("y", y)):
        if series.shape[1] == 0 or series.shape[2] == 0:
            raise ValueError(f"{name} has shape {tuple(series.shape)}: a series needs a point and a channel")
    if layout is None and x.shape[2] > x.shape[1] == y.shape[1] and not torch.compiler.is_compiling():
        # With as many points in both, either of the last two axes may be that of the channels.
        _notes.warn(_inputs.question_of(tuple(x.shape), "x", layout) or "", _notes.LayoutWarning)
    check_no_tangent(x, y)
    wants = 0
    if torch.is_grad_enabled():
        wants = x.requires_grad * _operators.WANTS_X + y.requires_grad * _operators.WANTS_Y
    # Half precision, which autocast makes, has no room for a sum of squares.
    if not x.dtype == y.dtype in (torch.float32, torch.float64):
        dtype = torch.promote_types(torch.promote_types(x.dtype, y.dtype), torch.float32)
        x, y = x.to(dtype), y.to(dtype)
    counted_x = None if lengths_x is None else whole_lengths("lengths_x", lengths_x, x)
    counted_y = None if lengths_y is None else whole_lengths("lengths_y", lengths_y, y)
    if cost == "cosine":
        x, y = halved_directions(x, counted_x, "x"), halved_directions(y, counted_y, "y")
    # Of directions, the cosine cost is the squared Euclidean one.
    spec = _operators.COSTS.get(cost, "") + band
    if normalize:
        spec = _operators.DIVERGENCE + spec
    return _operators.soft_dtw(_operators.Given(x, y, counted_x, counted_y, gamma, spec, wants))
