"""Search of a minute of an electrocardiogram for the beats that are most like one of them, and a plot of what is found.

    pip install '.[plots]'
    python python/examples/heartbeats.py --out heartbeats.svg

ecg.py names the source of the recording.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ecg import RATE_HZ, recording
from matplotlib import pyplot

import dtwave


def main(arguments: list[str] | None = None) -> list[dtwave.Match]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=Path("heartbeats.svg"), help="where the plot goes: .svg, .png or .pdf"
    )
    path = parser.parse_args(arguments).out
    values = recording()
    begin, end = 83, 175  # one beat
    query = values[begin:end]
    # Ends of two matches are more than half a second apart: no beat is found twice.
    matches = dtwave.search(query, values, k=8, exclusion=RATE_HZ // 2)
    for match in matches:
        print(
            f"{match.start / RATE_HZ:5.2f} s to {match.end / RATE_HZ:5.2f} s, "
            f"{len(match)} samples, distance {match.distance:.4f}"
        )
    figure, ax = pyplot.subplots(figsize=(9.0, 2.6), layout="constrained")
    dtwave.plots.matches(values, matches, sample_rate=RATE_HZ, ax=ax)
    ax.set_title(f"The beat from {begin / RATE_HZ:.1f} s to {end / RATE_HZ:.1f} s and those like it")
    figure.savefig(path)
    pyplot.close(figure)
    print(f"drawn in {path}")
    return matches


if __name__ == "__main__":
    main()
