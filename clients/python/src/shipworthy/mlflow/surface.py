"""Every public method of MLflow's stores and artifact repositories that the guard stands in front of, and what it does
with it.

A newer MLflow may have one more, and nobody knows whether that one promotes: the server must not start then.
"""

from collections.abc import Iterable
from typing import Final

from mlflow.version import VERSION

from shipworthy.errors import UsageError


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


GUARDED: Final = names(
    """
    set_registered_model_alias delete_registered_model_alias transition_model_version_stage create_model_version
    delete_model_version delete_registered_model rename_registered_model
    """
)
"""Methods of the registry store that change what is released: each has a plan in store.py."""

BUILT_ON_GUARDED: Final = names(
    """
    copy_model_version create_prompt_version delete_prompt delete_prompt_version set_prompt_alias
    delete_prompt_alias
    """
)
"""They call guarded methods of the same store, and must go on doing so."""

READING: Final = names(
    """
    search_registered_models get_registered_model get_latest_versions get_model_version search_model_versions
    get_model_version_download_uri get_model_version_by_alias get_prompt get_prompt_version search_prompts
    get_prompt_version_by_alias search_prompt_versions get_webhook list_webhooks list_webhooks_by_event
    supports_workspaces CREATE_MODEL_VERSION_RETRIES
    """
)

DESCRIBING: Final = names(
    """
    create_registered_model update_registered_model set_registered_model_tag delete_registered_model_tag
    update_model_version set_model_version_tag delete_model_version_tag create_prompt set_prompt_tag
    delete_prompt_tag set_prompt_version_tag delete_prompt_version_tag link_prompts_to_trace
    link_prompt_version_to_model link_prompt_version_to_run create_webhook update_webhook delete_webhook test_webhook
    """
)
"""Words, tags and webhooks; nothing is served by them."""


def public_names(store: type) -> frozenset[str]:
    return frozenset(name for name in dir(store) if not name.startswith("_"))


def require_known(what: str, found: Iterable[str], known: frozenset[str]) -> None:
    """Raises UsageError for methods that are not in the table."""
    if unknown := sorted(set(found) - known):
        raise UsageError(
            f"MLflow {VERSION} has {what} that the Shipworthy guard does not know: {', '.join(unknown)}. They might "
            "change what is released, so the server does not start. Install the version of MLflow that docs/mlflow.md "
            "names, or a newer `shipworthy`."
        )


def require_present(what: str, found: Iterable[str], wanted: frozenset[str]) -> None:
    """Raises UsageError for methods of the table that are gone: what they did is done by something else now."""
    if missing := sorted(wanted - set(found)):
        raise UsageError(
            f"MLflow {VERSION} lacks {what} that the Shipworthy guard stands in front of: {', '.join(missing)}. "
            "Install the version of MLflow that docs/mlflow.md names, or a newer `shipworthy`."
        )
