"""A project's settings: several pages, each a form of a few parts."""
