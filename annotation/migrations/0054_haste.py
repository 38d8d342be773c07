from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0053_keys_of_giving_up")]

    operations = [
        migrations.AlterField(
            model_name="labelbatch",
            name="judge",
            field=models.CharField(
                choices=[
                    ("overlap", "other people's labels"),
                    ("model", "the model that serves"),
                    ("pace", "the time on a step"),
                    ("person", "a person"),
                ],
                max_length=8,
            ),
        ),
    ]
