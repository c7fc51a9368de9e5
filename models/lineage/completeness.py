"""What is known of a run's ingredients, part by part: resolved, weak or unresolved. Nothing is guessed."""

from collections.abc import Mapping
from typing import Any, Final

from models.kinds.ingredients import Grade
from models.lineage.made_of import PARTS
from models.lineage.run_view import View

GRADES: Final = tuple(Grade)
STRONG_GRADES: Final = frozenset({Grade.CONTENT, Grade.MANIFEST, Grade.STORE})


def completeness(
    view: View, ingredients: Mapping[str, Mapping[str, Any]], artifact: str | None
) -> list[dict[str, str | None]]:
    """One entry a part: {part, status, grade, reason}; `reason` says what is missing and how to give it.

    `ingredients` are documents by digest, `artifact` is the digest of the model version that is asked about.
    """
    entries = [_input_entry(given) for given in view["inputs"]]
    if not entries:
        entries.append(
            _entry("data", "unresolved", None, "no input was named; give `inputs` with their digests")
        )
    for part in PARTS:
        digest = view["ingredients"].get(part)
        if digest is None:
            entries.append(_entry(part, "unresolved", None, f"`{part}` was not recorded for this run"))
            continue
        reason = _WEAKNESS[part](ingredients.get(digest, {}))
        entries.append(_entry(part, "weak" if reason else "resolved", None, reason))
    if artifact is not None:
        made = any(each["digest"] == artifact for each in view["artifacts"])
        reason = None if made else "the run did not record this artifact as its own"
        entries.append(_entry("artifact", "resolved" if made else "unresolved", None, reason))
    for field in view["conflicts"]:
        entries.append(_entry(field, "weak", None, "was stated differently by different records"))
    return entries


def weakest_grade(view: View) -> str | None:
    """The weakest grade among the inputs that have one; None without inputs."""
    grades = [Grade(given["grade"] or Grade.DECLARED) for given in view["inputs"]]
    return max(grades, key=GRADES.index, default=None)


def _input_entry(given: Mapping[str, Any]) -> dict[str, str | None]:
    part = f"data.{given['role']}"
    if given["digest"] is None:
        return _entry(part, "unresolved", given["grade"], "the version of this data is not known")
    grade = given["grade"]
    if grade is None:
        return _entry(part, "resolved", None, "named by digest; its own record says how it is graded")
    if Grade(grade) in STRONG_GRADES:
        return _entry(part, "resolved", grade, None)
    return _entry(part, "weak", grade, f"grade “{grade}” does not pin every byte; record a file manifest")


def _entry(part: str, status: str, grade: str | None, reason: str | None) -> dict[str, str | None]:
    return {"part": part, "status": status, "grade": grade, "reason": reason}


def _code_weakness(code: Mapping[str, Any]) -> str | None:
    if not code.get("commit"):
        return "no commit is known"
    if code.get("dirty") is None:
        return "whether the work tree had uncommitted changes is not known"
    if code["dirty"] and not code.get("diff"):
        return "the work tree had uncommitted changes that were not kept; give `diff`"
    return None


def _environment_weakness(environment: Mapping[str, Any]) -> str | None:
    image = environment.get("image") or {}
    if image.get("digest") or environment.get("lockfile"):
        return None
    if image.get("tag"):
        return "the image is named by a tag, which can be moved; give its digest"
    if environment.get("packages"):
        return "packages are listed, but neither image digest nor lock file pins them"
    return "neither image digest nor lock file is known"


def _seeds_weakness(seeds: Mapping[str, Any]) -> str | None:
    if seeds.get("unseeded"):
        return "the run was not seeded: it can't be repeated exactly"
    if not seeds.get("values") and not seeds.get("ranks"):
        return "a seed policy without seeds"
    return None


def _no_weakness(document: Mapping[str, Any]) -> str | None:
    return None


_WEAKNESS: Final = {
    "code": _code_weakness,
    "environment": _environment_weakness,
    "config": _no_weakness,
    "hardware": _no_weakness,
    "seeds": _seeds_weakness,
}
