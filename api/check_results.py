"""What a result of a contract check rests on outside of its record."""

from anyio import to_thread

from api.services import Services
from models.actor import Actor
from models.errors import FieldProblem, InvalidInput, NotFound
from models.fields import Value
from models.kinds.contracts import ContractChecked


async def require_checks_blob(services: Services, actor: Actor, fact: Value, within: str) -> None:
    """InvalidInput when a result says that its checks lie in a blob which this namespace does not have; `within` is
    the JSON pointer of the result. Other facts rest on none."""
    if not isinstance(fact, ContractChecked) or fact.checks_blob is None:
        return
    try:
        await to_thread.run_sync(services.blobs.size, actor.namespace, fact.checks_blob)
    except NotFound as error:
        field = f"{within}/checks_blob"
        message = f"names a blob that is not there; send it first: PUT /v1/blobs/{fact.checks_blob}"
        raise InvalidInput(f"{field} {message}", problems=[FieldProblem(field, message)]) from error
