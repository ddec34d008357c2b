"""What PyTorch adds to a call of Soft-DTW, and what it would add if the operator were a `custom_op`.

    python benchmarks/python/overhead.py

One pair of two points, so that nearly nothing is computed. Microseconds, the least of several rounds that take turns:

    native       the library's function on NumPy arrays
    operator     dtwave::soft_dtw, defined with torch.library.define and impl
    custom_op    the same function and the same gradient, defined with torch.library.custom_op
    soft_dtw     what people call, with all checks
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from dtwave import _native
from dtwave.torch import _operators, soft_dtw

ROUNDS, CALLS = 15, 300


@torch.library.custom_op("dtwave_overhead::soft_dtw", mutates_args=())
def custom(
    x: Tensor,
    y: Tensor,
    lengths_x: Tensor | None,
    lengths_y: Tensor | None,
    gamma: float,
    spec: str,
    wants: int,
) -> tuple[Tensor, Tensor, Tensor]:
    return _operators._on_cpu(x, y, lengths_x, lengths_y, gamma, spec, wants)


custom.register_fake(_operators._fake)
custom.register_autograd(_operators._backward, setup_context=_operators._remember_all)


def main() -> None:
    torch.set_num_threads(1)
    x, y = torch.zeros(1, 2, 1), torch.ones(1, 2, 1)
    arrays = x.numpy(), y.numpy()
    what = _operators.spec_of(1.0, "full"), _native.Engine("cpu", 1, 1 << 30)
    learned = x.clone().requires_grad_()
    operator: Any = torch.ops.dtwave.soft_dtw

    def arguments(wants: int) -> tuple[Any, ...]:
        return (learned if wants else x, y, None, None, 1.0, "full", wants)

    def native(gradients: bool) -> None:
        _native.soft_dtw(*arrays, *what, gradients=gradients)

    calls: dict[str, dict[str, Callable[[], object]]] = {
        "forward": {
            "native": lambda: native(False),
            "operator": lambda: operator(*arguments(0)),
            "custom_op": lambda: custom(*arguments(0)),
            "soft_dtw": lambda: soft_dtw(x, y),
        },
        "forward and backward": {
            "native": lambda: native(True),
            "operator": lambda: torch.autograd.backward(operator(*arguments(1))[0]),
            "custom_op": lambda: torch.autograd.backward(custom(*arguments(1))[0]),
            "soft_dtw": lambda: torch.autograd.backward(soft_dtw(learned, y)),
        },
    }
    for direction, ways in calls.items():
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, call in ways.items():
                times[name].append(timeit.timeit(call, number=CALLS) / CALLS * 1e6)
        print(f"{direction:22}", "  ".join(f"{name} {min(found):6.1f} us" for name, found in times.items()))


if __name__ == "__main__":
    main()
