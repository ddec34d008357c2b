"""`dtaidistance` on dtwave's engine: `dtw`, `dtw_ndim` and subsequence alignment.

    from dtaidistance import dtw                        # before
    from dtwave.compat.dtaidistance import dtw          # after

docs/compat.md lists every function.
"""

from . import dtw, dtw_ndim, subsequence

__all__ = ["dtw", "dtw_ndim", "subsequence"]
