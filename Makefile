# Two commands do everything: `make workbench` and `make test`.
# Both need Python 3.11 or newer, pip and make, and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
# One BLAS thread a process: the tests run on all cores already.
TEST_ENV := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONHASHSEED=0

.PHONY: workbench test lint format notebooks clean help

help:
	@echo 'make workbench             set up, open JupyterLab on the tour'
	@echo 'make workbench HEADLESS=1  set up, run the tour, write output/00_tour.html'
	@echo 'make test                  set up, run every test: lint, types, layers, units, notebooks, browser'
	@echo 'make lint | format | notebooks | clean   for work on the project itself'

workbench: $(STAMP)
	@$(BIN)/python scripts/workbench.py $(if $(filter-out 0,$(HEADLESS)),--headless)

test: $(STAMP)
	@$(TEST_ENV) $(BIN)/python -m pytest -n auto --dist loadfile $(PYTEST_ARGS)

# bootstrap.py writes the stamp itself, as its last act.
$(STAMP): pyproject.toml scripts/bootstrap.py
	@$(PYTHON) scripts/bootstrap.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

notebooks: $(STAMP)
	$(BIN)/python scripts/run_notebooks.py

clean:
	rm -rf $(VENV) output dist .pytest_cache .ruff_cache .hypothesis
