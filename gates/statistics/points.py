"""Point estimates of one evaluation by scikit-learn, where they are defined: a metric that has no value is left out,
because a number in its place would pass or fail for a reason that nobody measured."""

import math
from typing import Final

import numpy as np
from sklearn import metrics

from gates.statistics.aligning import Predictions, Rows
from gates.statistics.arrays import Floats, Numbers

QUANTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
PROBABILITY_FLOOR: Final = float(np.finfo(np.float64).eps)
"""A label that was given the probability 0 costs log(1/eps) = 36.04, as scikit-learn has it."""


def points(rows: Rows, model: Predictions) -> dict[str, float]:
    """By name, finite. A name is not of the task, or undefined on these rows, when it is missing."""
    made: dict[str, float] = {}
    label, prediction, score = rows.label, model.prediction, model.score
    if rows.task == "binary":
        if prediction is not None:
            made |= _of_binary_predictions(label, prediction)
        if score is not None:
            made |= _of_binary_scores(label, score)
    elif rows.task == "multiclass":
        if prediction is not None:
            made["accuracy"] = metrics.accuracy_score(label, prediction)
            made["f1_macro"] = metrics.f1_score(label, prediction, average="macro")
            made["balanced_accuracy"] = _mean_recall(label, prediction)
        if score is not None:
            made["log_loss"] = float(label_losses(score).mean())
    elif prediction is not None:
        made["mean_absolute_error"] = metrics.mean_absolute_error(label, prediction)
        made["root_mean_squared_error"] = metrics.root_mean_squared_error(label, prediction)
        if np.ptp(label) > 0:
            made["r2"] = metrics.r2_score(label, prediction)
    for name, values in model.values.items():
        made[f"mean_{name}"] = float(values.mean())
        for text, share in QUANTILES.items():
            made[f"{text}_{name}"] = float(np.quantile(values, share))
    return {name: float(value) for name, value in made.items() if math.isfinite(value)}


def label_losses(score: Floats) -> Floats:
    """Of each row the negative logarithm of the probability that its label was given."""
    return -np.log(np.clip(score, PROBABILITY_FLOOR, 1.0))


def binary_losses(label: Numbers, score: Floats) -> Floats:
    """The same from the probability of the positive class; both ends are clipped, as scikit-learn does."""
    likely = np.clip(score, PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR)
    return -np.log(np.where(label == 1, likely, 1 - likely))


def are_probabilities(score: Floats) -> bool:
    return bool(((score >= 0) & (score <= 1)).all())


def _of_binary_predictions(label: Numbers, prediction: Numbers) -> dict[str, float]:
    made = {"accuracy": metrics.accuracy_score(label, prediction)}
    positives = np.count_nonzero(label)
    # In one call: each of its own looks at all rows again.
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(
        label, prediction, average="binary", zero_division=np.nan
    )
    made["precision"] = precision
    if positives:
        made |= {"recall": recall, "f1": f1}
    if 0 < positives < len(label):
        made["balanced_accuracy"] = metrics.balanced_accuracy_score(label, prediction)
    return made


def _of_binary_scores(label: Numbers, score: Floats) -> dict[str, float]:
    made: dict[str, float] = {}
    positives = np.count_nonzero(label)
    if positives:
        made["average_precision"] = metrics.average_precision_score(label, score)
    if 0 < positives < len(label):
        made["roc_auc"] = metrics.roc_auc_score(label, score)
    if are_probabilities(score):
        made["log_loss"] = metrics.log_loss(label, score, labels=[0, 1])
        made["brier_score"] = metrics.brier_score_loss(label, score, pos_label=1)
    return made


def _mean_recall(label: Numbers, prediction: Numbers) -> float:
    """Balanced accuracy. scikit-learn's own warns of predictions that are no label; this mean is the same."""
    recalls = metrics.recall_score(label, prediction, labels=np.unique(label), average="macro")
    return float(recalls)
