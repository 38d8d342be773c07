"""The commands of `python -m prm`: each module has `add(commands)`, which declares its options and function."""
