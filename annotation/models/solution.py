import msgspec
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q

from annotation.models import choices
from annotation.models.project import Project
from prm.formats.record import Provenance
from prm.vocabulary import OUTCOME_SOURCES, SPLITS, STEP_KINDS


class Problem(models.Model):
    """A problem with its reference. Numeric variants share a `source_group`, and therefore a split."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="problems", db_index=False, db_constraint=False
    )
    text = models.TextField()
    text_hash = models.CharField(max_length=64, help_text="SHA-256 of the normalised text.")
    source_group = models.CharField(max_length=200)
    split = models.CharField(max_length=12, choices=choices.SPLITS)
    domain = models.CharField(max_length=100, blank=True)
    reference_answer = models.TextField(null=True, blank=True)
    reference_solution = models.TextField(null=True, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["text_hash", "project"], name="problem_once_per_project"),
            models.UniqueConstraint(fields=["id", "split"], name="problem_split_key"),
            models.CheckConstraint(condition=Q(split__in=SPLITS), name="problem_split_known"),
        ]
        indexes = [
            models.Index(fields=["project", "source_group"], name="problem_source_group"),
            models.Index(fields=["project", "domain"], name="problem_domain"),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class Solution(models.Model):
    """One sampled answer or agent run to a problem.

    `split` repeats the problem's; a composite foreign key keeps the two equal. `final_answer_correct` is the outcome:
    right, wrong, or unknown. `provenance` is read as `origin`. Columns that begin another index have no index of their
    own, because imports pay for every index on every row.
    """

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="solutions", db_index=False, db_constraint=False
    )
    problem = models.ForeignKey(
        Problem, on_delete=models.CASCADE, related_name="solutions", db_index=False, db_constraint=False
    )
    split = models.CharField(max_length=12, choices=choices.SPLITS)
    content_hash = models.CharField(max_length=64, help_text="SHA-256 of the steps as first imported.")
    external_id = models.CharField(max_length=200, blank=True)
    generator = models.CharField(max_length=200, blank=True, help_text="The policy model that wrote it.")
    final_answer = models.TextField(null=True, blank=True)
    final_answer_correct = models.BooleanField(null=True, blank=True)
    outcome_source = models.CharField(max_length=8, choices=choices.OUTCOME_SOURCES, blank=True)
    provenance = models.JSONField(default=dict, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    multiplicity = models.PositiveIntegerField(default=1, help_text="How many equal samples it stands for.")
    import_job = models.ForeignKey(
        "annotation.ImportJob",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="solutions",
        db_constraint=False,
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["problem", "content_hash"], name="solution_once_per_problem"),
            models.UniqueConstraint(fields=["id", "split"], name="solution_split_key"),
            models.CheckConstraint(
                condition=Q(outcome_source__in=["", *OUTCOME_SOURCES]), name="solution_outcome_source_known"
            ),
        ]
        indexes = [
            models.Index(fields=["project", "split", "generator"], name="solution_project_split"),
            models.Index(fields=["project", "external_id"], condition=~Q(external_id=""), name="solution_external_id"),
        ]

    def __str__(self) -> str:
        return f"solution {self.pk}"

    @property
    def origin(self) -> Provenance:
        return msgspec.convert(self.provenance, Provenance)

    @property
    def sampled_steps(self) -> list["Step"]:
        """The steps in order, without alternatives: what models and judges read."""
        return [step for step in self.steps.all() if step.alternative == 0]


class Step(models.Model):
    """A completion at a position of a solution; a position can have several alternatives.

    An `added` one came with an imported label and was not sampled with the solution.
    """

    solution = models.ForeignKey(
        Solution, on_delete=models.CASCADE, related_name="steps", db_index=False, db_constraint=False
    )
    position = models.PositiveIntegerField()
    alternative = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    kind = models.CharField(max_length=12, choices=choices.STEP_KINDS, default="reasoning")
    added = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["position", "alternative"]
        constraints = [
            models.UniqueConstraint(fields=["solution", "position", "alternative"], name="step_place_once"),
            models.CheckConstraint(condition=Q(kind__in=STEP_KINDS), name="step_kind_known"),
        ]

    def __str__(self) -> str:
        return f"step {self.position}.{self.alternative} of {self.solution_id}"


class SolutionWords(models.Model):
    """The distinct words of a solution as imported, with its problem's, for search. Only imports write rows."""

    solution = models.OneToOneField(
        Solution, primary_key=True, on_delete=models.CASCADE, related_name="search_words", db_constraint=False
    )
    words = SearchVectorField()

    class Meta:
        indexes = [GinIndex(fields=["words"], name="solution_by_words")]

    def __str__(self) -> str:
        return f"words of solution {self.solution_id}"


class Critique(models.Model):
    """An imported explanation of what is wrong with a step, for annotators to rate.

    `ordinal` counts a step's critiques from 0, in the order in which they are shown.
    """

    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="critiques", db_index=False)
    ordinal = models.PositiveIntegerField()
    text = models.TextField()

    class Meta:
        ordering = ["ordinal"]
        constraints = [models.UniqueConstraint(fields=["step", "ordinal"], name="critique_place_once")]

    def __str__(self) -> str:
        return f"critique {self.ordinal} of step {self.step_id}"
