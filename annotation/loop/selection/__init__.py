"""Selects what is labelled next: generations, their candidates, lanes and ranking."""
