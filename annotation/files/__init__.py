"""Files in: streaming import, step decomposition, de-duplication."""
