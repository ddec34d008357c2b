"""Training with the Soft-DTW loss: a network continues waves whose second half comes early or late.

    pip install '.[torch]'
    python python/examples/soft_dtw_loss.py
"""

import torch
from torch import Tensor, nn

from dtwave.torch import SoftDTW


def waves(count: int) -> tuple[Tensor, Tensor]:
    """Bumps of random height, `[count, 40]`, and as many that follow them after a random time."""
    time = torch.arange(40.0)
    height, delay = torch.rand(count, 1) + 0.5, 6.0 * torch.rand(count, 1)
    return height * torch.exp(-((time - 20) ** 2) / 20), -height * torch.exp(-((time - 15 - delay) ** 2) / 20)


def train(steps: int = 150) -> list[float]:
    """The loss of each step."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 40))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    loss = SoftDTW(gamma=0.1, normalize=True)  # the divergence: zero where a prediction is right
    losses = []
    for _ in range(steps):
        past, future = waves(32)
        error = loss(model(past).unsqueeze(-1), future.unsqueeze(-1)).mean()  # [batch, length, channels]
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
        losses.append(error.item())
    return losses


if __name__ == "__main__":
    losses = train()
    print(f"loss: {losses[0]:.3f} at first, {losses[-1]:.3f} after {len(losses)} steps")
