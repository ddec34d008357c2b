"""One run of a schedule of tiles, event by event: who computes which tile when, and what everyone waits for.

The caller hands out tiles and takes results, one after the other. A worker computes one tile at a time. The disk writes
one result after the other. A worker that fails loses the tile that it computes, and nothing that it had finished.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Block:
    """Tiles of one kind that are handed out together, so that large jobs have few events.

    tiles: how many.
    cells: cells of each.
    sent: bytes of each that go to the worker's device.
    result: bytes of each that the caller takes.
    put_s: seconds of each that the caller needs to put the result in its place.
    stored: bytes of each that go to the disk.
    """

    tiles: int
    cells: float
    sent: float = 0.0
    result: float = 0.0
    put_s: float = 0.0
    stored: float = 0.0


@dataclass(frozen=True)
class Crew:
    """Workers that are alike, but for stragglers.

    rate: cells a second of one worker.
    tile_s: seconds of a tile besides its cells.
    sent_rate: bytes a second to a worker's device.
    slow_share, slow_factor: the part of the workers that is slower, and how many times.
    failure_rate: failures in an hour of one worker's work.
    detect_s: seconds from a failure until the tile is handed out again.
    replace_s: seconds from then until another worker is in the place of the lost one; infinite: never.
    """

    workers: int
    rate: float
    tile_s: float = 0.0
    sent_rate: float = math.inf
    slow_share: float = 0.0
    slow_factor: float = 1.0
    failure_rate: float = 0.0
    detect_s: float = 0.0
    replace_s: float = math.inf


@dataclass(frozen=True)
class Engine:
    """What shares out the tiles.

    start_s: seconds before the first tile is handed out.
    task_s: seconds of the caller and the scheduler for each tile.
    round_trip_s: seconds besides these from the caller to a worker and back, in which neither is busy.
    collect_rate: bytes of results a second that the caller takes.
    store_rate: bytes a second that the disk takes.
    in_flight: tiles under way for each worker, the one that is computed among them.
    is_static: each worker has its share from the start, and nobody hands out tiles.
    """

    start_s: float = 0.0
    task_s: float = 0.0
    round_trip_s: float = 0.0
    collect_rate: float = math.inf
    store_rate: float = math.inf
    in_flight: int = 2
    is_static: bool = False


@dataclass
class Outcome:
    """seconds: from the call to the last result, on the disk where it goes there.

    Other fields are seconds in which something was busy; `swept`, `called` and `lost` are sums over all workers.
    """

    workers: int
    seconds: float = 0.0
    start: float = 0.0
    swept: float = 0.0
    called: float = 0.0
    lost: float = 0.0
    handed_out: float = 0.0
    collected: float = 0.0
    stored: float = 0.0
    #: Sweeps alone, had no worker been slow.
    ideal: float = 0.0
    tiles: int = 0
    failures: int = 0

    @property
    def efficiency(self) -> float:
        """The part of the workers' time that the sweeps would have taken, had no worker been slow."""
        return self.ideal / (self.workers * self.seconds) if self.seconds else 1.0

    def shares(self) -> dict[str, float]:
        """The part of the time in which each resource was busy."""
        all_workers = self.workers * self.seconds
        return {
            "sweeps": self.swept / all_workers,
            "calls": self.called / all_workers,
            "handing out": self.handed_out / self.seconds,
            "collecting": self.collected / self.seconds,
            "disk": self.stored / self.seconds,
            "start": self.start / self.seconds,
        }

    def by_resource(self) -> dict[str, float]:
        """The same by who is busy. The caller hands out and collects: both are added up, by the name of the larger."""
        shares = self.shares()
        out, back = shares.pop("handing out"), shares.pop("collecting")
        return shares | {"handing out" if out >= back else "collecting": out + back}

    def bound(self) -> str:
        """The resource that is busy for the largest part."""
        return max(self.by_resource().items(), key=lambda each: each[1])[0]


def run(
    blocks: Sequence[Block],
    crew: Crew,
    engine: Engine,
    seed: int = 0,
    failures: Mapping[int, Sequence[float]] | None = None,
) -> Outcome:
    """Runs all blocks.

    seed: of who is slow, and of when workers fail.
    failures: of some workers the seconds of work until each failure, instead of random ones for all.

    Errors: `ValueError` where no worker is left.
    """
    if crew.workers < 1:
        raise ValueError(f"expected one worker or more, got {crew.workers}")
    return _Run(blocks, crew, engine, seed, failures).outcome()


@dataclass
class _Worker:
    slowness: float
    #: Seconds of work between its failures.
    lives: Iterator[float]
    left: float = math.inf
    own: deque[Block] = field(default_factory=deque)


