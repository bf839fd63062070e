# Everything runs in .venv, which is built on first use, and again when pyproject.toml or
# constraints.txt has changed. ARGS are passed on:
#     make train ARGS="--games 200"        make test ARGS="-k checkers"

PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help train test lint bench clean

help:
	@echo "make train   train a checkers evaluator (about 5 minutes)"
	@echo "make test    run the tests"
	@echo "make lint    check style, types and imports"
	@echo "make bench   measure speed"
	@echo "make clean   remove the virtual environment and all caches; runs/ stays"

train: $(VENV)/.installed
	$(BIN)/python train.py checkers $(ARGS)

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# With the test tools: speed is measured against OpenSpiel's.
bench: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.speed $(ARGS)

clean:
	rm -rf $(VENV) build dist *.egg-info
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
