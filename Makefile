# Needs git, make and Python 3.11 or newer. Everything else comes into .venv from requirements/, checked by hash.
#
#   make serve                     make test ARGS="-k starring"           make serve PYTHON=/opt/python/bin/python3

ARGS ?=
REQUESTS ?= 10000
# Programs that have a length of their own get one only when it was asked for.
DURATION := $(if $(filter command environment,$(firstword $(origin SECONDS))),--seconds $(SECONDS))
SECONDS ?= 600
PYTHON ?=
VENV := .venv
IN_VENV := $(VENV)/bin/python
PIP := $(IN_VENV) -m pip --quiet --disable-pip-version-check
LOCKED := --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate
COMPILE := $(VENV)/bin/uv pip compile pyproject.toml $(LOCKED)

.DEFAULT_GOAL := help
.PHONY: help serve test test-fast check format lock bench bench-poll abuse corpus fuzz-ingestion fuzz chaos soak statuses contracts messages screenshots clean

help: ## show this list
	@echo "Tidings, a self-hosted feed reader service."
	@sed -n 's/^\([a-z-]*\):.*## /  make \1  @/p' $(firstword $(MAKEFILE_LIST)) | awk -F@ '{ printf "%-23s%s\n", $$1, $$2 }'

serve: $(VENV)/.runtime ## start the service; Ctrl-C stops it (ARGS are handed to `tidings serve`)
	@exec $(IN_VENV) -m tidings serve $(ARGS)

test: $(VENV)/.dev ## run all tests on SQLite and PostgreSQL (ARGS are handed to pytest)
	@exec $(IN_VENV) -m pytest -n auto $(ARGS)

test-fast: $(VENV)/.dev ## run the quick tests on SQLite: no browser, no fuzzing, no long runs
	@exec $(IN_VENV) -m pytest -q -n auto --fast $(ARGS)

check: $(VENV)/.dev ## look for mistakes: lint, formatting, types
	$(IN_VENV) -m ruff check .
	$(IN_VENV) -m ruff format --check .
	$(IN_VENV) -m mypy

format: $(VENV)/.dev ## put the code into its usual form
	$(IN_VENV) -m ruff check --fix-only .
	$(IN_VENV) -m ruff format .

bench: $(VENV)/.dev ## measure how fast it is (ARGS="lists" for one of intake, lists, pages, schedule, latency, deliveries, connections)
	@exec $(IN_VENV) -m benchmarks $(ARGS)

bench-poll: $(VENV)/.dev ## poll 500 feeds in four ways, beside the reference server where it is at hand
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m benchmarks.polling

abuse: $(VENV)/.dev ## attack a service of its own and print what got through (ARGS="ssrf xss" for some themes, --short, --list)
	@PYTHONPATH=tools exec $(IN_VENV) -m abuse $(ARGS)

corpus: $(VENV)/.dev ## score parsing and cleaning on published test data (ARGS="feeds-real" for a part of it)
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m scoring $(ARGS)

fuzz-ingestion: $(VENV)/.fuzz ## look for input that breaks parser or cleaner, SECONDS=600 for each of them
	@PYTHONPATH=tests:tools $(IN_VENV) -m fuzz parser $(SECONDS)
	@PYTHONPATH=tests:tools $(IN_VENV) -m fuzz cleaner $(SECONDS)

fuzz: $(VENV)/.dev ## make requests from the OpenAPI document, REQUESTS=10000 on each engine (SEED=… for the same again)
	@exec $(IN_VENV) -m pytest -q tests/api/test_fuzzing.py \
	  --fuzz-requests $(REQUESTS) --fuzz-seed $(or $(SEED),$$(date +%s)) $(ARGS)

chaos: $(VENV)/.dev ## kill, cut and fill up what the service runs on, and look for what it lost (SECONDS=180 on each engine, SEED=…)
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m chaos $(DURATION) $(if $(SEED),--seed $(SEED)) $(ARGS)

soak: $(VENV)/.dev ## 2,000 API clients, then polling with misbehaving publishers (SECONDS=1200 of polling, ARGS="clients")
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m soak $(DURATION) $(ARGS)

statuses: $(VENV)/.dev ## run the tests of the API and write into docs/api.md which answers they met
	@rm -f $(VENV)/statuses
	-@RECORD_STATUSES=$(CURDIR)/$(VENV)/statuses $(IN_VENV) -m pytest -q -n auto tests/api $(ARGS)
	@PYTHONPATH=tests $(IN_VENV) -m support.statuses $(VENV)/statuses

contracts: $(VENV)/.dev ## write contracts/ anew from the code; look at the difference before you commit it
	@exec $(IN_VENV) -m pytest -q -k "reviewed" --write-contracts tests

messages: $(VENV)/.dev ## collect what the pages say into the catalogues of the other languages; then translate what is new
	@PYTHONPATH=tests exec $(IN_VENV) -m support.catalogues

screenshots: $(VENV)/.dev ## take pictures of the main pages into build/screenshots (ARGS="unread article" for some of them)
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m demo.screenshots $(ARGS)

lock: $(VENV)/.dev ## choose dependencies anew and write requirements/ (ARGS="--upgrade" for newer ones)
	$(COMPILE) --group build --output-file requirements/runtime.txt $(ARGS)
	$(COMPILE) --group dev --constraints requirements/runtime.txt --output-file requirements/dev.txt $(ARGS)
	$(VENV)/bin/uv pip compile $(LOCKED) --group fuzz --output-file requirements/fuzz.txt $(ARGS)

clean: ## remove .venv and caches; data stays
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(IN_VENV):
	@for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
	  "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  "$$candidate" -c 'import ensurepip, venv' 2>/dev/null || { without_venv="$$without_venv $$candidate"; continue; }; \
	  echo "Making the virtual environment $(VENV) with $$("$$candidate" --version)"; \
	  exec "$$candidate" -m venv --clear $(VENV); \
	done; \
	if [ -n "$$without_venv" ]; then \
	  echo "Python is here ($${without_venv# }), but not its venv module. On Debian or Ubuntu: apt install python3-venv" >&2; \
	else \
	  echo "Tidings needs Python 3.11 or newer, and found none. Where it has another name: make serve PYTHON=/path/to/it" >&2; \
	fi; \
	exit 1

$(VENV)/.runtime: requirements/runtime.txt pyproject.toml | $(IN_VENV)
	@echo "Installing what Tidings needs into $(VENV) (the first time this takes a minute)"
	@$(PIP) install --no-deps --require-hashes --requirement requirements/runtime.txt
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.runtime
	@echo "Installing what the tests and checks need"
	@$(PIP) install --no-deps --require-hashes --requirement requirements/dev.txt
	@touch $@

$(VENV)/.fuzz: requirements/fuzz.txt $(VENV)/.dev
	@echo "Installing what fuzzing needs"
	@$(PIP) install --no-deps --require-hashes --requirement requirements/fuzz.txt
	@touch $@
