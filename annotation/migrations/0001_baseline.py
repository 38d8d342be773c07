"""The tables of release 0.1.0. What the models cannot express is SQL, in the folder `sql` beside this file."""

import uuid
from pathlib import Path
from typing import Any

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
from django.conf import settings
from django.core.management.base import CommandError
from django.db import migrations, models

import annotation.models.message_field

SQL = Path(__file__).parent / "sql"


def sql(name: str) -> migrations.RunSQL:
    """The statements of sql/NAME.sql: what the models cannot express."""
    return migrations.RunSQL((SQL / f"{name}.sql").read_text())


def refuse_older_database(apps: Any, schema_editor: Any) -> None:
    """Development versions before 0.1.0 had other migrations, which this release cannot carry forward."""
    if "annotation_project" in schema_editor.connection.introspection.table_names():
        raise CommandError(
            "This database was made by a version of Stepmark before 0.1.0. "
            "Export its projects with that version, then start this one on an empty database and import them."
        )


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(refuse_older_database, migrations.RunPython.noop),
        sql("served_words"),
        migrations.CreateModel(
            name="LabelSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("human", "people"),
                            ("simulated", "simulated people"),
                            ("consensus", "consensus in a file"),
                            ("model_judge", "model judges"),
                            ("monte_carlo", "Monte Carlo estimates"),
                            ("heuristic", "heuristics"),
                        ],
                        max_length=12,
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=200)),
                ("detail", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["human", "simulated", "consensus", "model_judge", "monte_carlo", "heuristic"])
                        ),
                        name="label_source_kind_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("active", "Active"),
                            ("submitted", "Submitted"),
                            ("expired", "Expired"),
                            ("released", "Released"),
                        ],
                        default="active",
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField(blank=True, help_text="Why it was released.")),
                ("claimed_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "active")), fields=["expires_at"], name="lease_expiry")
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("challenger", "Challenger"),
                            ("champion", "Champion"),
                            ("rejected", "Rejected"),
                            ("retired", "Retired"),
                        ],
                        default="challenger",
                        max_length=10,
                    ),
                ),
                ("path", models.CharField(max_length=300)),
                ("sha256", models.CharField(max_length=64)),
                ("manifest", models.JSONField(default=dict)),
                ("metrics", models.JSONField(default=dict)),
                ("gate", models.JSONField(null=True)),
                ("audits", models.JSONField(null=True)),
                (
                    "origin",
                    models.CharField(
                        choices=[("trained", "Trained"), ("imported", "Imported")], default="trained", max_length=8
                    ),
                ),
                ("imported_from", models.CharField(blank=True, max_length=300)),
                ("pinned", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("promoted_at", models.DateTimeField(blank=True, null=True)),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
                ("weights_deleted_at", models.DateTimeField(blank=True, null=True)),
                ("files_deleted", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["-number"],
            },
        ),
        migrations.CreateModel(
            name="Preference",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="preference",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("language", models.CharField(blank=True, max_length=10)),
                ("first_password", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=80, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("scheme", models.JSONField(blank=True, default=dict)),
                ("policy", models.JSONField(blank=True, default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[("active", "Active"), ("paused", "Paused")], default="active", max_length=10
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="GuidelineVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField(blank=True, help_text="Markdown, shown in the workbench.")),
                (
                    "examples",
                    models.JSONField(blank=True, default=list, help_text="Rated steps, shown with the guidelines."),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="guideline_versions",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "number"), name="guideline_version_number_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="AnswerCheck",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "overwrite",
                    models.BooleanField(default=False, help_text="Also outcomes from imports and tests."),
                ),
                ("total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("done_up_to", models.BigIntegerField(default=0)),
                ("correct", models.PositiveIntegerField(default=0)),
                ("wrong", models.PositiveIntegerField(default=0)),
                ("unknown", models.PositiveIntegerField(default=0)),
                ("changed", models.PositiveIntegerField(default=0)),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answer_checks",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["queued", "running"])),
                        fields=("project",),
                        name="answer_check_one_live_per_project",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("claim", "tasks from the queue"),
                                ("submit", "labels and decisions on labels"),
                                ("read", "data and results"),
                                ("score", "scores of the served model"),
                                ("train", "generations, samples, runs and models"),
                                ("export", "datasets and models to download"),
                                ("admin", "imports and all other changes"),
                            ],
                            max_length=10,
                        ),
                        size=None,
                    ),
                ),
                (
                    "for_person",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="A person labels by hand in the tool that uses it.",
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("requests_per_minute", models.PositiveIntegerField(blank=True, null=True)),
                ("requests_per_day", models.PositiveIntegerField(blank=True, null=True)),
                ("steps_per_minute", models.PositiveIntegerField(blank=True, null=True)),
                ("steps_per_day", models.PositiveIntegerField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "scopes__contained_by",
                                ["claim", "submit", "read", "score", "train", "export", "admin"],
                            )
                        ),
                        name="token_scopes_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportGroup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "requested_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="import_groups",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="ImportJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("filename", models.CharField(max_length=300)),
                (
                    "path",
                    models.CharField(help_text="See annotation.files.places.", max_length=2000),
                ),
                ("format", models.CharField(default="auto", max_length=40)),
                ("decomposition", models.CharField(default="blank_lines", max_length=40)),
                ("options", models.JSONField(blank=True, default=dict)),
                ("total_bytes", models.PositiveBigIntegerField(default=0)),
                ("done_bytes", models.PositiveBigIntegerField(default=0)),
                (
                    "done_records",
                    models.PositiveBigIntegerField(default=0, help_text="Where a restarted import resumes."),
                ),
                ("accepted", models.PositiveBigIntegerField(default=0)),
                ("duplicates", models.PositiveBigIntegerField(default=0)),
                ("rejected", models.PositiveBigIntegerField(default=0)),
                ("annotations", models.PositiveBigIntegerField(default=0)),
                (
                    "warnings",
                    models.JSONField(
                        blank=True, default=dict, help_text="Counts by name; see annotation.files.warnings."
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="jobs",
                        to="annotation.importgroup",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="import_jobs", to="annotation.project"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ImportRejection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("line", models.PositiveBigIntegerField(help_text="1-based line, or record number in a JSON array.")),
                ("field", models.CharField(blank=True, max_length=200)),
                ("reason", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("excerpt", models.TextField(blank=True)),
                (
                    "original",
                    models.BinaryField(help_text="The whole record as in the file, unless it is too long.", null=True),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rejections",
                        to="annotation.importjob",
                    ),
                ),
            ],
            options={
                "ordering": ["line", "id"],
            },
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("body", models.JSONField()),
                ("saved_at", models.DateTimeField(auto_now=True)),
                (
                    "lease",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="draft", to="annotation.lease"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("annotator", "Annotator"), ("reviewer", "Reviewer"), ("manager", "Manager")],
                        max_length=10,
                    ),
                ),
                ("name_in_file", models.CharField(blank=True, max_length=200, null=True)),
                ("pseudonym", models.UUIDField(default=uuid.uuid4, editable=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("person", "Person"), ("machine", "Machine"), ("simulated", "Simulated person")],
                        default="person",
                        max_length=10,
                    ),
                ),
                (
                    "domains",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(blank=True, max_length=100), blank=True, null=True, size=None
                    ),
                ),
                ("active", models.BooleanField(default=True)),
                ("joined_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to="annotation.project"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "user"), name="membership_once_per_project"),
                    models.UniqueConstraint(fields=("project", "name_in_file"), name="membership_file_name_once"),
                    models.UniqueConstraint(fields=("project", "pseudonym"), name="membership_pseudonym_once"),
                    models.CheckConstraint(
                        condition=models.Q(("name_in_file__isnull", True), ("user__isnull", False))
                        | models.Q(("active", False), ("name_in_file__isnull", False), ("user__isnull", True)),
                        name="membership_has_account_or_is_from_file",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["annotator", "reviewer", "manager"])),
                        name="membership_role_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["person", "machine", "simulated"])),
                        name="membership_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind", "machine"), _negated=True) | models.Q(("role", "annotator")),
                        name="membership_machine_labels",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MachineAnnotator",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model_name", models.CharField(max_length=100)),
                ("prompt_version", models.CharField(max_length=50)),
                ("family", models.CharField(max_length=100)),
                ("cost_per_label", models.FloatField(blank=True, null=True)),
                (
                    "membership",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="machine",
                        to="annotation.membership",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="machines",
                        to="annotation.labelsource",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cost_per_label__isnull", True), ("cost_per_label__gte", 0), _connector="OR"
                        ),
                        name="machine_cost_not_negative",
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="lease",
            name="annotator",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="leases", to="annotation.membership"
            ),
        ),
        migrations.CreateModel(
            name="Annotation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "lane",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("acquisition", "acquisition"),
                            ("control", "control"),
                            ("holdout", "holdout"),
                            ("calibration", "calibration"),
                            ("overlap", "overlap"),
                            ("pinned", "pinned"),
                            ("gold", "gold"),
                            ("screening", "screening"),
                        ],
                        max_length=12,
                    ),
                ),
                ("submission_id", models.UUIDField(unique=True)),
                ("payload_hash", models.CharField(max_length=64)),
                ("revision", models.PositiveIntegerField(default=1)),
                ("counted", models.BooleanField(default=False)),
                ("adjudicates", models.BooleanField(default=False, help_text="Overrides the consensus.")),
                (
                    "finish_reason",
                    models.CharField(
                        choices=[
                            ("solution", "all steps rated"),
                            ("found_error", "first error"),
                            ("give_up", "gave up"),
                            ("bad_problem", "bad problem"),
                        ],
                        max_length=12,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("first_error", models.IntegerField(blank=True, null=True)),
                ("progress", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("total_ms", models.PositiveBigIntegerField(blank=True, null=True)),
                ("comment", models.TextField(blank=True)),
                ("native", models.JSONField(blank=True, default=dict)),
                ("stated", models.JSONField(blank=True, default=dict)),
                ("submitted_at", models.DateTimeField()),
                (
                    "guidelines",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="annotations",
                        to="annotation.guidelineversion",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="annotations",
                        to="annotation.labelsource",
                    ),
                ),
                (
                    "lease",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="annotations",
                        to="annotation.lease",
                    ),
                ),
                (
                    "annotator",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="annotations",
                        to="annotation.membership",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="annotations",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "submitted_at"], name="annotation_by_day"),
                    models.Index(fields=["annotator", "submitted_at"], name="annotation_by_annotator"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("first_error__isnull", True), ("first_error__gte", -1), _connector="OR"),
                        name="annotation_first_error_is_position",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("progress__isnull", True), ("progress__lte", 4), _connector="OR"),
                        name="annotation_progress_of_four",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PoolScoring",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("wanted", models.PositiveIntegerField(default=0)),
                ("steps", models.PositiveBigIntegerField(default=0)),
                ("seconds", models.FloatField(default=0)),
                ("cut_at", models.DateTimeField(null=True)),
                ("agreement", models.JSONField(null=True)),
                ("checked_at", models.DateTimeField(null=True)),
                (
                    "model_version",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pool_scoring",
                        to="annotation.modelversion",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pool_scorings",
                        to="annotation.project",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="PoolShard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "solutions",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None),
                ),
                (
                    "model_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pool_shards",
                        to="annotation.modelversion",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RoundClock",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="round_clock",
                        serialize=False,
                        to="annotation.project",
                    ),
                ),
                ("looked_at", models.DateTimeField(null=True)),
                (
                    "drift",
                    models.FloatField(help_text="Population stability index of the champion's scores.", null=True),
                ),
                ("drift_of", models.CharField(blank=True, max_length=10)),
                ("drift_n", models.PositiveIntegerField(default=0)),
                ("measured_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Problem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField()),
                ("text_hash", models.CharField(help_text="SHA-256 of the normalised text.", max_length=64)),
                ("source_group", models.CharField(max_length=200)),
                (
                    "split",
                    models.CharField(
                        choices=[("pool", "pool"), ("calibration", "calibration"), ("holdout", "holdout")],
                        max_length=12,
                    ),
                ),
                ("domain", models.CharField(blank=True, max_length=100)),
                ("reference_answer", models.TextField(blank=True, null=True)),
                ("reference_solution", models.TextField(blank=True, null=True)),
                ("extra", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="problems",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "source_group"], name="problem_source_group"),
                    models.Index(fields=["project", "domain"], name="problem_domain"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("text_hash", "project"), name="problem_once_per_project"),
                    models.UniqueConstraint(fields=("id", "split"), name="problem_split_key"),
                    models.CheckConstraint(
                        condition=models.Q(("split__in", ["pool", "calibration", "holdout"])),
                        name="problem_split_known",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="modelversion",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="model_versions", to="annotation.project"
            ),
        ),
        migrations.CreateModel(
            name="ModelJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("audit", "Audit"), ("export", "Export"), ("import", "Import")], max_length=6
                    ),
                ),
                ("source", models.JSONField(null=True)),
                ("message", annotation.models.message_field.MessageField(blank=True, default=str)),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "model_version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="jobs",
                        to="annotation.modelversion",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="model_jobs", to="annotation.project"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["queued", "running"])),
                        fields=("model_version", "kind"),
                        name="model_job_one_live_of_a_kind",
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="labelsource",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="label_sources", to="annotation.project"
            ),
        ),
        migrations.CreateModel(
            name="LabelBatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[("suspected", "suspected"), ("set_aside", "set aside"), ("in_use", "in use")],
                        default="suspected",
                        max_length=10,
                    ),
                ),
                (
                    "judge",
                    models.CharField(
                        choices=[
                            ("overlap", "other people's labels"),
                            ("model", "the model that serves"),
                            ("reading", "the time it takes to read"),
                            ("copy", "another person’s labels"),
                            ("pattern", "their own earlier answers"),
                            ("guessing", "guesses"),
                            ("pace", "other people’s time per step"),
                            ("person", "a person"),
                        ],
                        max_length=8,
                    ),
                ),
                ("evidence", models.JSONField(blank=True, default=dict)),
                ("reason", models.TextField(blank=True)),
                ("found_at", models.DateTimeField(auto_now_add=True)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="label_batches",
                        to="annotation.labelsource",
                    ),
                ),
                (
                    "annotator",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="label_batches",
                        to="annotation.membership",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="label_batches",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "label batches",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "in_use"), _negated=True),
                        fields=["project"],
                        name="label_batch_in_question",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("until__gte", models.F("since"))), name="label_batch_ends_after_it_begins"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("annotator__isnull", False), ("source__isnull", True)),
                            models.Q(("annotator__isnull", True), ("source__isnull", False)),
                            _connector="OR",
                        ),
                        name="label_batch_is_of_one",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["suspected", "set_aside", "in_use"])),
                        name="label_batch_state_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Generation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(choices=[("open", "Open"), ("retired", "Retired")], default="open", max_length=8),
                ),
                ("acquisition", models.CharField(max_length=40)),
                ("mix", models.JSONField(default=dict)),
                ("recipe", models.JSONField(default=dict)),
                ("seed", models.BigIntegerField()),
                ("budget", models.PositiveIntegerField()),
                (
                    "pool_size",
                    models.PositiveIntegerField(default=0, help_text="How many solutions could have been chosen."),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                (
                    "model_version",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="generations",
                        to="annotation.modelversion",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="generations", to="annotation.project"
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "number"), name="generation_number_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "open")),
                        fields=("project",),
                        name="generation_one_open_per_project",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DomainChampion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("domain", models.CharField(max_length=100)),
                ("chosen_at", models.DateTimeField(auto_now=True)),
                (
                    "model_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="domains",
                        to="annotation.modelversion",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="domain_champions",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ["domain"],
                "constraints": [models.UniqueConstraint(fields=("project", "domain"), name="domain_champion_once")],
            },
        ),
        migrations.CreateModel(
            name="Dispute",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("upheld", "Upheld"),
                            ("dismissed", "Dismissed"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("resolution", models.TextField(blank=True)),
                ("resolved_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "annotation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="dispute", to="annotation.annotation"
                    ),
                ),
                (
                    "resolved_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.membership",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="disputes", to="annotation.project"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "open")), fields=["project"], name="dispute_open")
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("action", models.CharField(max_length=60)),
                ("target_type", models.CharField(max_length=60)),
                ("target_id", models.CharField(max_length=60)),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="audit_entries",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["target_type", "target_id"], name="audit_by_target"),
                    models.Index(fields=["project", "at"], name="audit_by_time"),
                    models.Index(fields=["project", "action"], name="audit_by_action"),
                ],
            },
        ),
        migrations.CreateModel(
            name="QueueItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "split",
                    models.CharField(
                        choices=[("pool", "pool"), ("calibration", "calibration"), ("holdout", "holdout")],
                        max_length=12,
                    ),
                ),
                (
                    "lane",
                    models.CharField(
                        choices=[
                            ("acquisition", "acquisition"),
                            ("control", "control"),
                            ("holdout", "holdout"),
                            ("calibration", "calibration"),
                            ("overlap", "overlap"),
                            ("pinned", "pinned"),
                            ("gold", "gold"),
                            ("screening", "screening"),
                        ],
                        max_length=12,
                    ),
                ),
                ("rank", models.PositiveIntegerField(help_text="Served in ascending order.")),
                ("wanted", models.PositiveSmallIntegerField(default=1)),
                ("leased", models.PositiveSmallIntegerField(default=0)),
                ("done", models.PositiveSmallIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[("ready", "Ready"), ("full", "Full"), ("done", "Done"), ("retired", "Retired")],
                        default="ready",
                        max_length=8,
                    ),
                ),
                ("inclusion_probability", models.FloatField(blank=True, null=True)),
                ("gain", models.FloatField(blank=True, help_text="Expected information, nats.", null=True)),
                ("expected_seconds", models.FloatField(blank=True, null=True)),
                (
                    "route",
                    models.CharField(
                        choices=[
                            ("person", "person alone"),
                            ("judge", "judge alone"),
                            ("judge_then_person", "judge, then person"),
                        ],
                        default="person",
                        max_length=17,
                    ),
                ),
                (
                    "taker",
                    models.CharField(
                        choices=[("person", "people"), ("machine", "machines")], default="person", max_length=7
                    ),
                ),
                ("rule", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("predicted_error", models.FloatField(blank=True, null=True)),
                ("audit_probability", models.FloatField(blank=True, null=True)),
                ("audited", models.BooleanField(default=False)),
                (
                    "handed_over",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("gave_up", "a judge gave up"),
                            ("unsure", "a judge was unsure"),
                            ("judges_differ", "judges differ"),
                            ("model_against", "the model contradicts a judge"),
                            ("model_doubt", "the model is unsure"),
                            ("audit", "audit"),
                            ("manager", "by a manager"),
                        ],
                        max_length=13,
                    ),
                ),
                ("paused", models.BooleanField(default=False)),
                ("pinned", models.BooleanField(default=False)),
                ("reopened", models.BooleanField(db_default=False, default=False, editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "assigned_to",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="assigned_items",
                        to="annotation.membership",
                    ),
                ),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="items", to="annotation.generation"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="queue_items", to="annotation.project"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("assigned_to__isnull", True), ("paused", False), ("state", "ready")),
                        fields=["generation", "lane", "taker", "rank", "id"],
                        name="queue_item_in_lane",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("assigned_to__isnull", True), ("paused", False), ("state", "ready"), ("reopened", True)
                        ),
                        fields=["generation", "lane", "taker", "rank", "id"],
                        name="queue_item_reopened",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("assigned_to__isnull", True), ("paused", False), ("state", "ready"), ("pinned", True)
                        ),
                        fields=["project", "rank", "id"],
                        name="queue_item_pinned",
                    ),
                    models.Index(
                        condition=models.Q(("assigned_to__isnull", False), ("paused", False), ("state", "ready")),
                        fields=["assigned_to", "rank", "id"],
                        name="queue_item_assigned",
                    ),
                    models.Index(
                        models.F("project"),
                        models.Case(
                            models.When(
                                pinned=True,
                                then=models.expressions.CombinedExpression(
                                    models.F("rank"), "-", models.Value(4294967296)
                                ),
                            ),
                            default=models.F("rank"),
                            output_field=models.BigIntegerField(),
                        ),
                        models.OrderBy(models.F("id"), descending=True),
                        condition=models.Q(("state__in", ["ready", "full"])),
                        name="queue_item_turn",
                    ),
                    models.Index(
                        condition=models.Q(("state__in", ["ready", "full"]), ("taker", "machine")),
                        fields=["project"],
                        name="queue_item_for_machine",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "wanted__gte",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("leased"), "+", models.F("done")
                                ),
                            )
                        ),
                        name="queue_item_never_over_wanted",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "ready"), _negated=True),
                            (
                                "wanted__gt",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("leased"), "+", models.F("done")
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="queue_item_ready_has_place",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lane__in", ["acquisition", "control"]), _negated=True),
                            ("split", "pool"),
                            _connector="OR",
                        ),
                        name="queue_item_acquires_pool_only",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lane", "holdout"), _negated=True), ("split", "holdout"), _connector="OR"
                        ),
                        name="queue_item_holdout_lane_is_holdout",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lane", "calibration"), _negated=True), ("split", "calibration"), _connector="OR"
                        ),
                        name="queue_item_calibration_lane_is_calibration",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("inclusion_probability__isnull", True),
                            models.Q(("inclusion_probability__gt", 0), ("inclusion_probability__lte", 1)),
                            _connector="OR",
                        ),
                        name="queue_item_inclusion_is_probability",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("route", "person"), ("rule__isnull", True), ("taker", "person")),
                            ("lane__in", ["acquisition", "control"]),
                            _connector="OR",
                        ),
                        name="queue_item_judged_lanes",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("taker", "person"),
                            models.Q(models.Q(("route", "person"), _negated=True), ("handed_over", "")),
                            _connector="OR",
                        ),
                        name="queue_item_taker_by_route",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="lease",
            name="item",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="leases", to="annotation.queueitem"
            ),
        ),
        migrations.AddField(
            model_name="annotation",
            name="item",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="annotations",
                to="annotation.queueitem",
            ),
        ),
        migrations.CreateModel(
            name="SamplingRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("endpoint", models.CharField(max_length=100)),
                ("model", models.CharField(max_length=200)),
                ("temperature", models.FloatField(default=0.0)),
                ("max_tokens", models.PositiveIntegerField(default=2048)),
                ("samples", models.PositiveIntegerField(default=4, help_text="Solutions sampled for each problem.")),
                ("prompt", models.TextField()),
                ("decomposition", models.CharField(default="blank_lines", max_length=40)),
                ("thinking", models.CharField(default="separate", max_length=10)),
                (
                    "choice",
                    models.CharField(
                        choices=[
                            ("all", "all"),
                            ("unlabelled", "those without a label"),
                            ("fewest", "those with the fewest solutions"),
                            ("uncertain", "those the champion is least sure of"),
                        ],
                        default="all",
                        max_length=10,
                    ),
                ),
                ("domain", models.CharField(blank=True, max_length=100)),
                ("token_budget", models.PositiveBigIntegerField(default=0)),
                ("seed", models.BigIntegerField()),
                ("opens_generation", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("scoring", "Waiting for scores"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("problems", models.PositiveIntegerField(default=0, help_text="How many problems were chosen.")),
                ("done_problems", models.PositiveIntegerField(default=0)),
                ("failed_problems", models.PositiveIntegerField(default=0)),
                ("sampled", models.PositiveIntegerField(default=0)),
                ("accepted", models.PositiveIntegerField(default=0)),
                ("duplicates", models.PositiveIntegerField(default=0)),
                ("refused", models.PositiveIntegerField(default=0)),
                ("right", models.PositiveIntegerField(default=0)),
                ("wrong", models.PositiveIntegerField(default=0)),
                ("ungraded", models.PositiveIntegerField(default=0)),
                ("calls", models.PositiveIntegerField(default=0)),
                ("prompt_tokens", models.PositiveBigIntegerField(default=0)),
                ("completion_tokens", models.PositiveBigIntegerField(default=0)),
                (
                    "note",
                    annotation.models.message_field.MessageField(
                        blank=True, default=str, help_text="How it ended, if there is more to say than its state."
                    ),
                ),
                (
                    "generation",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="sampling_run",
                        to="annotation.generation",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sampling_runs",
                        to="annotation.project",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="SampledProblem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("done", "Done"), ("failed", "Failed")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("accepted", models.PositiveIntegerField(default=0)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                (
                    "problem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.problem"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sampled_problems",
                        to="annotation.samplingrun",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "indexes": [models.Index(fields=["run", "state", "position"], name="sampled_problem_next")],
                "constraints": [models.UniqueConstraint(fields=("run", "problem"), name="sampled_problem_once")],
            },
        ),
        migrations.CreateModel(
            name="ScreeningDecision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "outcome",
                    models.CharField(
                        choices=[("passed", "Passed"), ("failed", "Failed"), ("again", "Again"), ("paused", "Paused")],
                        max_length=8,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("right", models.PositiveIntegerField(blank=True, null=True)),
                ("given", models.PositiveIntegerField(blank=True, null=True)),
                ("decided_at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "membership",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="screening_decisions",
                        to="annotation.membership",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["membership", "-id"], name="screening_latest")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("outcome__in", ["passed", "failed", "again", "paused"])),
                        name="screening_outcome_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SentBack",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.TextField()),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("answered", "Answered"), ("withdrawn", "Withdrawn")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "annotation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sent_back",
                        to="annotation.annotation",
                    ),
                ),
                (
                    "answer",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.annotation",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sent_back", to="annotation.project"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "open")), fields=["project"], name="sent_back_open")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "open")), fields=("annotation",), name="sent_back_open_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["open", "answered", "withdrawn"])),
                        name="sent_back_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("answer__isnull", False), ("state", "answered")),
                            models.Q(models.Q(("state", "answered"), _negated=True), ("answer__isnull", True)),
                            _connector="OR",
                        ),
                        name="sent_back_answer_where_answered",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ServedScore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("request", models.UUIDField()),
                ("index", models.PositiveIntegerField(default=0)),
                ("route", models.CharField(max_length=10)),
                ("domain", models.CharField(blank=True, max_length=100)),
                ("model_number", models.PositiveIntegerField(null=True)),
                ("model_sha256", models.CharField(blank=True, max_length=64)),
                ("aggregate", models.CharField(max_length=10)),
                ("text_hash", models.CharField(max_length=64)),
                ("text", models.JSONField(null=True)),
                (
                    "mean",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(null=True), default=list, size=None
                    ),
                ),
                (
                    "spread",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.FloatField(null=True), default=list, size=None
                    ),
                ),
                ("score", models.FloatField(null=True)),
                ("first_suspicious", models.IntegerField(null=True)),
                ("uncertainty", models.FloatField(null=True)),
                ("distance", models.FloatField(null=True)),
                ("out_of_domain", models.BooleanField(null=True)),
                ("abstained", models.BooleanField(null=True)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("seconds", models.FloatField()),
                ("batch", models.PositiveIntegerField(default=1)),
                ("asked_at", models.DateTimeField()),
                (
                    "model_version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="served_scores",
                        to="annotation.modelversion",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="served_scores",
                        to="annotation.project",
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.apitoken",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-asked_at", "-pk"],
                "indexes": [
                    models.Index(fields=["project", "-asked_at"], name="served_score_by_time"),
                    models.Index(fields=["text_hash"], name="served_score_by_text"),
                    django.contrib.postgres.indexes.GinIndex(
                        models.Func(
                            "text",
                            function="served_words",
                            output_field=django.contrib.postgres.search.SearchVectorField(),
                        ),
                        name="served_score_by_words",
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("request", "index"), name="served_score_once")],
            },
        ),
        migrations.CreateModel(
            name="ConsensusFit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("number", models.PositiveIntegerField()),
                ("method", models.CharField(max_length=100)),
                ("source_kinds", models.JSONField(blank=True, default=list)),
                ("seen", models.JSONField(default=dict)),
                ("total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("parameters", models.JSONField(null=True)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("report", models.JSONField(null=True)),
                (
                    "previous",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.consensusfit",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="consensus_fits",
                        to="annotation.project",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(fields=("project", "number"), name="consensus_fit_number_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["queued", "running"])),
                        fields=("project",),
                        name="consensus_fit_one_live_per_project",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(max_length=64)),
                ("path", models.CharField(help_text="Relative to the folder of snapshots.", max_length=300)),
                ("graded_sha256", models.CharField(blank=True, max_length=64)),
                ("filters", models.JSONField(default=dict)),
                ("counts", models.JSONField(default=dict)),
                (
                    "fit",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="snapshots",
                        to="annotation.consensusfit",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="snapshots", to="annotation.project"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "sha256", "graded_sha256", "filters"), name="snapshot_content_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SimulationRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("functions", models.JSONField()),
                ("seeds", models.PositiveSmallIntegerField()),
                ("budget", models.PositiveIntegerField()),
                ("progress", models.FloatField(default=0)),
                ("message", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("result", models.JSONField(default=dict)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="simulations", to="annotation.project"
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="simulations",
                        to="annotation.snapshot",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["queued", "running"])),
                        fields=("project",),
                        name="simulation_one_live_per_project",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ContaminationCheck",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("filename", models.CharField(blank=True, max_length=300)),
                ("path", models.CharField(blank=True, max_length=2000)),
                ("total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("result", models.JSONField(blank=True, default=dict)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="contamination_checks",
                        to="annotation.project",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contamination_checks",
                        to="annotation.snapshot",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ExportSchedule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("filters", models.JSONField(blank=True, default=dict)),
                ("formats", models.JSONField(default=list)),
                ("options", models.JSONField(blank=True, default=dict)),
                ("root", models.CharField(max_length=100)),
                ("path", models.CharField(blank=True, max_length=1000)),
                ("every_days", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("after_promotion", models.BooleanField(default=False)),
                ("active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="export_schedules",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
            },
        ),
        migrations.CreateModel(
            name="ExportJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("filters", models.JSONField(blank=True, default=dict)),
                ("formats", models.JSONField(blank=True, default=list)),
                ("options", models.JSONField(blank=True, default=dict)),
                ("target", models.CharField(blank=True, max_length=2000)),
                ("total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("files", models.JSONField(blank=True, default=list)),
                ("message", annotation.models.message_field.MessageField(blank=True, default=str)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="export_jobs", to="annotation.project"
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="export_jobs",
                        to="annotation.snapshot",
                    ),
                ),
                (
                    "schedule",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="export_jobs",
                        to="annotation.exportschedule",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.AddConstraint(
            model_name="exportschedule",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="export_schedule_name_once"),
        ),
        migrations.AddConstraint(
            model_name="exportschedule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("every_days__gte", 1),
                    models.Q(("after_promotion", True), ("every_days__isnull", True)),
                    _connector="OR",
                ),
                name="export_schedule_has_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="exportjob",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["queued", "running"])),
                fields=("schedule",),
                name="export_one_live_per_schedule",
            ),
        ),
        migrations.AddField(
            model_name="modelversion",
            name="snapshot",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="model_versions",
                to="annotation.snapshot",
            ),
        ),
        migrations.CreateModel(
            name="Solution",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "split",
                    models.CharField(
                        choices=[("pool", "pool"), ("calibration", "calibration"), ("holdout", "holdout")],
                        max_length=12,
                    ),
                ),
                ("content_hash", models.CharField(help_text="SHA-256 of the steps as first imported.", max_length=64)),
                (
                    "multiplicity",
                    models.PositiveIntegerField(default=1, help_text="How many equal samples it stands for."),
                ),
                ("external_id", models.CharField(blank=True, max_length=200)),
                (
                    "generator",
                    models.CharField(blank=True, help_text="The policy model that wrote it.", max_length=200),
                ),
                ("final_answer", models.TextField(blank=True, null=True)),
                ("final_answer_correct", models.BooleanField(blank=True, null=True)),
                (
                    "outcome_source",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("given", "given with the solution"),
                            ("grader", "answer compared with the reference"),
                            ("tests", "tests that were run"),
                        ],
                        max_length=8,
                    ),
                ),
                ("provenance", models.JSONField(blank=True, default=dict)),
                ("extra", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "import_job",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="solutions",
                        to="annotation.importjob",
                    ),
                ),
                (
                    "problem",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="solutions",
                        to="annotation.problem",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="solutions",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "split", "generator"], name="solution_project_split"),
                    models.Index(
                        condition=models.Q(("external_id", ""), _negated=True),
                        fields=["project", "external_id"],
                        name="solution_external_id",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("problem", "content_hash"), name="solution_once_per_problem"),
                    models.UniqueConstraint(fields=("id", "split"), name="solution_split_key"),
                    models.CheckConstraint(
                        condition=models.Q(("outcome_source__in", ["", "given", "grader", "tests"])),
                        name="solution_outcome_source_known",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="queueitem",
            name="solution",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="queue_items", to="annotation.solution"
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                sql("pool_scores"),
            ],
            state_operations=[
                migrations.CreateModel(
                    name="PoolScore",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "model_version_id",
                                "solution_id",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        (
                            "mean",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(null=True), size=None
                            ),
                        ),
                        (
                            "spread",
                            django.contrib.postgres.fields.ArrayField(
                                base_field=models.FloatField(null=True), size=None
                            ),
                        ),
                        (
                            "score",
                            models.FloatField(help_text="The solution's score; null if no step was scored.", null=True),
                        ),
                        (
                            "gain",
                            models.FloatField(help_text="Expected information about the first error, nats.", null=True),
                        ),
                        ("expected_seconds", models.FloatField(null=True)),
                        ("heads", models.BinaryField(default=bytes)),
                        ("embedding", models.BinaryField(default=bytes)),
                        ("unscored_steps", models.PositiveIntegerField(default=0)),
                        (
                            "model_version",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="pool_scores",
                                to="annotation.modelversion",
                            ),
                        ),
                        (
                            "solution",
                            models.ForeignKey(
                                db_constraint=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="pool_scores",
                                to="annotation.solution",
                            ),
                        ),
                    ],
                ),
            ],
        ),
        migrations.CreateModel(
            name="OutcomeDisagreement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("was", models.BooleanField()),
                (
                    "was_source",
                    models.CharField(
                        choices=[
                            ("given", "given with the solution"),
                            ("grader", "answer compared with the reference"),
                            ("tests", "tests that were run"),
                        ],
                        max_length=8,
                    ),
                ),
                ("graded", models.BooleanField()),
                ("answer", models.TextField(blank=True, help_text="The answer that was compared with the reference.")),
                (
                    "check_run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="disagreements",
                        to="annotation.answercheck",
                    ),
                ),
                (
                    "solution",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.solution"
                    ),
                ),
            ],
            options={
                "ordering": ["solution_id"],
                "constraints": [
                    models.UniqueConstraint(fields=("check_run", "solution"), name="outcome_disagreement_once_a_check")
                ],
            },
        ),
        migrations.AddField(
            model_name="lease",
            name="solution",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="leases", to="annotation.solution"
            ),
        ),
        migrations.CreateModel(
            name="GoldAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "accepted",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), blank=True, default=list, size=None
                    ),
                ),
                ("active", models.BooleanField(default=True)),
                ("practice", models.BooleanField(default=False)),
                (
                    "explanation",
                    models.TextField(blank=True, help_text="Why the first error is where it is; shown in practice."),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "annotation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.annotation"
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gold_answers",
                        to="annotation.project",
                    ),
                ),
                (
                    "solution",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gold_answer",
                        to="annotation.solution",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("active", True)), fields=["project", "solution"], name="gold_answer_active"
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="annotation",
            name="solution",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="annotations",
                to="annotation.solution",
            ),
        ),
        migrations.CreateModel(
            name="Step",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                ("alternative", models.PositiveIntegerField(default=0)),
                ("text", models.TextField(blank=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("reasoning", "Reasoning"),
                            ("plan", "Plan"),
                            ("tool_call", "Tool call"),
                            ("observation", "Observation"),
                            ("edit", "Edit"),
                            ("answer", "Answer"),
                        ],
                        default="reasoning",
                        max_length=12,
                    ),
                ),
                ("added", models.BooleanField(db_default=False, default=False)),
                (
                    "solution",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="steps",
                        to="annotation.solution",
                    ),
                ),
            ],
            options={
                "ordering": ["position", "alternative"],
                "constraints": [
                    models.UniqueConstraint(fields=("solution", "position", "alternative"), name="step_place_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["reasoning", "plan", "tool_call", "observation", "edit", "answer"])
                        ),
                        name="step_kind_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PathStep",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                ("own_text", models.TextField(blank=True, null=True)),
                ("dwell_ms", models.PositiveBigIntegerField(blank=True, null=True)),
                ("native", models.JSONField(blank=True, default=dict)),
                (
                    "annotation",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="path",
                        to="annotation.annotation",
                    ),
                ),
                (
                    "chosen",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.step",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "constraints": [
                    models.UniqueConstraint(fields=("annotation", "position"), name="path_position_once"),
                    models.CheckConstraint(
                        condition=models.Q(("chosen__isnull", True), ("own_text__isnull", True), _connector="OR"),
                        name="path_chosen_or_own",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SolutionWords",
            fields=[
                (
                    "solution",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="search_words",
                        serialize=False,
                        to="annotation.solution",
                    ),
                ),
                ("words", django.contrib.postgres.search.SearchVectorField()),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(fields=["words"], name="solution_by_words"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Critique",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ordinal", models.PositiveIntegerField()),
                ("text", models.TextField()),
                (
                    "step",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="critiques",
                        to="annotation.step",
                    ),
                ),
            ],
            options={
                "ordering": ["ordinal"],
                "constraints": [models.UniqueConstraint(fields=("step", "ordinal"), name="critique_place_once")],
            },
        ),
        migrations.CreateModel(
            name="StepRating",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("ordinal", models.PositiveIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[("rated", "Rated"), ("unsure", "Unsure"), ("not_reached", "Not reached")],
                        max_length=12,
                    ),
                ),
                ("rating", models.SmallIntegerField(blank=True, null=True)),
                ("flagged", models.BooleanField(blank=True, null=True)),
                ("accepted", models.BooleanField(db_default=False, default=False)),
                ("error_type", models.CharField(blank=True, max_length=100)),
                ("comment", models.TextField(blank=True)),
                ("dimensions", models.JSONField(blank=True, default=dict)),
                ("spans", models.JSONField(blank=True, default=list)),
                (
                    "annotation",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ratings",
                        to="annotation.annotation",
                    ),
                ),
                (
                    "step",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ratings",
                        to="annotation.step",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("flagged", True), ("state", "unsure"), _connector="OR"),
                        fields=["annotation"],
                        name="rating_in_doubt",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("annotation", "step"), name="rating_step_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("rating__in", (1, 0, -1)), ("rating__isnull", False), ("state", "rated")),
                            models.Q(("rating__isnull", True), ("state__in", ["unsure", "not_reached"])),
                            _connector="OR",
                        ),
                        name="rating_only_where_rated",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("accepted", False), models.Q(("rating", 1), ("rating__isnull", False)), _connector="OR"
                        ),
                        name="rating_accepted_is_good",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TrainingRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                (
                    "trigger",
                    models.CharField(
                        choices=[
                            ("manual", "Manual"),
                            ("schedule", "Schedule"),
                            ("labels", "Labels"),
                            ("drift", "Drift"),
                            ("import", "Import"),
                        ],
                        max_length=10,
                    ),
                ),
                ("reason", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("seed", models.BigIntegerField()),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("pruned_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "model_version",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="run",
                        to="annotation.modelversion",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="training_runs",
                        to="annotation.project",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="training_runs",
                        to="annotation.snapshot",
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "number"), name="training_run_number_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["queued", "running"])),
                        fields=("project",),
                        name="training_run_one_live_per_project",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ShadowComparison",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("generation", models.PositiveIntegerField()),
                ("start_labels", models.PositiveIntegerField()),
                ("acquisition_labels", models.PositiveIntegerField()),
                ("control_labels", models.PositiveIntegerField()),
                ("acquisition_seconds", models.FloatField()),
                ("control_seconds", models.FloatField()),
                (
                    "start_f1",
                    models.FloatField(help_text="Of a model that was trained on the start labels only.", null=True),
                ),
                ("acquisition_f1", models.FloatField()),
                ("control_f1", models.FloatField()),
                ("gain", models.FloatField()),
                ("low", models.FloatField(null=True)),
                ("high", models.FloatField(null=True)),
                ("samples", models.JSONField(default=list)),
                ("holdout_solutions", models.PositiveIntegerField()),
                ("holdout_problems", models.PositiveIntegerField()),
                ("estimates", models.JSONField(default=list)),
                ("seed", models.BigIntegerField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="shadow_comparisons",
                        to="annotation.project",
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="shadow_comparisons",
                        to="annotation.snapshot",
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="shadow_comparison",
                        to="annotation.trainingrun",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="RunStage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        choices=[
                            ("snapshot", "Snapshot"),
                            ("train", "Train"),
                            ("evaluate", "Evaluate"),
                            ("gate", "Gate"),
                            ("promote", "Promote"),
                            ("score", "Score"),
                            ("select", "Select"),
                            ("shadow", "Shadow"),
                        ],
                        max_length=10,
                    ),
                ),
                ("order", models.PositiveSmallIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("skipped", "Skipped"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("queue", models.CharField(default="default", max_length=10)),
                ("optional", models.BooleanField(default=False)),
                ("seconds", models.FloatField(default=0, help_text="Worked on it, over all attempts.")),
                ("progress", models.FloatField(default=0, help_text="Share done, 0 to 1.")),
                ("figure", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="stages", to="annotation.trainingrun"
                    ),
                ),
            ],
            options={
                "ordering": ["order"],
                "constraints": [models.UniqueConstraint(fields=("run", "name"), name="run_stage_once")],
            },
        ),
        migrations.CreateModel(
            name="RunPoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("snapshot", "Snapshot"),
                            ("train", "Train"),
                            ("evaluate", "Evaluate"),
                            ("gate", "Gate"),
                            ("promote", "Promote"),
                            ("score", "Score"),
                            ("select", "Select"),
                            ("shadow", "Shadow"),
                        ],
                        max_length=10,
                    ),
                ),
                ("step", models.PositiveIntegerField(null=True)),
                ("of", models.PositiveIntegerField(null=True)),
                ("loss", models.FloatField(null=True)),
                ("held_loss", models.FloatField(null=True)),
                ("tokens_per_second", models.FloatField(null=True)),
                ("utilisation", models.FloatField(help_text="Share of the device's peak arithmetic.", null=True)),
                ("message", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="points", to="annotation.trainingrun"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddField(
            model_name="generation",
            name="run",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="generation",
                to="annotation.trainingrun",
            ),
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("filename", models.CharField(max_length=300)),
                ("fingerprint", models.CharField(blank=True, max_length=300)),
                ("size", models.PositiveBigIntegerField()),
                (
                    "pieces",
                    models.JSONField(default=list, help_text="Its pieces in a bucket, as (SHA-256, bytes)."),
                ),
                ("offset", models.PositiveBigIntegerField(default=0, help_text="Bytes that are stored.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("touched_at", models.DateTimeField(auto_now=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="uploads", to="annotation.project"
                    ),
                ),
            ],
            options={
                "ordering": ["-touched_at"],
            },
        ),
        migrations.CreateModel(
            name="LaneTally",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "lane",
                    models.CharField(
                        choices=[
                            ("acquisition", "acquisition"),
                            ("control", "control"),
                            ("holdout", "holdout"),
                            ("calibration", "calibration"),
                            ("overlap", "overlap"),
                            ("pinned", "pinned"),
                            ("gold", "gold"),
                            ("screening", "screening"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "taker",
                    models.CharField(choices=[("person", "people"), ("machine", "machines")], max_length=7),
                ),
                ("wanted", models.IntegerField()),
                ("taken", models.IntegerField()),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="tallies", to="annotation.generation"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "lane tallies",
                "constraints": [
                    models.UniqueConstraint(fields=("generation", "lane", "taker"), name="lane_tally_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Frontier",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "lane",
                    models.CharField(
                        choices=[
                            ("acquisition", "acquisition"),
                            ("control", "control"),
                            ("holdout", "holdout"),
                            ("calibration", "calibration"),
                            ("overlap", "overlap"),
                            ("pinned", "pinned"),
                            ("gold", "gold"),
                            ("screening", "screening"),
                        ],
                        max_length=12,
                    ),
                ),
                ("rank", models.PositiveIntegerField()),
                (
                    "generation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="frontiers",
                        to="annotation.generation",
                    ),
                ),
                (
                    "annotator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="frontiers",
                        to="annotation.membership",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("annotator", "generation", "lane"), name="frontier_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Hint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "scores",
                    django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(null=True), size=None),
                ),
                ("verdict", models.IntegerField(null=True)),
                ("share", models.FloatField()),
                (
                    "reveal",
                    models.CharField(
                        choices=[("reached", "Reached"), ("rated", "Rated"), ("on_request", "On Request")],
                        max_length=10,
                    ),
                ),
                ("shown", models.BooleanField()),
                ("seen", models.JSONField(default=list)),
                ("drawn_at", models.DateTimeField()),
                (
                    "lease",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="hint", to="annotation.lease"
                    ),
                ),
                (
                    "model_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="hints", to="annotation.modelversion"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("share__gt", 0), ("share__lte", 0.5)), name="hint_share_leaves_a_blind_half"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("shown", True), ("seen", []), _connector="OR"),
                        name="hint_seen_only_where_shown",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PracticeAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("submission_id", models.UUIDField(unique=True)),
                ("payload_hash", models.CharField(max_length=64)),
                ("given", models.JSONField()),
                (
                    "finish_reason",
                    models.CharField(
                        choices=[
                            ("solution", "all steps rated"),
                            ("found_error", "first error"),
                            ("give_up", "gave up"),
                            ("bad_problem", "bad problem"),
                        ],
                        max_length=12,
                    ),
                ),
                ("first_error", models.IntegerField(blank=True, null=True)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("right", "Right"),
                            ("too_early", "Too Early"),
                            ("too_late", "Too Late"),
                            ("missed", "Missed"),
                            ("invented", "Invented"),
                            ("gave_up", "Gave Up"),
                        ],
                        max_length=9,
                    ),
                ),
                ("answered_at", models.DateTimeField(auto_now_add=True)),
                (
                    "gold",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="practice_answers",
                        to="annotation.goldanswer",
                    ),
                ),
                (
                    "membership",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="practice_answers",
                        to="annotation.membership",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["membership", "gold"], name="practice_by_person"),
                    models.Index(fields=["gold"], name="practice_of_gold"),
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="labelsource",
            constraint=models.UniqueConstraint(fields=("project", "kind", "name"), name="label_source_once"),
        ),
        migrations.AddConstraint(
            model_name="modelversion",
            constraint=models.UniqueConstraint(fields=("project", "number"), name="model_version_number_once"),
        ),
        migrations.AddConstraint(
            model_name="modelversion",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "champion")), fields=("project",), name="model_version_one_champion"
            ),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.UniqueConstraint(
                condition=models.Q(("lane__in", ["screening", "gold"]), _negated=True),
                fields=("generation", "solution"),
                name="queue_item_once_per_generation",
            ),
        ),
        migrations.AddIndex(
            model_name="lease",
            index=models.Index(
                condition=models.Q(("state", "active")), fields=["annotator", "claimed_at"], name="lease_in_hand"
            ),
        ),
        migrations.AddIndex(
            model_name="lease",
            index=models.Index(condition=models.Q(("state", "expired")), fields=["annotator"], name="lease_run_out"),
        ),
        migrations.AddConstraint(
            model_name="lease",
            constraint=models.UniqueConstraint(
                fields=("annotator", "solution"), name="lease_solution_once_per_annotator"
            ),
        ),
        migrations.AddIndex(
            model_name="annotation",
            index=models.Index(
                condition=models.Q(("adjudicates", True)), fields=["solution"], name="annotation_adjudicates"
            ),
        ),
        migrations.AddIndex(
            model_name="annotation",
            index=models.Index(
                condition=models.Q(("revision__gt", 1)),
                fields=["solution", "annotator", "revision"],
                name="annotation_later_revision",
            ),
        ),
        migrations.AddIndex(
            model_name="annotation",
            index=models.Index(
                condition=models.Q(("annotator__isnull", False), ("first_error__isnull", False)),
                fields=["project", "solution"],
                include=["first_error"],
                name="annotation_first_errors",
            ),
        ),
        migrations.AddConstraint(
            model_name="annotation",
            constraint=models.UniqueConstraint(
                fields=("solution", "source", "annotator", "revision"),
                name="annotation_revision_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="annotation",
            constraint=models.CheckConstraint(
                condition=models.Q(("finish_reason__in", ["solution", "found_error", "give_up", "bad_problem"])),
                name="annotation_finish_reason_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="annotation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("annotator__isnull", True),
                    ("finish_reason__in", ["solution", "found_error"]),
                    models.Q(("reason", ""), _negated=True),
                    _connector="OR",
                ),
                name="annotation_giving_up_has_reason",
            ),
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("url", models.CharField(max_length=500)),
                ("events", models.JSONField(default=list)),
                ("salt", models.CharField(max_length=43)),
                (
                    "state",
                    models.CharField(
                        choices=[("active", "Active"), ("paused", "Paused"), ("disabled", "Disabled after failures")],
                        default="active",
                        max_length=8,
                    ),
                ),
                ("failing_since", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="webhooks", to="annotation.project"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("message_id", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("event", models.CharField(max_length=60)),
                ("body", models.TextField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("delivered", "Delivered"), ("failed", "Failed")],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("attempted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "status",
                    models.PositiveSmallIntegerField(
                        blank=True, help_text="HTTP status of the last response.", null=True
                    ),
                ),
                ("response", models.TextField(blank=True, help_text="The beginning of the last response.")),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "webhook",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="deliveries", to="annotation.webhook"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "webhook deliveries",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["next_attempt_at"],
                        name="delivery_waiting_by_time",
                    ),
                    models.Index(fields=["created_at"], name="delivery_by_age"),
                ],
            },
        ),
        migrations.CreateModel(
            name="JudgingRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("failure", models.CharField(blank=True, max_length=40)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "method",
                    models.CharField(choices=[("judge", "Judge"), ("monte_carlo", "Monte Carlo")], max_length=12),
                ),
                (
                    "mode",
                    models.CharField(
                        choices=[("batch", "a selection"), ("queue", "the queue")], default="batch", max_length=6
                    ),
                ),
                ("endpoint", models.CharField(max_length=100)),
                ("model", models.CharField(max_length=200)),
                ("template", models.CharField(blank=True, max_length=20)),
                ("prompt", models.TextField()),
                ("prompt_version", models.CharField(max_length=40)),
                ("temperature", models.FloatField(default=0.0)),
                ("max_tokens", models.PositiveIntegerField(default=2048)),
                ("rollouts", models.PositiveSmallIntegerField(default=8, help_text="Rollouts from each prefix.")),
                (
                    "threshold",
                    models.FloatField(
                        default=0.0, help_text="A step is good if its share of right rollouts is above it."
                    ),
                ),
                (
                    "search",
                    models.CharField(
                        choices=[
                            ("all", "every prefix"),
                            ("first", "until the first error"),
                            ("bisect", "binary search for the first error"),
                        ],
                        default="all",
                        max_length=8,
                    ),
                ),
                ("chosen", models.JSONField(blank=True, default=dict)),
                ("left_out", models.JSONField(blank=True, default=dict)),
                ("token_budget", models.PositiveBigIntegerField(default=0)),
                ("cost_budget", models.DecimalField(decimal_places=9, default=0, max_digits=18)),
                ("prompt_price", models.DecimalField(decimal_places=9, default=0, max_digits=18)),
                ("completion_price", models.DecimalField(decimal_places=9, default=0, max_digits=18)),
                ("currency", models.CharField(max_length=3)),
                ("seed", models.BigIntegerField()),
                (
                    "solutions",
                    models.PositiveIntegerField(
                        default=0, help_text="How many solutions were chosen, or claimed so far."
                    ),
                ),
                ("labelled", models.PositiveIntegerField(default=0)),
                ("failed_solutions", models.PositiveIntegerField(default=0)),
                ("calls", models.PositiveIntegerField(default=0)),
                ("prompt_tokens", models.PositiveBigIntegerField(default=0)),
                ("completion_tokens", models.PositiveBigIntegerField(default=0)),
                ("cost", models.DecimalField(decimal_places=9, default=0, max_digits=18)),
                ("reserved_tokens", models.PositiveBigIntegerField(default=0)),
                ("reserved_cost", models.DecimalField(decimal_places=9, default=0, max_digits=18)),
                (
                    "note",
                    annotation.models.message_field.MessageField(
                        blank=True, default=str, help_text="How it ended, if there is more to say than its state."
                    ),
                ),
                (
                    "annotator",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judging_runs",
                        to="annotation.membership",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judging_runs",
                        to="annotation.project",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="JudgedSolution",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("done", "Done"), ("failed", "Failed")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("first_attempt", models.PositiveIntegerField(default=0)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                (
                    "annotation",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judged",
                        to="annotation.annotation",
                    ),
                ),
                (
                    "solution",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.solution"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="judged", to="annotation.judgingrun"
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "indexes": [models.Index(fields=["run", "state", "position"], name="judged_solution_next")],
                "constraints": [models.UniqueConstraint(fields=("run", "solution"), name="judged_solution_once")],
            },
        ),
        migrations.CreateModel(
            name="JudgeCall",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("prefix", models.PositiveIntegerField()),
                (
                    "attempt",
                    models.PositiveIntegerField(help_text="Its number among the calls for the solution, from 0."),
                ),
                ("samples", models.PositiveSmallIntegerField(default=1, help_text="How many replies it requests.")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("sent", "in flight"),
                            ("answered", "answered"),
                            ("lost", "lost"),
                            ("failed", "failed"),
                        ],
                        default="sent",
                        max_length=10,
                    ),
                ),
                ("metered", models.BooleanField(default=True)),
                ("prompt_tokens", models.PositiveIntegerField()),
                ("completion_tokens", models.PositiveIntegerField()),
                ("cost", models.DecimalField(decimal_places=9, default=0, max_digits=18)),
                ("replies", models.JSONField(blank=True, default=list)),
                ("right", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("error", annotation.models.message_field.MessageField(blank=True, default=str)),
                ("sent_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "judged",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calls",
                        to="annotation.judgedsolution",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(condition=models.Q(("state", "sent")), fields=["judged"], name="judge_call_in_flight")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("judged", "attempt"), name="judge_call_attempt_once"),
                    models.CheckConstraint(condition=models.Q(("samples__gte", 1)), name="judge_call_has_samples"),
                ],
            },
        ),
        migrations.CreateModel(
            name="JobEntry",
            fields=[
                ("key", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=10)),
                ("job_id", models.BigIntegerField()),
                ("state", models.CharField(max_length=10)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, related_name="jobs", to="annotation.project"
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "job entries",
                "ordering": ["-created_at", "-key"],
                "managed": False,
            },
        ),
        sql("references"),
        sql("splits"),
        sql("immutable_rows"),
        sql("lane_tallies"),
        sql("reopened_items"),
        sql("jobs"),
    ]
