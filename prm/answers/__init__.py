"""Extracts final answers from a solution's text, compares them with a reference, and groups them for a vote.

`grade` is exact and safe on any text, and returns None if it needs algebra; `prm.answers.process.Grader` then uses a
separate process. No torch.
"""

from prm.answers.extracting import final_answer
from prm.answers.grading import Answer, agrees, grade, normalised

__all__ = ["Answer", "agrees", "final_answer", "grade", "normalised"]
