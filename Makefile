# Python ≥ 3.11 and make are all that is needed: every target sets up its own .venv from a lock.
PYTHON ?= python3
BIN := .venv/bin
# Stamps of the two installs into .venv: everything, and what the demo needs.
READY := .venv/.ready
DEMO_READY := .venv/.ready-demo
# Tests wait more than they compute: more processes than processors. They kill processes, never the
# machine, so where 4 GB of memory are free as a disk, their databases are there.
MEMORY := $(shell df -kP /dev/shm 2>/dev/null | awk '$$6 == "/dev/shm" && $$4 > 4000000 {print $$6}')
PYTEST := $(MEMORY:%=PYTEST_DEBUG_TEMPROOT=%) $(BIN)/pytest -n 4 --dist loadfile \
  --no-loadscope-reorder --max-worker-restart 0 -o tmp_path_retention_count=1

# Compiled modules are kept: the tests start Python a few hundred times, and compiling takes each
# process four seconds.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo serve test test-long test-all browser faults load histories privacy-audit mutants check bench lock kinds openapi golden docs clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(DEMO_READY) ## three simulated platforms audited from end to end
	@$(BIN)/platform-auditor demo

serve: $(DEMO_READY) ## the same, and left running
	@$(BIN)/platform-auditor demo --serve

test: $(READY) ## the tests (8 minutes on two idle cores)
	$(PYTEST) -m "not long and not full"

test-long: $(READY) ## slower tests: kills, races, fuzzing, coverage (8 minutes)
	$(PYTEST) -m "long and not full"

test-all: $(READY) ## every test and every search at full size (hours)
	$(PYTEST)
	$(BIN)/python -m tests.faults --long
	$(BIN)/python -m tests.load --long
	$(BIN)/python -m tests.histories --long
	$(BIN)/python -m tests.privacy_audit --long
	$(BIN)/python -m tests.mutants --long

faults: $(READY) ## kill the service at every step boundary
	$(BIN)/python -m tests.faults

load: $(READY) ## overload and hostile traffic on the running service: it answers, sheds and goes on
	$(BIN)/python -W ignore -m tests.load

histories: $(READY) ## break everything around clients at work, and check their histories
	$(BIN)/python -m tests.histories

privacy-audit: $(READY) ## search for people who move more than the price says, and measure epsilon
	$(BIN)/python -m tests.privacy_audit

mutants: $(READY) ## make deliberate mistakes, and see that the tests find each of them
	$(BIN)/python -m tests.mutants

browser: ## the browser that the tests of the console drive, where there is none
	@test -x "$${CHROMIUM:-/usr/bin/chromium}" || { apt-get -qq update && apt-get -qq install -y chromium; }

check: $(READY) ## lint, types, import rules, contract, lock and prose
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m api.app.generate_kinds --check
	$(BIN)/python -m auditor_client.audits.generate_methods --check
	$(BIN)/python -m api.app.export_openapi --check
	$(BIN)/python -m tests.lock
	$(BIN)/python -m tests.language

bench: $(READY) ## figures, each a ratio of two things in one run
	$(BIN)/python -m bench

docs: $(READY) ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

kinds: $(READY) ## generate unions and typed methods from the contracts of kinds
	$(BIN)/python -m api.app.generate_kinds
	$(BIN)/python -m auditor_client.audits.generate_methods

openapi: $(READY) ## export the contract
	$(BIN)/python -m api.app.export_openapi

golden: $(READY) ## rewrite the golden files from the code, for review as a diff
	$(BIN)/python -m tests.golden --write

COMPILE := $(BIN)/uv pip compile --universal --generate-hashes --no-header --no-emit-index-url \
  --extra server --extra two-party
lock: ## resolve the dependencies anew
	$(COMPILE) --extra demographics --extra ray --extra onnx --extra traces --group dev pyproject.toml -o requirements.lock
	$(COMPILE) --group build --constraint requirements.lock pyproject.toml -o requirements-demo.lock

# uv where it is there or pip can bring it, plain pip otherwise; the same lock with hashes for both.
# $(1) is the lock, $(2) its size and $(3) the command of uv: sync removes what the lock does not hold.
define install
	@test -x $(BIN)/python || { echo "Making a virtual environment in .venv"; $(PYTHON) -m venv .venv; }
	@UV=$$(command -v uv) || { echo "Getting uv, which installs faster than pip"; \
	  $(BIN)/python -m pip install -q uv && UV=$(BIN)/uv; } || UV=; \
	export VIRTUAL_ENV="$(CURDIR)/.venv"; \
	if test -n "$$UV"; then LOCKED="$$UV pip $(3)"; OWN="$$UV pip install"; \
	else OWN="$(BIN)/python -m pip install"; LOCKED="$$OWN -r"; fi; \
	echo "Installing the packages of $(1) ($(2) on disk)"; \
	$$LOCKED $(1) -q --require-hashes && \
	echo "Installing platform-auditor itself" && \
	$$OWN -q --no-deps --no-build-isolation -e .
endef

$(READY): requirements.lock requirements-demo.lock pyproject.toml
	$(call install,requirements.lock,2.4 GB,sync)
	@touch $(READY) $(DEMO_READY)

# It removes nothing, so that it may follow the install of everything.
$(DEMO_READY): requirements-demo.lock pyproject.toml
	$(call install,requirements-demo.lock,1.2 GB,install -r)
	@touch $(DEMO_READY)

clean: ## remove what was made
	rm -rf .venv demo-output dist site
