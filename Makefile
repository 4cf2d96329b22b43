# Needs git, make and Python 3.11 or newer. Everything else is installed into .venv from requirements/, verified by hash.
#
#   make serve                     make test ARGS="-k starring"           make serve PYTHON=/opt/python/bin/python3

ARGS ?=
REQUESTS ?= 10000
# Programs with a default duration of their own get --seconds only if SECONDS was set on the command line or in the environment.
DURATION := $(if $(filter command environment,$(firstword $(origin SECONDS))),--seconds $(SECONDS))
SECONDS ?= 600
PYTHON ?=
VENV := .venv
STATIC := src/tidings/web/static
TEMPLATES := $(wildcard src/tidings/*/templates)
IN_VENV := $(VENV)/bin/python
PIP := $(IN_VENV) -m pip --quiet --disable-pip-version-check
LOCKED := --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate
COMPILE := $(VENV)/bin/uv pip compile pyproject.toml $(LOCKED)

# Containers tend to set it; without compiled files, each process that the tests start compiles the code anew.
test test-fast test-long: export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help serve test test-fast test-long check format lock bench bench-api bench-memory bench-poll abuse corpus fuzz-ingestion fuzz chaos soak docs statuses contracts client messages release-check screenshots clean

help: ## show this list
	@echo "Tidings, a self-hosted feed reader service."
	@sed -n 's/^\([a-z-]*\):.*## /  make \1  @/p' $(firstword $(MAKEFILE_LIST)) | awk -F@ '{ printf "%-23s%s\n", $$1, $$2 }'

serve: $(VENV)/.runtime ## start the service; Ctrl-C stops it (ARGS are passed to `tidings serve`)
	@exec $(IN_VENV) -m tidings serve $(ARGS)

test: $(VENV)/.dev ## run all tests on SQLite and PostgreSQL (ARGS are passed to pytest)
	@exec $(IN_VENV) -m pytest -n auto $(ARGS)

test-fast: $(VENV)/.dev ## run the quick tests on SQLite: no browser or web pages, no fuzzing, nothing slow
	@exec $(IN_VENV) -m pytest -q -n auto --fast $(ARGS)

test-long: $(VENV)/.dev ## run all tests with more random examples, and browsers on both engines and all screens
	@exec $(IN_VENV) -m pytest -n auto --long --fuzz-requests 3000 $(ARGS)

check: $(VENV)/.dev ## check lint, formatting and types of Python, scripts, styles and templates
	$(IN_VENV) -m ruff check .
	$(IN_VENV) -m ruff format --check .
	$(VENV)/bin/oxlint --deny-warnings $(STATIC)/js
	$(VENV)/bin/oxfmt --check $(STATIC)
	$(VENV)/bin/djangofmt check --profile jinja $(TEMPLATES)
	$(IN_VENV) -m mypy

format: $(VENV)/.dev ## fix lint and format the code
	$(IN_VENV) -m ruff check --fix-only .
	$(IN_VENV) -m ruff format .
	-$(VENV)/bin/oxlint --quiet --fix $(STATIC)/js
	$(VENV)/bin/oxfmt $(STATIC)

bench: $(VENV)/.dev ## measure performance (ARGS="lists" for one of ingest, lists, apps, first-sync, imports, pages, queries, rendering, rules, schedule, sync, latency, deliveries, connections, events, growth, capacity, subscribers)
	@exec $(IN_VENV) -m benchmarks $(ARGS)

bench-api: $(VENV)/.dev ## measure the APIs with eight connections, compared with other feed readers (ARGS="--freshrss PATH --reader PYTHON")
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m benchmarks.api $(ARGS)

bench-memory: $(VENV)/.dev ## measure the memory of all processes: idle, after polling 100,000 entries, and after load (ARGS="--hours 10" of polling, compressed)
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m benchmarks.memory $(ARGS)

bench-poll: $(VENV)/.dev ## measure polling of 500 feeds, compared with other feed readers (ARGS="--freshrss PATH --reader PYTHON")
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m benchmarks.polling $(ARGS)

abuse: $(VENV)/.dev ## start a service, attack it and print successful attacks (ARGS="ssrf xss" for some themes, --short, --list)
	@PYTHONPATH=tools exec $(IN_VENV) -m abuse $(ARGS)

corpus: $(VENV)/.dev ## score parsing and cleaning on published test data (ARGS="feeds-real" for a part of it)
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m scoring $(ARGS)

fuzz-ingestion: $(VENV)/.fuzz ## fuzz parser, cleaner and the reader of letters, SECONDS=600 for each
	@PYTHONPATH=tests:tools $(IN_VENV) -m fuzz parser $(SECONDS)
	@PYTHONPATH=tests:tools $(IN_VENV) -m fuzz cleaner $(SECONDS)
	@PYTHONPATH=tests:tools $(IN_VENV) -m fuzz letters $(SECONDS)

fuzz: $(VENV)/.dev ## fuzz the API from its OpenAPI document, REQUESTS=10000 on each engine (SEED=… repeats a run)
	@exec $(IN_VENV) -m pytest -q tests/api/test_fuzzing.py \
	  --fuzz-requests $(REQUESTS) --fuzz-seed $(or $(SEED),$$(date +%s)) $(ARGS)

chaos: $(VENV)/.dev ## inject faults (kills, full disks, cut connections) and check for lost data (SECONDS=180 on each engine, SEED=…)
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m chaos $(DURATION) $(if $(SEED),--seed $(SEED)) $(ARGS)

soak: $(VENV)/.dev ## check that resources do not grow: 2,000 API clients, then polling (SECONDS=1200 of polling, ARGS="clients")
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m soak $(DURATION) $(ARGS)

statuses: $(VENV)/.dev ## run the tests of the API and write the statuses they received into docs/api.md
	@rm -f $(VENV)/statuses
	-@RECORD_STATUSES=$(CURDIR)/$(VENV)/statuses $(IN_VENV) -m pytest -q -n auto tests/api tests/archives tests/rules tests/sign_in tests/sync tests/views $(ARGS)
	@PYTHONPATH=tests $(IN_VENV) -m support.statuses $(VENV)/statuses

contracts: $(VENV)/.dev ## rewrite contracts/ from the code; review the diff before you commit it
	@exec $(IN_VENV) -m pytest -q -k "reviewed" --write-contracts tests

client: $(VENV)/.dev ## rewrite clients/python from contracts/openapi.json (`make contracts` does it as well)
	@PYTHONPATH=tools exec $(IN_VENV) -m client_generator

messages: $(VENV)/.dev ## update the message catalogues from the code, and list what has no translation
	@PYTHONPATH=tests exec $(IN_VENV) -m support.catalogues

release-check: $(VENV)/.dev ## check what only a release must have: each message in each language
	@PYTHONPATH=tests exec $(IN_VENV) -m support.catalogues --release

screenshots: $(VENV)/.dev ## save screenshots of the main pages in build/screenshots (ARGS="unread article" for some of them)
	@PYTHONPATH=tests:tools exec $(IN_VENV) -m demo.screenshots $(ARGS)

docs: $(VENV)/.docs ## build the documentation as a site in build/docs; a warning is an error
	@$(VENV)/docs/bin/sphinx-build -q -W --keep-going -E -b dirhtml -d build/doctrees -c tools/docs_site docs build/docs

lock: $(VENV)/.dev ## resolve dependencies and write requirements/ (ARGS="--upgrade" for newer versions)
	$(COMPILE) --group build --output-file requirements/runtime.txt $(ARGS)
	$(COMPILE) --group dev --constraints requirements/runtime.txt --output-file requirements/dev.txt $(ARGS)
	$(VENV)/bin/uv pip compile $(LOCKED) --group fuzz --output-file requirements/fuzz.txt $(ARGS)
	$(VENV)/bin/uv pip compile $(LOCKED) --group docs --output-file requirements/docs.txt $(ARGS)

clean: ## remove .venv and caches, but no data
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find src tests tools benchmarks clients -name __pycache__ -type d -prune -exec rm -rf {} +

$(IN_VENV):
	@for candidate in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
	  "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  "$$candidate" -c 'import ensurepip, venv' 2>/dev/null || { without_venv="$$without_venv $$candidate"; continue; }; \
	  echo "Making the virtual environment $(VENV) with $$("$$candidate" --version)"; \
	  exec "$$candidate" -m venv --clear $(VENV); \
	done; \
	if [ -n "$$without_venv" ]; then \
	  echo "Python was found ($${without_venv# }), but its venv module is missing. On Debian or Ubuntu: apt install python3-venv" >&2; \
	else \
	  echo "Tidings needs Python 3.11 or newer, and none was found. If it has another name: make serve PYTHON=/path/to/it" >&2; \
	fi; \
	exit 1

$(VENV)/.runtime: requirements/runtime.txt pyproject.toml | $(IN_VENV)
	@echo "Installing the dependencies of Tidings into $(VENV) (the first time this takes a minute)"
	@$(PIP) install --no-deps --require-hashes --requirement requirements/runtime.txt
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.runtime
	@echo "Installing the dependencies of tests and checks"
	@$(PIP) install --no-deps --require-hashes --requirement requirements/dev.txt
	@touch $@

# In an environment of its own, since nothing else needs it.
$(VENV)/.docs: requirements/docs.txt | $(IN_VENV)
	@echo "Installing the generator of the documentation"
	@$(IN_VENV) -m venv --clear $(VENV)/docs
	@$(VENV)/docs/bin/python -m pip --quiet --disable-pip-version-check install --no-deps --require-hashes --requirement requirements/docs.txt
	@touch $@

$(VENV)/.fuzz: requirements/fuzz.txt $(VENV)/.dev
	@echo "Installing the dependencies of fuzzing"
	@$(PIP) install --no-deps --require-hashes --requirement requirements/fuzz.txt
	@touch $@
