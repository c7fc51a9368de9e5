"""`mlflow server --app-name shipworthy`: a server that refuses to run without its guards.

They are in the process already when its registry URI is a guarded one, whatever the application is called. With users
and passwords that is MLflow's own `--app-name basic-auth`, which MLflow treats in a way of its own by that name.
"""

from mlflow.environment_variables import _MLFLOW_SGI_NAME
from mlflow.server import app

from shipworthy.errors import UsageError
from shipworthy.mlflow.entry import serves_guarded_registry
from shipworthy.mlflow.install import install
from shipworthy.mlflow.store import is_built


def create_app() -> object:
    """The WSGI application under gunicorn and waitress, the ASGI one under uvicorn."""
    install()
    if _MLFLOW_SGI_NAME.get() == "uvicorn":
        from mlflow.server.fastapi_app import create_fastapi_app

        return create_fastapi_app(app)
    return app


# `mlflow server` imports this before it starts its workers. Refused here, it ends with one error; a worker that refused
# would be started again and again.
if not (is_built() or serves_guarded_registry()):
    raise UsageError(
        "This MLflow server has no guarded registry: start it with --registry-store-uri shipworthy+sqlite:///… or "
        "shipworthy+postgresql://…, the address of its database behind `shipworthy+`."
    )
