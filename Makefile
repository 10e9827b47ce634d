# Everything a person does with a clone. `make help` lists it.
#
# Set-up (packaging/set-up.sh) runs before each target that needs it and takes seconds once all is there.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help run test demo check bundle smoke screenshots clean

PYTHON := .venv/bin/python
SET_UP := ./packaging/set-up.sh

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1 \t/p' Makefile | expand -t 20

run: ## set up and open the app
	@if [ "$$(uname)" = Linux ] && [ -z "$$DISPLAY$$WAYLAND_DISPLAY$$QT_QPA_PLATFORM" ]; then \
		echo 'There is no display here, so the window cannot open. `make demo` shows Keepsake in the terminal.' >&2; \
		exit 2; \
	fi
	@$(SET_UP) run
	@$(PYTHON) -m app $(ARGS)

demo: ## replay a sample conversation in the terminal and show what is remembered
	@$(SET_UP) run
	@$(PYTHON) -m core demo $(ARGS)

test: ## set up and run every test
	@$(SET_UP) test
	@$(PYTHON) -m pytest $(ARGS)

check: ## ruff, mypy and the import contracts
	@$(SET_UP) test
	@./packaging/check.sh

bundle: ## build dist/keepsake, a folder that runs without Python
	@$(SET_UP) bundle
	@./packaging/bundle.sh

smoke: ## run the bundle with an empty home, no Python and no network
	@$(SET_UP) bundle
	@if [ ! -x dist/keepsake/keepsake ] || [ -n "$$(find app core resources packaging models.txt \
		-type f ! -name '*.pyc' -newer dist/keepsake/keepsake | head -n 1)" ]; then ./packaging/bundle.sh; fi
	@$(PYTHON) packaging/smoke.py dist/keepsake

screenshots: ## make the pictures in docs/
	@$(SET_UP) test
	@$(PYTHON) packaging/screenshots.py $(ARGS)

clean: ## remove what set-up and builds made here (the shared cache stays)
	rm -rf .venv build dist .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -f resources/models/*.gguf resources/models/*.part
	find app core tests benchmarks packaging -name __pycache__ -type d -prune -exec rm -rf {} +
