"""The simulator of schedules (benchmarks/scale): closed forms, and the constants that it shares with the package."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "scale"))
try:
    import checks
    import model
    import simulate
    from events import Block, Crew, Engine, run
finally:
    sys.path.pop(0)


def tiles(count: int, **options: Any) -> list[Block]:
    """Tiles of one second for a worker of one cell a second."""
    return [Block(1, 1.0, **options)] * count


def values(**given: float) -> dict[str, float]:
    known = model.parameters(model.Measured())
    return {name: each.value for name, each in known.items()} | given


def test_one_worker_takes_the_sum() -> None:
    found = run([Block(1, cells) for cells in (3.0, 1.0, 2.5)], Crew(1, 0.5, tile_s=0.25), Engine())
    assert found.seconds == pytest.approx(6.5 / 0.5 + 3 * 0.25)
    assert found.efficiency == pytest.approx(13.0 / 13.75)


@pytest.mark.parametrize(("count", "workers", "seconds"), [(12, 4, 3), (13, 4, 4), (3, 4, 1), (0, 4, 0)])
def test_equal_workers_take_rounds(count: int, workers: int, seconds: float) -> None:
    found = run(tiles(count), Crew(workers, 1.0), Engine(start_s=10.0))
    assert found.seconds == 10.0 + seconds


def test_a_scheduler_binds_where_its_tiles_take_longer_than_all_sweeps() -> None:
    for workers, each in ((64, 0.125), (1024, 0.125)):
        found = run(tiles(2000), Crew(workers, 1.0), Engine(task_s=each))
        assert found.seconds == pytest.approx(2000 * each + 1.0) and found.bound() == "handing out"
    assert run(tiles(2000), Crew(4, 1.0), Engine(task_s=0.125)).bound() == "sweeps"


def test_results_bind_where_the_caller_or_the_disk_is_slower() -> None:
    blocks, crew = tiles(400, result=8.0, stored=8.0), Crew(16, 1.0)
    assert run(blocks, crew, Engine()).seconds == 25.0
    found = run(blocks, crew, Engine(collect_rate=16.0))
    assert found.seconds == pytest.approx(1.0 + 400 * 0.5) and found.bound() == "collecting"
    found = run(blocks, crew, Engine(store_rate=16.0))
    assert found.seconds == pytest.approx(1.0 + 400 * 0.5) and found.bound() == "disk"


def test_a_round_trip_is_hidden_by_a_second_tile_in_flight() -> None:
    for blocks in (tiles(20), [Block(20, 1.0)]):
        assert run(blocks, Crew(1, 1.0), Engine(round_trip_s=0.5, in_flight=2)).seconds == pytest.approx(20.5)
        long = run(blocks, Crew(1, 1.0), Engine(round_trip_s=0.5, in_flight=1)).seconds
        assert long == pytest.approx(20 * 1.5)


@pytest.mark.parametrize("blocks", [tiles(10), [Block(10, 1.0)], [Block(3, 1.0), Block(7, 1.0)]])
@pytest.mark.parametrize("is_static", [False, True])
def test_a_failure_adds_the_work_that_is_done_again(blocks: list[Block], is_static: bool) -> None:
    crew, engine = Crew(1, 1.0, detect_s=2.0, replace_s=3.0), Engine(is_static=is_static)
    found = run(blocks, crew, engine, failures={0: [3.25]})
    assert found.seconds == 10.0 + 0.25 + 2.0 + 3.0
    assert (found.failures, found.lost, found.swept) == (1, 0.25, 10.0)


def test_others_take_over_from_a_worker_that_is_never_replaced() -> None:
    crew = Crew(2, 1.0, detect_s=0.5)
    assert run(tiles(8), crew, Engine(), failures={0: [1.5]}).seconds == 7.0
    with pytest.raises(ValueError, match="no worker is left"):
        run(tiles(8), crew, Engine(), failures={0: [1.5], 1: [2.5]})


def test_a_straggler_delays_its_share_more_than_a_queue() -> None:
    crew = Crew(10, 1.0, slow_share=0.1, slow_factor=2.0)
    assert run(tiles(200), crew, Engine(is_static=True)).seconds == 40.0
    # 9.5 workers' worth: 200 / 9.5 is 21.05.
    assert run(tiles(200), crew, Engine()).seconds == 22.0


def test_a_seed_gives_one_run() -> None:
    crew = Crew(16, 1.0, slow_share=0.25, slow_factor=1.5, failure_rate=60.0, detect_s=1.0, replace_s=5.0)
    found = [run(tiles(800), crew, Engine(task_s=0.01), seed) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    assert found[0].failures > 0 and found[0].lost > 0


def test_blocks_of_many_tiles_take_as_long_as_the_tiles() -> None:
    crew = Crew(8, 1.0, tile_s=0.1, slow_share=0.125, slow_factor=1.5)
    for task in (0.001, 0.05, 0.3):
        engine = Engine(task_s=task, collect_rate=100.0, round_trip_s=0.2)
        one = run(tiles(12800, result=1.0), crew, engine).seconds
        many = run([Block(20, 1.0, result=1.0)] * 640, crew, engine).seconds
        assert one <= many * 1.001 and many == pytest.approx(one, rel=0.03)


def test_a_worker_that_fails_does_not_get_more_tiles_in_flight() -> None:
    # Each failure hands out again what was lost, and no more at a time: the last tile is not begun before its turn.
    crew = Crew(1, 1.0, detect_s=100.0, replace_s=0.0)
    found = run([Block(4, 1.0)] * 3, crew, Engine(task_s=1.0, in_flight=1), failures={0: [2.5]})
    # 4 to hand out, 2.5 of work, 100 to hear of it, 2 to hand out and 2 of work again; then 4 + 4 twice.
    assert found.seconds == 4.0 + 2.5 + 100.0 + 2.0 + 2.0 + 2 * 8.0


def test_series_reach_all_processes() -> None:
    assert model.by_all(10.0, 8, 2.0) == 40.0
    assert model.by_tree(10.0, 1, 2.0, 2.0) == 10.0
    # From one, three have it, then nine: two copies one after the other in each of two rounds.
    assert model.by_tree(10.0, 9, 2.0, 2.0) == 10.0 + 2 * 10.0
    assert model.by_tree(10.0, 10, 2.0, 2.0) == 10.0 + 3 * 10.0


def test_jobs_are_cut_as_the_package_cuts_them() -> None:
    from dtwave.distributed import _dask, _tiles
    from dtwave.distributed import tiles as cut

    names = ("CELLS", "CELLS_OF_GPU", "LEAST_CELLS", "TILES_PER_WORKER", "MOST_TILES", "MOST_DISTANCES", "MOST_PAIRS")
    assert [getattr(model, name) for name in names] == [getattr(_tiles, name) for name in names]
    assert values()["in_flight"] == _dask.PER_THREAD
    for count, length in ((2000, 128), (700, 512), (300, 128)):
        x = np.zeros((count, length), dtype=np.float32)
        plan = cut(x, x + 1)
        number, rows, columns = model.shape_of_tiles(model.Job("core", 1, count, length, "matrix"))
        assert (len(plan), plan.tiles[0].shape) == (number, (min(rows, count), min(columns, count)))


def test_tiles_are_all_of_a_job() -> None:
    for output, by in simulate.KINDS:
        job = model.Job("h200", 8, 1_000_000, 128, output, by)
        blocks = model.blocks(job, values())
        assert sum(block.tiles * block.cells for block in blocks) == pytest.approx(1e12 * 128**2)
        assert sum(block.tiles for block in blocks) == model.shape_of_tiles(job)[0]
        stored = sum(block.tiles * block.stored for block in blocks)
        assert stored == pytest.approx(4e12 if output == "matrix" else 0.0)


def test_parameters_name_units_and_sources() -> None:
    known = model.parameters(model.Measured())
    assert all(each.unit and each.source and math.isfinite(each.value) for each in known.values())
    assert model.with_values(known, ["link=1e9"])["link"].value == 1e9
    for wrong in ("speed=1", "link=fast", "link"):
        with pytest.raises(SystemExit, match="link|speed"):
            model.with_values(known, [wrong])


def test_checks_compare_with_every_measured_run() -> None:
    cases = checks.all_cases(model.Measured(), values())
    assert len(cases) >= 20 and all(case.predicted > 0.0 and case.measured > 0.0 for case in cases)
    assert checks.Case("", "", 1, 3.0, 2.0, "", "").error == pytest.approx(50.0)
    assert {case.workers for case in cases} == {1, 2, 4}
