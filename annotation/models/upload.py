import uuid

from django.contrib.auth.models import User
from django.db import models

from annotation.models.project import Project

UPLOADS = "uploads"


class Upload(models.Model):
    """An unfinished upload of a file. It resumes at `offset`; a complete upload can be imported.

    `fingerprint` identifies the file for its sender, so that choosing the same file again resumes the upload.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    filename = models.CharField(max_length=300)
    fingerprint = models.CharField(max_length=300, blank=True)
    size = models.PositiveBigIntegerField()
    pieces = models.JSONField(default=list, help_text="Its pieces in a bucket, as (SHA-256, bytes).")
    offset = models.PositiveBigIntegerField(default=0, help_text="Bytes that are stored.")
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-touched_at"]

    def __str__(self) -> str:
        return f"upload of {self.filename}, {self.offset} of {self.size} bytes"

    @property
    def key(self) -> str:
        return f"{UPLOADS}/{self.id.hex}"
