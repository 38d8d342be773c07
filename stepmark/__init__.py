"""Stepmark as installed from its wheel; the packages of the checkout are in the folder `app`."""
