# `make help` lists what there is to do. The first of them makes a virtual environment in .venv (a minute or two).
PYTHON ?= python3
VENV ?= .venv
PIP_ARGS ?=
CONSTRAINTS ?= constraints.txt
BIN := $(VENV)/bin
READY := $(VENV)/.installed

help:
	@echo 'make demo              train two classifiers and a language model, and try them (about 4 minutes after the install)'
	@echo 'make test              run every notebook, which is every test; SEED=3 gives them other seeds'
	@echo 'make test-sweep        run them under other seeds, threads, instruction sets: two hours (SWEEP=... for a part)'
	@echo 'make test-slow         run the slow cells as well: what trains for long, or needs IMDB (hours)'
	@echo 'make torture           try properties 5,000 times and every check on every variant (a quarter of an hour)'
	@echo 'make mutants           put 60 faults into the code, and see which the tests notice (half an hour)'
	@echo 'make kills             kill 40 trainings at random moments, and see that they go on to the same bits (some minutes)'
	@echo 'make load              10,000 predictions, 1,000 streams, 8 threads at once: all right, and nothing grows (some minutes)'
	@echo 'make lint              look for mistakes that can be seen without running anything'
	@echo 'make docs              build the documentation into _docs'
	@echo 'make check-site        open every page of _docs in Chromium, if Playwright is there, and list what is wrong'
	@echo 'make check-names       list the public names that lack a docstring, a docment or an example'
	@echo 'make export            write the modules from the notebooks'
	@echo 'make clean-notebooks   strip what should not be committed from the notebooks'
	@echo 'make readme            write README.md from nbs/index.ipynb'
	@echo 'make check-readme      run the code of README.md, and compare what it prints with what stands there (two minutes)'
	@echo 'make prepare           export, clean-notebooks, readme and test: all that a commit needs'
	@echo 'make bench             compare with the peers, and write the table'
	@echo 'make install           only make the virtual environment in $(VENV)'
	@echo
	@echo 'PYTHON=python3.12      use this Python for the virtual environment'
	@echo 'CONSTRAINTS=...        other versions, in another place: make test VENV=.venv-oldest CONSTRAINTS=constraints-oldest.txt'
	@echo 'PIP_ARGS=...           more arguments for pip, such as another index'

$(READY): $(CONSTRAINTS) settings.ini setup.py pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo 'There is no $(PYTHON) here. Install Python, or name yours: make PYTHON=...'; exit 1; }
	@$(PYTHON) tools/check_python.py
	@echo 'Installing into $(VENV): once, in a minute or two (longer where PyTorch has to be downloaded).'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check $(PIP_ARGS) $(addprefix -c ,$(CONSTRAINTS)) torch -e '.[dev]'
	ln -sf nbdev-test $(BIN)/nbdev_test
	@touch $@

install: $(READY)

demo: $(READY)
	$(BIN)/python examples/demo.py

# One thread a notebook: two workers with two threads each stand in each other's way.
NBDEV_TEST = $(if $(or $(SEED),$(TEST_SEED)),$(BIN)/python tools/seeds.py,$(BIN)/nbdev_test)
# A warning that our own code causes is an error.
empty :=
comma := ,
modules = $(patsubst transformers_from_scratch/%.py,error:::transformers_from_scratch.%,$(filter-out %/__init__.py,$(wildcard transformers_from_scratch/[a-z]*.py)))
OWN_WARNINGS = $(subst $(empty) $(empty),$(comma),$(modules))
test test-slow torture mutants: export PYTHONWARNINGS = $(OWN_WARNINGS)
test: $(READY)
	@OMP_NUM_THREADS=1 TEST_SEED=$(or $(SEED),$(TEST_SEED)) PYTHONUNBUFFERED=1 $(NBDEV_TEST) --do-print 2>&1 | tee $(VENV)/test.log
	@$(BIN)/python tools/count_tests.py $(VENV)/test.log

test-sweep: $(READY)
	@$(BIN)/python tools/sweep.py $(SWEEP)

# What trains for long, or needs data that has to be fetched: a scheduled workflow calls it, so that no tutorial rots unseen.
test-slow: $(READY)
	OMP_NUM_THREADS=2 PYTHONUNBUFFERED=1 $(BIN)/nbdev_test --flags slow --cell-timeout 14400 --n-workers 1 --do-print $(SLOW)

torture: $(READY)
	@$(BIN)/python tools/torture.py

mutants: $(READY)
	@$(BIN)/python tools/mutants.py $(MUTANTS)

load: $(READY)
	@OMP_NUM_THREADS=1 $(BIN)/python tools/load.py $(LOAD)

kills: $(READY)
	@OMP_NUM_THREADS=1 $(BIN)/python tools/kills.py $(KILLS)

lint: $(READY)
	$(BIN)/ruff check

docs: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python tools/make_docs.py
	@OMP_NUM_THREADS=1 $(BIN)/python tools/check_names.py --pages _docs

check-site: $(READY)
	@$(BIN)/python tools/check_site.py $(SITE)

check-names: $(READY)
	@OMP_NUM_THREADS=1 $(BIN)/python tools/check_names.py

check-imports: $(READY)
	@$(BIN)/python tools/check_imports.py --svg nbs/images/imports.svg

export: $(READY)
	$(BIN)/nbdev-export

clean-notebooks: $(READY)
	$(BIN)/nbdev-clean

readme: $(READY)
	$(BIN)/python tools/make_readme.py

check-readme: $(READY)
	@OMP_NUM_THREADS=2 $(BIN)/python tools/check_readme.py

prepare: export clean-notebooks readme test

# The peers live in an environment of their own: Hugging Face does not import beside torchvision, which comes with fastai.
BENCH := $(VENV)-bench
$(BENCH)/.installed: constraints.txt settings.ini setup.py pyproject.toml
	@echo 'Installing into $(BENCH): once, in a minute or two.'
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install -qq --disable-pip-version-check $(PIP_ARGS) -c constraints.txt torch -e '.[bench]'
	$(BENCH)/bin/python -m pip uninstall -qq -y torchvision
	@touch $@

bench: $(BENCH)/.installed
	$(BENCH)/bin/python benchmarks/run.py

.PHONY: help install demo test test-sweep test-slow torture mutants kills load lint docs check-site check-names check-imports check-readme export clean-notebooks readme prepare bench