class _Run:
    def __init__(
        self,
        blocks: Sequence[Block],
        crew: Crew,
        engine: Engine,
        seed: int,
        failures: Mapping[int, Sequence[float]] | None,
    ) -> None:
        self.crew, self.engine = crew, engine
        self.left, self.ready = deque(blocks), deque[Block]()
        self.events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self.number = count()
        self._round_trip = 0.0 if engine.is_static else engine.round_trip_s
        self.caller_free = self.disk_free = engine.start_s
        self.found = Outcome(crew.workers, start=engine.start_s, tiles=sum(block.tiles for block in blocks))
        self.found.ideal = sum(block.tiles * block.cells for block in blocks) / crew.rate
        rng = np.random.default_rng(seed)
        slow = {*rng.permutation(crew.workers)[: round(crew.slow_share * crew.workers)].tolist()}
        self.workers = []
        for place in range(crew.workers):
            given = None if failures is None else failures.get(place, ())
            worker = _Worker(crew.slow_factor if place in slow else 1.0, _lives(crew.failure_rate, rng, given))
            worker.left = next(worker.lives)
            self.workers.append(worker)
        self.idle = deque(self.workers)

    def outcome(self) -> Outcome:
        start, found = self.engine.start_s, self.found
        if self.engine.is_static:
            self._share_out()
            self.idle.clear()
            for worker in self.workers:
                self._next_own(start, worker)
        else:
            for _ in range(min(self.crew.workers * self.engine.in_flight, len(self.left))):
                self._hand_out(start)
        while self.events:
            now, _, what, given = heappop(self.events)
            what(now, *given)
        if self.left or self.ready or any(worker.own for worker in self.workers):
            raise ValueError("no worker is left: all have failed, and none is replaced")
        found.seconds = max(found.seconds, start)
        return found

    def _share_out(self) -> None:
        """As many tiles for each worker, in their order."""
        total, place, taken = sum(block.tiles for block in self.left), 0, 0
        while self.left:
            block = self.left.popleft()
            while block.tiles:
                until = (place + 1) * total // self.crew.workers
                some = min(block.tiles, until - taken)
                if some:
                    self.workers[place].own.append(_of(block, some))
                block, taken = _of(block, block.tiles - some), taken + some
                place += taken == until and place + 1 < self.crew.workers

    def _at(self, time: float, what: Callable[..., None], *given: Any) -> None:
        heappush(self.events, (time, next(self.number), what, given))

    def _hand_out(self, now: float) -> None:
        """The caller hands out the next block, once it has time."""
        if self.left:
            self._submit(now, self.left.popleft())

    def _submit(self, now: float, block: Block) -> None:
        took = block.tiles * self.engine.task_s
        self.found.handed_out += took
        self.caller_free = max(now, self.caller_free) + took
        self._at(self.caller_free + self._round_trip / 2, self._is_ready, block)

    def _is_ready(self, now: float, block: Block) -> None:
        self.ready.append(block)
        self._match(now)

    def _match(self, now: float) -> None:
        while self.ready and self.idle:
            self._begin(now, self.idle.popleft(), self.ready.popleft())

    def _next_own(self, now: float, worker: _Worker) -> None:
        if worker.own:
            self._begin(now, worker, worker.own.popleft())

    def _begin(self, now: float, worker: _Worker, block: Block) -> None:
        sweep = block.cells / self.crew.rate * worker.slowness
        call = self.crew.tile_s + block.sent / self.crew.sent_rate
        # Of a block, the next tile may not be there yet.
        each = max(sweep + call, (sweep + call + self._round_trip) / self.engine.in_flight)
        whole, life = (block.tiles - 1) * each + sweep + call, worker.left
        done = block.tiles if whole <= life else min(int(life // each), block.tiles - 1)
        self.found.swept += done * sweep
        self.found.called += done * call
        if done == block.tiles:
            worker.left = life - whole
            self._at(now + whole, self._ended, worker, block)
            return
        self.found.lost += life - done * each
        self.found.failures += 1
        worker.left = next(worker.lives)
        self._at(now + life, self._failed, worker, block, done)

    def _ended(self, now: float, worker: _Worker, block: Block) -> None:
        self._at(now + self._round_trip / 2, self._deliver, block, True)
        self._is_back(now, worker)

    def _failed(self, now: float, worker: _Worker, block: Block, done: int) -> None:
        if done:
            self._at(now + self._round_trip / 2, self._deliver, _of(block, done), False)
        rest, heard = _of(block, block.tiles - done), now + self.crew.detect_s
        if self.engine.is_static:
            worker.own.appendleft(rest)
        else:
            self._at(heard, self._submit, rest)
        if math.isfinite(self.crew.replace_s):
            self._at(heard + self.crew.replace_s, self._is_back, worker)

    def _is_back(self, now: float, worker: _Worker) -> None:
        """A worker has time for a block."""
        if self.engine.is_static:
            self._next_own(now, worker)
        else:
            self.idle.append(worker)
            self._match(now)

    def _deliver(self, now: float, block: Block, is_whole: bool) -> None:
        """The caller takes results, and hands out another block for a whole one. Shares go to the disk alone."""
        arrived = now
        if not self.engine.is_static:
            took = block.tiles * (block.result / self.engine.collect_rate + block.put_s)
            self.found.collected += took
            arrived = self.caller_free = max(now, self.caller_free) + took
        stored = block.tiles * block.stored / self.engine.store_rate
        self.found.stored += stored
        self.disk_free = max(arrived, self.disk_free) + stored
        self.found.seconds = max(self.found.seconds, arrived, self.disk_free)
        if is_whole and not self.engine.is_static:
            self._at(arrived, self._hand_out)


def _of(block: Block, tiles: int) -> Block:
    return replace(block, tiles=tiles)


def _lives(failure_rate: float, rng: np.random.Generator, given: Sequence[float] | None) -> Iterator[float]:
    """Seconds of work between failures."""
    if given is not None:
        yield from given
    else:
        while failure_rate > 0.0:
            yield float(rng.exponential(3600.0 / failure_rate))
    while True:
        yield math.inf
