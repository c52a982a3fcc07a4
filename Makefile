# `make` lists what there is to do. The first of them makes a virtual environment in .venv (a minute or two).
PYTHON ?= python3
VENV ?= .venv
PIP_ARGS ?=
CONSTRAINTS ?= constraints.txt
BIN := $(VENV)/bin
READY := $(VENV)/.installed
MIN_PYTHON := $(shell sed -n 's/^min_python *= *//p' settings.ini)

help:
	@echo 'make install   make the virtual environment in $(VENV); all others do so first, if it is not there'
	@echo 'make demo      train two classifiers and a language model, and try them'
	@echo 'make notebook  open a page in Jupyter Lab, to run it and do its exercises: PAGE=nbs/nn/attention.ipynb'
	@echo 'make test      run every notebook as a test, without the cells that take long'
	@echo 'make test-quick   run the pages of nn, text, generate and the core of learner (half a minute)'
	@echo 'make test-all  run all cells, those that take long as well: all variants, long trainings, IMDB if it is there (an hour)'
	@echo 'make test-without-fast   run nn, generate and testing in a copy without the package fast (a minute)'
	@echo 'make lint      write modules and README.md from the notebooks, and look for mistakes without running them'
	@echo 'make docs      build the site into _docs, and check it: links, names, pages in a browser, outputs of README.md'
	@echo 'make bench     compare with the peers, and write the table'
	@echo 'make stress    WHAT=check_faults, families, kills, load, mutants, torture or sweep: minutes to hours; CONTRIBUTING.md tells what they try'
	@echo 'make coverage  run every notebook, and say which modules have the least of their lines run by pages and tests other than their own (half an hour)'
	@echo 'make release   all of these checks, and the package in dist/'
	@echo
	@echo "NBS=nbs/nn              test these only;  SEED=3  tests with other seeds;  ARGS=...  options of what WHAT names"
	@echo 'PYTHON=python3.12      use this Python for the virtual environment'
	@echo 'CONSTRAINTS=...        other versions, in another place: make test VENV=.venv-oldest CONSTRAINTS=constraints-oldest.txt'
	@echo 'PIP_ARGS=...           more arguments for pip, such as another index'

$(READY): $(CONSTRAINTS) settings.ini setup.py pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo 'There is no $(PYTHON) here. Install Python, or name yours: make PYTHON=...'; exit 1; }
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < tuple(map(int, '$(MIN_PYTHON)'.split('.'))) and 'This needs Python $(MIN_PYTHON) or newer. Install it, or name one that you have: make PYTHON=python$(MIN_PYTHON)')"
	@echo 'Installing into $(VENV): once, in a minute or two (longer where PyTorch has to be downloaded).'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check $(PIP_ARGS) $(addprefix -c ,$(CONSTRAINTS)) torch -e '.[dev]'
	ln -sf nbdev-test $(BIN)/nbdev_test
	@touch $@

install: $(READY)

notebook: $(READY)
	@$(BIN)/python -c 'import jupyterlab' 2>/dev/null || $(BIN)/python -m pip install -qq --disable-pip-version-check $(PIP_ARGS) -c $(CONSTRAINTS) -e '.[notebook]'
	$(BIN)/jupyter lab $(or $(PAGE),nbs/course/one_hour.ipynb)

demo: $(READY)
	$(BIN)/python examples/demo.py

