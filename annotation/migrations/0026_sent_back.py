import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0025_practice_and_examples"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
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
            ],
        ),
        migrations.AddIndex(
            model_name="annotation",
            index=models.Index(
                condition=models.Q(("adjudicates", True)), fields=["solution"], name="annotation_adjudicates"
            ),
        ),
        migrations.AddIndex(
            model_name="steprating",
            index=models.Index(
                condition=models.Q(("flagged", True), ("state", "unsure"), _connector="OR"),
                fields=["annotation"],
                name="rating_in_doubt",
            ),
        ),
        migrations.AddField(
            model_name="sentback",
            name="annotation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="sent_back", to="annotation.annotation"
            ),
        ),
        migrations.AddField(
            model_name="sentback",
            name="answer",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.annotation",
            ),
        ),
        migrations.AddField(
            model_name="sentback",
            name="by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="sentback",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="sent_back", to="annotation.project"
            ),
        ),
        migrations.AddIndex(
            model_name="sentback",
            index=models.Index(condition=models.Q(("state", "open")), fields=["project"], name="sent_back_open"),
        ),
        migrations.AddConstraint(
            model_name="sentback",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "open")), fields=("annotation",), name="sent_back_open_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="sentback",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["open", "answered", "withdrawn"])), name="sent_back_state_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="sentback",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("answer__isnull", False), ("state", "answered")),
                    models.Q(models.Q(("state", "answered"), _negated=True), ("answer__isnull", True)),
                    _connector="OR",
                ),
                name="sent_back_answer_where_answered",
            ),
        ),
    ]
