"""dtwave's functions as scikit-learn estimators: classes and values by nearest neighbours, clusters, averages.

>>> from dtwave.sklearn import KNeighborsTimeSeriesClassifier
>>> model = KNeighborsTimeSeriesClassifier(measure="msm", measure_params={"c": 0.5}, band=0.1)
>>> model.fit([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], ["peak", "dip"]).predict([[0.0, 0.9, 0.1]])
array(['peak'], dtype='<U4')

They work in pipelines and searches: `clone`, `set_params`, `GridSearchCV(model, {"band": [0.0, 0.1],
"measure__c": [0.1, 1.0]})`. `leave_one_out_band` chooses a window as the UCR archive does. `import dtwave` does not
import this. docs/sklearn.md is a guide.
"""

try:
    # The newest name that this needs: scikit-learn has it since 1.6.
    from sklearn.utils.validation import validate_data as _validate_data  # noqa: F401
except ImportError as error:
    raise ImportError("dtwave.sklearn needs scikit-learn 1.6 or newer: pip install -U scikit-learn") from error

from ._average import SoftDTWBarycenter
from ._clusters import TimeSeriesKMeans, TimeSeriesKMedoids
from ._neighbors import KNeighborsTimeSeriesClassifier, KNeighborsTimeSeriesRegressor, leave_one_out_band
from ._window import LeaveOneOutBand

__all__ = [
    "KNeighborsTimeSeriesClassifier",
    "KNeighborsTimeSeriesRegressor",
    "LeaveOneOutBand",
    "SoftDTWBarycenter",
    "TimeSeriesKMeans",
    "TimeSeriesKMedoids",
    "leave_one_out_band",
]
