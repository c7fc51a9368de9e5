"""Rows as answers show them."""

import json
from collections.abc import Sequence
from typing import Any, Final

from api.pages import extended
from models.fields import instant_text
from models.lineage.marks import Mark
from models.lineage.run_queries import RunDetail, RunSummary

MAX_MARKS: Final = 500


def marks_json(marks: Sequence[Mark]) -> list[dict[str, Any]]:
    return [
        {
            "effect": mark.effect,
            "reason": mark.reason,
            "record": mark.revoked,
            "kind": mark.kind,
            "by": mark.by,
        }
        for mark in marks
    ]


def run_summary(run: RunSummary) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "job": {"namespace": run.job_namespace, "name": run.job_name},
        "team": run.team,
        "owner": run.owner,
        "state": run.state,
        "reported_state": run.reported_state,
        "lost_at_step": run.lost_at_step,
        "started_at": instant_text(run.started_at),
        "ended_at": instant_text(run.ended_at),
        "last_sign_of_life_at": instant_text(run.last_sign_of_life_at),
        "recipe_digest": run.recipe_digest,
        "family_digest": run.family_digest,
        "position": run.position,
    }


def run_detail(run: RunDetail, marks: Sequence[Mark]) -> str:
    """The stored view with what is only known when it is read; ingredients stay the JSON that is stored."""
    members = {
        "state": run.summary.state,
        "reported_state": run.summary.reported_state,
        "lost_at_step": run.summary.lost_at_step,
        "ended_at": instant_text(run.summary.ended_at),
        "last_sign_of_life_at": instant_text(run.summary.last_sign_of_life_at),
        "progress": [
            {
                "process": row.process,
                "step": row.step,
                "phase": row.phase,
                "received_at": instant_text(row.received_at),
            }
            for row in run.progress
        ],
        "marks": marks_json(marks[:MAX_MARKS]),
        "more_marks": len(marks) > MAX_MARKS,
    }
    documents = ",".join(f"{json.dumps(digest)}:{document}" for digest, document in run.ingredients.items())
    return f'{extended(run.document, members)[:-1]},"documents":{{{documents}}}}}'
