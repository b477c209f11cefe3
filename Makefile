# Two commands do all the set-up on a machine that has Python 3.11 or newer and make:
#
#   make demo    environment, installation, then the demo on whatever device is there
#   make test    environment, installation, then linters, types and a developer's tests
#
# Both are fast the second time. Variables: PYTHON (the interpreter that makes the environment),
# VENV (its folder), TESTS (a marker expression), SHARE (of each long test one case in so many), ROWS
# (of the matrix), PYTEST_FLAGS, PIP_FLAGS; and for campaigns MINUTES, CAMPAIGN, SEED.

PYTHON ?= python3
VENV ?= .venv
PYTEST_FLAGS ?= -n auto --maxprocesses=2 --dist=worksteal
PIP_FLAGS ?=
TESTS ?= not long
SHARE ?= 1
MINUTES ?= 10
BIN := $(VENV)/bin
PIP_INSTALL = $(BIN)/python -m pip install --disable-pip-version-check $(PIP_FLAGS)

.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-interop test-lowest test-matrix campaign check lint format \
    typecheck generate pytest docs docs-serve docs-linkcheck wheel docker-replay clean

help: ## List the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1 /p' $(firstword $(MAKEFILE_LIST)) | \
	    while read -r name words; do printf '  make %-14s %s\n' "$$name" "$$words"; done

demo: $(VENV)/.installed ## Install what is needed and run the demo
	@$(BIN)/gpubcast demo

test: check pytest ## Install what is needed; linters, types and the tests of a developer

test-long: ## The tests that take long by nature: cross products, campaigns, soaks
	@$(MAKE) pytest TESTS=long

test-interop: $(VENV)/.installed-interop ## Tests with PyTorch, JAX, Dask, xarray, ONNX and others (1 GB)
	GPUBCAST_TEST_DOORS=1 $(BIN)/python -m pytest -m "$(TESTS) and not gpu" --share $(SHARE) \
	    $(PYTEST_FLAGS) $$($(BIN)/python -m tests.support.doors)

test-lowest: $(VENV)/.installed-test ## The CPU's tests at the lowest versions that are allowed
	$(BIN)/python tools/test_matrix.py lowest

test-matrix: $(VENV)/.installed-test ## The tests on other Pythons, versions, and less of a machine
	$(BIN)/python tools/test_matrix.py $(ROWS)

campaign: $(VENV)/.installed-test ## Search for faults with new seeds: MINUTES=60; CAMPAIGN=overlaps SEED=7
	$(BIN)/python -m tests.campaigns --minutes $(MINUTES) $(addprefix --campaign ,$(CAMPAIGN)) \
	    $(addprefix --seed ,$(SEED))

check: lint typecheck

lint: $(VENV)/.installed-test ## ruff, which package may import which, and who owns state
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/lint_house.py

format: $(VENV)/.installed-test ## Rewrite the sources as ruff formats them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

typecheck: $(VENV)/.installed-test ## mypy --strict
	$(BIN)/mypy

generate: $(VENV)/.installed-test ## Write what follows from the operation table
	$(BIN)/python tools/generate.py

pytest: $(VENV)/.installed-test
	@command -v g++ >/dev/null || echo "g++ is missing: the emulated tests, which run the CUDA" \
	    "sources on the CPU, are skipped (Debian, Ubuntu: apt-get install g++)"
	$(BIN)/python -m pytest -m "$(TESTS)" --share $(SHARE) $(PYTEST_FLAGS)

docs: $(VENV)/.installed-docs ## Build the documentation site into build/docs/html
	$(BIN)/python -m sphinx -q -W --keep-going -a -E -b html -d build/docs/doctrees docs build/docs/html
	$(BIN)/python -m tools.site.check build/docs/html
	$(BIN)/python -m tools.site.questions build/docs/html

docs-serve: docs ## Show the site on http://127.0.0.1:8000 until interrupted
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/docs/html 8000

docs-linkcheck: $(VENV)/.installed-docs ## Ask every other site whether what is linked to is there
	$(BIN)/python -m sphinx -q -b linkcheck -d build/docs/doctrees docs build/docs/linkcheck

wheel: $(VENV)/.installed-test ## Build the wheel and the source archive into dist/
	$(BIN)/python -m hatchling build

docker-replay: $(VENV)/.installed-test ## Lint the Dockerfile and replay its steps without an engine
	$(BIN)/python tools/replay_dockerfile.py cpu --run-command

clean: ## Remove the environment, caches and build results
	rm -rf $(VENV) .matrix build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/coming-from docs/gallery docs/performance docs/project docs/reference
	find gpubcast tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} +

# --- environment ------------------------------------------------------------------------------

$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install Python 3.11 or" \
	    "newer, or name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "gpubcast needs" \
	    "Python 3.11 or newer, and this is $$($(PYTHON) --version): name another one:" \
	    "make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual" \
	    "environments: install its venv module (Debian, Ubuntu: apt-get install python3-venv)" \
	    >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# The extra that fits the driver is looked up when installing, so that one command serves all.
$(VENV)/.installed: $(VENV)/.created pyproject.toml
	extra=$$($(BIN)/python tools/cuda_extra.py) && $(PIP_INSTALL) -e ".$${extra:+[$$extra]}"
	@touch $@

# Two CuPy wheels in one environment shadow each other: with a CUDA 12 driver, CuPy comes from cuda12.
$(VENV)/.installed-test: $(VENV)/.created pyproject.toml
	extra=$$($(BIN)/python tools/cuda_extra.py) && case "$$extra" in \
	    cuda12) extras=test-tools,cuda12 ;; \
	    *) extras=test$${extra:+,$$extra} ;; \
	esac && $(PIP_INSTALL) -e ".[$$extras]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-interop: $(VENV)/.installed-test tests/interop/constraints.txt
	$(PIP_INSTALL) -c tests/interop/constraints.txt -e ".[interop]"
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP_INSTALL) -e ".[docs]"
	@touch $@
