# Everything runs in .venv, which is built at first use and again after a change of pyproject.toml or
# constraints.txt. ARGS are passed on:
#     make train ARGS="--games 200"        make test ARGS="-k checkers"

PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
# One process more than there are cores, because tests also wait, for programs that they start; each
# takes about a gigabyte of memory, and some seconds to find all tests.
WORKERS := $(shell $(PYTHON) -c 'import os; print(min((os.cpu_count() or 1) + 1, 5))')
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt

# Compiled modules are kept: each of these processes, and each program that tests start, would compile
# its own.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help train check fast test proofs lint docs bench clean

help:
	@echo "make train   train a checkers evaluator (two minutes)"
	@echo "make check   lint and the fast tests, before every commit"
	@echo "make test    run all tests but the slow proofs and whole runs"
	@echo "make proofs  run all that is slow: proofs, simulations, sanitizers, fuzzing (hours)"
	@echo "make lint    check style, types, imports, JavaScript and English"
	@echo "make docs    build the documentation in site/"
	@echo "make bench   measure speed"
	@echo "make clean   remove the virtual environment and all caches; runs/ stays"

train: $(VENV)/.installed
	$(BIN)/python train.py checkers $(ARGS)

# Side by side: the linters use one core.
check:
	@$(MAKE) --no-print-directory -j2 lint fast

fast: $(VENV)/.installed-test
	$(PYTEST) -q -m "plain and not thorough and not slow" $(ARGS)

test: $(VENV)/.installed-test
	$(PYTEST) $(ARGS)

proofs: $(VENV)/.installed-test  # ARGS="fuzz search/test_perft": these pieces
	.ci/proofs $(ARGS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	.ci/javascript
	$(BIN)/python .ci/english.py

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "open site/index.html"

# Needs the test tools, because speed is compared with OpenSpiel.
bench: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.speed $(ARGS)

clean:
	rm -rf $(VENV) build dist site *.egg-info
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.created: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit(f"Plysmith needs Python 3.11 or later and found {v[0]}.{v[1]}: make PYTHON=python3.11")'
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created
	$(PIP) -e .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.created
	$(PIP) -e '.[test]'
	@touch $(VENV)/.installed $@

$(VENV)/.installed-docs: $(VENV)/.created
	$(PIP) -e '.[docs]'
	@touch $(VENV)/.installed $@
