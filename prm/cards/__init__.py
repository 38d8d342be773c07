"""Describes a trained model and its evaluations: tables for a shell, a card for people. No torch."""

from prm.cards.folder import CARD_FILE, write_card
from prm.cards.model import FITTED_ON, About, model_card
from prm.cards.tables import evaluation_tables, markdown_table, report_table

__all__ = [
    "CARD_FILE",
    "FITTED_ON",
    "About",
    "evaluation_tables",
    "markdown_table",
    "model_card",
    "report_table",
    "write_card",
]
