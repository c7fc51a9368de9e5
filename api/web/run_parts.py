"""What a run was made of and what was measured of it, as a page lists it. Pure over the stored view."""

from collections.abc import Mapping
from typing import Any

from api.web import links
from api.web.check_view import Evidence
from api.web.ingredient_view import MadeOf, with_values
from models.lineage.made_of import PARTS


def made_of(view: Mapping[str, Any], documents: Mapping[str, str]) -> list[MadeOf]:
    """What the recipe names, each by its digest and its values; `documents` are the ingredients' by digest."""
    ingredients = view["ingredients"]
    parts = [
        (
            part,
            Evidence(
                part.capitalize(),
                ingredients[part],
                links.ingredient(ingredients[part]),
                "not pinned to a commit" if part in view["unpinned"] else "",
            ),
        )
        for part in PARTS
        if part in ingredients
    ]
    parts += [
        ("transformations", Evidence("Transformation", each, links.ingredient(each)))
        for each in view["transformations"]
    ]
    found = [with_values(part, each, documents.get(each.value)) for part, each in parts]
    for name, label in (("recipe_digest", "Recipe"), ("family_digest", "Family")):
        if view[name]:
            note = (
                "runs with the same are exact repeats"
                if name == "recipe_digest"
                else "the same but for seeds"
            )
            evidence = Evidence(label, view[name], links.search(view[name]), note)
            found.append(with_values(name, evidence, None))
    return found


def missing_parts(view: Mapping[str, Any]) -> list[str]:
    return [part for part in PARTS if part not in view["ingredients"]]


def inputs_of(view: Mapping[str, Any]) -> list[Evidence]:
    """Data with how surely it is known; unresolved data has no digest."""
    found = []
    for given in view["inputs"]:
        dataset = given["dataset"]
        name = f"{dataset['namespace']}/{dataset['name']}" if dataset else ""
        grade = f"grade {given['grade']}" if given["grade"] else ""
        note = ", ".join(filter(None, (name, grade)))
        if given["digest"] is None:
            found.append(Evidence(given["role"], name or "unknown", None, "nothing identifies its content"))
        else:
            href = links.snapshot(given["digest"]) if dataset else links.search(given["digest"])
            found.append(Evidence(given["role"], given["digest"], href, note))
    return found


def metrics_in_words(metrics: Mapping[str, Any]) -> str:
    """ "auc 0.91, loss 0.3" of at most six, and how many more there are."""
    listed = [
        f"{name} {value:.6g}" if isinstance(value, int | float) else f"{name} {value}"
        for name, value in list(metrics.items())[:6]
    ]
    more = len(metrics) - len(listed)
    return ", ".join(listed) + (f" and {more} more" if more > 0 else "")
