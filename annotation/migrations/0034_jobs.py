"""Jobs of every kind have the same columns and states, and those on a model can be cancelled.

Columns only come: `beaten_at` of jobs on a model stays in the database, for code that still runs, and is known no more.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SAME = (
    "UPDATE annotation_modeljob SET heartbeat_at = beaten_at",
    "UPDATE annotation_simulationrun SET state = 'done' WHERE state = 'succeeded'",
)
AS_BEFORE = "UPDATE annotation_simulationrun SET state = 'succeeded' WHERE state = 'done'"


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0033_accepted_together"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField("modeljob", "beaten_at")]),
        migrations.AddField(
            model_name="answercheck",
            name="attempts",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="importjob",
            name="attempts",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="modeljob",
            name="cancel_requested",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="modeljob",
            name="heartbeat_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="modeljob",
            name="started_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="samplingrun",
            name="attempts",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="answercheck",
            name="cancel_requested",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="answercheck",
            name="state",
            field=models.CharField(
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
        migrations.AlterField(
            model_name="importjob",
            name="cancel_requested",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="importjob",
            name="requested_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="modeljob",
            name="attempts",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="modeljob",
            name="finished_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="modeljob",
            name="requested_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="modeljob",
            name="state",
            field=models.CharField(
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
        migrations.AlterField(
            model_name="samplingrun",
            name="cancel_requested",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="simulationrun",
            name="attempts",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AlterField(
            model_name="simulationrun",
            name="cancel_requested",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="simulationrun",
            name="requested_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="simulationrun",
            name="state",
            field=models.CharField(
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
        migrations.RunSQL(SAME, AS_BEFORE),
    ]
