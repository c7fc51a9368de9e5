"""Names for the arrays of this package; all have one dimension, one element a row, unless a docstring says more."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Numbers: TypeAlias = NDArray[np.float64] | NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
