from django.contrib.postgres.fields import ArrayField
from django.db import models

from annotation.models.message_field import MessageField
from annotation.models.model_version import ModelVersion
from annotation.models.solution import Solution


class PoolScore(models.Model):
    """What ranking needs of one solution under one model version.

    `mean` and `spread` have one entry a step: the ensemble's mean probability that the step is good
    given a good prefix, and its standard deviation; null where the step did not fit the context.
    `heads` has what the acquisition functions need, the probability of each head for each scored step:
    little-endian float16, row by row, one row a scored step. `embedding` is the solution's place among
    others (`prm` TraceScore), float16 too; empty where there is none.

    The table has a partition per version, made and dropped by `annotation.loop.pool.partitions`; its keys
    have no foreign key constraint, so that neither takes a lock on the tables of solutions and versions.
    """

    pk = models.CompositePrimaryKey("model_version_id", "solution_id")
    model_version = models.ForeignKey(
        ModelVersion, on_delete=models.CASCADE, related_name="pool_scores", db_constraint=False
    )
    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="pool_scores", db_constraint=False)
    mean = ArrayField(models.FloatField(null=True))
    spread = ArrayField(models.FloatField(null=True))
    score = models.FloatField(null=True, help_text="The solution's score; null where nothing was scored.")
    gain = models.FloatField(null=True, help_text="Expected information about the first error, nats.")
    expected_seconds = models.FloatField(null=True)
    heads = models.BinaryField(default=bytes)
    embedding = models.BinaryField(default=bytes)
    unscored_steps = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"score of solution {self.solution_id} by model {self.model_version_id}"


class PoolShard(models.Model):
    """Solutions that a version has yet to score. A worker at it holds the row's lock; a finished shard is gone."""

    model_version = models.ForeignKey(ModelVersion, on_delete=models.CASCADE, related_name="pool_shards")
    solutions = ArrayField(models.BigIntegerField())

    def __str__(self) -> str:
        return f"{len(self.solutions)} solutions for model {self.model_version_id}"


class PoolScoring(models.Model):
    """How far a version's scoring of the pool is, of the solutions that were last cut into shards.

    `epoch` tells the chains of tasks that still count from those that a sweep has replaced. `steps` and `seconds`
    are summed over workers. `agreement` says how a sample of the stored scores agreed with fresh ones.
    """

    model_version = models.OneToOneField(
        ModelVersion, primary_key=True, on_delete=models.CASCADE, related_name="pool_scoring"
    )
    epoch = models.PositiveIntegerField(default=0)
    wanted = models.PositiveIntegerField(default=0)
    steps = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0)
    cut_at = models.DateTimeField(null=True)
    beaten_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    error = MessageField()
    agreement = models.JSONField(default=dict)
    checked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"scoring of the pool by model {self.model_version_id}"
