from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0054_haste"),
    ]

    operations = [
        migrations.AddField(
            model_name="modelversion",
            name="confirmed_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="problem",
            index=models.Index(fields=["project", "domain"], name="problem_domain"),
        ),
    ]
