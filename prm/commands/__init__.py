"""What `python -m prm` can do: each module has `add(commands)`, which declares its options and what is run."""
