from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0036_plurals"),
    ]

    operations = [
        migrations.AddField(
            model_name="importjob",
            name="warnings",
            field=models.JSONField(
                blank=True, default=dict, help_text="Counts by name; see annotation.intake.warnings."
            ),
        ),
    ]
