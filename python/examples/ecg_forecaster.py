"""A network that continues an electrocardiogram, trained with the Soft-DTW loss and, beside it, with the squared error.

    pip install '.[torch,plots]'
    python python/examples/ecg_forecaster.py --out ecg-forecaster

Both networks start alike and see the same windows. The folder gets `losses.svg`, `forecasts.svg` and `training.csv`
(loss and memory of each step). `--device cuda` trains on an NVIDIA GPU; `--compare` then tells whether its losses are
those of a run on the CPU:

    python python/examples/ecg_forecaster.py --steps 500 --flat --out on-cpu
    python python/examples/ecg_forecaster.py --steps 500 --flat --out on-gpu --device cuda --compare on-cpu/training.csv
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

import dtwave
import ecg
from dtwave.torch import SoftDTW

#: Points that the network sees, and that it foretells: one second, then half a second.
PAST, FUTURE = ecg.RATE_HZ, ecg.RATE_HZ // 2
#: Windows of a step.
BATCH = 64
#: How far the forecast may be early or late, in points.
BAND = 5
#: How far two loss curves may be apart, as a share of the loss.
CLOSE = 1e-3


def windows() -> tuple[Tensor, Tensor]:
    """Windows to train with and windows of the last quarter of the recording, `[count, PAST + FUTURE]` in float64.

    The values are centred and scaled by mean and deviation of what is trained with.
    """
    values = torch.from_numpy(ecg.recording())
    split = len(values) * 3 // 4
    train, test = (part.unfold(0, PAST + FUTURE, 1) for part in (values[:split], values[split:]))
    mean, deviation = values[:split].mean(), values[:split].std()
    return (train - mean) / deviation, (test - mean) / deviation


@dataclass
class Training:
    """A trained network and how it came to be."""

    network: nn.Module
    losses: list[float] = field(default_factory=list)
    #: Bytes after each step: the process's own memory, or the most that PyTorch held on the GPU in this step. Empty
    #: where nobody says: on the CPU, Linux does.
    memory_bytes: list[int] = field(default_factory=list)


def memory_bytes(device: torch.device) -> int | None:
    """Memory in use; on a GPU the most since the last call."""
    if device.type == "cuda":
        most = int(torch.cuda.max_memory_allocated(device))
        torch.cuda.reset_peak_memory_stats(device)
        return most
    table = Path("/proc/self/statm")
    return int(table.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if table.exists() else None


def train(
    loss: Callable[[Tensor, Tensor], Tensor], series: Tensor, steps: int, device: torch.device, dtype: torch.dtype
) -> Training:
    """Trains with a loss of `[batch, FUTURE, 1]` and `[batch, FUTURE, 1]`, `[batch]`; its mean is made small."""
    # Drawn on the CPU, so that all devices start alike and see the same windows.
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(PAST, 64), nn.Tanh(), nn.Linear(64, FUTURE)).to(device, dtype)
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    series = series.to(device, dtype)
    done = Training(network)
    for _ in range(steps):
        chosen = series[torch.randint(len(series), (BATCH,), generator=generator).to(device)]
        foretold = network(chosen[:, :PAST])
        error = loss(foretold.unsqueeze(-1), chosen[:, PAST:].unsqueeze(-1)).mean()
        optimizer.zero_grad()
        torch.autograd.backward(error)
        optimizer.step()
        done.losses.append(error.item())
        held = memory_bytes(device)
        if held is not None:
            done.memory_bytes.append(held)
    return done


def squared_error(x: Tensor, y: Tensor) -> Tensor:
    """Sums over time and channels, `[batch]`."""
    return (x - y).square().sum((1, 2))


def growth_bytes(memory: Sequence[int]) -> int:
    """How much more the second half of a training took than the first."""
    return max(memory[len(memory) // 2 :]) - max(memory[: len(memory) // 2])


def check_flat(name: str, training: Training, device: torch.device, dtype: torch.dtype) -> None:
    """Ends the program if memory grew as it would if every other step kept a gradient of the loss."""
    if not training.memory_bytes:
        raise SystemExit("--flat cannot tell on the CPU of this system, only on Linux: use --device cuda, or Linux")
    held, steps = training.memory_bytes, len(training.losses)
    allowed = steps // 4 * BATCH * FUTURE * dtype.itemsize if device.type == "cpu" else 0
    grown = growth_bytes(held)
    text = f"{name}: memory from {held[0] / 2**20:.1f} to {held[-1] / 2**20:.1f} MiB, second half {grown / 2**20:+.2f}"
    if grown > allowed:
        raise SystemExit(f"{text} MiB: not flat, at most {allowed / 2**20:.2f} MiB are allowed")
    print(f"{text} MiB: flat (at most {allowed / 2**20:.2f})")


def write(trainings: dict[str, Training], file: Path) -> None:
    """One row per step: its number, the losses, the memory in bytes (empty if unknown)."""
    with file.open("w", newline="") as opened:
        rows = csv.writer(opened)
        rows.writerow(["step", *trainings, *(f"{name}_memory_bytes" for name in trainings)])
        for step in range(len(next(iter(trainings.values())).losses)):
            held = (t.memory_bytes[step] if t.memory_bytes else "" for t in trainings.values())
            rows.writerow([step + 1, *(repr(t.losses[step]) for t in trainings.values()), *held])


def read(file: Path, names: Sequence[str], steps: int) -> dict[str, list[float]]:
    """The losses that another run wrote, by name. Ends the program if they are of another number of steps."""
    with file.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    if len(rows) != steps:
        raise SystemExit(f"{file} has {len(rows)} steps and this run {steps}: use the same --steps")
    for name in names:
        if name not in rows[0]:
            raise SystemExit(f"{file} has no column {name!r}: pass a training.csv of this program")
    return {name: [float(row[name]) for row in rows] for name in names}


def compare(trainings: dict[str, Training], others: dict[str, list[float]]) -> None:
    """Ends the program if losses differ by more than `CLOSE` from those of another run."""
    for name, training in trainings.items():
        ours, theirs = np.array(training.losses), np.array(others[name])
        apart = np.abs(ours - theirs) / np.maximum(np.abs(ours), np.abs(theirs))
        step = int(apart.argmax())
        text = f"{name}: losses differ by {apart[step]:.1e} of the loss at most, in step {step + 1}"
        if not apart[step] <= CLOSE:  # NaN is not close
            raise SystemExit(f"{text}; at most {CLOSE:.0e} is allowed")
        print(text)


def draw_losses(trainings: dict[str, Training], file: Path) -> None:
    figure = Figure(figsize=(8, 3), layout="constrained")
    for ax, (name, training) in zip(np.atleast_1d(figure.subplots(1, len(trainings))), trainings.items()):
        ax.semilogy(range(1, len(training.losses) + 1), training.losses, linewidth=0.8)
        ax.set(title=f"trained with {name}", xlabel="step", ylabel="loss")
    figure.savefig(file, metadata={"Date": None})


def draw_forecasts(trainings: dict[str, Training], test: Tensor, file: Path) -> None:
    figure = Figure(figsize=(8, 5), layout="constrained")
    before, after = np.arange(PAST) / ecg.RATE_HZ, np.arange(PAST, PAST + FUTURE) / ecg.RATE_HZ
    chosen = test[:: len(test) // 5][:4]  # at different places of the beat
    foretold = {name: forecasts(training.network, chosen) for name, training in trainings.items()}
    for place, ax in enumerate(figure.subplots(2, 2, sharex=True, sharey=True).flat):
        ax.plot(before, chosen[place, :PAST], color="0.6", linewidth=0.8)
        ax.plot(after, chosen[place, PAST:], color="0.2", linewidth=0.8, label="recorded")
        for name, values in foretold.items():
            ax.plot(after, values[place], linewidth=1.2, label=name)
    figure.axes[0].legend(frameon=False, fontsize="small")
    figure.supxlabel("seconds")
    figure.supylabel("deviations from the mean")
    figure.savefig(file, metadata={"Date": None})


def forecasts(network: nn.Module, series: Tensor) -> Tensor:
    """`[count, FUTURE]` in float64 on the CPU."""
    own = next(network.parameters())
    with torch.no_grad():
        found: Tensor = network(series[:, :PAST].to(own)).cpu().double()
    return found


def main(arguments: Sequence[str] | None = None) -> dict[str, Training]:
    """Trains, draws and prints; returns what was trained, by the name of the loss."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=300, help="steps of training (300)")
    parser.add_argument("--device", default="cpu", help="where to train: cpu (as if left out), cuda, cuda:1 ...")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32", help="float32 if left out")
    parser.add_argument("--out", type=Path, default=Path("ecg-forecaster"), help="folder of the figures and losses")
    parser.add_argument("--flat", action="store_true", help="fail if memory grows during the training")
    parser.add_argument("--compare", type=Path, metavar="CSV", help="fail if the losses are not those of this file")
    chosen = parser.parse_args(arguments)
    if chosen.steps < 4:
        parser.error(f"--steps must be at least 4, not {chosen.steps}")
    if chosen.flat and chosen.steps < 100:
        parser.error(f"--flat needs 100 steps to see what grows, not {chosen.steps}")
    device, dtype = torch.device(chosen.device), getattr(torch, chosen.dtype)

    soft_dtw = SoftDTW(gamma=0.1, normalize=True, bandwidth=BAND)
    losses: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"squared_error": squared_error, "soft_dtw": soft_dtw}
    # Read first: this run may write to the same place.
    others = None if chosen.compare is None else read(chosen.compare, list(losses), chosen.steps)
    train_with, test = windows()
    trainings = {name: train(loss, train_with, chosen.steps, device, dtype) for name, loss in losses.items()}

    chosen.out.mkdir(parents=True, exist_ok=True)
    write(trainings, chosen.out / "training.csv")
    draw_losses(trainings, chosen.out / "losses.svg")
    draw_forecasts(trainings, test, chosen.out / "forecasts.svg")
    future = test[:, PAST:].numpy()
    for name, training in trainings.items():
        foretold = forecasts(training.network, test).numpy()
        squared = ((foretold - future) ** 2).sum(1).mean()
        warped = np.mean(dtwave.zipped(foretold, future, measure="dtw", band=BAND))
        print(
            f"trained with {name}: loss {training.losses[0]:.4g} at first, {training.losses[-1]:.4g} after"
            f" {chosen.steps} steps; of the last quarter, squared error {squared:.4g}, DTW {warped:.4g}"
        )
    if chosen.flat:
        for name, training in trainings.items():
            check_flat(name, training, device, dtype)
    if others is not None:
        compare(trainings, others)
    return trainings


if __name__ == "__main__":
    torch.set_num_threads(1)  # for a network as small as this, more threads take longer
    main()
