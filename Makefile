# make run      start Stepmark on this machine          PORT=8000 HOST=127.0.0.1
# make test     every test                              TESTS="tests/unit -k name"
# make test-fast  unit tests of the library and of the services, without processes, torch and slow tests: between two edits
# make check    style, types, import rules, spelling, generated files, the documentation's links
# make docs     the documentation as a site, in dist/docs/site
# make format   rewrite Python to the style
# make lock     the newest versions that fit together into requirements.txt, and whether each platform has wheels of them
# make wheels   the library and the platform as wheels, in dist/
# make types    the front end's types of the API; make messages: the catalogues of the languages
PYTHON ?= python3
TESTS ?= tests
# Containers often forbid Python to keep what it compiled: each of the hundred processes of the tests would compile torch again.
unexport PYTHONDONTWRITEBYTECODE

IN := .venv/bin/python -m
EXTRAS := gpu s3
PLATFORMS := x86_64-manylinux_2_28 aarch64-manylinux_2_28 aarch64-apple-darwin
# Four processes on two cores: many tests wait for a process that they started.
PYTEST := pytest --numprocesses 4 --max-worker-restart 0 --dist loadfile --no-loadscope-reorder -o console_output_style=classic
# mypy reads the settings, which ask for addresses; it uses none of them.
UNUSED_SERVERS := DATABASE_URL=postgresql:/// REDIS_URL=redis://unused

.PHONY: run test test-fast check docs format types messages lock wheels install install-dev

run: install
	@exec $(IN) launch run

test: install-dev
	@$(IN) launch.chromium
	@$(IN) launch.frontend
	@$(IN) launch.frontend test
	@$(IN) $(PYTEST) $(TESTS)

test-fast: install-dev
	@$(IN) $(PYTEST) --fast tests/architecture tests/unit --ignore tests/unit/labelling_ui

check: install-dev
	$(IN) ruff check .
	$(IN) ruff format --check .
	$(UNUSED_SERVERS) $(IN) mypy
	.venv/bin/lint-imports
	.venv/bin/typos
	@$(IN) piplicenses > /dev/null
	$(IN) launch.frontend typecheck
	$(IN) launch.api_types --check
	@$(UNUSED_SERVERS) .venv/bin/python manage.py messages --check
	@$(UNUSED_SERVERS) $(IN) docs.site

docs: install-dev
	@$(UNUSED_SERVERS) $(IN) docs.site

format: install-dev
	$(IN) ruff check --fix .
	$(IN) ruff format .

types: install-dev
	$(IN) launch.api_types

messages: install-dev
	@$(UNUSED_SERVERS) .venv/bin/python manage.py messages
	@$(IN) launch.catalogues

lock: export MACOSX_DEPLOYMENT_TARGET := 14.0
lock: install
	@$(IN) pip install --quiet uv==0.13.9
	@$(PYTHON) launch/bootstrap.py --list $(EXTRAS) dev | $(IN) uv pip compile - --quiet --upgrade --universal \
		--python-version 3.11 --no-annotate --custom-compile-command "make lock" --output-file requirements.txt
	@for version in 3.11 3.12 3.13; do for platform in $(PLATFORMS); do \
		$(PYTHON) launch/bootstrap.py --list $(EXTRAS) | $(IN) uv pip compile - --quiet --only-binary :all: \
			--constraint requirements.txt --python-platform $$platform --python-version $$version > /dev/null \
			|| exit 1; \
		echo "Python $$version, $$platform: every package has a wheel."; \
	done; done

wheels: install-dev
	@$(IN) launch.frontend
	$(IN) pip wheel --quiet --no-deps --wheel-dir dist ./prm .

install:
	@$(PYTHON) launch/bootstrap.py $(EXTRAS)
	@$(IN) launch.catalogues

install-dev:
	@$(PYTHON) launch/bootstrap.py $(EXTRAS) dev
	@$(IN) launch.catalogues
