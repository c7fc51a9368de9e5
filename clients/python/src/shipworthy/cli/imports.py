"""`shipworthy import`: what other tools logged."""

import typer

from shipworthy.cli.import_mlflow import import_mlflow
from shipworthy.cli.import_mlperf import import_mlperf

imports = typer.Typer(
    help="Record runs that other tools logged.", no_args_is_help=True, rich_markup_mode=None
)
imports.command("mlperf")(import_mlperf)
imports.command("mlflow")(import_mlflow)
