"""What a run is made of: code, environment, config, hardware, seeds, transformations.

Each is content-addressed: its digest is the sha256 of the RFC 8785 form of the document as it was sent, so equal
documents are shared between runs. Fields follow the lineage table in docs/architecture.md.
"""

import re
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, model_validator

from models.fields import DISTINCT, LAX, Bytes, Count, Digest, Identifier, Instant, Label, Line, Text, Value
from models.patterns import COMMIT_PATTERN, PATH_PATTERN, TREE_PATTERN

_POINTER: Final = re.compile("(?:/(?:[^~/]|~[01])*)+")
Scalar = bool | int | float | Annotated[str, Field(max_length=16384)] | None


class Code(Value):
    """A source revision. A commit without `dirty` misleads, so `dirty` has to be said (null = not known)."""

    repository: Line | None = None
    commit: Annotated[str, Field(pattern=COMMIT_PATTERN)] | None = None
    tree: Annotated[str, Field(pattern=TREE_PATTERN)] | None = None
    path: Line | None = None
    dirty: bool | None
    diff: Digest | None = Field(default=None, description="blob of the uncommitted change, when dirty")
    submodules: Annotated[dict[Line, Label], Field(max_length=500)] = Field(default_factory=dict)
    reason: Text | None = Field(default=None, description="why something above is not known")


class Image(Value):
    """A container image. Only the digest identifies it; a tag alone is kept and graded weak."""

    name: Line | None = None
    digest: Digest | None = None
    tag: Label | None = None


class Environment(Value):
    """Where the code ran: image by digest, lock file, packages, runtime and driver versions."""

    image: Image | None = None
    lockfile: Digest | None = None
    packages: Annotated[dict[Label, Label], Field(max_length=5000)] = Field(default_factory=dict)
    python: Label | None = None
    os: Label | None = None
    cuda: Label | None = None
    driver: Label | None = None
    nccl: Label | None = None
    variables: Annotated[dict[Label, Text], Field(max_length=500)] = Field(default_factory=dict)


def _check_pointer(text: str) -> str:
    if _POINTER.fullmatch(text) is None:
        raise ValueError(
            'is no JSON pointer; write it like /trainer/seed, a "~" in a name as ~0 and a "/" as ~1'
        )
    return text


Pointer = Annotated[Line, AfterValidator(_check_pointer), Field(json_schema_extra={"format": "json-pointer"})]
"""A JSON pointer (RFC 6901) to a place within a document."""


class Config(Value):
    """Canonical JSON of every hyperparameter; secrets are redacted by the client before hashing.

    `seed_keys` are JSON pointers into `values` that hold seeds: they are left out of the family digest.
    """

    values: dict[str, Any]
    seed_keys: Annotated[list[Pointer], Field(max_length=100), DISTINCT] = Field(default_factory=list)
    redacted: Annotated[list[Line], Field(max_length=500)] = Field(default_factory=list)


class Accelerator(Value):
    """One type of accelerator in every node: `count` per node, memory in bytes each."""

    type: Label
    count: Count
    memory_bytes: Bytes | None = None


class Hardware(Value):
    """The machines of a run."""

    nodes: Count = 1
    node_names: Annotated[list[Label], Field(max_length=20000)] = Field(default_factory=list)
    accelerators: Annotated[list[Accelerator], Field(max_length=32)] = Field(default_factory=list)
    cpu: Label | None = None
    cpus_per_node: Count | None = None
    memory_bytes: Bytes | None = None
    topology: Text | None = None
    interconnect: Text | None = None
    driver: Label | None = None
    precision: Label | None = None
    allocation: Label | None = Field(default=None, description="id of the scheduler's allocation")


class Seeds(Value):
    """The seed policy, or `unseeded` said in words; `values` are per library, `ranks` per rank."""

    unseeded: bool = False
    values: Annotated[dict[Label, int], Field(max_length=100)] = Field(default_factory=dict)
    ranks: Annotated[dict[Label, int], Field(max_length=20000)] = Field(default_factory=dict)
    derivation: Text | None = None
    deterministic: Annotated[dict[Label, Scalar], Field(max_length=100)] = Field(default_factory=dict)
    data_order: Text | None = None


class Transformation(Value):
    """One named step that made the training data: its version and code, and what came out."""

    name: Identifier
    version: Label
    code: Label | None = Field(default=None, description="code revision of the step")
    output: Digest | None = Field(default=None, description="digest of the snapshot it produced")
    statistics: Annotated[dict[Label, Scalar], Field(max_length=500)] = Field(default_factory=dict)


def _check_beneath(path: str) -> str:
    if ".." in path.split("/"):
        raise ValueError('leads out of its root by ".."; write the path from the root downwards')
    if "://" in path:
        raise ValueError("is a URL; name a registered root and a path beneath it")
    return path


DataPath = Annotated[
    str,
    Field(min_length=1, max_length=1024, pattern=PATH_PATTERN),
    AfterValidator(_check_beneath),
]
"""A path beneath a registered root."""


class Location(Value):
    """Where a worker finds the bytes: a registered root and a path beneath it, never a URL."""

    root: Identifier
    path: DataPath


class Grade(StrEnum):
    """How well an identity is evidenced, strongest first."""

    CONTENT = "content"
    MANIFEST = "manifest"
    STORE = "store"
    SAMPLED = "sampled"
    DECLARED = "declared"
    NONE = "none"


class VersionKind(StrEnum):
    """Which system gave a data version; a `release` is a name that a publisher gave, such as a benchmark's round."""

    ICEBERG = "iceberg"
    DELTA = "delta"
    LAKEFS = "lakefs"
    DVC = "dvc"
    GIT = "git"
    OBJECT_VERSION = "object_version"
    MANIFEST = "manifest"
    QUERY_AS_OF = "query_as_of"
    MLFLOW = "mlflow"
    RELEASE = "release"


class DatasetName(Value):
    """A namespace and a name in it, of a data set or a job. Short enough for one index entry."""

    namespace: Identifier
    name: Annotated[Line, Field(max_length=512)]


class DataVersion(Value):
    kind: Annotated[VersionKind, LAX]
    value: Line


class Interval(Value):
    """Half-open [start, end)."""

    start: Instant
    end: Instant

    @model_validator(mode="after")
    def _holds_time(self) -> Self:
        if self.end <= self.start:
            raise ValueError("ends before it begins or holds no time; `end` must be later than `start`")
        return self
