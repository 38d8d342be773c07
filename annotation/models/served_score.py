from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

from annotation.models.api_token import ApiToken
from annotation.models.model_version import ModelVersion
from annotation.models.project import Project


class ServedScore(models.Model):
    """An entry of the score log: one solution's score as served, or the reason why it has none.

    `request` and `index` identify it in the caller's response. Number and hash of the model remain if the version is
    deleted. `text` is stored if the project's policy says so; `text_hash` always, so that the scores of a known text
    can be found. `seconds` is the time from request to response, `batch` the number of requests scored together.
    """

    request = models.UUIDField()
    index = models.PositiveIntegerField(default=0)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="served_scores")
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    token = models.ForeignKey(ApiToken, null=True, on_delete=models.SET_NULL, related_name="+")
    route = models.CharField(max_length=10)
    domain = models.CharField(max_length=100, blank=True)
    model_version = models.ForeignKey(ModelVersion, null=True, on_delete=models.SET_NULL, related_name="served_scores")
    model_number = models.PositiveIntegerField(null=True)
    model_sha256 = models.CharField(max_length=64, blank=True)
    aggregate = models.CharField(max_length=10)
    text_hash = models.CharField(max_length=64)
    text = models.JSONField(null=True)
    mean = ArrayField(models.FloatField(null=True), default=list)
    spread = ArrayField(models.FloatField(null=True), default=list)
    score = models.FloatField(null=True)
    first_suspicious = models.IntegerField(null=True)
    uncertainty = models.FloatField(null=True)
    distance = models.FloatField(null=True)
    out_of_domain = models.BooleanField(null=True)
    abstained = models.BooleanField(null=True)
    failure = models.CharField(max_length=40, blank=True)
    seconds = models.FloatField()
    batch = models.PositiveIntegerField(default=1)
    asked_at = models.DateTimeField()

    class Meta:
        ordering = ["-asked_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["request", "index"], name="served_score_once")]
        indexes = [
            models.Index(fields=["project", "-asked_at"], name="served_score_by_time"),
            models.Index(fields=["text_hash"], name="served_score_by_text"),
            GinIndex(
                models.Func("text", function="served_words", output_field=SearchVectorField()),
                name="served_score_by_words",
            ),
        ]

    def __str__(self) -> str:
        return f"score {self.request}/{self.index}"
