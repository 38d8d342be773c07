from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0030_what_a_scheme_asks")]

    operations = [
        migrations.AddField("preference", "first_password", models.BooleanField(default=False)),
    ]
