import django.db.models.deletion
from django.db import migrations, models


IMMUTABLE = (
    "CREATE TRIGGER annotation_practiceanswer_immutable BEFORE UPDATE OR DELETE ON annotation_practiceanswer "
    "FOR EACH ROW EXECUTE FUNCTION stepmark_refuse_change();"
)
MUTABLE = "DROP TRIGGER annotation_practiceanswer_immutable ON annotation_practiceanswer;"


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0024_uploads_and_groups"),
    ]

    operations = [
        migrations.AddField(
            model_name="goldanswer",
            name="explanation",
            field=models.TextField(blank=True, help_text="Why the first error is where it is; shown in practice."),
        ),
        migrations.AddField(
            model_name="goldanswer",
            name="practice",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="project",
            name="examples",
            field=models.JSONField(blank=True, default=list, help_text="Rated steps, shown beside the guidelines."),
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
                            ("solution", "Solution"),
                            ("found_error", "Found Error"),
                            ("give_up", "Give Up"),
                            ("bad_problem", "Bad Problem"),
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
        migrations.RunSQL(IMMUTABLE, MUTABLE),
    ]
