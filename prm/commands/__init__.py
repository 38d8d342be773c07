"""What `python -m prm` can do, one command a module: `add(commands)` declares its options and the function to run."""
