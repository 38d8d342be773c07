"""Labelling: drafts, submissions, revisions, disputes and adjudications."""
