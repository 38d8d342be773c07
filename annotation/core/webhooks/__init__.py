"""Webhooks: events of a project, sent to addresses that its managers registered."""
