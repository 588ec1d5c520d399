# One verb for each habit. `make test` and `make demo` do all the set-up there is.
# Another interpreter: make PYTHON=python3.13 test

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
REFERENCE := memwell.interfaces.python.memory memwell.interfaces.python.asynchronous memwell.interfaces.python.jobs memwell.client memwell.errors memwell.engine.results memwell.engine.items memwell.engine.ports memwell.domain.memory memwell.domain.evidence memwell.domain.command memwell.testing.conformance memwell.adapters.langgraph memwell.adapters.mem0 memwell.adapters.openai_agents
SOURCES := $(shell find src -name '*.py' -o -name '*.sql' -o -name '*.toml')

.PHONY: help setup demo test test-all lint types format bench train docs reference clean

help: ## list the verbs
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' $(MAKEFILE_LIST)

setup: $(VENV)/dev ## .venv with memwell (editable) and what development needs

demo: $(VENV)/installed ## install memwell into .venv and run the demo
	$(BIN)/memwell demo

test: $(VENV)/dev ## install what is needed and run the tests
	$(BIN)/python -m pytest -m "not slow"

test-all: $(VENV)/dev ## the slow tests too
	$(BIN)/python -m pytest

lint: $(VENV)/dev ## style and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/dev ## mypy, strict
	$(BIN)/mypy

format: $(VENV)/dev ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/installed ## a short benchmark of speed
	$(BIN)/memwell bench speed --quick

train: $(VENV)/train ## make the decision model again; see training/README.md
	$(BIN)/python training/train.py

docs: reference ## run every snippet of the documentation; build the API reference in dist/reference
	$(BIN)/python -m pytest tests/docs

reference: $(VENV)/dev
	$(BIN)/python -m pdoc --output-directory dist/reference $(REFERENCE)

clean: ## remove .venv and caches
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# An installation for use: a copy, made again when a source has changed.
$(VENV)/installed: $(VENV)/bin/python pyproject.toml $(SOURCES)
	$(if $(wildcard $(VENV)/dev),,$(BIN)/python -m pip install --quiet --disable-pip-version-check .)
	@touch $@

# An installation for work: editable, with the tools.
$(VENV)/dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# The same with what training needs.
$(VENV)/train: $(VENV)/dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,train]'
	@touch $@
