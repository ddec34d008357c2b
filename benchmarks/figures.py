"""Figures of the records: dtwave beside other libraries, on the CPU and on a GPU.

    python benchmarks/figures.py [--out FOLDER] [NAME ...]

writes NAME.svg for each. Every number comes from a CSV file of benchmarks/record, and its processor, day and commit
stand in the figure. Of several records of the same work on one device the newest counts; beside other Python packages
the ratios of all of them are told, from the least to the greatest. A bar that is missing was not measured.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path
from typing import Any

from matplotlib import pyplot
from matplotlib.axes import Axes

RECORDS = Path(__file__).resolve().parent / "record"
OURS, OTHERS, THIRD = "C0", "#9aa0a8", "C1"

Row = dict[str, str]


def rows(pattern: str) -> list[Row]:
    """Every row of the records of that pattern, oldest first, with the device's folder."""
    found = []
    for path in sorted(RECORDS.glob(pattern), key=lambda path: path.name):
        with path.open(newline="", encoding="utf-8") as file:
            found += [{**row, "folder": path.parent.name} for row in csv.DictReader(file)]
    if not found:
        raise SystemExit(f"there are no records {RECORDS / pattern}")
    return found


def newest(found: list[Row], *keys: str) -> dict[tuple[str, ...], Row]:
    """The last row of each kind."""
    return {tuple(row[key] for key in keys): row for row in found}


def named_time(seconds: float) -> str:
    for unit, name in [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")]:
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.2g} s"


def made(found: list[Row]) -> str:
    """When rows were recorded, and at which commits of dtwave."""
    days: dict[str, set[str]] = {}
    for row in found:
        commit, *changed = row["commit"].split("-")
        days.setdefault(row["date"], set()).add("-".join([commit[:7], *changed]))
    told = []
    for day, commits in sorted(days.items()):
        told.append(f"{day}, commit{'s' if len(commits) > 1 else ''} {', '.join(sorted(commits))}")
    return "; ".join(told)


#: A figure's panel: the times of libraries, ours first; title; origin; and the ratios that several records have.
Panel = tuple[dict[str, float], str, str, dict[str, list[float]]]


def ratio_text(ratios: list[float]) -> str:
    """`26.3 ×`, or of several `26.3 to 26.9 ×`."""
    least, most = f"{min(ratios):.1f}", f"{max(ratios):.1f}"
    return f"{least} ×" if least == most else f"{least} to {most} ×"


