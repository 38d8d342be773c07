"""File formats, one per module: each reads records and writes those that it can express."""
