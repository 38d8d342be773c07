from django.db import models

from annotation.models import choices
from annotation.models.job import Job, one_live
from annotation.models.project import Project
from annotation.models.solution import Solution


class AnswerCheck(Job):
    """A run of the grader over the solutions of a project. Counts are of solutions; `done_up_to` is the last one's id.

    Outcomes from an import or from tests stay, unless `overwrite` is set. Those that differ from the grader's are
    listed in any case.
    """

    KIND = "answers"
    TASK = "intake.check_answers"
    COUNTS = ("correct", "wrong", "unknown", "changed")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="answer_checks")
    overwrite = models.BooleanField(default=False, help_text="Also outcomes from imports and tests.")
    total = models.PositiveIntegerField(default=0, help_text="Solutions of problems with a reference answer.")
    done = models.PositiveIntegerField(default=0)
    done_up_to = models.BigIntegerField(default=0)
    correct = models.PositiveIntegerField(default=0)
    wrong = models.PositiveIntegerField(default=0)
    unknown = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)

    class Meta(Job.Meta):
        constraints = [one_live("project", name="answer_check_one_live_per_project")]

    @property
    def share(self) -> float | None:
        return self.done / self.total if self.total else None

    @property
    def handled(self) -> int:
        return self.done

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
