# make run    start Stepmark on this machine (PORT=8000)
# make test   every test; make check: style, types, import rules, generated files
PYTHON ?= python3
PORT ?=
export PORT

.PHONY: run install

run: install
	@exec .venv/bin/python -m launch run

install:
	@$(PYTHON) launch/bootstrap.py requirements.txt
