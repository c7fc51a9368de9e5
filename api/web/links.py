"""Addresses of pages, and of JSON where there is no page yet. Every part is quoted: a name can't lead elsewhere."""

from urllib.parse import quote, urlencode


def contract_check(check_id: str) -> str:
    return f"/contract-checks/{_part(check_id)}"


def contract_checks(**filters: str | None) -> str:
    return _with_query("/contract-checks", filters)


def contract_version(name: str, version: int | str) -> str:
    return f"/contracts/{_part(name)}/versions/{_part(str(version))}"


def contracts(**filters: str | None) -> str:
    return _with_query("/contracts", filters)


def decision(digest: str) -> str:
    return f"/decisions/{_part(digest)}"


def decisions(**filters: str | None) -> str:
    return _with_query("/decisions", filters)


def decision_bundle(digest: str) -> str:
    return f"/v1/decisions/{_part(digest)}/bundle"


def gate_version(name: str, version: int | str) -> str:
    return _with_query(f"/v1/gates/{_part(name)}/versions/{_part(str(version))}", {"raw": "1"})


def search(text: str) -> str:
    return _with_query("/search", {"q": text})


def record(digest: str) -> str:
    return f"/v1/records/{_part(digest)}"


def baseline(digest: str) -> str:
    return f"/v1/baselines/{_part(digest)}"


def snapshot(digest: str) -> str:
    return f"/v1/snapshots/{_part(digest)}"


def blob(digest: str) -> str:
    return f"/v1/blobs/{_part(digest)}"


def run(run_id: str) -> str:
    return f"/runs/{_part(run_id)}"


def run_document(run_id: str) -> str:
    return f"/v1/runs/{_part(run_id)}"


def run_lineage(run_id: str) -> str:
    return f"/v1/runs/{_part(run_id)}/lineage"


def runs(**filters: str | None) -> str:
    return _with_query("/runs", filters)


def slos(**filters: str | None) -> str:
    return _with_query("/slo", filters)


def slo(name: str, **filters: str | None) -> str:
    return _with_query(f"/slo/{_part(name)}", filters)


def slo_window(name: str, id: str) -> str:
    """`id` is what follows the SLO's name in the window's."""
    return f"/slo/{_part(name)}/windows/{'/'.join(map(_part, id.split('/')))}"


def slo_definition(name: str, version: int) -> str:
    return _with_query(f"/v1/slos/{_part(name)}/versions/{version}", {"raw": "1"})


def ingredient(digest: str) -> str:
    return f"/v1/ingredients/{_part(digest)}"


def checkpoint(digest: str) -> str:
    return f"/v1/checkpoints/{_part(digest)}"


def lineage_manifest(digest: str) -> str:
    return f"/v1/lineage-manifests/{_part(digest)}"


def artifacts_of_run(run_id: str) -> str:
    return f"/v1/runs/{_part(run_id)}/artifacts"


def model_version(model: str, version: str, registry: str) -> str:
    path = f"/models/{_part(model)}/versions/{_part(version)}"
    return _with_query(path, {"registry": None if registry == "default" else registry})


def models(**filters: str | None) -> str:
    return _with_query("/models", filters)


def model(name: str, registry: str = "default", **filters: str | None) -> str:
    # A slash in it is part of the path, as it is in that of its versions.
    path = "/models/" + "/".join(map(_part, name.split("/")))
    return _with_query(path, {"registry": None if registry == "default" else registry, **filters})


def lineage(model: str, version: str, registry: str) -> str:
    path = f"/v1/models/{_part(model)}/versions/{_part(version)}/lineage"
    return _with_query(path, {"registry": None if registry == "default" else registry})


def snapshots_of(namespace: str, name: str) -> str:
    return _with_query("/v1/snapshots", {"namespace": namespace, "name": name})


def sign_in(then: str) -> str:
    return _with_query("/login", {"next": None if then == "/" else then})


def _part(text: str) -> str:
    # "." and ".." would be taken for steps in the path; quote leaves dots alone.
    quoted = quote(text, safe=":@")
    return quoted.replace(".", "%2E") if quoted.strip(".") == "" else quoted


def _with_query(path: str, filters: dict[str, str | None]) -> str:
    given = {name: value for name, value in filters.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path
