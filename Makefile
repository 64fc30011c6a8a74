# `make demo` and `make test` make .venv themselves and leave it for the next run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint golden bench clean

# pip reads the wheels' metadata again when pyproject.toml changes, and installs nothing twice.
$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/python examples/casebook/demo.py

test: $(STAMP) lint
	$(BIN)/python -m pytest -n 2

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/black --check --quiet .
	$(BIN)/mypy

# Writes golden/ anew from examples/; read the diff before you commit it.
golden: $(STAMP)
	$(BIN)/python -m pytest -q tests/test_golden.py tests/errors tests/docs \
		tests/tools/test_numerics.py --update-golden

bench: $(STAMP)
	$(BIN)/python benchmarks/translate.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
