"""Other libraries' functions on dtwave's engine, by their names and with their arguments: change one import.

- `dtwave.compat.tslearn`: `tslearn.metrics` and `tslearn.barycenters`.
- `dtwave.compat.aeon`: `aeon.distances`.
- `dtwave.compat.dtaidistance`: `dtaidistance.dtw`, `dtw_ndim` and subsequence alignment.

None of them needs the library that it stands for. What is not offered raises `NotImplementedError`, which says what to
use instead. docs/compat.md lists every function.
"""
