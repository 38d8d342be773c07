"""Imports: uploads, splitting into steps, de-duplication, other tools' projects, answer checks."""
