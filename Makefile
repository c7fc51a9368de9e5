# `make` prints what there is. Everything runs from .venv, which the first target that needs it fills.

PYTHON ?= python3
WORKERS ?= 2
ARGS ?=
UPGRADE ?=

VENV := .venv
BIN := $(VENV)/bin
MLFLOW_VENV := .venv-mlflow
LOCK := uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11

# pytest's exit 5: a run without a test must not look like one that passed.
REPORT := || { status=$$?; [ $$status -ne 5 ] || echo "No test was collected, which counts as a failure."; exit $$status; }

# Tests start hundreds of processes; none should compile again what another has compiled. pip compiles nothing: much of
# what it installs is never imported. What the demo imports is compiled with its requirements.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo install test test-live test-mlflow check format bench lock clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.projects $(VENV)/.demo ## Start the service, record real runs, guard an MLflow registry (ONCE=1: then stop)
	@[ "$(DEMO_MLFLOW)" = 0 ] || [ -e $(MLFLOW_VENV)/.projects ] || \
		echo "Filling $(MLFLOW_VENV) with MLflow's server, once; it takes some minutes (DEMO_MLFLOW=0 leaves it out)."
	@[ "$(DEMO_MLFLOW)" = 0 ] || $(MAKE) --silent $(MLFLOW_VENV)/.projects || true
	$(BIN)/python tools/demo.py

install: $(VENV)/.projects ## Fill .venv with pinned requirements and both projects, editable

# Each worker begins with a part of its own and takes from the others' when it has none left: none waits at the end.
test: $(VENV)/.projects ## Run the tests on SQLite and on a PostgreSQL that they start (ARGS="-k name")
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore tests/live $(ARGS) $(REPORT)

test-live: $(VENV)/.projects $(VENV)/.demo ## Run tests/live: real servers under load, killed, installed from wheels
	$(BIN)/python -m pytest -m live -n $(WORKERS) --no-loadscope-reorder --ignore tests/live/mlflow $(ARGS) tests/live $(REPORT)

test-mlflow: $(VENV)/.projects $(MLFLOW_VENV)/.projects ## Run tests/live/mlflow: the guard in real MLflow servers
	$(BIN)/python -m pytest -m live -n $(WORKERS) --no-loadscope-reorder $(ARGS) tests/live/mlflow $(REPORT)

check: $(VENV)/.projects ## Lint, formatting, types, import contracts, vendored files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers $(WORKERS)
	$(BIN)/lint-imports
	$(BIN)/python tools/vendor.py check

format: $(VENV)/.projects ## Format the code and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.projects $(MLFLOW_VENV)/.projects ## Run benchmarks/bench_*.py; fails when one misses its target
	@set -- benchmarks/bench_*.py; \
	[ -e "$$1" ] || { echo "benchmarks/ holds no bench_*.py." >&2; exit 1; }; \
	failed=0; \
	for file in "$$@"; do $(BIN)/python -m "benchmarks.$$(basename "$$file" .py)" || failed=1; done; \
	exit $$failed

lock: ## Compile requirements/*.in again (needs uv; UPGRADE=--upgrade for new versions)
	for name in server worker dev live demo mlflow; do \
		$(LOCK) $(UPGRADE) requirements/$$name.in -o requirements/$$name.txt || exit 1; \
	done

clean: ## Remove caches and build output; the environments stay
	rm -rf build dist clients/python/dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Shipworthy needs Python 3.11 or newer: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv $(VENV)

# Two stamps: an edit of pyproject.toml must not have pip look at seventy pinned packages again.
$(VENV)/.requirements: requirements/live.txt | $(BIN)/pip
	@echo "Filling $(VENV) with pinned packages. That takes some minutes, and is done once."
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements/live.txt
	@touch $@

$(VENV)/.projects: $(VENV)/.requirements pyproject.toml clients/python/pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e . -e clients/python
	@touch $@

$(VENV)/.demo: requirements/demo.txt $(VENV)/.requirements | $(VENV)/.projects
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements/demo.txt
	@$(BIN)/python -c 'import api.cli.serving, api.workers.preload, sklearn.linear_model'
	@touch $@

$(MLFLOW_VENV)/.requirements: requirements/mlflow.txt
	[ -x $(MLFLOW_VENV)/bin/pip ] || $(PYTHON) -m venv $(MLFLOW_VENV)
	$(MLFLOW_VENV)/bin/python -m pip install --quiet --no-compile --require-hashes -r requirements/mlflow.txt
	@$(MLFLOW_VENV)/bin/python -W ignore -c 'import mlflow.cli, mlflow.server.fastapi_app'
	@touch $@

# The guard, where MLflow's server finds it by its entry points.
$(MLFLOW_VENV)/.projects: $(MLFLOW_VENV)/.requirements clients/python/pyproject.toml
	$(MLFLOW_VENV)/bin/python -m pip install --quiet --no-deps --no-build-isolation -e clients/python
	@touch $@
