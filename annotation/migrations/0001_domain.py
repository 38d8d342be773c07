"""The tables of the domain; what models cannot say of them stands in 0002."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="LabelSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("human", "Human"),
                            ("simulated", "Simulated"),
                            ("consensus", "Consensus"),
                            ("model_judge", "Model Judge"),
                            ("monte_carlo", "Monte Carlo"),
                            ("heuristic", "Heuristic"),
                        ],
                        max_length=12,
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=200)),
                ("detail", models.JSONField(blank=True, default=dict)),
            ],
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
        ),
        migrations.CreateModel(
            name="Project",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=80, unique=True)),
                ("name", models.CharField(max_length=200)),
                ("guidelines", models.TextField(blank=True, help_text="Markdown, shown beside the work.")),
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
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("digest", models.CharField(max_length=64, unique=True)),
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
        ),
        migrations.CreateModel(
            name="ImportJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("filename", models.CharField(max_length=300)),
                ("path", models.CharField(max_length=500)),
                ("format", models.CharField(default="auto", max_length=40)),
                ("decomposition", models.CharField(default="blank_lines", max_length=40)),
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
                ("total_bytes", models.PositiveBigIntegerField(default=0)),
                ("done_bytes", models.PositiveBigIntegerField(default=0)),
                (
                    "done_records",
                    models.PositiveBigIntegerField(default=0, help_text="Where a restarted import goes on."),
                ),
                ("accepted", models.PositiveBigIntegerField(default=0)),
                ("duplicates", models.PositiveBigIntegerField(default=0)),
                ("rejected", models.PositiveBigIntegerField(default=0)),
                ("annotations", models.PositiveBigIntegerField(default=0)),
                ("cancel_requested", models.BooleanField(default=False)),
                ("error", models.TextField(blank=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="import_jobs", to="annotation.project"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="ImportRejection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("line", models.PositiveBigIntegerField(help_text="1-based line, or record number in a JSON array.")),
                ("field", models.CharField(blank=True, max_length=200)),
                ("reason", models.TextField()),
                ("excerpt", models.TextField(blank=True)),
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
                ("pseudonym", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("simulated", models.BooleanField(default=False, help_text="A program that plays an annotator.")),
                ("active", models.BooleanField(default=True)),
                ("joined_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
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
                            ("screening", "Screening"),
                            ("gold", "Gold"),
                            ("holdout", "Holdout"),
                            ("calibration", "Calibration"),
                            ("control", "Control"),
                            ("acquisition", "Acquisition"),
                            ("overlap", "Overlap"),
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
                            ("solution", "Solution"),
                            ("found_error", "Found Error"),
                            ("give_up", "Give Up"),
                            ("bad_problem", "Bad Problem"),
                        ],
                        max_length=12,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("first_error", models.IntegerField(blank=True, null=True)),
                ("total_ms", models.PositiveBigIntegerField(blank=True, null=True)),
                ("comment", models.TextField(blank=True)),
                ("native", models.JSONField(blank=True, default=dict)),
                ("submitted_at", models.DateTimeField()),
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
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="annotations",
                        to="annotation.membership",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="annotations", to="annotation.project"
                    ),
                ),
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
                        choices=[("pool", "Pool"), ("calibration", "Calibration"), ("holdout", "Holdout")],
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="problems", to="annotation.project"
                    ),
                ),
            ],
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
                ("gate", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("promoted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_versions",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
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
            },
        ),
        migrations.CreateModel(
            name="Dispute",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("upheld", "Upheld"), ("dismissed", "Dismissed")],
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
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="audit_entries",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="QueueItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "split",
                    models.CharField(
                        choices=[("pool", "Pool"), ("calibration", "Calibration"), ("holdout", "Holdout")],
                        max_length=12,
                    ),
                ),
                (
                    "lane",
                    models.CharField(
                        choices=[
                            ("screening", "Screening"),
                            ("gold", "Gold"),
                            ("holdout", "Holdout"),
                            ("calibration", "Calibration"),
                            ("control", "Control"),
                            ("acquisition", "Acquisition"),
                            ("overlap", "Overlap"),
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
                ("created_at", models.DateTimeField(auto_now_add=True)),
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
            name="Snapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(max_length=64)),
                ("path", models.CharField(help_text="Relative to the folder of snapshots.", max_length=300)),
                ("filters", models.JSONField(default=dict)),
                ("counts", models.JSONField(default=dict)),
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
            },
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
                        choices=[("pool", "Pool"), ("calibration", "Calibration"), ("holdout", "Holdout")],
                        max_length=12,
                    ),
                ),
                ("content_hash", models.CharField(help_text="SHA-256 of the steps as first imported.", max_length=64)),
                ("external_id", models.CharField(blank=True, max_length=200)),
                (
                    "generator",
                    models.CharField(blank=True, help_text="The policy model that wrote it.", max_length=200),
                ),
                ("final_answer", models.TextField(blank=True, null=True)),
                ("final_answer_correct", models.BooleanField(blank=True, null=True)),
                ("extra", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "import_job",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="solutions",
                        to="annotation.importjob",
                    ),
                ),
                (
                    "problem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="solutions", to="annotation.problem"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="solutions", to="annotation.project"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="queueitem",
            name="solution",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="queue_items", to="annotation.solution"
            ),
        ),
        migrations.CreateModel(
            name="PoolScore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mean", django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(null=True), size=None)),
                (
                    "spread",
                    django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(null=True), size=None),
                ),
                (
                    "score",
                    models.FloatField(help_text="The solution's score; null where nothing was scored.", null=True),
                ),
                ("gain", models.FloatField(help_text="Expected information about the first error, nats.", null=True)),
                ("expected_seconds", models.FloatField(null=True)),
                ("heads", models.BinaryField(default=bytes)),
                ("unscored_steps", models.PositiveIntegerField(default=0)),
                (
                    "model_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pool_scores",
                        to="annotation.modelversion",
                    ),
                ),
                (
                    "solution",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pool_scores",
                        to="annotation.solution",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="lease",
            name="solution",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="leases", to="annotation.solution"
            ),
        ),
        migrations.AddField(
            model_name="annotation",
            name="solution",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="annotations", to="annotation.solution"
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
                            ("tool_call", "Tool Call"),
                            ("observation", "Observation"),
                            ("edit", "Edit"),
                            ("answer", "Answer"),
                        ],
                        default="reasoning",
                        max_length=12,
                    ),
                ),
                (
                    "solution",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="steps", to="annotation.solution"
                    ),
                ),
            ],
            options={
                "ordering": ["position", "alternative"],
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
                        on_delete=django.db.models.deletion.PROTECT, related_name="path", to="annotation.annotation"
                    ),
                ),
                (
                    "chosen",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.step",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
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
                        choices=[("rated", "Rated"), ("unsure", "Unsure"), ("not_reached", "Not Reached")],
                        max_length=12,
                    ),
                ),
                ("rating", models.SmallIntegerField(blank=True, null=True)),
                ("flagged", models.BooleanField(blank=True, null=True)),
                ("error_type", models.CharField(blank=True, max_length=100)),
                ("comment", models.TextField(blank=True)),
                ("dimensions", models.JSONField(blank=True, default=dict)),
                (
                    "annotation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="ratings", to="annotation.annotation"
                    ),
                ),
                (
                    "step",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="ratings", to="annotation.step"
                    ),
                ),
            ],
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
                            ("succeeded", "Succeeded"),
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
                        choices=[("manual", "Manual"), ("schedule", "Schedule"), ("labels", "Labels")], max_length=10
                    ),
                ),
                ("seed", models.BigIntegerField()),
                ("cancel_requested", models.BooleanField(default=False)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("error", models.TextField(blank=True)),
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
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("progress", models.FloatField(default=0, help_text="Share done, 0 to 1.")),
                ("figure", models.CharField(blank=True, max_length=200)),
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
                        ],
                        max_length=10,
                    ),
                ),
                ("step", models.PositiveIntegerField(null=True)),
                ("of", models.PositiveIntegerField(null=True)),
                ("loss", models.FloatField(null=True)),
                ("message", models.TextField(blank=True)),
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
        migrations.AddIndex(
            model_name="problem",
            index=models.Index(fields=["project", "source_group"], name="problem_source_group"),
        ),
        migrations.AddConstraint(
            model_name="problem",
            constraint=models.UniqueConstraint(fields=("project", "text_hash"), name="problem_once_per_project"),
        ),
        migrations.AddConstraint(
            model_name="problem",
            constraint=models.UniqueConstraint(fields=("id", "split"), name="problem_split_key"),
        ),
        migrations.AddConstraint(
            model_name="problem",
            constraint=models.CheckConstraint(
                condition=models.Q(("split__in", ["pool", "calibration", "holdout"])), name="problem_split_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(fields=("project", "user"), name="membership_once_per_project"),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(("role__in", ["annotator", "reviewer", "manager"])), name="membership_role_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="labelsource",
            constraint=models.UniqueConstraint(fields=("project", "kind", "name"), name="label_source_once"),
        ),
        migrations.AddConstraint(
            model_name="labelsource",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind__in", ["human", "simulated", "consensus", "model_judge", "monte_carlo", "heuristic"])
                ),
                name="label_source_kind_known",
            ),
        ),
        migrations.AddIndex(
            model_name="dispute",
            index=models.Index(condition=models.Q(("state", "open")), fields=["project"], name="dispute_open"),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["target_type", "target_id"], name="audit_by_target"),
        ),
        migrations.AddConstraint(
            model_name="snapshot",
            constraint=models.UniqueConstraint(fields=("project", "sha256", "filters"), name="snapshot_content_once"),
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
        migrations.AddIndex(
            model_name="solution",
            index=models.Index(fields=["project", "split"], name="solution_project_split"),
        ),
        migrations.AddConstraint(
            model_name="solution",
            constraint=models.UniqueConstraint(fields=("problem", "content_hash"), name="solution_once_per_problem"),
        ),
        migrations.AddConstraint(
            model_name="solution",
            constraint=models.UniqueConstraint(fields=("id", "split"), name="solution_split_key"),
        ),
        migrations.AddIndex(
            model_name="queueitem",
            index=models.Index(
                condition=models.Q(("state", "ready")), fields=["project", "rank", "id"], name="queue_item_ready"
            ),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.UniqueConstraint(
                fields=("generation", "solution"), name="queue_item_once_per_generation"
            ),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "wanted__gte",
                        django.db.models.expressions.CombinedExpression(models.F("leased"), "+", models.F("done")),
                    )
                ),
                name="queue_item_never_over_wanted",
            ),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "ready"), _negated=True),
                    (
                        "wanted__gt",
                        django.db.models.expressions.CombinedExpression(models.F("leased"), "+", models.F("done")),
                    ),
                    _connector="OR",
                ),
                name="queue_item_ready_has_place",
            ),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lane__in", ["acquisition", "control"]), _negated=True),
                    ("split", "pool"),
                    _connector="OR",
                ),
                name="queue_item_acquires_pool_only",
            ),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("lane", "holdout"), _negated=True), ("split", "holdout"), _connector="OR"),
                name="queue_item_holdout_lane_is_holdout",
            ),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lane", "calibration"), _negated=True), ("split", "calibration"), _connector="OR"
                ),
                name="queue_item_calibration_lane_is_calibration",
            ),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("inclusion_probability__isnull", True),
                    models.Q(("inclusion_probability__gt", 0), ("inclusion_probability__lte", 1)),
                    _connector="OR",
                ),
                name="queue_item_inclusion_is_probability",
            ),
        ),
        migrations.AddConstraint(
            model_name="poolscore",
            constraint=models.UniqueConstraint(fields=("model_version", "solution"), name="pool_score_once"),
        ),
        migrations.AddIndex(
            model_name="lease",
            index=models.Index(condition=models.Q(("state", "active")), fields=["expires_at"], name="lease_expiry"),
        ),
        migrations.AddIndex(
            model_name="lease",
            index=models.Index(
                condition=models.Q(("state", "active")), fields=["annotator", "claimed_at"], name="lease_in_hand"
            ),
        ),
        migrations.AddConstraint(
            model_name="lease",
            constraint=models.UniqueConstraint(
                fields=("annotator", "solution"), name="lease_solution_once_per_annotator"
            ),
        ),
        migrations.AddIndex(
            model_name="annotation",
            index=models.Index(fields=["project", "submitted_at"], name="annotation_by_day"),
        ),
        migrations.AddIndex(
            model_name="annotation",
            index=models.Index(fields=["annotator", "submitted_at"], name="annotation_by_annotator"),
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
        migrations.AddConstraint(
            model_name="annotation",
            constraint=models.CheckConstraint(
                condition=models.Q(("first_error__isnull", True), ("first_error__gte", -1), _connector="OR"),
                name="annotation_first_error_is_position",
            ),
        ),
        migrations.AddConstraint(
            model_name="step",
            constraint=models.UniqueConstraint(fields=("solution", "position", "alternative"), name="step_place_once"),
        ),
        migrations.AddConstraint(
            model_name="step",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["reasoning", "plan", "tool_call", "observation", "edit", "answer"])),
                name="step_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="pathstep",
            constraint=models.UniqueConstraint(fields=("annotation", "position"), name="path_position_once"),
        ),
        migrations.AddConstraint(
            model_name="pathstep",
            constraint=models.CheckConstraint(
                condition=models.Q(("chosen__isnull", True), ("own_text__isnull", True), _connector="OR"),
                name="path_chosen_or_own",
            ),
        ),
        migrations.AddConstraint(
            model_name="steprating",
            constraint=models.UniqueConstraint(fields=("annotation", "step"), name="rating_step_once"),
        ),
        migrations.AddConstraint(
            model_name="steprating",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("rating__in", [-1, 0, 1]), ("rating__isnull", False), ("state", "rated")),
                    models.Q(("rating__isnull", True), ("state__in", ["unsure", "not_reached"])),
                    _connector="OR",
                ),
                name="rating_only_where_rated",
            ),
        ),
        migrations.AddConstraint(
            model_name="trainingrun",
            constraint=models.UniqueConstraint(fields=("project", "number"), name="training_run_number_once"),
        ),
        migrations.AddConstraint(
            model_name="trainingrun",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["queued", "running"])),
                fields=("project",),
                name="training_run_one_live_per_project",
            ),
        ),
        migrations.AddConstraint(
            model_name="runstage",
            constraint=models.UniqueConstraint(fields=("run", "name"), name="run_stage_once"),
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.UniqueConstraint(fields=("project", "number"), name="generation_number_once"),
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "open")), fields=("project",), name="generation_one_open_per_project"
            ),
        ),
    ]
