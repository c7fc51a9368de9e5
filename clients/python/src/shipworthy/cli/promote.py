"""`shipworthy promote`, `rollback` and `demote`: names of an MLflow registry moved, where its guard lets them move."""

from collections.abc import Iterable
from typing import Annotated

import typer

from shipworthy.cli.asking import Json, Url, ask
from shipworthy.cli.decision_parts import exit_of_standing
from shipworthy.cli.exits import Exit
from shipworthy.cli.model_names import split_version
from shipworthy.cli.registry import (
    Model,
    Registry,
    Target,
    TrackingUri,
    check_target,
    open_registry,
    registry_name,
)
from shipworthy.cli.screen import messages, output, print_json
from shipworthy.errors import ShipworthyError
from shipworthy.query.promotions import PromotionEvent
from shipworthy.registries.mlflow_models import STAGES, delete_alias, holder_of, set_alias, set_stage
from shipworthy.registries.mlflow_server import MlflowRefused, MlflowServer
from shipworthy.settings import read_settings

_MOVED = frozenset({"promoted", "demoted"})


def promote(
    what: Annotated[
        str, typer.Argument(metavar="MODEL:VERSION", help="A registered version.", show_default=False)
    ],
    to: Target,
    tracking_uri: TrackingUri = None,
    registry: Registry = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Give a model version an alias or a stage in MLflow, whose guard asks the gate.

    Exit codes: 0 moved, 1 blocked, 3 needs review, 4 evidence is missing or stale, or MLflow moved it without a guard,
    5 MLflow or the service unreachable, 6 user or key refused.
    """
    model, version = split_version(what)
    with open_registry(tracking_uri) as server:
        _move(server, model, version, check_target(to), registry_name(registry), url, as_json)


def rollback(
    model: Model,
    to: Target,
    version: Annotated[
        str | None, typer.Option(help="The version to go back to; the one promoted before otherwise.")
    ] = None,
    tracking_uri: TrackingUri = None,
    registry: Registry = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Go back to the version that held an alias or stage before the present one.

    Its pass may be over by now; what it rests on must still stand. Exit codes as those of promote.
    """
    named, target = registry_name(registry), check_target(to)
    with open_registry(tracking_uri) as server:
        if version is None:
            present = holder_of(server, model, target)
            with ask(url) as client:
                events = list(client.promotions(model=model, registry=named, target=target))
            version = version_before(events, present)
            if version is None:
                held = "nothing" if present is None else f"version {present}"
                raise ShipworthyError(
                    f"{model} holds {held} at {target}, and no other version was promoted there before; name one with "
                    "--version"
                )
        _move(server, model, version, target, named, url, as_json)


def demote(
    model: Model,
    target: Annotated[str, typer.Option("--from", help="Alias or stage to empty.", show_default=False)],
    reason: Annotated[str, typer.Option(help="Why; it is recorded for good.", show_default=False)],
    tracking_uri: TrackingUri = None,
    registry: Registry = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Take an alias or a stage away without giving it to another version; takes a key with the role approver.

    Whoever loads the model by that name gets an error from then on.
    """
    named = registry_name(registry)
    with open_registry(tracking_uri) as server:
        held = holder_of(server, model, check_target(target))
        if held is None:
            raise ShipworthyError(f"{model} holds nothing at {target}")
        with ask(url) as client:
            allowed = client.allow_demotion(model, target, reason, named)
        if target in STAGES:
            set_stage(server, model, held, "Archived")
        else:
            delete_alias(server, model, target)
    if as_json:
        print_json({"model": model, "target": target, "version": held, "record": allowed["record"]})
    else:
        output().print(f"{target} of {model} holds nothing now; it held version {held}")


def version_before(events: Iterable[PromotionEvent], present: str | None) -> str | None:
    """What was promoted before the present version; a rollback takes back what came after the version it went to, so
    that the next one goes further back. `events` newest first."""
    held: list[str] = []
    for each in reversed([each for each in events if each.state == "promoted" and each.version is not None]):
        version = str(each.version)
        if each.action == "rollback" and version in held:
            del held[held.index(version) :]
        held.append(version)
    return next((version for version in reversed(held) if version != present), None)


def _move(
    server: MlflowServer,
    model: str,
    version: str,
    target: str,
    registry: str,
    url: str | None,
    as_json: bool,
) -> None:
    before = holder_of(server, model, target)
    try:
        if target in STAGES:
            set_stage(server, model, version, target)
        else:
            set_alias(server, model, target, version)
    except MlflowRefused as error:
        if error.code != "PERMISSION_DENIED":
            raise
        _tell(as_json, model, version, target, moved=False, sentence=error.message, promotion=None)
        raise typer.Exit(_why_refused(model, version, target, registry, url)) from error
    recorded = _recorded(model, version, target, registry, url)
    sentence = f"{model}:{version} is {target} now" + (
        f"; version {before} was" if before not in (None, version) else ""
    )
    _tell(as_json, model, version, target, moved=True, sentence=sentence, promotion=recorded)
    if recorded is None and read_settings(url).url is not None:
        messages().print(
            f"MLflow moved it, and no promotion was recorded: {server.url} has no guard, or one of another service. "
            "See docs/mlflow.md",
            style="bad",
        )
        raise typer.Exit(Exit.NOT_JUDGED)


def _tell(
    as_json: bool,
    model: str,
    version: str,
    target: str,
    *,
    moved: bool,
    sentence: str,
    promotion: PromotionEvent | None,
) -> None:
    if as_json:
        print_json(
            {
                "model": model,
                "version": version,
                "target": target,
                "moved": moved,
                "sentence": sentence,
                "promotion": None if promotion is None else dict(promotion.document),
            }
        )
        return
    if not moved:
        messages().print(sentence, style="bad")
        return
    output().print(sentence)
    if promotion is not None and promotion.decision is not None:
        messages().print(f"on decision {promotion.decision}", style="dim")


def _why_refused(model: str, version: str, target: str, registry: str, url: str | None) -> Exit:
    """The exit code of what stands in the way, as `check` has it; 1 when the gate itself would let it pass, as with an
    artifact that was exchanged, or nobody can be asked about it."""
    if read_settings(url).url is None:
        return Exit.NEGATIVE
    with ask(url) as client:
        events = client.promotions(model=model, registry=registry, target=target, state="refused", page=20)
        artifact = next((each.artifact for each in events if each.version == version), None)
        if artifact is None:
            return Exit.NEGATIVE
        found = client.standing(model, target, artifact=artifact)
    return Exit.NEGATIVE if found.active else exit_of_standing(found)


def _recorded(model: str, version: str, target: str, registry: str, url: str | None) -> PromotionEvent | None:
    """The promotion that made the target hold this version, None when the last move of it was another."""
    if read_settings(url).url is None:
        return None
    with ask(url) as client:
        events = client.promotions(model=model, registry=registry, target=target, page=20)
        latest = next((each for each in events if each.state in _MOVED), None)
    return latest if latest is not None and (latest.state, latest.version) == ("promoted", version) else None
