import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

IMMUTABLE = (
    "CREATE TRIGGER annotation_screeningdecision_immutable BEFORE UPDATE OR DELETE ON annotation_screeningdecision "
    "FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();"
)
MUTABLE = "DROP TRIGGER annotation_screeningdecision_immutable ON annotation_screeningdecision;"


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0014_import_options"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
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
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
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
            ],
        ),
        migrations.RemoveConstraint(
            model_name="queueitem",
            name="queue_item_once_per_generation",
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.UniqueConstraint(
                condition=models.Q(("lane__in", ["screening", "gold"]), _negated=True),
                fields=("generation", "solution"),
                name="queue_item_once_per_generation",
            ),
        ),
        migrations.AddField(
            model_name="goldanswer",
            name="annotation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.annotation"
            ),
        ),
        migrations.AddField(
            model_name="goldanswer",
            name="by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="goldanswer",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="gold_answers", to="annotation.project"
            ),
        ),
        migrations.AddField(
            model_name="goldanswer",
            name="solution",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="gold_answer", to="annotation.solution"
            ),
        ),
        migrations.AddField(
            model_name="screeningdecision",
            name="by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="screeningdecision",
            name="membership",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="screening_decisions",
                to="annotation.membership",
            ),
        ),
        migrations.AddIndex(
            model_name="goldanswer",
            index=models.Index(
                condition=models.Q(("active", True)), fields=["project", "solution"], name="gold_answer_active"
            ),
        ),
        migrations.AddIndex(
            model_name="screeningdecision",
            index=models.Index(fields=["membership", "-id"], name="screening_latest"),
        ),
        migrations.AddConstraint(
            model_name="screeningdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(("outcome__in", ["passed", "failed", "again", "paused"])),
                name="screening_outcome_known",
            ),
        ),
        migrations.RunSQL(IMMUTABLE, MUTABLE),
    ]
