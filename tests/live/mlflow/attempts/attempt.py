"""One try to get past the guard."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.live.mlflow.exhibits import Exhibit
from tests.live.mlflow.servers import MlflowServer


@dataclass(frozen=True, slots=True)
class Attempt:
    """`act` makes its requests and asserts nothing about their answers. `real` says that it does harm on a plain server
    under uvicorn, which a test holds it to: what fails anyway proves little about a guard. Some of the others do harm
    under gunicorn."""

    name: str
    act: Callable[[MlflowServer, Exhibit], object]
    real: bool = True
