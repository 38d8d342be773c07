"""One file format a module, each a `read()` and a `write()` that round-trip."""