def bars(ax: Axes, times: dict[str, float], title: str, origin: str, ratios: dict[str, list[float]]) -> None:
    """Times of libraries, ours first, and how many times as long as ours each takes."""
    ours = next(iter(times.values()))
    for place, (name, seconds) in enumerate(times.items()):
        ax.barh(place, seconds, color=OTHERS if place else OURS, height=0.7)
        known = ratios.get(name, [seconds / ours])
        if place and max(known) > min(known):
            ax.plot([ours * min(known), ours * max(known)], [place, place], color="0.2", linewidth=2.0)
        text = named_time(seconds) + (f", {ratio_text(known)}" if place else "")
        ax.annotate(text, (seconds, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9)
    ax.set_yticks(range(len(times)), list(times))
    ax.invert_yaxis()
    ax.set_xlim(0, max(times.values()) * 1.4)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_title(title, loc="left")
    ax.set_xlabel(origin, loc="left", fontsize=8)


def column(panels: list[Panel]) -> Any:
    """Panels of bars one above the other, each as high as its bars need."""
    heights = [len(times) + 2.2 for times, *_ in panels]
    figure, axes = pyplot.subplots(
        len(panels), 1, figsize=(7.5, 0.31 * sum(heights)), height_ratios=heights, layout="constrained", squeeze=False
    )
    for ax, panel in zip(axes[:, 0], panels):
        bars(ax, *panel)
    return figure


#: What the works of benchmarks/python/peers.py are, by the beginning of their names.
TITLES = {
    "distance_": "one distance of two series of {} points",
    "pairwise_f32_": "all pairs of {} points, float32",
    "pairwise_": "all pairs of {} points",
    "soft_dtw_pairwise_": "Soft-DTW, all pairs of {} points",
    "soft_dtw_and_gradient_": "Soft-DTW and its gradient, {} (pairs, points, channels)",
    "search_windows_": "nearest z-normalised window, no warping, {} points",
}


def titled(work: str) -> str:
    for start, text in TITLES.items():
        if work.startswith(start):
            return text.format(work.removeprefix(start).replace("x", " × "))
    return work


def python_on_cpu() -> Any:
    """The Python package beside other Python packages: `benchmarks/python/peers.py --record`."""
    # "threads_" is dtwave beside itself.
    recorded = [row for row in rows("*/*-python.csv") if not row["work"].startswith("threads_")]
    found = newest(recorded, "cpu", "work", "other")
    works: dict[tuple[str, str], list[Row]] = {}
    for (cpu, work, _), row in found.items():
        works.setdefault((cpu, work), []).append(row)
    panels = []
    order = list(dict.fromkeys(work for _, work in works))
    for (cpu, work), group in sorted(works.items(), key=lambda item: (order.index(item[0][1]), item[0][0])):
        last = max(group, key=lambda row: row["date"])
        times = {last["ours"]: float(last["ours_median_secs"])}
        others = sorted(group, key=lambda row: float(row["other_median_secs"]))
        times |= {row["other"]: float(row["other_median_secs"]) for row in others}
        own = [row for row in recorded if (row["cpu"], row["work"]) == (cpu, work)]
        ratios = {row["other"]: [float(each["ratio"]) for each in own if each["other"] == row["other"]] for row in own}
        panels.append((times, titled(work), f"{short(cpu)}, {made(own)}", ratios))
    return column(panels)


def library_on_cpu() -> Any:
    """The library beside others on one core, by a command that is gone: `benchmarks/python/peers.py` replaced it."""
    found = newest(rows("*/*-peers.csv"), "cpu", "work", "other")
    panels = []
    for (cpu, work, _), row in found.items():
        if not work.startswith("threads_"):
            title = re.sub(r"_(f\d\d)_(.*)$", r", \1, all pairs of \2", work).replace("x", " × ").replace("_", " ")
            times = {"dtwave": float(row["ours_median_secs"]), row["other"]: float(row["other_median_secs"])}
            panels.append((times, f"{title} points", f"{short(cpu)}, {made([row])}", {}))
    return column(panels)


def short(cpu: str) -> str:
    """A processor's name; its family and model stay, because names like "Xeon Processor" are of many."""
    return re.sub(r"\(R\)|\(TM\)| Processor", "", cpu)


def measures_on_cpu() -> Any:
    """Cells a second of every measure on one core: `cargo xtask bench --record`. A bar is the slowest processor's, and
    a line goes to the fastest."""
    # Records of GPUs have no threads.
    recorded = [row for row in rows("*/????-??-??.csv") if row.get("threads") == "1"]
    found = newest([row for row in recorded if row["work"].endswith("_32x250")], "cpu", "work", "dtype")
    speeds: dict[tuple[str, str], list[float]] = {}
    for (_, work, number), row in found.items():
        speeds.setdefault((work, number), []).append(float(row["mcups"]) / 1e3)
    names = sorted({work for work, _ in speeds}, key=lambda work: -min(speeds[work, "f64"]))
    figure, ax = pyplot.subplots(figsize=(7.5, 4.6), layout="constrained")
    for shift, number, color in [(-0.2, "f64", OURS), (0.2, "f32", THIRD)]:
        for place, name in enumerate(names):
            least, most = min(speeds[name, number]), max(speeds[name, number])
            label = None if place else number
            ax.barh(place + shift, least, color=color, height=0.38, label=label)
            ax.plot([least, most], [place + shift, place + shift], color="0.2", linewidth=2.0)
    ax.set_yticks(range(len(names)), [name.removesuffix("_32x250") for name in names])
    ax.invert_yaxis()
    on = " and ".join(sorted({short(row["cpu"]) for row in found.values()}))
    ax.set_xlabel(f"10⁹ cells a second on one core:\n{on}")
    ax.set_title(made(list(found.values())), loc="left", fontsize=9)
    ax.legend()
    return figure


def gpu(*works: str) -> list[Row]:
    """The newest rows of the H200, of works with one of these in their names."""
    found = newest(rows("nvidia-h200/????-??-??.csv"), "work", "dtype", "data")
    return [row for (work, _, _), row in found.items() if any(part in work for part in works)]


def dtw_on_gpu() -> Any:
    """DTW in large batches beside cuDTW++, whose batches are others: `cargo xtask bench record --backend cuda`."""
    ours, theirs, used = {}, {}, []
    for row in gpu("dtw_large_"):
        match = re.fullmatch(r"dtw_large_\d+x\d+x(\d+)", row["work"])
        if match is None or row["measure"] != "dtw":
            continue
        used.append(row)
        ours[int(match[1])] = float(row["tcups"])
        if row["peer"]:
            theirs[int(match[1])] = float(row["tcups"]) / float(row["times_faster"])
    figure, ax = pyplot.subplots(figsize=(7.5, 3.6), layout="constrained")
    series = [(ours, OURS, "dtwave, many series against 2048"), (theirs, OTHERS, "cuDTW++'s kernels, one against 2¹⁸")]
    for points, color, label in series:
        lengths = sorted(points)
        ax.plot(lengths, [points[length] for length in lengths], marker="o", markersize=4, color=color, label=label)
    ax.set_xscale("log", base=2)
    ax.set_ylim(0, None)
    ax.set_xticks([128, 256, 512, 1024, 2048, 4096], ["128", "256", "512", "1024", "2048", "4096"])
    ax.set_xlabel("points of a series")
    ax.set_ylabel("10¹² cells a second")
    ax.set_title(f"DTW, float32, one H200 ({made(used)})", loc="left")
    ax.legend()
    return figure


def others_on_gpu() -> Any:
    """Other GPU programs: `cargo xtask bench record --backend cuda`."""
    panels = []
    for row in gpu("cutwed", "dtw_host_"):
        if row["peer"]:
            ours, theirs = float(row["median_secs"]), float(row["peer_secs"])
            panels.append(({"dtwave": ours, row["peer"]: theirs}, f"{row['work']} ({row['dtype']})", made([row]), {}))
    return column(panels)


def bands_on_gpu() -> Any:
    """What a band does to Soft-DTW of short series: `cargo xtask bench record --backend cuda cutimewarp`."""
    found: dict[str, dict[int, float]] = {}
    used = []
    for row in gpu("cutimewarp"):
        match = re.fullmatch(r"cutimewarp_(\w+?_\d+x\d+)(?:_band(\d+))?", row["work"])
        if match is not None and row["dtype"] == "f32":
            used.append(row)
            found.setdefault(match[1], {})[int(match[2] or 100)] = float(row["median_secs"]) * 1e3
    figure, ax = pyplot.subplots(figsize=(7.5, 3.2), layout="constrained")
    for name, times in found.items():
        widths = sorted(times)
        ax.plot(widths, [times[width] for width in widths], marker="o", markersize=4, label=name.replace("_", ", "))
    ax.set_ylim(0, None)
    ax.set_xticks([20, 40, 60, 80, 100], ["20%", "40%", "60%", "80%", "no band"])
    ax.set_xlabel(f"band ({made(used)})")
    ax.set_ylabel("ms for all pairs")
    ax.set_title("Soft-DTW of short series, float32, one H200: lower is better", loc="left")
    ax.legend()
    return figure


def soft_dtw_on_gpu() -> Any:
    """Soft-DTW with its gradient, dtwave's kernels: `cargo xtask bench record --backend cuda soft_dtw_gradients`."""
    times, used = {}, []
    for row in gpu("soft_dtw_gradients_"):
        match = re.fullmatch(r"soft_dtw_gradients_(\d+)x(\d+)x(\d+)", row["work"])
        if match is not None and row["data"] == "resident":
            used.append(row)
            times[" × ".join(match.groups())] = float(row["median_secs"])
    figure, ax = pyplot.subplots(figsize=(7.5, 0.31 * (len(times) + 2.2)), layout="constrained")
    ax.barh(range(len(times)), list(times.values()), color=OURS, height=0.7)
    for place, seconds in enumerate(times.values()):
        text = named_time(seconds)
        ax.annotate(text, (seconds, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9)
    ax.set_yticks(range(len(times)), list(times))
    ax.invert_yaxis()
    ax.set_xlim(0, max(times.values()) * 1.25)
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_title("Soft-DTW and its gradient, float32 (pairs × points × channels)", loc="left")
    ax.set_xlabel(made(used), loc="left", fontsize=8)
    return figure


#: What `benchmarks/python/peers.py` should show: seconds of ours, or how many times as long another takes.
AIMS: list[tuple[str, str, float]] = [
    ("distance_100", "", 6e-6),
    ("pairwise_200x96", "tsdistances", 15.0),
    ("pairwise_200x96", "aeon", 20.0),
    ("pairwise_200x96", "dtaidistance", 20.0),
    ("pairwise_40x1024", "tsdistances", 15.0),
    ("pairwise_40x1024", "aeon", 20.0),
    ("pairwise_40x1024", "dtaidistance", 20.0),
    ("pairwise_f32_200x96", "tsdistances", 30.0),
    ("pairwise_f32_40x1024", "tsdistances", 30.0),
    ("soft_dtw_pairwise_200x96", "tslearn", 40.0),
    ("soft_dtw_pairwise_40x1024", "tslearn", 40.0),
    ("threads_200x96", "dtwave", 1.8),
    ("threads_40x1024", "dtwave", 1.8),
]


def aims() -> list[Row]:
    """What was aimed at, what was measured, and whether that is met: of the newest records."""
    table = []

    def add(row: Row, what: str, aim: str, measured: str, is_met: bool) -> None:
        met = "yes" if is_met else "no"
        origin = {"CPU": short(row["cpu"]), "commit": row["commit"]}
        table.append({**origin, "work": what, "aim": aim, "measured": measured, "met": met})

    python = newest(rows("*/*-python.csv"), "cpu", "work", "other")
    for work, library, aim in AIMS:
        for (_, name, other), row in python.items():
            if name != work or not other.startswith(library):
                continue
            if library:
                ratio = float(row["ratio"])
                add(row, f"{titled(work)}, {other}", f"{aim:.0f} ×", f"{ratio:.1f} ×", ratio >= aim)
            else:
                seconds = float(row["ours_median_secs"])
                add(row, titled(work), named_time(aim), named_time(seconds), seconds <= aim)
    for row in newest(rows("*/*-peers.csv"), "cpu", "work", "other").values():
        ratio, aim = float(row["ratio"]), float(row["target"])
        add(row, f"{row['work'].replace('_', ' ')}, {row['other']}", f"{aim:g} ×", f"{ratio:.1f} ×", ratio >= aim)
    return table


FIGURES = [
    python_on_cpu,
    library_on_cpu,
    measures_on_cpu,
    dtw_on_gpu,
    soft_dtw_on_gpu,
    others_on_gpu,
    bands_on_gpu,
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = {figure.__name__: figure for figure in FIGURES}
    parser.add_argument("--out", type=Path, default=Path("."), help="the folder to write to")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; all unless given")
    options = parser.parse_args()
    for name in options.names or known:
        if name not in known:
            parser.error(f"there is no figure {name}; there are {', '.join(known)}")
        options.out.mkdir(parents=True, exist_ok=True)
        known[name]().savefig(options.out / f"{name}.svg")
        print(options.out / f"{name}.svg")


if __name__ == "__main__":
    main()
