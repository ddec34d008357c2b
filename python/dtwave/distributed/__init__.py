"""Distances on many machines: a matrix cut into tiles, which any engine can compute in any order.

`dtwave.pairwise`, `nearest`, `search_all`, `classify`, `kmeans`, `kmedoids` and `dtwave.sklearn.leave_one_out_band` take
`client=`: a Dask client, the module `ray`, or joblib. That is all most programs need. This module has the parts that
matrices are made of, for engines that are none of these:

- `tiles` cuts the matrix of a call into tiles and gives a `Plan`, which can be pickled.
- `run_tile` computes one `Tile` of a plan, anywhere.
- `compute` has a client compute all tiles, and puts them together.

>>> import dtwave
>>> plan = dtwave.distributed.tiles([[0.0, 1.0], [1.0, 1.0], [3.0, 3.0]], tile=2)
>>> [(tile.rows, tile.columns) for tile in plan.tiles]
[((0, 2), (0, 2)), ((0, 2), (2, 3)), ((2, 3), (2, 3))]
>>> dtwave.distributed.run_tile(plan, plan.tiles[1])
array([[13.],
       [ 8.]])
"""

from ._matrices import compute
from ._tiles import Plan, Tile, run_tile, tiles
from ._work import Stored

__all__ = ["Plan", "Stored", "Tile", "compute", "run_tile", "tiles"]
