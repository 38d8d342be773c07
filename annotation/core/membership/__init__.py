"""Membership of projects, roles, accounts, and the API tokens of programs."""
