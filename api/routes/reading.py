"""Reading what was recorded: any key of a namespace may, and sees that namespace only."""

from fastapi import APIRouter

from api.routes import reading_catalog, reading_checkpoints, reading_records, reading_runs

router = APIRouter()
for module in (reading_runs, reading_checkpoints, reading_catalog, reading_records):
    router.include_router(module.router)
