from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0026_sent_back"),
    ]

    operations = [
        migrations.AddField(
            model_name="steprating",
            name="spans",
            field=models.JSONField(blank=True, default=list),
        ),
    ]
