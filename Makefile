# Everything a fresh machine needs is installed into .venv by these rules.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
KERNELS := spacy_nested_ner/decoders/_kernels spacy_nested_ner/model/_kernels
SOURCES := setup.py setup.cfg pyproject.toml $(wildcard $(foreach room,$(KERNELS),$(room)/*.pyx $(room)/*.pxd $(room)/*.h))
# Kernels that coverage can follow are slow, and installed away from the others. These tests reach all of their lines.
TRACED := build/traced
KERNEL_TESTS := $(addprefix tests/decoders/test_,interface.py errors.py ties.py entropy.py analysis.py k_best.py covariances.py) \
	tests/model/test_spans.py

.PHONY: test quick train lint coverage format benchmark clean

## test: set up, lint, run all tests, and print the coverage
test: lint coverage

## quick: all tests but the slow ones, in about a minute
quick: $(VENV)/developed
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m 'not slow'

## coverage: run all tests, and print which lines of the package they do not reach
coverage: $(VENV)/developed $(VENV)/traced
	rm -f .coverage .coverage.*
	COVERAGE_FILE=.coverage.python $(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-fail-under=0 --cov-report=
	COVERAGE_FILE=.coverage.kernels PYTHONPATH=$(TRACED) \
		$(BIN)/pytest -n 2 -q $(KERNEL_TESTS) --cov --cov-fail-under=0 --cov-report=
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

## train: set up without PyTorch, and run the project on the sample corpus: convert, analyze, train, calibrate,
##        evaluate, report, package
train: $(VENV)/installed
	$(BIN)/python -m spacy project run all
	@echo
	@$(BIN)/python -m spacy nested-ner show training/sample/calibrated corpus/sample/test.spacy --number 3
	@echo
	@echo "The pipeline is in training/sample/calibrated, the page is reports/sample/report.html"

## lint: style, direction of imports, types
lint: $(VENV)/developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/cython-lint spacy_nested_ner
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

## format: put the source in order
format: $(VENV)/developed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: docs
## docs: build the documentation site into site/, and check its links
docs: $(VENV)/developed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.PHONY: pictures
## pictures: make the pictures of drawings and of the explorer in docs/images again; needs chromium
pictures: $(VENV)/developed
	$(BIN)/python docs/_extensions/drawings.py
	$(BIN)/python docs/_extensions/screenshots.py

## benchmark: make all speed tables and plots again, in benchmarks/results and in README and docs: decoders, the PyTorch
##            layer, whole pipelines, processes, annotation, long documents. On the sample corpus, or on all corpora in a
##            folder: make benchmark DATA=corpus. Each corpus is a folder with train.spacy and dev.spacy. Takes about an
##            hour; stop everything else that runs.
DATA :=
benchmark: $(VENV)/installed-benchmarks
	$(BIN)/python benchmarks/decoders.py
	$(BIN)/python benchmarks/torch_layer.py
	$(BIN)/python benchmarks/pipeline.py $(patsubst %/,%,$(dir $(wildcard $(DATA:%=%/*/train.spacy))))
	$(BIN)/python benchmarks/processes.py
	$(BIN)/python benchmarks/annotate.py
	$(BIN)/python benchmarks/long_document.py $(patsubst %,--corpus %,$(lastword $(wildcard $(DATA:%=%/*/train.spacy))))
	$(BIN)/python benchmarks/figures.py

clean:
	rm -rf $(VENV) build dist *.egg-info
	rm -f $(foreach room,$(KERNELS),$(room)/*.so $(room)/*.c) .coverage .coverage.*

$(VENV)/created:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

# Compiled again whenever a kernel changes.
$(VENV)/installed: $(VENV)/created $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable '.[plots]'
	touch $@

$(VENV)/developed: $(VENV)/created $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/installed

$(VENV)/traced: $(VENV)/developed $(SOURCES) $(shell find spacy_nested_ner -name '*.py')
	rm -rf $(TRACED)
	SPACY_NESTED_NER_TRACE=1 $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --target $(TRACED) .
	touch $@

$(VENV)/installed-benchmarks: $(VENV)/developed
	$(BIN)/python -m pip install --quiet --editable '.[dev,benchmarks,minilm]'
	touch $@