# One thread a notebook: two workers with two threads each compete for the cores.
test test-quick test-all test-without-fast coverage lint docs stress: export OMP_NUM_THREADS = 1
# Nothing is timed to choose between ways to multiply, so that a test has the same numbers each time.
test test-quick test-all test-without-fast coverage lint docs stress: export TFS_AUTOTUNE = 0
NBDEV_TEST = $(if $(SEED),TEST_SEED=$(SEED) )$(BIN)/python tools/run_notebooks.py
# PyTorch's profiler logs nothing.
test test-quick test-all test-without-fast coverage stress: export KINETO_LOG_LEVEL = 6
# A warning that our own code causes is an error.
empty :=
comma := ,
modules = $(subst /,.,$(patsubst %.py,error:::%,$(filter-out %/__init__.py,$(wildcard transformers_from_scratch/*/[a-z]*.py))))
test test-quick test-all test-without-fast stress: export PYTHONWARNINGS = $(subst $(empty) $(empty),$(comma),$(modules))
test-all: export NIGHTLY = 1
FASTAI_HOME ?= $(HOME)/.fastai
DATA = $(and $(wildcard $(FASTAI_HOME)/data/imdb),$(wildcard $(FASTAI_HOME)/data/tinyshakespeare/input.txt))
test-all: ALL = --flags 'slow$(if $(DATA), download)' --cell-timeout 14400
# nn, text, generate and the core of learner: half a minute
test-quick: SOME = --path-re '/nbs/((nn|text|generate)/(?!training_by_hand|toys)|learner/core)'
test test-quick test-all: $(READY)
	@$(if $(ALL),$(if $(DATA),,echo 'IMDB or tiny Shakespeare is not in $(FASTAI_HOME)/data: cells with `#| download` are skipped.'))
	@PYTHONUNBUFFERED=1 $(NBDEV_TEST) $(if $(NBS),'$(NBS)') $(ALL) $(SOME) --do-print --timing
	@$(if $(ALL),$(if $(NBS),,$(BIN)/python tools/visible_cells.py))

test-without-fast: $(READY)
	@$(BIN)/python tools/without_fast.py $(NBS)

lint: $(READY)
	@$(BIN)/nbdev-export && $(BIN)/nbdev-clean && $(BIN)/python tools/fold_cells.py && $(BIN)/python tools/make_readme.py
	@$(BIN)/ruff check
	@$(BIN)/python tools/check_imports.py
	@$(BIN)/python tools/check_names.py
	@$(BIN)/python tools/visible_cells.py --names
	@$(BIN)/python tools/check_pages.py
	@$(BIN)/python tools/make_docs.py --notebooks

docs: $(READY)
	@$(BIN)/python tools/make_docs.py
	@$(BIN)/python tools/check_names.py --pages _docs
	@$(BIN)/python tools/check_site.py $(SITE)
	@OMP_NUM_THREADS=2 $(BIN)/python tools/check_readme.py

# Each page defines anew what it exports, so the lines of a module count where other pages and tests run them.
coverage: export COVERAGE_FILE = $(CURDIR)/output/coverage
coverage: $(READY)
	@rm -rf output/coverage*; mkdir -p output
	@PYTHONUNBUFFERED=1 $(BIN)/coverage run tools/run_notebooks.py --do-print >output/coverage.log || { tail -3 output/coverage.log; exit 1; }
	@$(BIN)/coverage combine -q && $(BIN)/coverage report --sort=cover --skip-empty | sed -n '1,12p;$$p'

# The peers live in an environment of their own: Hugging Face does not import beside torchvision, which comes with fastai.
BENCH := $(VENV)-bench
STRESS = $(if $(filter families,$(WHAT)),$(BENCH),$(VENV))
stress: $(if $(filter families,$(WHAT)),$(BENCH)/.installed,$(READY))
	@case '$(WHAT)' in check_faults|families|kills|load|mutants|torture|sweep) ;; *) echo 'make stress WHAT=check_faults, families, kills, load, mutants, torture or sweep'; exit 1;; esac
	@$(STRESS)/bin/python tools/$(WHAT).py $(ARGS)

$(BENCH)/.installed: constraints.txt settings.ini setup.py pyproject.toml
	@echo 'Installing into $(BENCH): once, in a minute or two.'
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install -qq --disable-pip-version-check $(PIP_ARGS) -c constraints.txt torch -e '.[bench]'
	$(BENCH)/bin/python -m pip uninstall -qq -y torchvision
	@touch $@

bench: $(BENCH)/.installed
	$(BENCH)/bin/python benchmarks/run.py

# What is built comes from the last commit, is installed elsewhere without extras, and has to run the first program of README there.
release: lint docs test-all
	@[ -z "$$(git status --porcelain)" ] || { git status --short; echo 'Commit these first: a release is what was tested.'; exit 1; }
	rm -rf dist && $(BIN)/python -m build -o dist .
	$(PYTHON) -m venv dist/venv
	dist/venv/bin/python -m pip install -qq --disable-pip-version-check $(PIP_ARGS) -c constraints.txt torch dist/*.whl
	awk '/^```python$$/{n++; on=1; next} /^```$$/{on=0} on && n<3' README.md > dist/first_program.py
	cd dist && venv/bin/python first_program.py
	rm -rf dist/venv dist/first_program.py
	@ls dist

# They write the same files.
.NOTPARALLEL:
.PHONY: help install demo test test-quick test-all test-without-fast coverage lint docs bench stress release
