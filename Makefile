# Everything a fresh machine needs is installed into .venv by these rules.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
SOURCES := setup.py setup.cfg pyproject.toml $(wildcard spacy_nested_ner/decoders/_kernels/*.pyx spacy_nested_ner/decoders/_kernels/*.pxd spacy_nested_ner/decoders/_kernels/*.h)

.PHONY: test train lint format benchmark clean

## test: set up, check style, run all tests
test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

## train: set up, and run the project on the sample corpus: convert, analyze, train, evaluate, report, package
train: $(VENV)/installed
	$(BIN)/python -m spacy project run all
	@echo
	@$(BIN)/python -m spacy nested-ner show training/sample/model-best corpus/sample/test.spacy --number 3
	@echo
	@echo "The model is in training/sample/model-best, the page is reports/sample/report.html"

## lint: what `test` checks before it runs anything
lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/cython-lint spacy_nested_ner

## format: put the source in order
format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

## benchmark: measure the decoders against torch-struct; table, JSON and figure in benchmarks/results
benchmark: $(VENV)/installed-benchmarks
	$(BIN)/python benchmarks/decoders.py

clean:
	rm -rf $(VENV) build dist *.egg-info
	find spacy_nested_ner -name '*.so' -delete

$(VENV)/created:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

# Compiled anew whenever a kernel changes.
$(VENV)/installed: $(VENV)/created $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(VENV)/installed-benchmarks: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev,benchmarks]'
	touch $@
