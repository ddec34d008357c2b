"""The Soft-DTW barycenter of heartbeats, found by gradient descent with PyTorch, on the CPU or on an NVIDIA GPU.

    pip install '.[torch,plots]'
    python python/examples/ecg_barycenter.py --out barycenter.svg --device cuda

It is the series whose mean Soft-DTW to all beats is least; the beats differ in length. `dtwave.barycenter` finds it by
an optimizer of its own; with PyTorch the mean may be one term of your loss.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

import ecg
from dtwave.torch import soft_dtw


def descend(series: Sequence[Tensor], gamma: float, steps: int, device: torch.device) -> tuple[Tensor, list[float]]:
    """The average `[length, channels]` of series `[length, channels]`, and the mean Soft-DTW before each step."""
    lengths = [len(one) for one in series]
    padded = pad_sequence(list(series), batch_first=True).to(device)
    # The points of the start are means of those that stand at the same place.
    average = padded[:, : min(lengths)].mean(0).requires_grad_()
    optimizer = torch.optim.Adam([average], lr=0.05)
    losses = []
    for _ in range(steps):
        loss = soft_dtw(average.expand(len(series), -1, -1), padded, gamma=gamma, lengths_y=lengths).mean()
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    return average.detach().cpu(), losses


def main(arguments: Sequence[str] | None = None) -> tuple[Tensor, list[float]]:
    """Descends, draws and prints; returns the average and the losses."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=100, help="steps of the descent (100)")
    parser.add_argument("--gamma", type=float, default=0.1, help="how smooth the minimum is (0.1)")
    parser.add_argument("--device", default="cpu", help="where to compute: cpu (as if left out), cuda, cuda:1 ...")
    parser.add_argument("--out", type=Path, default=Path("barycenter.svg"), help="the figure")
    chosen = parser.parse_args(arguments)
    if chosen.steps < 1:
        parser.error(f"--steps must be at least 1, not {chosen.steps}")

    beats = ecg.beats()
    mean, deviation = np.concatenate(beats).mean(), np.concatenate(beats).std()
    series = [torch.from_numpy((beat - mean) / deviation).unsqueeze(-1) for beat in beats]
    average, losses = descend(series, chosen.gamma, chosen.steps, torch.device(chosen.device))

    figure = Figure(figsize=(8, 3), layout="constrained")
    left, right = figure.subplots(1, 2)
    for one in series:
        left.plot(np.arange(len(one)) / ecg.RATE_HZ, one[:, 0], color="0.7", linewidth=0.5)
    left.plot(np.arange(len(average)) / ecg.RATE_HZ, average[:, 0], linewidth=1.5)
    left.set(title=f"barycenter of {len(series)} stretches of two beats", xlabel="seconds")
    right.plot(range(len(losses)), losses)
    right.set(title="mean Soft-DTW", xlabel="step")
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(chosen.out)
    print(f"mean Soft-DTW: {losses[0]:.4g} at first, {losses[-1]:.4g} after {chosen.steps} steps")
    return average, losses


if __name__ == "__main__":
    main()
