"""Two models on the same made examples, and the area under the ROC curve of resampled rows."""

import numpy as np

from gates.statistics.aligning import Predictions, Rows
from gates.statistics.arrays import Floats, Integers
from gates.statistics.replicates import One, counted, divided, levels_of

POSITIVES = 0.1


def two_models(rows: int, seed: int = 1) -> Rows:
    """Scores that differ from row to row; one row in ten is positive."""
    draw = np.random.default_rng(seed)
    label = (draw.random(rows) < POSITIVES).astype(np.int64)
    signal = draw.normal(size=rows) + 2 * label
    models = []
    for noise in (0.4, 0.6):
        score = 1 / (1 + np.exp(-(signal - 1 + noise * draw.normal(size=rows))))
        models.append(Predictions(score, (score >= 0.5).astype(np.int64), {}))
    return Rows("binary", label, (models[0],), (models[1],))


def roc_auc(rows: Rows, model: Predictions) -> One:
    """The share of pairs of a positive and a negative that are ranked rightly, ties half."""
    assert model.score is not None
    codes, levels = levels_of(model.score, rows.label == 1)

    def replicate(drawn: Integers) -> Floats:
        counts = counted(drawn, codes, 2 * levels)
        negatives, positives = counts[:, 0::2], counts[:, 1::2]
        below = np.cumsum(negatives, axis=1)
        pairs = positives.sum(axis=1) * below[:, -1]
        return divided(np.einsum("ij,ij->i", positives, below - negatives / 2), pairs)

    return replicate
