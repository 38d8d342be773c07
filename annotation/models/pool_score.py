from typing import Annotated

import msgspec
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Func, IntegerField, Sum
from django.db.models.functions import Coalesce

from annotation.core.bounds import about
from annotation.models.job import Job
from annotation.models.model_version import ModelVersion
from annotation.models.project import Project
from annotation.models.solution import Solution
from annotation.models.struct_field import StructField


class PoolScore(models.Model):
    """The scores of one solution by one model version, as ranking needs them.

    `mean` and `spread` have one entry per step: the ensemble's mean probability that the step is good given a good
    prefix, and its standard deviation; null beyond the context. `heads` has the probability of each head for each
    scored step, for the acquisition functions: little-endian float16, one row per scored step. `embedding` is the
    solution's embedding (`prm` TraceScore), float16 too; empty if there is none.

    The table has a partition per version, created and dropped by `annotation.loop.pool.partitions`. Its keys have no
    foreign key constraints, so that this takes no lock on the tables of solutions and versions.
    """

    pk = models.CompositePrimaryKey("model_version_id", "solution_id")
    model_version = models.ForeignKey(
        ModelVersion, on_delete=models.CASCADE, related_name="pool_scores", db_constraint=False
    )
    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="pool_scores", db_constraint=False)
    mean = ArrayField(models.FloatField(null=True))
    spread = ArrayField(models.FloatField(null=True))
    score = models.FloatField(null=True, help_text="The solution's score; null if no step was scored.")
    gain = models.FloatField(null=True, help_text="Expected information about the first error, nats.")
    expected_seconds = models.FloatField(null=True)
    heads = models.BinaryField(default=bytes)
    embedding = models.BinaryField(default=bytes)
    unscored_steps = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"score of solution {self.solution_id} by model {self.model_version_id}"


class PoolShard(models.Model):
    """Solutions that a version has yet to score. A worker locks the row, and deletes it when the shard is scored."""

    model_version = models.ForeignKey(ModelVersion, on_delete=models.CASCADE, related_name="pool_shards")
    solutions = ArrayField(models.BigIntegerField())

    def __str__(self) -> str:
        return f"{len(self.solutions)} solutions for model {self.model_version_id}"


class ScoreAgreement(msgspec.Struct):
    """A check of stored scores against fresh ones."""

    checked: Annotated[int, about("Number of stored scores that were compared.")]
    differing: Annotated[
        list[int], about("The ids of solutions whose stored score was off by more than the tolerance.")
    ]
    worst: Annotated[float, about("The largest difference.")]
    tolerance: Annotated[float, about("The largest difference that is accepted.")]


class PoolScoring(Job):
    """The scoring of the pool by one version. Several workers score shards of it at the same time.

    `steps` and `seconds` are summed over workers. `agreement` compares a sample of stored scores with fresh ones.
    """

    KIND = "pool"
    TASK = "rounds.score_pool"
    QUEUE = "score"
    COUNTS = ("wanted",)
    SHARED = True

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="pool_scorings")
    model_version = models.OneToOneField(ModelVersion, on_delete=models.CASCADE, related_name="pool_scoring")
    wanted = models.PositiveIntegerField(default=0)
    steps = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0)
    cut_at = models.DateTimeField(null=True)
    agreement: "StructField[ScoreAgreement | None]" = StructField(ScoreAgreement, null=True)
    checked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"scoring of the pool by model {self.model_version_id} ({self.state})"

    @property
    def part(self) -> str:
        """Its first seat."""
        return "0"

    @property
    def subject(self) -> models.Model:
        return self.model_version

    @property
    def left(self) -> int:
        """How many solutions are cut and not scored yet."""
        size = Func("solutions", function="cardinality", output_field=IntegerField())
        left: int = self.model_version.pool_shards.aggregate(left=Coalesce(Sum(size), 0))["left"]
        return left

    @property
    def share(self) -> float | None:
        return 1 - self.left / self.wanted if self.wanted else None

    @property
    def handled(self) -> int:
        return self.wanted - self.left
