"""Code of AMD's GPUs: reads the hot loop of a kernel from its image, counts its instructions, and lets one wave run it.

The images are those that `cargo xtask kernels hip` leaves in crates/dtw-kernels/built/hip/CHIP/.
"""

from __future__ import annotations

import csv
import lzma
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

BUILT = Path(__file__).resolve().parents[2] / "crates/dtw-kernels/built/hip"
#: The oldest LLVM that reads these images.
LEAST_LLVM = 19
OBJDUMPS = ["llvm-objdump", *(f"llvm-objdump-{number}" for number in range(24, LEAST_LLVM - 1, -1))]

#: Kinds of instructions, by what their names match; the first that matches counts.
KINDS = [
    ("wait", r"s_waitcnt|s_delay_alu|s_nop|s_clause|s_sleep|s_set_inst"),
    ("scalar", r"s_"),
    ("local", r"ds_"),
    ("scratch", r"scratch_|buffer_"),
    ("memory", r"global_|flat_"),
    ("copy", r"v_accvgpr_"),
    ("transcendental", r"v_(exp|log|rcp|rsq|sqrt|sin|cos)"),
    ("lanes", r"v_\w*dpp|v_permlane|v_readlane|v_readfirstlane|v_writelane"),
    ("double", r"v_\w*f64"),
    ("packed", r"v_pk_"),
    ("dual", r"v_dual_"),
    ("single", r"v_"),
]
#: Kinds that the vector unit executes.
VECTOR = ("copy", "transcendental", "lanes", "double", "packed", "dual", "single")


@dataclass(frozen=True)
class Timing:
    """Cycles of a chip for one wave: how long a kind occupies its unit, and when its result may be used."""

    lanes: int
    issue: dict[str, float]
    latency: dict[str, float]


@dataclass(frozen=True)
class Instruction:
    address: int
    name: str
    operands: str
    target: int | None

    @property
    def kind(self) -> str:
        name = self.name + ("_dpp" if "row_mask:" in self.operands else "")
        return next(kind for kind, pattern in KINDS if re.match(pattern, name))


@dataclass(frozen=True)
class Usage:
    """What a kernel takes, as the compiler says: registers and scratch of a lane, waves that a SIMD has room for."""

    vgprs: int
    agprs: int
    scratch_bytes: int
    waves: int


def objdump() -> str:
    """The disassembler: LLVM's, from PATH or named by OBJDUMP."""
    names = [os.environ["OBJDUMP"]] if "OBJDUMP" in os.environ else OBJDUMPS
    for name in filter(shutil.which, names):
        said = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
        version = re.search(r"version (\d+)", said)
        if version and int(version[1]) >= LEAST_LLVM and "amdgcn" in said:
            return name
    raise SystemExit(f"no llvm-objdump from {LEAST_LLVM} on ({', '.join(names)}): install LLVM, or set OBJDUMP")


def usages(chip: str) -> dict[str, Usage]:
    """Every kernel that was built for a chip."""
    path = BUILT / chip / "report.csv"
    if not path.exists():
        raise SystemExit(f"{path} is missing: run `cargo xtask kernels hip --arch {chip}` first")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = ("vgprs", "agprs", "scratch_bytes", "waves")
    return {row["kernel"]: Usage(*(int(row[name]) for name in names)) for row in rows}


def unit_of(chip: str, kernel: str) -> Path:
    """The image that holds a kernel."""
    for source in sorted((BUILT / chip).glob("*.cu")):
        if f"({kernel}," in source.read_text(encoding="utf-8"):
            return source.with_suffix(".hsaco.xz")
    raise SystemExit(f"no unit of {BUILT / chip} has {kernel}: run `cargo xtask kernels hip --arch {chip}` first")


