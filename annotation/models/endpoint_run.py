from django.db import models

from annotation.models.job import Job
from annotation.models.message_field import MessageField


class EndpointRun(Job):
    """A job that calls an endpoint of the operator.

    `endpoint` and `model` are names; the address and the key are in the operator's settings. The token budget includes
    prompts; 0 is no limit.
    """

    endpoint = models.CharField(max_length=100)
    model = models.CharField(max_length=200)
    prompt = models.TextField()
    temperature = models.FloatField(default=0.0)
    max_tokens = models.PositiveIntegerField(default=2048)
    token_budget = models.PositiveBigIntegerField(default=0)
    seed = models.BigIntegerField()
    calls = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    note = MessageField(help_text="How it ended, if there is more to say than its state.")

    class Meta(Job.Meta):
        abstract = True

    @property
    def outcome(self) -> str:
        outcome: str = self.error or self.note
        return outcome

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens
