"""Who is at work in the MLflow server, as MLflow itself knows it."""

import sys


def registry_user() -> str | None:
    """Whom MLflow's basic-auth let in; None where nobody had to say who they are."""
    auth = sys.modules.get("mlflow.server.auth")
    if auth is None or not auth.is_auth_enabled():
        return None
    from flask import has_request_context, request

    if not has_request_context() or request.authorization is None:
        return None
    username: object = request.authorization.username
    return None if username is None else str(username)
