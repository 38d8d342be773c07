"""The commands of `python -m prm`, one per module: `add(commands)` declares the options and the function to run."""
