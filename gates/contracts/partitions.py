"""Partition objects of the KL divergence: a fault in one fails the whole suite in Great Expectations."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from gates.documents.pointers import Json, as_mapping, as_number

_TOLERANCE: Final = 1e-5
"""How far a sum of weights may be from 1; Great Expectations takes numpy.allclose's."""


def partition_fault(value: Json) -> str | None:
    """What is wrong with {weights, values} or {weights, bins, tail_weights?}; None when it is valid."""
    members = as_mapping(value)
    weights = _numbers(members.get("weights"))
    if weights is None or any(weight < 0 for weight in weights) or not weights:
        return "must hold `weights`, a list of numbers of 0 or more"
    if ("values" in members) == ("bins" in members):
        return "must hold either `values` (labels) or `bins` (edges) beside `weights`"
    if "values" in members:
        values = members["values"]
        if not isinstance(values, list) or len(values) != len(weights):
            return f"has {len(weights)} weights; give as many values"
        if len({repr(each) for each in values}) < len(values):
            return "names a value twice; add its weights up"
        return _sum_fault(weights)
    bins = _numbers(members["bins"])
    if bins is None or len(bins) != len(weights) + 1:
        return f"has {len(weights)} weights; give one bin edge more than weights, all numbers"
    if any(following <= edge for edge, following in pairwise(bins)):
        return "has bin edges that do not rise"
    tails = _numbers(members.get("tail_weights", [0, 0]))
    if tails is None or len(tails) != 2 or any(tail < 0 for tail in tails):
        return "must have two numbers of 0 or more as `tail_weights`: the shares below and above the bins"
    return _sum_fault([*weights, *tails])


def infinity_reason(partition: Json, tail_holdout: Json, internal_holdout: Json) -> str | None:
    """Why the divergence from this partition can be infinite on ordinary data; None when it can't."""
    members = as_mapping(partition)
    weights = _numbers(members.get("weights")) or []
    tails = _numbers(members.get("tail_weights")) or []
    if not as_number(tail_holdout) and not (len(tails) == 2 and all(tails)):
        outside = (
            "a label that the partition doesn't have" if "values" in members else "a value outside the bins"
        )
        tail_fix = "" if "values" in members else "`tail_weights` above 0 in the partition, "
        return (
            f"{outside} makes the divergence infinite; add {tail_fix}`tail_weight_holdout` (such as 0.001), "
            "or use expect_population_stability_index_to_be_at_most"
        )
    if 0 in weights and not as_number(internal_holdout):
        return "a weight of 0 makes the divergence infinite; add `internal_weight_holdout` (such as 0.001)"
    return None


def _sum_fault(weights: Sequence[int | float]) -> str | None:
    total = sum(weights)
    return (
        None if abs(total - 1) <= _TOLERANCE else f"has weights that sum to {total:.6g}; they must sum to 1"
    )


def _numbers(value: Json) -> list[int | float] | None:
    if not isinstance(value, list):
        return None
    found = [as_number(each) for each in value]
    numbers = [each for each in found if each is not None]
    return numbers if len(numbers) == len(found) else None
