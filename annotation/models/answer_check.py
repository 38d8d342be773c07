from django.db import models

from annotation.models import choices
from annotation.models.job import CountedJob, one_live
from annotation.models.project import Project
from annotation.models.solution import Solution


class AnswerCheck(CountedJob):
    """A run of the grader over the solutions of a project that have a reference answer.

    Counts are of solutions; `done_up_to` is the last one's id.
    Outcomes from an import or from tests stay, unless `overwrite` is set. Those that differ from the grader's are
    listed in any case.
    """

    KIND = "answers"
    TASK = "intake.check_answers"
    COUNTS = ("correct", "wrong", "unknown", "changed")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="answer_checks")
    overwrite = models.BooleanField(default=False, help_text="Also outcomes from imports and tests.")
    done_up_to = models.BigIntegerField(default=0)
    correct = models.PositiveIntegerField(default=0)
    wrong = models.PositiveIntegerField(default=0)
    unknown = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)

    class Meta(CountedJob.Meta):
        constraints = [one_live("project", name="answer_check_one_live_per_project")]

    def __str__(self) -> str:
        return f"answer check {self.pk} ({self.state})"


class OutcomeDisagreement(models.Model):
    """A solution whose outcome from an import or from tests differs from the grader's."""

    check_run = models.ForeignKey(AnswerCheck, on_delete=models.CASCADE, related_name="disagreements")
    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="+")
    was = models.BooleanField()
    was_source = models.CharField(max_length=8, choices=choices.OUTCOME_SOURCES)
    graded = models.BooleanField()
    answer = models.TextField(blank=True, help_text="The answer that was compared with the reference.")

    class Meta:
        ordering = ["solution_id"]
        constraints = [
            models.UniqueConstraint(fields=["check_run", "solution"], name="outcome_disagreement_once_a_check")
        ]

    def __str__(self) -> str:
        return f"solution {self.solution_id} in {self.check_run}"
