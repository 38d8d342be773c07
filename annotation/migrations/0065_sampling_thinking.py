from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0062_search_served_texts"),
    ]

    operations = [
        migrations.AddField(
            model_name="samplingrun",
            name="thinking",
            field=models.CharField(default="separate", max_length=10),
        ),
    ]
