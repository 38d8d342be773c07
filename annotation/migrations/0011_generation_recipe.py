from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0010_sampling_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="generation",
            name="recipe",
            field=models.JSONField(default=dict),
        ),
    ]
