"""A project's settings: pages of a few parts, each page a form that is saved by itself."""
