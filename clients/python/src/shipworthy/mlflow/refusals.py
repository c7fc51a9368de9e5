"""What a user of MLflow reads when the guard says no.

Always 403 and never 503: MLflow's own client retries a 503 for minutes and then loses the message.
"""

from collections.abc import Sequence

from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import PERMISSION_DENIED

from shipworthy.errors import NotDelivered, Trouble
from shipworthy.values import first_line


def denied(sentence: str, who: Sequence[str] = (), link: str | None = None) -> MlflowException:
    """An exception that MLflow answers as 403 PERMISSION_DENIED."""
    parts = [sentence]
    if who:
        parts.append(f"Who can supply what is missing: {', '.join(who)}.")
    if link:
        parts.append(f"See {link}")
    return MlflowException(" ".join(parts), error_code=PERMISSION_DENIED)


def gate_away(error: NotDelivered | ValueError) -> MlflowException:
    """For a service that can't be asked, or that doesn't answer the question."""
    detail = first_line(error.detail if isinstance(error, NotDelivered) else str(error), 300)
    trouble = error.trouble if isinstance(error, NotDelivered) else Trouble.STRANGE
    if trouble is Trouble.KEY:
        return denied(
            f"The release gate does not accept the key of this MLflow server ({detail}), so nothing was promoted. "
            "Whoever runs the server gives it a key with the role registry as SHIPWORTHY_TOKEN."
        )
    if trouble is Trouble.STRANGE:
        return denied(f"The release gate could not judge this, so nothing was promoted: {detail}.")
    return denied(
        f"The release gate can't be reached, so nothing was promoted ({detail}). Try again when the Shipworthy service "
        "answers."
    )