def instructions(chip: str, kernel: str) -> list[Instruction]:
    """The code of a kernel, in the order of its addresses."""
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "image"
        image.write_bytes(lzma.decompress(unit_of(chip, kernel).read_bytes()))
        command = [objdump(), "-d", f"--disassemble-symbols={kernel}", str(image)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = []
    begin = 0
    for line in text.splitlines():
        if start := re.match(rf"([0-9a-f]+) <{kernel}>:", line):
            begin = int(start[1], 16)
        if match := re.match(r"\t(\w+)\s*(.*?)\s*// ([0-9A-F]+):.*?(?:<\w+\+0x([0-9a-f]+)>)?$", line):
            target = begin + int(match[4], 16) if match[4] else None
            found.append(Instruction(int(match[3], 16), match[1], match[2], target))
    if not found:
        raise SystemExit(f"{objdump()} shows no code of {kernel}")
    return found


def loops(code: list[Instruction]) -> list[list[Instruction]]:
    """Every stretch of code that ends with a jump back to its beginning."""
    place = {instruction.address: index for index, instruction in enumerate(code)}
    jumps = [index for index, at in enumerate(code) if at.target is not None and at.target <= at.address]
    return [code[place[code[end].target] : end + 1] for end in jumps if code[end].target in place]


def hot_loop(
    code: list[Instruction], cell: str, per_cell: int, cells: int, has_links: bool
) -> tuple[list[Instruction], list[Instruction], int]:
    """The loop in which most of the time goes, what the loop about it has besides, and how many cells of a lane a pass
    makes.

    Each cell has `per_cell` instructions whose names match `cell`; the cells of a pass are a multiple of `cells`.
    `has_links`: of several versions that one in which lanes read links from each other, through local memory.
    """
    every = loops(code)
    makes = {id(loop): sum(1 for at in loop if re.match(cell, at.name)) // per_cell for loop in every}
    making = [loop for loop in every if makes[id(loop)] >= cells]

    def is_inside(one: list[Instruction], other: list[Instruction]) -> bool:
        begins, ends = other[0].address <= one[0].address, one[-1].address <= other[-1].address
        return len(one) < len(other) and begins and ends

    inner = [loop for loop in making if not any(is_inside(other, loop) for other in making)]
    if has_links:
        inner = [loop for loop in inner if any(at.kind == "local" for at in loop)]
    if not inner:
        raise SystemExit(f"no loop has {cells * per_cell} of {cell}")
    hot = min(inner, key=lambda loop: len(loop) / (makes[id(loop)] // cells))
    about = min((loop for loop in making if is_inside(hot, loop)), key=len, default=hot)
    within = {at.address for loop in every if is_inside(loop, about) for at in loop}
    return hot, [at for at in about if at.address not in within], makes[id(hot)] // cells * cells


def counts(loop: list[Instruction]) -> Counter[str]:
    """Instructions of a loop by their kinds."""
    return Counter(at.kind for at in loop)


def registers(text: str) -> list[str]:
    """Every register of an operand: `v[2:3]` is two."""
    found = []
    for kind, number, first, last in re.findall(r"\b([vsa])(?:(\d+)|\[(\d+):(\d+)\])", text):
        numbers = [int(number)] if number else range(int(first), int(last) + 1)
        found += [f"{kind}{number}" for number in numbers]
    return found + re.findall(r"\b(?:vcc|exec|scc|m0)\b", text)


def reads_and_writes(at: Instruction) -> tuple[list[str], list[str]]:
    """Registers that an instruction waits for, and those that it gives."""
    reads: list[str] = []
    writes: list[str] = []
    # Two instructions in one word are written beside each other.
    for part in f"{at.name} {at.operands}".split(" :: "):
        name, _, rest = part.partition(" ")
        operands = rest.split(",")
        stores = "store" in name or name.startswith(("ds_write", "s_cmp", "s_cbranch", "s_bitcmp"))
        writes += [] if stores else registers(operands[0])
        reads += registers(rest if stores else ",".join(operands[1:]))
        if re.match(r"v_(dual_)?(fmac|mac|pk_fmac|dot\w*acc)|v_\w+dpp", name) or "row_mask:" in rest:
            reads += registers(operands[0])
        if name.startswith("v_cmp") and not operands[0].startswith(("s", "vcc")):
            writes += ["vcc"]
    return reads, writes


def alone(loop: list[Instruction], timing: Timing, rounds: int = 6) -> float:
    """Cycles of one pass through a loop for a wave that has a SIMD to itself: one instruction after the other, each as
    soon as its operands are there. Loads take the latency of a cache; a wait for them is as long as it has to be."""
    ready: dict[str, float] = {}
    loads: dict[str, list[float]] = {"memory": [], "local": []}
    clock = before = 0.0
    for _ in range(rounds):
        before = clock
        for at in loop:
            kind = at.kind
            if at.name.startswith("s_waitcnt"):
                for counter, queue in (("vmcnt", "memory"), ("lgkmcnt", "local")):
                    if match := re.search(rf"\b{counter}\((\d+)\)", at.operands):
                        left = int(match[1])
                        done = loads[queue][: len(loads[queue]) - left]
                        clock = max([clock, *done])
                        loads[queue] = loads[queue][len(done) :]
            elif kind != "wait":
                reads, writes = reads_and_writes(at)
                clock = max([clock, *(ready.get(register, 0.0) for register in reads)])
                queue = {"memory": "memory", "scratch": "memory", "local": "local"}.get(kind)
                if queue:
                    loads[queue].append(clock + timing.latency[kind])
                else:
                    ready |= dict.fromkeys(writes, clock + timing.latency[kind])
            # What no unit executes still takes a turn.
            clock += timing.issue[kind]
    return clock - before


def issued(loop: list[Instruction], timing: Timing) -> float:
    """Cycles for which one pass through a loop occupies the busiest unit of a SIMD."""
    found = counts(loop)
    vector = sum(found[kind] * timing.issue[kind] for kind in VECTOR)
    others = [found[kind] * timing.issue[kind] for kind in ("scalar", "local", "memory")]
    return max(vector, *others)
