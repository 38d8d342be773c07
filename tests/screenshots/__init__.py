"""Pictures of every page and state at two sizes, light and dark, and a sheet of all: `python -m tests.screenshots`."""
