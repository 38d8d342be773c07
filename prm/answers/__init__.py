"""Final answers: extracted from a solution's text, compared with a reference, and grouped for a vote.

`grade` is exact and safe on any text, and says None where it would take algebra; `prm.answers.process.Grader` goes on
from there in a process of its own. No torch.
"""

from prm.answers.extracting import final_answer
from prm.answers.grading import Answer, agrees, grade, normalised

__all__ = ["Answer", "agrees", "final_answer", "grade", "normalised"]
