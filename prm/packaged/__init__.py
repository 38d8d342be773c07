"""Pretrained backbones whose weights are in a Python package."""
