"""Splits the text of a solution into steps, for imports, sampling, search and rewards. No torch."""

from prm.splitting.splitting import RULES, THINKING, SplitText, Splitting, Thinking

__all__ = ["RULES", "THINKING", "SplitText", "Splitting", "Thinking"]
