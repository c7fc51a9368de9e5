"""Other runs of the same family or recipe, as far as they may be held against this one."""

from collections.abc import Iterable

from gates.release.context import Context, require_level
from gates.release.estimates import metric_of
from gates.release.facts import OtherRun
from gates.release.numbers import Unusable, admit
from gates.release.results import Inputs
from gates.release.values import Level


def require_usable_run(other: OtherRun, context: Context, level: Level) -> None:
    """Unusable when it was measured otherwise. One such run spoils the list: whoever gathered it mixed things up,
    and leaving it out would choose among the runs."""
    protocol = context.require_protocol()
    if (other.dataset, other.protocol_digest) != (protocol.dataset.snapshot, protocol.digest):
        sentence = f"Run {other.run_id} was measured on other data or by another protocol."
        raise Unusable("wrong_protocol", sentence)
    require_level(other.level, level, f"The evaluation of run {other.run_id}")


def other_inputs(role: str, others: Iterable[OtherRun]) -> Inputs:
    return tuple((role, record) for other in others for record in (other.record, *other.rests_on))


def value_of(other: OtherRun, name: str) -> float:
    metric = metric_of(name)
    return admit(other.metrics.get(name), f"{name} of run {other.run_id}", metric.low, metric.high)
