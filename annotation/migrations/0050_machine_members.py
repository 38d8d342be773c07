from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0049_import_warnings"),
    ]

    operations = [
        migrations.AddField(
            model_name="membership",
            name="machine",
            field=models.BooleanField(
                db_default=False, default=False, help_text="A program: it labels as a model judge."
            ),
        ),
        migrations.AddField(
            model_name="apitoken",
            name="for_person",
            field=models.BooleanField(
                db_default=False, default=False, help_text="A person labels by hand through the tool that uses it."
            ),
        ),
    ]
