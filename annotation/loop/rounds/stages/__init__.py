"""One stage a module, each with `perform(work) -> Outcome`; running it twice ends as running it once."""
