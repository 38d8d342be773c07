"""Stepmark as its wheel installs it; the folder `app` has the packages of the checkout."""
