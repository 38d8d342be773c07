"""Date formats of each language that differ from Django's."""
