"""Search, rewards and a connected policy on the sandbox, each in about two minutes: `python -m examples.best_of_n`."""
