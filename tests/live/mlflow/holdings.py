"""What a registry holds, read from its database and its disk and not from its answers; and what of it does harm."""

import contextlib
import hashlib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, create_engine, make_url, text

from tests.live.mlflow.exhibits import ALIAS, SEALED, STAGE, Exhibit
from tests.live.mlflow.servers import MlflowServer
from tests.support.gates import MODEL

_STATEMENTS: Final = {
    "alias": "SELECT name, alias, version FROM registered_model_aliases",
    "version": "SELECT name, version, current_stage, source, storage_location, run_id FROM model_versions",
    "run": "SELECT run_uuid, lifecycle_stage, artifact_uri FROM runs",
    "experiment": "SELECT experiment_id, lifecycle_stage, artifact_location FROM experiments",
    "logged model": "SELECT model_id, lifecycle_stage, artifact_location FROM logged_models",
}
_TABLES: Final = (
    "experiments",
    "runs",
    "logged_models",
    "registered_models",
    "registered_model_tags",
    "registered_model_aliases",
    "model_versions",
    "model_version_tags",
)
_LOOKS_LIKE: Final = str.maketrans({"с": "c", "о": "o", "ı": "i", "l": "i", "1": "i", "0": "o"})
"""Of the characters that the attempts use, what a reader takes them for."""


@dataclass(frozen=True, slots=True)
class Holdings:
    rows: Mapping[str, frozenset[tuple[str, ...]]]
    files: Mapping[str, str]
    """SHA-256 by path below the artifact root, of what lies behind releases."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Knows what a server may hold: what it held when the judge was called, and nothing new under a protected name."""

    engine: Engine
    artifacts: Path
    exhibit: Exhibit
    before: Holdings

    def harm(self) -> list[str]:
        """One sentence for each thing that a guard exists to prevent; empty when nothing got through."""
        now = _read(self.engine, self.artifacts, self.exhibit)
        return [*self._taken(now), *self._lost(now)]

    def held(self, model: str, alias: str) -> str:
        """The version that an alias points to now."""
        (version,) = (row[2] for row in _rows(self.engine)["alias"] if row[:2] == (model, alias))
        return version

    def _taken(self, now: Holdings) -> list[str]:
        """Protected names in hands that no decision put them in."""
        found = []
        for name, alias, version in sorted(now.rows["alias"] - self.before.rows["alias"]):
            if disguised(alias) == disguised(ALIAS):
                found.append(f"{name}:{version} took the alias {alias!r}")
        held = {row[:3] for row in self.before.rows["version"]}
        for name, version, stage, *_ in sorted(now.rows["version"]):
            if stage.casefold() == STAGE.casefold() and (name, version, stage) not in held:
                found.append(f"{name}:{version} took the stage {stage!r}")
            if name == SEALED:
                found.append(f"version {version} of {SEALED} was registered without a pass")
        return found

    def _lost(self, now: Holdings) -> list[str]:
        """Releases that were moved, and runs, models or files behind them that are no longer what they were."""
        behind = (
            ("alias", (MODEL, ALIAS)),
            ("version", (MODEL, "1")),
            ("version", (MODEL, "3")),
            ("run", (self.exhibit.run,)),
            ("run", (self.exhibit.logged_run,)),
            ("experiment", (self.exhibit.experiment,)),
            ("logged model", (self.exhibit.logged_model,)),
        )
        found = [
            f"the {kind} {' '.join(key)} of a release changed"
            for kind, key in behind
            if _of(self.before, kind, key) != _of(now, kind, key)
        ]
        if self.before.files != now.files:
            changed = set(self.before.files.items()) ^ set(now.files.items())
            found.append(f"artifacts of a release changed: {sorted({path for path, _ in changed})}")
        return found


@contextlib.contextmanager
def judging(server: MlflowServer, exhibit: Exhibit) -> Iterator[Judge]:
    """Reads by one connection of its own."""
    url = make_url(server.database_url)
    engine = create_engine(url.set(drivername="postgresql+psycopg") if url.host else url)
    try:
        yield Judge(engine, server.artifacts, exhibit, _read(engine, server.artifacts, exhibit))
    finally:
        engine.dispose()


@dataclass(frozen=True, slots=True)
class Safe:
    """A copy of a plain server's registry and files, to begin anew after an attempt that got through."""

    engine: Engine
    root: Path
    rows: Mapping[str, list[dict[str, object]]]
    files: Mapping[str, bytes]

    def put_back(self) -> None:
        """SQLite only: it checks no foreign keys unless asked to."""
        with self.engine.begin() as connection:
            for table, rows in self.rows.items():
                connection.execute(text(f"DELETE FROM {table}"))
                if rows:
                    names = ", ".join(rows[0])
                    values = ", ".join(f":{name}" for name in rows[0])
                    connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), rows)
        for path in sorted(self.root.rglob("*"), reverse=True):
            if path.is_dir():
                with contextlib.suppress(OSError):
                    path.rmdir()
            elif str(path.relative_to(self.root)) not in self.files:
                path.unlink()
        for name, content in self.files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def safe(judge: Judge) -> Safe:
    with judge.engine.connect() as connection:
        rows = {
            table: [dict(row) for row in connection.execute(text(f"SELECT * FROM {table}")).mappings()]
            for table in _TABLES
        }
    files = {
        str(path.relative_to(judge.artifacts)): path.read_bytes()
        for path in judge.artifacts.rglob("*")
        if path.is_file()
    }
    return Safe(judge.engine, judge.artifacts, rows, files)


def disguised(alias: str) -> str:
    """An alias as a careless reader sees it."""
    return unicodedata.normalize("NFKC", alias).casefold().translate(_LOOKS_LIKE)


def _read(engine: Engine, artifacts: Path, exhibit: Exhibit) -> Holdings:
    return Holdings(_rows(engine), _hashes(artifacts, [exhibit.path(), exhibit.logged_path]))


def _rows(engine: Engine) -> dict[str, frozenset[tuple[str, ...]]]:
    with engine.connect() as connection:
        return {
            kind: frozenset(tuple(str(value) for value in row) for row in connection.execute(text(statement)))
            for kind, statement in _STATEMENTS.items()
        }


def _of(holdings: Holdings, kind: str, key: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    return frozenset(row for row in holdings.rows[kind] if row[: len(key)] == key)


def _hashes(root: Path, folders: list[str]) -> dict[str, str]:
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in folders
        for path in sorted((root / folder).rglob("*"))
        if path.is_file()
    }
